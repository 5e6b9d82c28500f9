"""What was read, as people read it: one function for each kind of file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.inspect.insts import Stream
    from aiebuild.inspect.objects import Objects, Sizes
    from aiebuild.inspect.partition import Partition
    from aiebuild.inspect.xclbin import Xclbin
    from aiebuild.inspect.xclbin_kernels import Kernel
    from aiebuild.manifest import Manifest


def of_xclbin(found: Xclbin) -> Iterator[str]:
    """Yield the lines about an xclbin."""
    signed = "signed" if found.signed else "not signed"
    yield f"xclbin {found.version}, UUID {found.uuid}, {found.length} bytes, {signed}"
    if found.platform:
        yield f"  platform: {found.platform}"
    yield "  sections:"
    for section in found.sections:
        name = f" {section.name!r}" if section.name else ""
        yield f"    {section.offset:#08x} {section.size:>9} bytes  {section.kind_name}{name}"
    for part in found.partitions:
        yield from _of_partition(part)
    for kernel in found.kernels:
        yield from _of_kernel(kernel)
    for problem in found.problems:
        yield f"  warning: {problem}"


def _of_partition(found: Partition) -> Iterator[str]:
    starts = ", ".join(str(column) for column in found.start_columns)
    wide = _count(found.column_width, "column")
    yield f"  AIE partition {found.name!r}: {wide} wide, may begin at column {starts or 'none'}"
    for pdi in found.pdis:
        yield f"    PDI {pdi.uuid}, {pdi.size} bytes at {pdi.offset:#x}, sha256 {pdi.sha256}"
        for group in pdi.groups:
            ids = ", ".join(group.kernel_ids) or "none"
            yield f"      CDO group {group.name!r} ({group.type}), PDI id {group.pdi_id}, for xclbin kernels {ids}"


def _of_kernel(found: Kernel) -> Iterator[str]:
    instances = ", ".join(found.instances) or "none"
    identity = f", id {found.id}" if found.id else ""
    yield f"  xclbin kernel {found.name!r} ({found.type}){identity}, instances: {instances}"
    for argument in found.arguments:
        memory = f" in {argument.memory}" if argument.memory else ""
        yield (
            f"    {argument.index:>2} {argument.name:<10} {argument.type:<10} {argument.qualifier}{memory},"
            f" {argument.size} bytes at {argument.offset:#x}"
        )


def of_stream(found: Stream) -> Iterator[str]:
    """Yield the lines about an instruction stream: each operation with its offset and its words."""
    device = f"{found.device} ({found.arch})" if found.device else f"generation {found.generation}"
    rows = f"{_count(found.columns, 'column')}, {_count(found.rows, 'row')}, {found.mem_rows} of them of mem tiles"
    yield f"instruction stream {found.version} for {device}: {rows}"
    yield f"  {_count(len(found.operations), 'operation')}, {found.size} bytes"
    yield "  0x0000 header"
    yield from _words(found.words)
    for operation in found.operations:
        yield f"  {operation.offset:#06x} {operation.name:<14} {operation.meaning}".rstrip()
        yield from _words(operation.words)


def _words(words: tuple[int, ...]) -> Iterator[str]:
    """Yield words in hexadecimal, eight a line."""
    for start in range(0, len(words), 8):
        yield "           " + " ".join(f"{word:08x}" for word in words[start : start + 8])


def of_objects(found: Objects) -> Iterator[str]:
    """Yield the lines about an object or an archive."""
    arch = f" ({found.arch})" if found.arch and found.arch != found.machine else ""
    yield f"{found.kind} for {found.machine or 'no machine'}{arch}: {_sizes(found.sizes)}"
    for name, member in found.members:
        yield f"  member {name}: {_sizes(member.sizes)}, {_count(len(member.defined), 'symbol')}"
    for symbol in found.defined:
        yield f"  defines {symbol.name} ({symbol.binding} {symbol.kind})"
    for name in found.undefined:
        yield f"  needs   {name}"


def _sizes(sizes: Sizes) -> str:
    return f"code {sizes.code}, constants {sizes.constants}, data {sizes.data}, zeroed {sizes.zeroed} bytes"


def of_manifest(found: Manifest) -> Iterator[str]:
    """Yield the lines about a manifest."""
    how = ", ".join(part for part in (found.toolchain, found.mode, found.variant or "") if part)
    yield f"{found.design} {found.version} for {found.device}, arch {found.arch} ({how})"
    if found.parameters:
        yield "  parameters: " + " ".join(f"{name}={value}" for name, value in found.parameters.items())
    for sequence in found.sequences:
        yield f"  runtime sequence {sequence.name!r}" + (f" ({sequence.insts})" if sequence.insts else "")
        for argument in sequence.arguments:
            shape = "x".join(str(size) for size in argument.shape) or "1"
            way = argument.direction or "unknown direction"
            meaning = f"  {argument.meaning}" if argument.meaning else ""
            yield f"    {argument.name:<8} {way:<6} {shape} {argument.element}, {argument.bytes} bytes{meaning}"
    for kernel in found.kernels:
        yield f"  xclbin kernel {kernel.name!r}, id {kernel.id or 'none'}"
    for tool in found.tools:
        parts = [tool.version, f"dialect {tool.dialect}" if tool.dialect else ""]
        yield f"  tool {tool.name}: {', '.join(part for part in parts if part) or 'unknown version'}"
    for output in found.outputs:
        digest = f"sha256 {output.sha256}" + (" (build's identity masked)" if output.masked else "")
        yield f"  {output.path:<32} {output.size:>9} bytes  {digest}"
    checked = found.check
    yield f"  checked on {checked.arch}: {'good' if checked.ok else 'FAILED'}" if checked else "  not checked"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
