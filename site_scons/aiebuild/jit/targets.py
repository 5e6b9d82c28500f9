"""What building a design makes, from the flow as a value: nothing is looked up, and nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild import devices, flow, model
from aiebuild.errors import Location, RecipeError, ToolchainError
from aiebuild.flow_host import plan_host_run
from aiebuild.flow_npu import NpuFlow
from aiebuild.flow_objects import plan_archive, plan_object
from aiebuild.keywords import make
from aiebuild.toolchains import npu, peano
from aiebuild.toolchains.compiler import Toolchain
from aiebuild.toolchains.python import PythonTool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aiebuild.jit.functions import LinkedFile

HOST = "host"
MODE = "release"


def of(
    name: str,
    mlir: str,
    possible: Sequence[str],
    linked: Iterable[LinkedFile],
    sources: Mapping[str, str],
    *,
    arch: str = HOST,
) -> tuple[str, ...]:
    """Return the targets of a design, relative to its project, in the order of the steps.

    Args:
        name: the design's.
        mlir: its file.
        possible: the devices that it can be built for.
        linked: the files that it links.
        sources: the source of each, relative to the project or absolute, by the name of the file.
        arch: what it is built for.

    Raises:
        RecipeError: it has no device of that arch.
    """
    device = _device(name, possible, arch)
    # Which build of a tool it is makes no difference to what is made: none need be installed.
    missing = ToolchainError(f"no tools for {arch} are looked for")
    host = Toolchain(HOST, HOST, "c++", "ar", "", (), "")
    toolchain = host if arch == HOST else peano.nominal_toolchain(arch, MODE, missing)
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
        output=f"build/{arch}/designs/{name}/{device}",
        design=make(model.Design, {"mlir": mlir}, where),
        parameters={"device": device, "design": name},
        links=links,
    )
    steps += flow.plan_mlir(plan, lambda part: PythonTool("python", part, ""))
    if arch == HOST:
        steps += plan_host_run(plan, PythonTool("python", "host", ""), toolchain)
    else:
        tools = npu.nominal_tools(toolchain.name, "", missing)
        steps += NpuFlow(PythonTool("python", "npu", ""), toolchain, tools, "").plan(plan)
    return tuple(dict.fromkeys(output for planned in steps for output in planned.step.outputs))


def _device(name: str, possible: Sequence[str], arch: str) -> str:
    for device in possible:
        if arch in {HOST, devices.find(device).arch}:
            return device
    raise RecipeError(f"{name!r} has no device of arch {arch!r}", hint=f"its devices: {', '.join(possible)}")


def _file_steps(file: LinkedFile, source: str, toolchain: Toolchain) -> list[flow.Planned]:
    origin = flow.Origin(None, file.name)
    compilation = model.Compilation(
        toolchain=toolchain.name,
        arch=toolchain.arch,
        mode=MODE,
        source=source,
        flags=file.source.flags,
        include_dirs=file.source.include_dirs,
    )
    objects = f"build/{toolchain.arch}/objects"
    member = f"{objects}/{compilation.object_name}"
    steps = list(plan_object(compilation, toolchain, member, origin))
    if not file.name.endswith(".a"):
        return steps
    stem = file.name.rpartition(".")[0]
    output = f"{objects}/lib{stem}-{model.digest_key((member,))}.a"
    return [*steps, plan_archive(toolchain, (member,), output, origin)]
