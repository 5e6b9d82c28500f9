"""Reading an xclbin: header, sections, UUIDs, AIE partitions with their PDIs, and xclbin kernels.

The layout is that of `xrt/xclbin.h` (XRT; Debian's libxrt-dev): `axlf`, `axlf_header` and `axlf_section_header`, all
little-endian. Sections that are newer than Debian's header (AIE_PARTITION and later) have the numbers of XRT's
`xrt/detail/xclbin.h`.
"""

from __future__ import annotations

import re
import struct
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiebuild.inspect.partition import PARTITION, Partition, identity_spans, image_spans, partition
from aiebuild.inspect.reader import Data, plain
from aiebuild.inspect.xclbin_kernels import Instance, Kernel, Memory, instances, kernels, memories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAGIC = b"xclbin2\0"
_PREFIX = struct.Struct("<8si28s256sQ")
"""`axlf` up to `m_uniqueId`."""
_HEADER = struct.Struct("<QQQHBBHH16s64s16s16sI4x")
"""`axlf_header`; its 152 bytes are asserted by `xclbin.h`."""
_SECTION = struct.Struct("<I16s4xQQ")
"""`axlf_section_header`; its 40 bytes are asserted by `xclbin.h`."""
_UNIQUE_ID = (_PREFIX.size - 8, 8)
_TIME_STAMP = (_PREFIX.size + 8, 8)
_UUID = (_PREFIX.size + 112, 16)
_SECTIONS = _PREFIX.size + _HEADER.size

EMBEDDED_METADATA, MEM_TOPOLOGY, CONNECTIVITY, IP_LAYOUT = 2, 6, 7, 8
_KINDS = (
    *("BITSTREAM", "CLEARING_BITSTREAM", "EMBEDDED_METADATA", "FIRMWARE", "DEBUG_DATA", "SCHED_FIRMWARE"),
    *("MEM_TOPOLOGY", "CONNECTIVITY", "IP_LAYOUT", "DEBUG_IP_LAYOUT", "DESIGN_CHECK_POINT", "CLOCK_FREQ_TOPOLOGY"),
    *("MCS", "BMC", "BUILD_METADATA", "KEYVALUE_METADATA", "USER_METADATA", "DNA_CERTIFICATE"),
    *("PDI", "BITSTREAM_PARTIAL_PDI", "PARTITION_METADATA", "EMULATION_DATA", "SYSTEM_METADATA", "SOFT_KERNEL"),
    *("ASK_FLASH", "AIE_METADATA", "ASK_GROUP_TOPOLOGY", "ASK_GROUP_CONNECTIVITY", "SMARTNIC", "AIE_RESOURCES"),
    *("OVERLAY", "VENDER_METADATA", "AIE_PARTITION", "IP_METADATA", "AIE_RESOURCES_BIN", "AIE_TRACE_METADATA"),
)
"""`axlf_section_kind`, in its order."""
_MODES = ("flat", "pr", "tandem stage2", "tandem stage2 with pr", "hw_emu", "sw_emu", "hw_emu_pr")
_MIRROR = re.compile(rb"XCLBIN_MIRROR_DATA_START(.*?)XCLBIN_MIRROR_DATA_END", re.DOTALL)
"""What xclbinutil (`XclBinClass.cxx`) puts after the sections: the header and the sections once more, as JSON."""
_MIRRORED = re.compile(rb'"(?:UniqueID|TimeStamp|XclBinUUID)"\s*:\s*"([^"]*)"')


@dataclass(frozen=True)
class Section:
    """An entry of the section table: offsets and sizes in bytes."""

    kind: int
    kind_name: str
    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class Span:
    """Bytes of the file that differ from build to build, though the inputs are the same."""

    offset: int
    size: int
    what: str


@dataclass(frozen=True)
class Xclbin:
    """An xclbin.

    Attributes:
        uuid: as XRT reports it.
        length: bytes, as the header says, which is the file's size.
        time_stamp: seconds since 1970 at which xclbinutil made it.
        platform: `m_platformVBNV`; empty for an NPU.
        kernels: what XRT opens (not sources), with their arguments.
        instances: the entries of IP_LAYOUT.
        varying: what a digest that is to be the same for the same inputs must leave out.
    """

    uuid: str
    length: int
    version: str
    mode: str
    time_stamp: int
    unique_id: int
    platform: str
    interface_uuid: str
    signed: bool
    sections: tuple[Section, ...]
    partitions: tuple[Partition, ...]
    kernels: tuple[Kernel, ...]
    instances: tuple[Instance, ...]
    memories: tuple[Memory, ...]
    varying: tuple[Span, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """What XRT would take without a word, and run wrongly."""
        return tuple(_problems(self))


def read(content: bytes, name: str) -> Xclbin:
    """Return what an xclbin holds.

    Args:
        content: the file's bytes.
        name: the file, for messages.

    Raises:
        InspectError: it is damaged or no xclbin, with the byte.
    """
    data = Data(name, content)
    if content[: len(MAGIC)] != MAGIC:
        raise data.fault(0, "this is not an xclbin: it does not begin with 'xclbin2'")
    signature, unique_id = (data.unpack(_PREFIX.format, 0, "the file header")[index] for index in (1, 4))
    header = data.unpack(_HEADER.format, _PREFIX.size, "the xclbin header")
    length, time_stamp, _, patch, major, minor, mode, _, interface, platform, identity, _, count = header
    if length != len(content):
        state = "is cut off" if length > len(content) else "has more bytes than it says"
        raise data.fault(_PREFIX.size, f"the file {state}: the header says {length} bytes, it has {len(content)}")
    sections = tuple(_section(data, index) for index in range(_count(data, count)))
    found = [data.part(each.offset, each.size, f"section {each.kind_name}") for each in sections]
    parts = list(zip(sections, found, strict=True))
    partitions = tuple(partition(part) for each, part in parts if each.kind == PARTITION)
    memory = _first(parts, MEM_TOPOLOGY, memories)
    layout = _first(parts, IP_LAYOUT, instances)
    return Xclbin(
        uuid=str(uuid.UUID(bytes=identity)),
        length=length,
        version=f"{major}.{minor}.{patch}",
        mode=_MODES[mode] if mode < len(_MODES) else str(mode),
        time_stamp=time_stamp,
        unique_id=unique_id,
        platform=plain(platform),
        interface_uuid=str(uuid.UUID(bytes=interface)),
        signed=signature != -1,
        sections=sections,
        partitions=partitions,
        kernels=_kernels(parts, layout, memory),
        instances=layout,
        memories=memory,
        varying=tuple(_varying(data, parts)),
    )


def masked(content: bytes, name: str) -> bytes:
    """Return the bytes with everything zeroed that differs between two builds of the same inputs.

    These are UUIDs, times, and what bootgen leaves unset: `Xclbin.varying` lists them.

    Raises:
        InspectError: the file is damaged or no xclbin.
    """
    return _zeroed(content, ((span.offset, span.size) for span in read(content, name).varying))


def masked_image(content: bytes, name: str) -> bytes:
    """Return the bytes of a PDI without what bootgen leaves unset in it."""
    return _zeroed(content, ((offset, size) for offset, size, _ in image_spans(Data(name, content))))


def _zeroed(content: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    changed = bytearray(content)
    for offset, size in spans:
        changed[offset : offset + size] = bytes(size)
    return bytes(changed)


def _count(data: Data, count: int) -> int:
    data.part(_SECTIONS, count * _SECTION.size, f"the table of {count} sections")
    return count


def _section(data: Data, index: int) -> Section:
    kind, name, offset, size = data.unpack(_SECTION.format, _SECTIONS + index * _SECTION.size, "a section header")
    known = _KINDS[kind] if kind < len(_KINDS) else f"kind {kind}"
    return Section(kind, known, plain(name), offset, size)


def _first(parts: list[tuple[Section, Data]], kind: int, reader: Any) -> Any:
    """Return what a reader makes of the first section of a kind; an empty tuple where there is none."""
    return next((reader(part) for section, part in parts if section.kind == kind), ())


def _kernels(
    parts: list[tuple[Section, Data]], layout: tuple[Instance, ...], memory: tuple[Memory, ...]
) -> tuple[Kernel, ...]:
    connectivity = next((part for section, part in parts if section.kind == CONNECTIVITY), None)
    metadata = next((part for section, part in parts if section.kind == EMBEDDED_METADATA), None)
    return () if metadata is None else kernels(metadata, layout, memory, connectivity)


def _varying(data: Data, parts: list[tuple[Section, Data]]) -> Iterator[Span]:
    """Yield the bytes that hold a build's identity, in the file's order."""
    yield Span(*_UNIQUE_ID, "unique id")
    yield Span(*_TIME_STAMP, "time stamp")
    yield Span(*_UUID, "UUID of the xclbin")
    for section, part in parts:
        if section.kind == PARTITION:
            yield from (Span(*span) for span in identity_spans(part))
    sections_end = max((part.start + len(part) for _, part in parts), default=_SECTIONS)
    for mirror in _MIRROR.finditer(data.content, sections_end):
        for value in _MIRRORED.finditer(data.content, *mirror.span(1)):
            yield Span(value.start(1), len(value.group(1)), "the same, as text after the sections")


def _problems(found: Xclbin) -> Iterator[str]:
    identities: dict[str, str] = {}
    for kernel in found.kernels:
        if kernel.id and kernel.id in identities:
            yield f"xclbin kernels {identities[kernel.id]!r} and {kernel.name!r} have one id, {kernel.id}"
        identities.setdefault(kernel.id, kernel.name)
    names = [name for kernel in found.kernels for name in kernel.instances]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two xclbin kernels have an instance {name!r}"
    served = {
        int(identity, 16)
        for part in found.partitions
        for pdi in part.pdis
        for group in pdi.groups
        for identity in group.kernel_ids
    }
    for kernel in found.kernels:
        if found.partitions and kernel.number is not None and kernel.number not in served:
            yield f"no PDI is for the xclbin kernel {kernel.name!r} (id {kernel.id})"
