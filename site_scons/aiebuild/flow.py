"""The flow of a design as a value: which steps make what, from which files. Pure functions; nothing is run here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.step import Step
from aiebuild.toolchains.compiler import archive_command, compile_command, rename_command
from aiebuild.toolchains.python import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.errors import Location
    from aiebuild.model import Compilation, Design
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.python import PythonTool


@dataclass(frozen=True)
class Planned:
    """A step with the files that it is made from; `builder` is the SCons builder that takes it."""

    builder: str
    step: Step
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Origin:
    """The line of the recipe that a step is made for, and the word that stands there."""

    where: Location | None
    word: str


def plan_object(compilation: Compilation, toolchain: Toolchain, output: str, origin: Origin) -> tuple[Planned, ...]:
    """Return the steps that make one object: its text as a file first, where it has no source file."""
    if not compilation.is_text:
        return (_compile(compilation, toolchain, compilation.source, output, origin),)
    source = f"{output.removesuffix('.o')}.cc"
    written = Step(
        label=f"write   {source}",
        commands=(),
        outputs=(source,),
        text=compilation.source,
        where=origin.where,
        asked_by=origin.word,
    )
    return (
        Planned("AieText", written, ()),
        _compile(compilation, toolchain, source, output, origin),
    )


def _compile(compilation: Compilation, toolchain: Toolchain, source: str, output: str, origin: Origin) -> Planned:
    said = f"{output}.d.make"
    commands = [compile_command(toolchain, compilation, source, output, said)]
    if compilation.renames:
        commands.append(rename_command(toolchain, compilation, output))
    before = (".",) if "-include" in compilation.flags else ()
    step = Step(
        label=f"compile {source}",
        commands=tuple(commands),
        outputs=(output,),
        identity=toolchain.identity,
        depfile=said,
        search=(*before, *compilation.include_dirs, *toolchain.system_dirs),
        where=origin.where,
        asked_by=origin.word,
    )
    return Planned("AieObject", step, (source,))


def plan_archive(toolchain: Toolchain, members: tuple[str, ...], output: str, origin: Origin) -> Planned:
    """Return the step that makes an archive of exactly these members."""
    step = Step(
        label=f"archive {output}",
        commands=(archive_command(toolchain, members, output),),
        outputs=(output,),
        identity=toolchain.identity,
        where=origin.where,
        asked_by=origin.word,
    )
    return Planned("AieArchive", step, members)


@dataclass(frozen=True)
class DesignPlan:
    """What one configuration of a design is made from.

    Args:
        name: the design's name.
        folder: the folder of its recipe, relative to the project.
        output: the folder of this configuration's artifacts, relative to the project.
        design: the recipe's word.
        parameters: the parameters file's content: arch, device, design, mode, parameters.
        arguments: names of the runtime sequence's arguments, in order.
        sequences: names of the runtime sequences; none stands for the only, unnamed one.
        run_timeout: seconds that a run may take.
        search: folders of shared templates.
        links: the files of each `link_with` name, relative to the project.
        imports: what recipes linked, for messages: the line of each `link_with` name's recipe.
    """

    name: str
    folder: str
    output: str
    design: Design
    parameters: Mapping[str, object]
    arguments: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    run_timeout: float = 60.0
    search: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)

    def file(self, suffix: str) -> str:
        """Return the path of an artifact: the design's name with a suffix."""
        return f"{self.output}/{self.name}{suffix}"

    @property
    def origin(self) -> Origin:
        """The line of the recipe."""
        return Origin(self.design.where, f"Design {self.name!r}")

    @property
    def device(self) -> str:
        """The device that the MLIR must be for."""
        return str(self.parameters["device"])


def plan_mlir(plan: DesignPlan, mlir: PythonTool) -> tuple[Planned, ...]:
    """Return the steps from the template to checked MLIR in generic form, with the facts about it."""
    parameters = plan.file(".parameters.json")
    template = f"{plan.folder}/{plan.design.mlir}" if plan.folder else plan.design.mlir
    text, lines, generic = plan.file(".mlir"), plan.file(".mlir.lines"), plan.file(".generic.mlir")
    facts = plan.file(".facts.json")
    read = f"{text}.read.json"
    written = Step(
        label=f"write   {parameters}",
        commands=(),
        outputs=(parameters,),
        text=json.dumps(plan.parameters, sort_keys=True, indent=1) + "\n",
        where=plan.origin.where,
        asked_by=plan.origin.word,
    )
    search = tuple(word for folder in plan.search for word in ("--search", folder))
    render = _python_step(
        plan,
        mlir,
        f"render  {template}",
        (text, lines),
        (
            "render",
            template,
            "--parameters",
            parameters,
            *search,
            "-o",
            text,
            "--lines",
            lines,
            "--depfile",
            read,
        ),
        depfile=read,
    )
    declared = tuple(word for name in plan.links for word in ("--declared", name))
    sequences = ("--sequences", ",".join(plan.sequences)) if plan.sequences else ()
    normalise = _python_step(
        plan,
        mlir,
        f"check   {text}",
        (generic, facts),
        (
            *("normalise", text, "--lines", lines, *declared),
            *("--device", plan.device, *sequences),
            *("-o", generic, "--facts", facts),
        ),
    )
    return (
        Planned("AieText", written, ()),
        Planned("AieMlir", render, (template, parameters)),
        Planned("AieMlir", normalise, (text, lines)),
    )


def plan_host_run(plan: DesignPlan, host: PythonTool, toolchain: Toolchain) -> tuple[Planned, ...]:
    """Return the steps from checked MLIR and objects to a run on this machine, compared with the reference."""
    generic, facts = plan.file(".generic.mlir"), plan.file(".facts.json")
    cores, kernels = plan.file(".cores.py"), plan.file(".kernels.zip")
    translate = _python_step(plan, host, f"cores   {generic}", (cores,), ("translate", generic, "-o", cores))
    objects = tuple(word for name, file in plan.links.items() for word in ("--object", f"{name}={file}"))
    link = _python_step(
        plan,
        host,
        f"link    {kernels}",
        (kernels,),
        ("link", "--facts", facts, *objects, "--cxx", toolchain.compiler, "-o", kernels),
        identity=toolchain.identity,
    )
    steps = (
        Planned("AieHostRun", translate, (generic,)),
        Planned("AieHostRun", link, (facts, *plan.links.values())),
    )
    return (*steps, _run(plan, host)) if plan.design.check else steps


def _run(plan: DesignPlan, host: PythonTool) -> Planned:
    check = f"{plan.folder}/{plan.design.check}" if plan.folder else str(plan.design.check)
    cores, kernels = plan.file(".cores.py"), plan.file(".kernels.zip")
    parameters, result = plan.file(".parameters.json"), f"{plan.output}/check.json"
    read = f"{result}.read.json"
    sequences = tuple(word for name in plan.sequences for word in ("--sequence", name))
    arguments = ("--arguments", ",".join(plan.arguments)) if plan.arguments else ()
    step = _python_step(
        plan,
        host,
        f"run     {plan.name} ({plan.output.rpartition('/')[2]})",
        (result,),
        (
            *("run", cores, "--kernels", kernels, "--check", check, "--parameters", parameters),
            *(*arguments, *sequences, "--timeout", f"{plan.run_timeout:g}"),
            *("-o", result, "--depfile", read),
        ),
        depfile=read,
    )
    return Planned("AieHostRun", step, (cores, kernels, check, parameters))


def _python_step(
    plan: DesignPlan,
    tool: PythonTool,
    label: str,
    outputs: tuple[str, ...],
    arguments: tuple[str, ...],
    *,
    depfile: str = "",
    identity: str = "",
) -> Step:
    return Step(
        label=label,
        commands=(tool.command(*arguments),),
        outputs=outputs,
        identity=tool.identity + identity,
        depfile=depfile,
        variables=VARIABLES,
        where=plan.origin.where,
        asked_by=plan.origin.word,
    )
