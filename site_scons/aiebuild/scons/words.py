"""The words of a recipe as methods of an environment: values in, nodes out."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Script

from aiebuild import flow, model
from aiebuild.errors import AieBuildError, RecipeError
from aiebuild.flow_host import plan_host_run
from aiebuild.flow_manifest import Made, host_products, npu_products, plan_manifest, sources_of, tools_of
from aiebuild.keywords import make
from aiebuild.manifest_request import Object
from aiebuild.scons import by_hand, report
from aiebuild.scons.builders import add_planned, checked_keywords
from aiebuild.scons.closure import read_of
from aiebuild.scons.linking import Linker
from aiebuild.scons.location import recipe_line
from aiebuild.scons.npu import npu_flow
from aiebuild.scons.session import project_path
from aiebuild.scons.sources import find_file, refuse_what_is_no_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiebuild.contract import Generator
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
        arguments, meanings, version, description, derived, sequences, run_timeout: from the contract.
        variant, label: how the manifest and packages call this configuration.
        search: folders of shared templates.
        generator: how a Python script is given the parameters; the contract's section.
        aiecc_dialect, aiecc_jobs, trace: from the command line.
    """

    design: str
    folder: str
    output: str
    arch: str
    toolchain: str
    mode: str
    parameters: Mapping[str, object]
    arguments: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    description: str = ""
    derived: tuple[str, ...] = ()
    variant: str = ""
    label: str = ""
    sequences: tuple[str, ...] = ()
    run_timeout: float = 60.0
    search: tuple[str, ...] = ()
    generator: Generator | None = None
    aiecc_dialect: str = ""
    aiecc_jobs: int = 0
    trace: bool = False


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
    manifest: Any = None
    trace: Any = None
    pretty: Any = None
    plan: flow.DesignPlan | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all(self) -> list[Any]:
        """Every node, for `Default`, `Alias`, `Install` or `Depends`."""
        single = [self.mlir, self.generic, self.facts, self.cores, self.kernels, self.check, self.trace, self.manifest]
        single.append(self.pretty)
        return [node for node in (*single, *self.objects, *self.artifacts) if node is not None]

    @property
    def artifacts(self) -> list[Any]:
        """The nodes of what aiecc makes."""
        nested = [list(item.values()) if isinstance(item, dict) else [item] for item in self.outputs.values()]
        return [node for group in nested for node in group]

    def __getattr__(self, name: str) -> Any:
        """Return an artifact by its kind: `.xclbin`, `.pdi`, `.insts["main"]`."""
        try:
            return self.outputs[name]
        except KeyError:
            raise AttributeError(name) from None


def core_object(env: Any, name: str, **keywords: Any) -> model.CoreObject:
    """Return a core object: one source or text, for any number of functions."""
    del env
    return make(model.CoreObject, {"name": name, **keywords}, recipe_line())


def core_archive(env: Any, name: str, **keywords: Any) -> model.CoreArchive:
    """Return an archive of several sources."""
    del env
    return make(model.CoreArchive, {"name": name, **keywords}, recipe_line())


def prebuilt(env: Any, name: str, **keywords: Any) -> model.Prebuilt:
    """Return an object or archive that somebody else compiled."""
    del env
    return make(model.Prebuilt, {"name": name, **keywords}, recipe_line())


def mlir_module(env: Any, name: str, **keywords: Any) -> model.MlirModule:
    """Return a module of MLIR that designs can import."""
    made = make(model.MlirModule, {"name": name, **keywords}, recipe_line())
    session: Session = env["AIE_SESSION"]
    session.modules.setdefault(env["AIE_CONFIGURATION"].output, []).append(made)
    return made


def design(env: Any, **keywords: Any) -> DesignNodes:
    """Plan a design's steps, and return its nodes."""
    made = make(model.Design, keywords, recipe_line())
    session: Session = env["AIE_SESSION"]
    configuration: Configuration = env["AIE_CONFIGURATION"]
    if not configuration.design:
        hint = 'env, p = env.AieConfiguration("<folder of its design.yaml>"), or by hand: env.AieHostRun, env.AieXclbin'
        raise RecipeError("Design needs a contract, and this environment has none", made.where, hint)
    _require_files(made, configuration, session)
    if configuration.trace and configuration.arch == "host" and not made.check:
        session.warn(f"{made.name or configuration.design}: trace=1 traces the run of a check, and there is none")
    toolchain = session.toolchain(configuration.toolchain, configuration.arch, configuration.mode)
    builder = Linker(env, session, configuration, toolchain)
    translated = {item.link_name: file for item in made.link_with if (file := builder.import_of(item))}
    links = {item.link_name: builder.build(item) for item in made.link_with if item.link_name not in translated}
    plan = flow.DesignPlan(
        name=made.name or configuration.design,
        folder=configuration.folder,
        output=configuration.output,
        design=made,
        parameters=configuration.parameters,
        arguments=configuration.arguments,
        meanings=configuration.meanings,
        version=configuration.version,
        description=configuration.description,
        derived=configuration.derived,
        variant=configuration.variant,
        configuration=configuration.label,
        sequences=configuration.sequences,
        run_timeout=configuration.run_timeout,
        trace=configuration.trace,
        search=configuration.search,
        links=links,
        imports=(*(_module_file(env, module, configuration) for module in made.imports), *translated.values()),
        known=tuple(
            _module_file(env, module, configuration)
            for module in session.modules.get(configuration.output, ())
            if module not in made.imports
        ),
        promises={item.link_name: _promised(item) for item in made.link_with if item.link_name in links},
        generator=configuration.generator,
        interpreter=_interpreter(made, session),
        native=_native_reader(session, configuration),
        printer=session.printer(made.where) if made.pretty else flow.NO_READER,
    )
    objects = [Object(item.link_name, *builder.describe(item)) for item in made.link_with]
    nodes = _plan_nodes(env, session, configuration, plan, toolchain, objects=objects)
    session.designs.append(nodes)
    return nodes


def _module_file(env: Any, module: model.MlirModule, configuration: Configuration) -> str:
    """Return the generic form of a module, and plan the step that makes it; designs share it."""
    session: Session = env["AIE_SESSION"]
    folder = session.root / Path(module.where.file).parent if module.where else session.root
    source = find_file(
        module.source, configuration.arch, folder, session.root, where=module.where, word=f"MlirModule {module.name!r}"
    )
    output = f"{session.build_dir}/modules/{Path(source).stem}-{model.digest_key([source])}.generic.mlir"
    add_planned(
        env,
        flow.plan_module(
            source,
            output,
            session.python("mlir"),
            flow.Origin(module.where, f"MlirModule {module.name!r}"),
            session.native_reader(),
        ),
    )
    return output


def _promised(item: model.Linkable) -> tuple[str, ...]:
    """Return the symbols that a file of the recipe must define."""
    renames = dict(item.renames) if isinstance(item, model.CoreObject) else {}
    return tuple(renames.get(name, name) for name in item.functions)


def xclbin_chain(env: Any, name: str, **keywords: Any) -> list[Any]:
    """Plan one xclbin with the kernels of several designs, and return its node; the host has none, and returns nothing.

    Keywords: designs, the values that `Design` returned, in the order in which their kernels are added.
    """
    where = recipe_line()
    checked_keywords("XclbinChain", ("designs",), keywords)
    designs = keywords.get("designs", ())
    if len(designs) < 2 or not all(isinstance(item, DesignNodes) for item in designs):
        raise RecipeError("XclbinChain needs two designs or more", where, "designs=[env.Design(...), env.Design(...)]")
    session: Session = env["AIE_SESSION"]
    configuration: Configuration = env["AIE_CONFIGURATION"]
    if configuration.arch == "host":
        return []
    toolchain = session.toolchain(configuration.toolchain, configuration.arch, configuration.mode)
    plans = [item.plan for item in designs if item.plan is not None]
    steps = npu_flow(session, configuration, toolchain).plan_chain(name, plans)
    nodes = [node for planned in steps for node in add_planned(env, planned)]
    session.chains += nodes[-1:]
    return nodes[-1:]


def _interpreter(made: model.Design, session: Session) -> str:
    """Return the Python that has mlir-aie, where a script makes the MLIR and that is not the running one."""
    if made.mlir.endswith((".mlir", ".mlir.j2")):
        return ""
    from aiebuild.toolchains.discover import python_interpreter  # noqa: PLC0415 - only scripts need it

    found = python_interpreter(session.places).path
    return "" if found == sys.executable else found


def _native_reader(session: Session, configuration: Configuration) -> flow.NativeReader:
    """Return the aie-opt of the installation that builds for the NPU; on the host the built-in reader is all."""
    if configuration.arch == "host":
        return flow.NO_READER
    tools = session.npu_tools(configuration.toolchain, configuration.aiecc_dialect)
    return flow.NativeReader(("--aie-opt", tools.aie_opt), tools.verifying) if tools.aie_opt else flow.NO_READER


def _plan_nodes(
    env: Any,
    session: Session,
    configuration: Configuration,
    plan: flow.DesignPlan,
    toolchain: Toolchain,
    *,
    objects: list[Object],
) -> DesignNodes:
    steps = list(flow.plan_mlir(plan, session.python))
    if configuration.arch == "host":
        steps += plan_host_run(plan, session.python("host"), toolchain)
        products, tools = host_products(plan), tools_of(toolchain, None)
    else:
        npu = npu_flow(session, configuration, toolchain)
        steps += npu.plan(plan)
        products, tools = npu_products(plan), tools_of(toolchain, npu.tools)
    made: dict[str, Any] = {}
    for planned in steps:
        made.update(zip(planned.step.outputs, add_planned(env, planned), strict=True))
    inputs, reads = read_of([env.fs.Top.File(name) for name in sources_of(plan, products)], session.root)
    facts = Made(products, tools, objects, inputs, reads)
    for planned in plan_manifest(plan, session.python("manifest_step"), facts, session.build_dir):
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
        check=made.get(plan.check_file),
        manifest=made[plan.manifest_file],
        trace=made.get(plan.trace_file),
        pretty=made.get(plan.file(".pretty.mlir")),
        plan=plan,
        outputs=_outputs(plan, made) if configuration.arch != "host" else {},
    )


def _outputs(plan: flow.DesignPlan, made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the artifacts by kind: a node, or one for each runtime sequence by its name."""
    from aiebuild.flow_npu import BY_SEQUENCE, SUFFIXES, artifact  # noqa: PLC0415 - the host needs none of it
    from aiebuild.mlir.sequence_text import UNNAMED  # noqa: PLC0415 - the same

    found: dict[str, Any] = {}
    for kind in plan.design.outputs:
        names = plan.sequences or (UNNAMED,)
        single = made.get(plan.file(SUFFIXES[kind]))
        found[kind] = {name: made[artifact(plan, kind, name)] for name in names} if kind in BY_SEQUENCE else single
    return found


def _require_files(made: model.Design, configuration: Configuration, session: Session) -> None:
    script = made.mlir.rpartition(":")[0] if ".py:" in made.mlir else made.mlir
    for name in filter(None, (script, made.check)):
        path = session.root / configuration.folder / name
        if not path.is_file():
            refuse_what_is_no_file(path, project_path(path, session.root), made.where)
            beside = sorted(entry.name for entry in path.parent.glob(f"*{path.suffix}") if entry.is_file())
            hint = f"beside the recipe: {', '.join(beside)}" if beside else ""
            raise RecipeError(f"{project_path(path, session.root)} does not exist", made.where, hint)


WORDS: dict[str, Callable[..., Any]] = {
    "CoreObject": core_object,
    "CoreArchive": core_archive,
    "Prebuilt": prebuilt,
    "MlirModule": mlir_module,
    "Design": design,
    "XclbinChain": xclbin_chain,
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
