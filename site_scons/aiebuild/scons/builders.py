"""The SCons builders under the words; each can be used by hand, with its keywords checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import SCons.Builder

from aiebuild.errors import RecipeError, did_you_mean
from aiebuild.files import in_the_way
from aiebuild.scons.action import StepAction
from aiebuild.scons.location import calling_line
from aiebuild.scons.scanner import RECORD, STORE, no_scanner, target_scanner
from aiebuild.scons.session import project_path
from aiebuild.scons.signatures import SOURCE

if TYPE_CHECKING:
    from pathlib import Path

    from aiebuild.flow import Planned
    from aiebuild.step import Step

MOVE = "move it away"

BUILDERS = {
    "AieText": "a text as a file",
    "AieObject": "a source as a core object",
    "AieArchive": "core objects as an archive",
    "AieMlir": "MLIR, rendered and checked",
    "AieHostRun": "a design that runs on this machine",
    "AieInsts": "a runtime sequence for the NPU's controller",
    "AieXclbin": "what configures the NPU",
    "AiePackage": "the artifacts of a design as one file, or in a folder",
}


def add_builders(env: Any) -> None:
    """Give an environment the builders of all steps."""
    action = StepAction()
    for name in BUILDERS:
        builder = SCons.Builder.Builder(
            action=action,
            source_scanner=no_scanner(),
            target_scanner=target_scanner(),
            single_source=False,
        )
        env.Append(BUILDERS={f"_{name}": builder})


def add_planned(env: Any, planned: Planned) -> list[Any]:
    """Return the nodes of a planned step; the same step asked for twice is one node."""
    session = env["AIE_SESSION"]
    step = planned.step
    targets = [_target(name, step, session.root, env) for name in step.outputs]
    if session.is_planned(step):
        return targets
    sources = [env.fs.Top.File(name) for name in planned.sources] or [env.Value(step.signature)]
    nodes: list[Any] = env["BUILDERS"][f"_{planned.builder}"](env, targets, sources, AIE_STEP=step)
    for node in nodes:
        node.store_info = STORE
    for node in sources if planned.sources else ():
        if not node.has_builder():
            node.store_info = SOURCE
    session.planned.append((planned, nodes[0]))
    if step.always:
        session.is_repeatable = False
        env.AlwaysBuild(nodes)
        env.NoCache(nodes)
    if step.depfile:
        # A cached result is found by the contents of its inputs, and those that the step itself finds out are not
        # known where there is no record yet.
        env.NoCache(nodes)
        env.Clean(nodes, env.fs.Top.File(step.outputs[0] + RECORD))
    return nodes


def _target(name: str, step: Step, root: Path, env: Any) -> Any:
    """Return the node of an output.

    Raises:
        RecipeError: a folder is in its place, or a file in that of its folder.
    """
    try:
        return env.fs.Top.File(name)
    except TypeError:
        if (root / name).is_dir():
            message = f"{name} is a folder, and a step writes a file there"
            raise RecipeError(message, step.where, MOVE) from None
        file = in_the_way((root / name).parent)
        if file is None:
            raise
        message = f"{project_path(file, root)} is a file, and steps write into a folder of that name"
        raise RecipeError(message, step.where, MOVE) from None


def checked_keywords(word: str, known: tuple[str, ...], given: dict[str, Any]) -> None:
    """Refuse a keyword that a builder does not have; SCons itself would take it for a variable."""
    for key in given:
        if key not in known:
            raise RecipeError(f"{word} has no {key!r}", calling_line(), did_you_mean(key, known))
