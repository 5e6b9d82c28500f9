"""The flow of a design as a value: which steps make what, from which files. Pure functions; nothing is run here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiebuild.step import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiebuild.contract import Generator
    from aiebuild.errors import Location
    from aiebuild.model import Design
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


@dataclass(frozen=True)
class NativeReader:
    """A tool that reads MLIR where the built-in reader does not; without words there is none.

    Args:
        words: the option of `python -m aiebuild.mlir` that names it, and its path.
        identity: the digest of the program.
    """

    words: tuple[str, ...] = ()
    identity: str = ""


NO_READER = NativeReader()
"""The built-in reader is all."""


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
        meanings: what each of them is; version, description: from the contract.
        sequences: names of the runtime sequences; none stands for the only, unnamed one.
        derived: the names of the parameters that the contract computes.
        variant: the contract's name for these parameters; empty where it has none.
        configuration: what sets this configuration apart from the arch's default one; see `aiebuild.manifest`.
        run_timeout: seconds that a run may take.
        trace: whether the run is traced as well.
        search: folders of shared templates.
        links: the files of each `link_with` name, relative to the project.
        imports: the modules that become part of this one, in generic form, relative to the project.
        known: further modules of the recipe, which messages may name.
        promises: the functions that the recipe says each file defines, by its `link_with` name.
        generator: how a Python script that makes the MLIR is given the parameters; the contract's section.
        interpreter: the Python that runs it, where it is not the running one.
        native: what reads MLIR that the built-in reader does not know.
        printer: what verifies and prints the checked MLIR, where the design asks for that.
    """

    name: str
    folder: str
    output: str
    design: Design
    parameters: Mapping[str, object]
    arguments: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    description: str = ""
    derived: tuple[str, ...] = ()
    variant: str = ""
    configuration: str = ""
    run_timeout: float = 60.0
    trace: bool = False
    search: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    promises: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    generator: Generator | None = None
    interpreter: str = ""
    native: NativeReader = NO_READER
    printer: NativeReader = NO_READER

    @property
    def is_generated(self) -> bool:
        """Whether a Python script makes the MLIR."""
        return not self.design.mlir.endswith((".mlir", ".mlir.j2"))

    def beside(self, name: str) -> str:
        """Return a file beside the recipe, relative to the project."""
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def check_file(self) -> str:
        """The result of the run; a second design of one recipe has its name in it."""
        own = self.parameters["design"] == self.name
        return f"{self.output}/{'' if own else f'{self.name}.'}check.json"

    @property
    def trace_file(self) -> str:
        """The trace of a run, beside its result."""
        return f"{self.check_file.removesuffix('check.json')}trace.json"

    @property
    def manifest_file(self) -> str:
        """The manifest; a second design of one recipe has its name in it."""
        own = self.parameters["design"] == self.name
        return f"{self.output}/{'' if own else f'{self.name}.'}manifest.json"

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


def plan_mlir(plan: DesignPlan, python: Callable[[str], PythonTool]) -> tuple[Planned, ...]:
    """Return the steps from the template or script to checked MLIR in generic form, with the facts about it."""
    text, lines = plan.file(".mlir"), plan.file(".mlir.lines")
    made = _plan_generator(plan, python("generate")) if plan.is_generated else _plan_template(plan, python("mlir"))
    origins = () if plan.is_generated else ("--lines", lines)
    declared = tuple(word for name in plan.links for word in ("--declared", name))
    sequences = ("--sequences", ",".join(plan.sequences)) if plan.sequences else ()
    checked, facts = plan.file(".checked.mlir" if plan.design.outline else ".generic.mlir"), plan.file(".facts.json")
    others = tuple(word for file in plan.imports for word in ("--import", file))
    others += tuple(word for file in plan.known for word in ("--known", file))
    normalise = python_step(
        plan,
        python("mlir"),
        f"check   {text}",
        (checked, facts),
        (
            *("normalise", text, *origins, *declared, *others, "--device", plan.device, *sequences),
            *plan.native.words,
            *("-o", checked, "--facts", facts),
        ),
        identity=plan.native.identity,
    )
    written = _write(plan, plan.file(".parameters.json"), json.dumps(plan.parameters, sort_keys=True, indent=1) + "\n")
    sources = (text, *origins[1:], *plan.imports, *plan.known)
    planned = (written, *made, Planned("AieMlir", normalise, sources), *_plan_outline(plan, python("mlir"), checked))
    return (*planned, _plan_pretty(plan, python("mlir"))) if plan.design.pretty else planned


def _plan_outline(plan: DesignPlan, mlir: PythonTool, checked: str) -> tuple[Planned, ...]:
    """Return the steps that cut stages out of functions, one function after the other."""
    steps = []
    before = checked
    for position, (function, requests) in enumerate(plan.design.outline):
        last = position == len(plan.design.outline) - 1
        output = plan.file(".generic.mlir" if last else f".outlined{position}.mlir")
        words = ("outline", before, "--func", function, *outline_words(requests), "--no-dedupe", "-o", output)
        step = python_step(plan, mlir, f"outline {output}", (output,), words)
        steps.append(Planned("AieMlir", step, (before,)))
        before = output
    return tuple(steps)


def _plan_pretty(plan: DesignPlan, mlir: PythonTool) -> Planned:
    """Return the step in which a tool verifies the checked MLIR and writes its own form of it."""
    generic, output = plan.file(".generic.mlir"), plan.file(".pretty.mlir")
    words = ("pretty", generic, *plan.printer.words, "-o", output)
    step = python_step(plan, mlir, f"pretty  {output}", (output,), words, identity=plan.printer.identity)
    return Planned("AieMlir", step, (generic,))


def outline_words(requests: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return the words that name stages and ranges on a command line."""
    return tuple(
        word for request in requests for word in (("--stage", *request) if len(request) == 1 else ("--range", *request))
    )


def plan_module(source: str, output: str, mlir: PythonTool, origin: Origin, native: NativeReader) -> Planned:
    """Return the step that reads a module whose functions others import."""
    step = Step(
        label=f"module  {source}",
        commands=(mlir.command("normalise", source, "--link-anything", *native.words, "-o", output),),
        outputs=(output,),
        identity=mlir.identity + native.identity,
        where=origin.where,
        asked_by=origin.word,
    )
    return Planned("AieMlir", step, (source,))


def _write(plan: DesignPlan, file: str, text: str) -> Planned:
    step = Step(
        label=f"write   {file}",
        commands=(),
        outputs=(file,),
        text=text,
        where=plan.origin.where,
        asked_by=plan.origin.word,
    )
    return Planned("AieText", step, ())


def _plan_template(plan: DesignPlan, mlir: PythonTool) -> tuple[Planned, ...]:
    parameters, template = plan.file(".parameters.json"), plan.beside(plan.design.mlir)
    text, lines = plan.file(".mlir"), plan.file(".mlir.lines")
    read = f"{text}.read.json"
    search = tuple(word for folder in plan.search for word in ("--search", folder))
    render = python_step(
        plan,
        mlir,
        f"render  {template}",
        (text, lines),
        ("render", template, "--parameters", parameters, *search, "-o", text, "--lines", lines, "--depfile", read),
        depfile=read,
    )
    return (Planned("AieMlir", render, (template, parameters)),)


def _plan_generator(plan: DesignPlan, generate: PythonTool) -> tuple[Planned, ...]:
    parameters, section, text = plan.file(".parameters.json"), plan.file(".generator.json"), plan.file(".mlir")
    script = plan.beside(plan.design.mlir)
    read = f"{text}.read.json"
    said = plan.generator.to_json() if plan.generator else {}
    interpreter = ("--interpreter", plan.interpreter) if plan.interpreter else ()
    step = python_step(
        plan,
        generate,
        f"python  {script}",
        (text,),
        (
            *(script, "--parameters", parameters, "--generator", section, *interpreter),
            *("-o", text, "--depfile", read),
        ),
        depfile=read,
    )
    sources = (script.rpartition(":")[0] or script, parameters, section)
    return (_write(plan, section, json.dumps(said) + "\n"), Planned("AieMlir", step, sources))


def promised(plan: DesignPlan) -> tuple[str, ...]:
    """Return the words that tell a step which functions each file must define."""
    pairs = ((name, ",".join(functions)) for name, functions in plan.promises.items() if functions)
    return tuple(word for pair in pairs for word in ("--promises", *pair))


def python_step(
    plan: DesignPlan,
    tool: PythonTool,
    label: str,
    outputs: tuple[str, ...],
    arguments: tuple[str, ...],
    *,
    identity: str = "",
    **more: Any,
) -> Step:
    """Return a step of one of aiebuild's own parts; `more` are further fields of the step."""
    return Step(
        label=label,
        commands=(tool.command(*arguments),),
        outputs=outputs,
        identity=tool.identity + identity,
        where=plan.origin.where,
        asked_by=plan.origin.word,
        **more,
    )
