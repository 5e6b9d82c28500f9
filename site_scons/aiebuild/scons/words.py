"""The words of a recipe as methods of an environment: values in, nodes out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import SCons.Script

from aiebuild import flow, model
from aiebuild.errors import AieBuildError, RecipeError
from aiebuild.scons import by_hand, report
from aiebuild.scons.builders import add_planned
from aiebuild.scons.linking import Linker
from aiebuild.scons.location import recipe_line
from aiebuild.scons.session import project_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiebuild.scons.session import Session
    from aiebuild.toolchains.compiler import Toolchain


@dataclass(frozen=True)
class Configuration:
    """What the environment of one design, in one configuration, is for.

    Args:
        design: the design's name; empty in an environment that is used by hand.
        folder: the folder of the recipe, relative to the project.
        output: the folder of the artifacts, relative to the project.
        arch, toolchain, mode: what objects are compiled for, with what, and how.
        parameters: the content of the parameters file.
        arguments, sequences, run_timeout: from the contract.
        search: folders of shared templates.
    """

    design: str
    folder: str
    output: str
    arch: str
    toolchain: str
    mode: str
    parameters: Mapping[str, object]
    arguments: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    run_timeout: float = 60.0
    search: tuple[str, ...] = ()


@dataclass(frozen=True)
class DesignNodes:
    """The nodes of a design, by name; what an arch does not make is None."""

    name: str
    output: str
    mlir: Any
    generic: Any
    facts: Any
    objects: tuple[Any, ...]
    cores: Any = None
    kernels: Any = None
    check: Any = None

    @property
    def all(self) -> list[Any]:
        """Every node, for `Default`, `Alias`, `Install` or `Depends`."""
        single = [self.mlir, self.generic, self.facts, self.cores, self.kernels, self.check]
        return [node for node in (*single, *self.objects) if node is not None]


def core_object(env: Any, name: str, **keywords: Any) -> model.CoreObject:
    """Return a core object: one source or text, for any number of functions."""
    del env
    return model.make(model.CoreObject, {"name": name, **keywords}, recipe_line())


def core_archive(env: Any, name: str, **keywords: Any) -> model.CoreArchive:
    """Return an archive of several sources."""
    del env
    return model.make(model.CoreArchive, {"name": name, **keywords}, recipe_line())


def prebuilt(env: Any, name: str, **keywords: Any) -> model.Prebuilt:
    """Return an object or archive that somebody else compiled."""
    del env
    return model.make(model.Prebuilt, {"name": name, **keywords}, recipe_line())


def design(env: Any, **keywords: Any) -> DesignNodes:
    """Plan a design's steps, and return its nodes."""
    made = model.make(model.Design, keywords, recipe_line())
    session: Session = env["AIE_SESSION"]
    configuration: Configuration = env["AIE_CONFIGURATION"]
    if not configuration.design and not made.name:
        raise RecipeError("Design needs name= where no design.yaml gives one", made.where)
    _require_files(made, configuration, session)
    toolchain = session.toolchain(configuration.toolchain, configuration.arch, configuration.mode)
    builder = Linker(env, session, configuration, toolchain)
    links = {item.link_name: builder.build(item) for item in made.link_with}
    plan = flow.DesignPlan(
        name=made.name or configuration.design,
        folder=configuration.folder,
        output=configuration.output,
        design=made,
        parameters=configuration.parameters,
        arguments=configuration.arguments,
        sequences=configuration.sequences,
        run_timeout=configuration.run_timeout,
        search=configuration.search,
        links=links,
    )
    nodes = _plan_nodes(env, session, configuration, plan, toolchain)
    session.designs.append(nodes)
    return nodes


def _plan_nodes(
    env: Any, session: Session, configuration: Configuration, plan: flow.DesignPlan, toolchain: Toolchain
) -> DesignNodes:
    steps = list(flow.plan_mlir(plan, session.python("mlir")))
    if configuration.arch == "host":
        steps += flow.plan_host_run(plan, session.python("host"), toolchain)
    made: dict[str, Any] = {}
    for planned in steps:
        made.update(zip(planned.step.outputs, add_planned(env, planned), strict=True))
    return DesignNodes(
        name=plan.name,
        output=plan.output,
        mlir=made[plan.file(".mlir")],
        generic=made[plan.file(".generic.mlir")],
        facts=made[plan.file(".facts.json")],
        objects=tuple(env.fs.Top.File(file) for file in plan.links.values()),
        cores=made.get(plan.file(".cores.py")),
        kernels=made.get(plan.file(".kernels.zip")),
        check=made.get(f"{plan.output}/check.json"),
    )


def _require_files(made: model.Design, configuration: Configuration, session: Session) -> None:
    for name in filter(None, (made.mlir, made.check)):
        path = session.root / configuration.folder / name
        if not path.is_file():
            beside = sorted(entry.name for entry in path.parent.glob(f"*{path.suffix}") if entry.is_file())
            hint = f"beside the recipe: {', '.join(beside)}" if beside else ""
            raise RecipeError(f"{project_path(path, session.root)} does not exist", made.where, hint)


WORDS: dict[str, Callable[..., Any]] = {
    "CoreObject": core_object,
    "CoreArchive": core_archive,
    "Prebuilt": prebuilt,
    "Design": design,
}


def add_words(env: Any) -> None:
    """Give an environment the words of a recipe, and the builders under them."""
    for name, function in (*WORDS.items(), *by_hand.BUILDERS.items()):
        env.AddMethod(guarded(function), name)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that ends the run with our message where it is used by hand, instead of a traceback."""

    @functools.wraps(function)
    def method(env: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            return function(env, *arguments, **keywords)
        except AieBuildError as error:
            if env["AIE_SESSION"].manages_errors:
                raise
            report.tell_error(error)
            SCons.Script.Exit(2)

    return method
