"""What building a design makes, from the flow as a value: nothing is looked up, and nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild import flow, model
from aiebuild.errors import Location
from aiebuild.keywords import make
from aiebuild.toolchains.compiler import Toolchain
from aiebuild.toolchains.python import PythonTool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aiebuild.jit.functions import LinkedFile

ARCH = "host"
OBJECTS = f"build/{ARCH}/objects"


def of(name: str, mlir: str, device: str, linked: Iterable[LinkedFile], sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the targets of a design for the host, relative to its project, in the order of the steps.

    Args:
        name: the design's.
        mlir: its file.
        device: the one that it is built for.
        linked: the files that it links.
        sources: the source of each, relative to the project or absolute, by the name of the file.
    """
    toolchain = Toolchain(ARCH, ARCH, "c++", "ar", "", (), "")
    where = Location(f"designs/{name}/SConscript")
    steps: list[flow.Planned] = []
    links: dict[str, str] = {}
    for file in linked:
        made = _file_steps(file, sources[file.name], toolchain)
        steps += made
        links[file.name] = made[-1].step.outputs[0]
    plan = flow.DesignPlan(
        name=name,
        folder=f"designs/{name}",
        output=f"build/{ARCH}/designs/{name}/{device}",
        design=make(model.Design, {"mlir": mlir}, where),
        parameters={"device": device, "design": name},
        links=links,
    )
    steps += flow.plan_mlir(plan, lambda part: PythonTool("python", part, ""))
    steps += flow.plan_host_run(plan, PythonTool("python", "host", ""), toolchain)
    return tuple(dict.fromkeys(output for planned in steps for output in planned.step.outputs))


def _file_steps(file: LinkedFile, source: str, toolchain: Toolchain) -> list[flow.Planned]:
    origin = flow.Origin(None, file.name)
    compilation = model.Compilation(
        toolchain=ARCH,
        arch=ARCH,
        mode="release",
        source=source,
        flags=file.source.flags,
        include_dirs=file.source.include_dirs,
    )
    member = f"{OBJECTS}/{compilation.object_name}"
    steps = list(flow.plan_object(compilation, toolchain, member, origin))
    if not file.name.endswith(".a"):
        return steps
    stem = file.name.rpartition(".")[0]
    output = f"{OBJECTS}/lib{stem}-{model.digest_key((member,))}.a"
    return [*steps, flow.plan_archive(toolchain, (member,), output, origin)]
