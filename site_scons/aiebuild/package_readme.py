"""The README of a package: what it is, how to check it, and how to run it, for each arch in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.manifest import Manifest
    from aiebuild.manifest import Sequence as RuntimeSequence

_RUN = 3
"""The opcode that tells the NPU's firmware to run a stream of instructions, the first argument of an xclbin kernel."""
_FIRST_BUFFER = 3
"""The index of the first data buffer, after opcode, instructions and their number."""


def readme(manifests: Sequence[Manifest], name: str) -> str:
    """Return the text for a package of these builds."""
    return "\n".join(_lines(manifests, name)) + "\n"


def _lines(manifests: Sequence[Manifest], name: str) -> Iterator[str]:
    first = manifests[0]
    yield from (f"# {first.design} {first.version}", "")
    if first.description:
        yield from (first.description, "")
    yield from ("| folder | for | built with | checked |", "|---|---|---|---|")
    for made in manifests:
        yield f"| `{made.arch}/` | {made.device} | {made.toolchain}, {made.mode} | on {_checked(made)} |"
    yield from ("", "`manifest.json` in each folder says what it was made from, and how its arguments look.", "")
    yield from ("## Check it", "", "Any of these; the first two need nothing but this folder:", "", "```sh")
    yield from ("python3 load.py", "sha256sum -c SHA256SUMS", f"aiebuild verify {name}.tar.gz   # or .zip", "```", "")
    for made in manifests:
        yield from _section(made)
    yield from ("## Licence", "", "See `LICENSE`.")


def _checked(made: Manifest) -> str:
    return "nothing" if made.check is None else f"the {made.check.arch}"


def _section(made: Manifest) -> Iterator[str]:
    yield from (f"## Run it: {made.arch} ({made.device})", "")
    if made.parameters:
        listed = ", ".join(f"{name}={value}" for name, value in made.parameters.items())
        yield from (f"Built with {listed}.", "")
    for sequence in made.sequences:
        yield from _arguments(sequence)
    yield from _host(made) if made.arch == "host" else _npu(made)


def _arguments(sequence: RuntimeSequence) -> Iterator[str]:
    yield from (f"Arguments of the runtime sequence `{sequence.name}`, in this order:", "")
    yield from ("| argument | direction | elements | bytes | meaning |", "|---|---|---|---|---|")
    for each in sequence.arguments:
        shape = " x ".join(str(size) for size in each.shape) or "1"
        cells = (each.name, each.direction or "?", f"{shape} {each.element}", str(each.bytes), _cell(each.meaning))
        yield f"| {' | '.join(cells)} |"
    yield ""


def _cell(text: str) -> str:
    """Return a text as a cell of a table has it."""
    return " ".join(text.replace("|", "\\|").split())


def _host(made: Manifest) -> Iterator[str]:
    """Yield how aiebuild runs a build for this machine's CPU."""
    yield from (
        "This build is for a CPU of the kind that it was made on, and aiebuild runs it (`pip install aiebuild`):",
        "",
    )
    names = [argument.name for sequence in made.sequences[:1] for argument in sequence.arguments]
    words = ["python -m aiebuild.host run", *(f"host/{each.path}" for each in made.of_kind("cores"))]
    for kind, option in (("kernels", "--kernels"), ("reference", "--check"), ("parameters", "--parameters")):
        words += [f"{option} host/{each.path}" for each in made.of_kind(kind)]
    words += [] if made.of_kind("reference") else ["--check FILE"]
    words += [f"--arguments {','.join(names)}"] if names else []
    words += [f"--sequence {sequence.name}" for sequence in made.sequences if len(made.sequences) > 1]
    yield from ("```sh", " ".join([*words, "-o ../result.json"]), "```", "")
    if not made.of_kind("reference"):
        yield from (
            "`FILE` is a Python file with `inputs` and `reference`, as a design's `check.py`; this package has none.",
            "",
        )


def _npu(made: Manifest) -> Iterator[str]:
    """Yield how XRT's Python binding runs a build for an NPU."""
    yield from ("With XRT's driver and its Python binding:", "", "```python")
    yield from ("import numpy as np", "import pyxrt", "from load import load", "", f'built = load("{made.arch}")')
    yield from (
        "device = pyxrt.device(0)",
        "xclbin = pyxrt.xclbin(str(built.xclbin))",
        "device.register_xclbin(xclbin)",
    )
    yield "context = pyxrt.hw_context(device, xclbin.get_uuid())"
    kernel = made.kernels[0].name if made.kernels else "MLIR_AIE"
    yield f'kernel = pyxrt.kernel(context, "{kernel}")'
    for sequence in made.sequences[:1]:
        yield from _call(sequence)
    yield from ("```", "")
    if len(made.sequences) > 1:
        others = ", ".join(f"`{sequence.name}`" for sequence in made.sequences[1:])
        yield from (f"The other runtime sequences ({others}) are run the same, with their own instructions.", "")


def _call(sequence: RuntimeSequence) -> Iterator[str]:
    yield f'words = np.fromfile(built.insts["{sequence.name}"], dtype=np.uint32)'
    yield "instructions = pyxrt.bo(device, words.nbytes, pyxrt.bo.cacheable, kernel.group_id(1))"
    yield "instructions.write(words, 0)"
    yield "instructions.sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)"
    yield "buffers = ["
    for index, each in enumerate(sequence.arguments):
        group = f"kernel.group_id({_FIRST_BUFFER + index})"
        yield f"    pyxrt.bo(device, {each.bytes}, pyxrt.bo.host_only, {group}),  # {each.name}"
    yield "]"
    yield "# write the inputs into their buffers and sync them to the device, as above"
    yield f"run = kernel({_RUN}, instructions, len(words), *buffers)"
    yield "run.wait()"
    outputs = [str(index) for index, each in enumerate(sequence.arguments) if each.direction != "in"]
    yield from (f"buffers[{index}].sync(pyxrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE)" for index in outputs)
