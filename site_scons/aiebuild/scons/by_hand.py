"""The builders for those who work by hand: exactly the targets that are named, in any project's `SConstruct`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import flow, model
from aiebuild.errors import RecipeError
from aiebuild.flow_host import plan_host_run
from aiebuild.flow_objects import plan_archive, plan_object
from aiebuild.keywords import make
from aiebuild.scons.builders import add_planned, checked_keywords
from aiebuild.scons.linking import Linker
from aiebuild.scons.location import recipe_line
from aiebuild.scons.npu import npu_flow
from aiebuild.scons.session import project_path
from aiebuild.scons.sources import find_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.scons.session import Session
    from aiebuild.scons.words import Configuration
    from aiebuild.toolchains.compiler import Toolchain


def aie_object(env: Any, target: str, source: str, **keywords: Any) -> list[Any]:
    """Compile one source to exactly the target that is named.

    Keywords: defines, include_dirs, flags, functions, symbol_prefix, host_source, as in CoreObject.
    """
    known = ("defines", "include_dirs", "flags", "functions", "symbol_prefix", "host_source")
    checked_keywords("AieObject", known, keywords)
    session, configuration, toolchain = _tools(env)
    where = recipe_line()
    item = make(model.CoreObject, {"name": "object", "source": str(source), **keywords}, where)
    linker = Linker(env, session, configuration, toolchain)
    found = find_source(item, configuration.arch, Path(str(env.Dir(".").get_abspath())), session.root)
    compilation = linker.compilation(item, found)
    output = _own_target(env, target, session)
    origin = flow.Origin(where, f"AieObject {output!r}")
    planned = plan_object(compilation, toolchain, output, origin)
    return [node for step in planned for node in add_planned(env, step)][-1:]


def aie_archive(env: Any, target: str, source: Any, **keywords: Any) -> list[Any]:
    """Make an archive of exactly these objects at exactly the target that is named."""
    checked_keywords("AieArchive", (), keywords)
    session, _, toolchain = _tools(env)
    members = tuple(project_path(Path(str(node.get_abspath())), session.root) for node in _nodes(env, source))
    output = _own_target(env, target, session)
    return add_planned(
        env, plan_archive(toolchain, members, output, flow.Origin(recipe_line(), f"AieArchive {output!r}"))
    )


def aie_mlir(env: Any, target: str, source: str, **keywords: Any) -> list[Any]:
    """Render and check one MLIR file; return the nodes of the checked text and of the facts about it.

    `target` is the checked text, `<folder>/<name>.generic.mlir`; its neighbours carry the same name.

    Keywords: device (what `aie.device` names), parameters (values for a template), link_with (names that the MLIR may
    use, with the file of each), pretty (aie-opt verifies it and writes its form, `<name>.pretty.mlir`, the last node).
    """
    checked_keywords("AieMlir", ("device", "parameters", "link_with", "pretty"), keywords)
    session: Session = env["AIE_SESSION"]
    plan = _plan_by_hand(env, target, source, keywords)
    nodes = [node for planned in flow.plan_mlir(plan, session.python) for node in add_planned(env, planned)]
    return nodes[-3:] if plan.design.pretty else nodes[-2:]


def aie_host_run(env: Any, target: str, source: str, **keywords: Any) -> list[Any]:
    """Run one MLIR file on this machine and compare it; return the node of `<folder>/check.json`.

    Keywords: those of AieMlir, and check (a Python file with `inputs` and `reference`), arguments and sequences (names,
    in order), name, run_timeout (seconds).
    """
    known = ("device", "parameters", "link_with", "check", "arguments", "sequences", "name", "run_timeout")
    checked_keywords("AieHostRun", known, keywords)
    session, _, toolchain = _tools(env)
    output = _own_target(env, target, session)
    name = keywords.get("name") or Path(str(source)).name.split(".")[0]
    text = f"#{output.rpartition('/')[0]}/{name}.generic.mlir"
    plan = _plan_by_hand(env, text, source, keywords)
    steps = (
        *flow.plan_mlir(plan, session.python),
        *plan_host_run(plan, session.python("host"), toolchain),
    )
    return [node for planned in steps for node in add_planned(env, planned)][-1:]


def aie_xclbin(env: Any, target: str, source: str, **keywords: Any) -> list[Any]:
    """Make `<folder>/<name>.xclbin` of one MLIR file and the objects that it links; keywords: those of AieMlir."""
    return _aiecc(env, "xclbin", target, source, keywords)


def aie_insts(env: Any, target: str, source: str, **keywords: Any) -> list[Any]:
    """Make `<folder>/<name>.insts.bin` of the runtime sequence of one MLIR file; keywords: those of AieMlir."""
    return _aiecc(env, "insts", target, source, keywords)


def _aiecc(env: Any, kind: str, target: str, source: str, keywords: dict[str, Any]) -> list[Any]:
    from aiebuild.flow_npu import SUFFIXES  # noqa: PLC0415 - the host needs none of it

    word = f"Aie{kind.capitalize()}"
    checked_keywords(word, ("device", "parameters", "link_with"), keywords)
    session, configuration, toolchain = _tools(env)
    if configuration.arch == "host":
        raise RecipeError(f"{word} is for the NPU", recipe_line(), 'Environment(tools=[aie], AIE_ARCH="aie2p")')
    if not str(target).endswith(SUFFIXES[kind]):
        raise RecipeError(f"{word}: {target} does not end in {SUFFIXES[kind]}", recipe_line())
    plan = _plan_by_hand(env, target, source, keywords)
    plan = replace(plan, design=replace(plan.design, outputs=(kind,)))
    steps = (*flow.plan_mlir(plan, session.python), *npu_flow(session, configuration, toolchain).plan(plan))
    return [node for planned in steps for node in add_planned(env, planned)][-1:]


def _plan_by_hand(env: Any, target: str, source: str, keywords: dict[str, Any]) -> flow.DesignPlan:
    session, configuration, _ = _tools(env)
    where = recipe_line()
    output = _own_target(env, target, session)
    name = Path(output).name.split(".")[0]
    if "device" not in keywords:
        raise RecipeError("device= is missing: what aie.device names", where, 'device="npu1_1col"')
    parameters = {
        "arch": configuration.arch,
        "device": keywords["device"],
        "design": name,
        "mode": configuration.mode,
        "parameters": dict(keywords.get("parameters", {})),
    }
    links = {
        link: project_path(Path(str(_nodes(env, file)[0].get_abspath())), session.root)
        for link, file in dict(keywords.get("link_with", {})).items()
    }
    return flow.DesignPlan(
        name=name,
        folder="",
        output=output.rpartition("/")[0],
        design=model.Design(
            mlir=_own_target(env, source, session),
            check=_own_target(env, keywords["check"], session) if "check" in keywords else None,
            pretty=bool(keywords.get("pretty")),
            where=where,
        ),
        parameters=parameters,
        arguments=tuple(keywords.get("arguments", ())),
        sequences=tuple(keywords.get("sequences", ())),
        run_timeout=float(keywords.get("run_timeout", 60)),
        search=configuration.search,
        links=links,
        printer=session.printer(where) if keywords.get("pretty") else flow.NO_READER,
    )


BUILDERS: dict[str, Callable[..., Any]] = {
    "AieObject": aie_object,
    "AieArchive": aie_archive,
    "AieMlir": aie_mlir,
    "AieHostRun": aie_host_run,
    "AieInsts": aie_insts,
    "AieXclbin": aie_xclbin,
}


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
