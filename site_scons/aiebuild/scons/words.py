"""The words of a recipe as methods of an environment: values in, nodes out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Script

from aiebuild import flow, model
from aiebuild.errors import AieBuildError, Location, RecipeError
from aiebuild.scons import report
from aiebuild.scons.builders import add_planned, checked_keywords
from aiebuild.scons.location import calling_line
from aiebuild.scons.session import project_path
from aiebuild.scons.sources import find_member_sources, find_source, located, prebuilt_file

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
    return model.make(model.CoreObject, {"name": name, **keywords}, _here())


def core_archive(env: Any, name: str, **keywords: Any) -> model.CoreArchive:
    """Return an archive of several sources."""
    del env
    return model.make(model.CoreArchive, {"name": name, **keywords}, _here())


def prebuilt(env: Any, name: str, **keywords: Any) -> model.Prebuilt:
    """Return an object or archive that somebody else compiled."""
    del env
    return model.make(model.Prebuilt, {"name": name, **keywords}, _here())


def design(env: Any, **keywords: Any) -> DesignNodes:
    """Plan a design's steps, and return its nodes."""
    made = model.make(model.Design, keywords, _here())
    session: Session = env["AIE_SESSION"]
    configuration: Configuration = env["AIE_CONFIGURATION"]
    if not configuration.design and not made.name:
        raise RecipeError("Design needs name= where no design.yaml gives one", made.where)
    _require_files(made, configuration, session)
    toolchain = session.toolchain(configuration.toolchain, configuration.arch, configuration.mode)
    builder = _Linker(env, session, configuration, toolchain)
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


@dataclass(frozen=True)
class _Linker:
    """Turns what a design links into files, and plans the steps that make them."""

    env: Any
    session: Session
    configuration: Configuration
    toolchain: Toolchain

    def build(self, item: model.Linkable) -> str:
        """Return the file of an object or archive, relative to the project."""
        if isinstance(item, model.CoreObject):
            return self._object(item)
        if isinstance(item, model.CoreArchive):
            return self._archive(item)
        return prebuilt_file(item, self.configuration.arch, self._folder(item), self.session.root)

    def _object(self, item: model.CoreObject) -> str:
        source = item.text
        if source is None:
            source = find_source(item, self.configuration.arch, self._folder(item), self.session.root)
        compilation = self._compilation(item, source, is_text=item.text is not None, renames=item.renames)
        return self._compile(compilation, flow.Origin(item.where, f"CoreObject {item.name!r}"))

    def _archive(self, item: model.CoreArchive) -> str:
        origin = flow.Origin(item.where, f"CoreArchive {item.name!r}")
        sources = find_member_sources(item, self.configuration.arch, self._folder(item), self.session.root)
        members = tuple(self._compile(self._compilation(item, source), origin) for source in sources)
        key = model.digest_key(members)
        output = f"{self._objects}/lib{item.name}-{key}.a"
        add_planned(self.env, flow.plan_archive(self.toolchain, members, output, origin))
        return output

    def _compilation(
        self,
        item: model.CoreObject | model.CoreArchive,
        source: str,
        *,
        is_text: bool = False,
        renames: tuple[tuple[str, str], ...] = (),
    ) -> model.Compilation:
        folder = self._folder(item)
        return model.Compilation(
            toolchain=self.toolchain.name,
            arch=self.toolchain.arch,
            mode=self.configuration.mode,
            source=source,
            is_text=is_text,
            flags=item.flags,
            defines=item.defines,
            include_dirs=tuple(located(name, folder, self.session.root) for name in item.include_dirs),
            renames=renames,
        )

    def _compile(self, compilation: model.Compilation, origin: flow.Origin) -> str:
        output = f"{self._objects}/{compilation.object_name}"
        for planned in flow.plan_object(compilation, self.toolchain, output, origin):
            add_planned(self.env, planned)
        return output

    @property
    def _objects(self) -> str:
        return f"{self.session.build_dir}/{self.configuration.arch}/objects"

    def _folder(self, item: model.Linkable) -> Path:
        """Return the folder that a value's own relative paths start from: that of the file that made it."""
        return self.session.root / Path(item.where.file).parent if item.where else self.session.root


def aie_object(env: Any, target: str, source: str, **keywords: Any) -> list[Any]:
    """Compile one source to exactly the target that is named.

    Keywords: defines, include_dirs, flags, functions, symbol_prefix, as in CoreObject.
    """
    known = ("defines", "include_dirs", "flags", "functions", "symbol_prefix")
    checked_keywords("AieObject", known, keywords)
    session, configuration, toolchain = _tools(env)
    where = _here()
    item = model.make(model.CoreObject, {"name": "object", "source": str(source), **keywords}, where)
    linker = _Linker(env, session, configuration, toolchain)
    found = find_source(item, configuration.arch, Path(str(env.Dir(".").get_abspath())), session.root)
    compilation = linker._compilation(item, found, renames=item.renames)
    output = _own_target(env, target, session)
    origin = flow.Origin(where, f"AieObject {output!r}")
    planned = flow.plan_object(compilation, toolchain, output, origin)
    return [node for step in planned for node in add_planned(env, step)][-1:]


def aie_archive(env: Any, target: str, source: Any, **keywords: Any) -> list[Any]:
    """Make an archive of exactly these objects at exactly the target that is named."""
    checked_keywords("AieArchive", (), keywords)
    session, _, toolchain = _tools(env)
    members = tuple(project_path(Path(str(node.get_abspath())), session.root) for node in _nodes(env, source))
    output = _own_target(env, target, session)
    return add_planned(
        env, flow.plan_archive(toolchain, members, output, flow.Origin(_here(), f"AieArchive {output!r}"))
    )


WORDS: dict[str, Callable[..., Any]] = {
    "CoreObject": core_object,
    "CoreArchive": core_archive,
    "Prebuilt": prebuilt,
    "Design": design,
    "AieObject": aie_object,
    "AieArchive": aie_archive,
}


def add_words(env: Any) -> None:
    """Give an environment the words of a recipe."""
    for name, function in WORDS.items():
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


def _tools(env: Any) -> tuple[Session, Configuration, Toolchain]:
    session: Session = env["AIE_SESSION"]
    configuration: Configuration = env["AIE_CONFIGURATION"]
    chosen = session.toolchain(configuration.toolchain, configuration.arch, configuration.mode)
    return session, configuration, chosen


def _own_target(env: Any, target: Any, session: Session) -> str:
    return project_path(Path(str(env.File(target).get_abspath())), session.root)


def _nodes(env: Any, source: Any) -> list[Any]:
    found: list[Any] = env.arg2nodes(source, env.fs.File)
    return found


def _here() -> Location:
    return calling_line() or Location("SConstruct")
