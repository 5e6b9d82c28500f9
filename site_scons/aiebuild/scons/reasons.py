"""Why a step runs, in the user's words: what SCons has stored of its last run, compared with what is there now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Node
import SCons.Node.FS
import SCons.Util

from aiebuild import depfile
from aiebuild.scons import scanner, step_memory
from aiebuild.scons.closure import step_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aiebuild.scons.session import Session
    from aiebuild.step import Step

NAMED = 3
"""How many files outside the project are named."""


@dataclass(frozen=True)
class Reason:
    """One cause: a word for programs, the file or step that it is about, and a sentence for people.

    `kind` is one of `never_built`, `output_gone`, `output_changed`, `changed`, `gone`, `added`, `dropped`, `shadowed`,
    `replaced`, `listed`, `outside`, `unknown_reads`, `step`, `order`, `always`.
    """

    kind: str
    cause: str
    text: str


def reasons(node: Any, session: Session, pending: Collection[Any] = ()) -> list[Reason]:
    """Return why the step that makes a node has to run; nothing where it has not.

    Args:
        node: one of its outputs.
        session: this run.
        pending: nodes whose content may become another before the step's turn: they are not looked at.
    """
    step = step_of(node)
    if step is None:
        return []
    if all(_stored(target) is None for target in node.get_executor().get_all_targets()):
        return _of_new_step(step, session)
    targets = node.get_executor().get_all_targets()
    return list(dict.fromkeys(reason for target in targets for reason in _of_target(target, step, session, pending)))


def _of_target(target: Any, step: Step, session: Session, pending: Collection[Any]) -> list[Reason]:
    name = str(target)
    children = target.children()
    before = _stored(target)
    if before is None:
        return [Reason("never_built", name, f"{name} was never built")]
    found = [Reason("always", name, "its result differs each time")] if step.always else []
    if name not in session.present:
        found.append(Reason("output_gone", name, f"the output {name} was deleted"))
    current = [str(child) for child in children]
    renamed = _renamed(before, current)
    taken, waiting = set(renamed.values()), set(map(str, pending))
    for child in children:
        if str(child) not in taken:
            found += _of_child(child, before, step, session, pending)
    found += [_replaced(old, new, session, waiting) for old, new in renamed.items()]
    if not any(name.startswith(scanner.UNRECORDED) for name in current):
        found += _dropped([name for name in before if name not in renamed], set(current), session)
    found += _of_step(target, step, session, renamed)
    if not found and not pending and list(before) != current:
        found.append(Reason("order", name, "its inputs stand in another order"))
    return found


def _stored(target: Any) -> dict[str, str | None] | None:
    """Return the inputs of the last run, with the digests of their contents; None where there was none."""
    kept = getattr(target.get_stored_info(), "binfo", None)
    if kept is None or not hasattr(kept, "bsources"):
        return None
    names = [*kept.bsources, *kept.bdepends, *kept.bimplicit]
    digests = [*kept.bsourcesigs, *kept.bdependsigs, *kept.bimplicitsigs]
    return {str(name): getattr(digest, "csig", None) for name, digest in zip(names, digests, strict=False)}


def _of_child(
    child: Any, before: dict[str, str | None], step: Step, session: Session, pending: Collection[Any]
) -> list[Reason]:
    name = str(child)
    if not isinstance(child, SCons.Node.FS.Base):
        return _of_value(name, step, session) if name not in before else []
    if child in pending:
        return []
    if name not in before:
        return [Reason("added", name, f"{name} is a new input")]
    if not child.exists():
        return [Reason("gone", name, f"{name} is gone")]
    return [Reason("changed", name, f"{name} changed")] if child.get_csig() != before[name] else []


def _of_value(name: str, step: Step, session: Session) -> list[Reason]:
    """Return what a value among the inputs says; those are the scanner's own sentences."""
    if name.endswith(scanner.CHANGED):
        output = name[: -len(scanner.CHANGED)]
        return [Reason("output_changed", output, f"the output {output} was changed by something else")]
    head, _, rest = name.partition(": ")
    if head == scanner.SHADOWING:
        files = rest.split(", ")
        return [Reason("shadowed", file, f"a new file may be found first: {file}") for file in files]
    if head == scanner.OUTSIDE:
        return _outside(step, session)
    if head.startswith(scanner.NAMES):
        folder = head[len(scanner.NAMES) :]
        return [Reason("listed", folder, f"other names are in the folder {folder}")]
    if name.startswith(scanner.UNRECORDED):
        output = step.outputs[0]
        return [
            Reason(
                "unknown_reads",
                output,
                "what it read last is not known: an input changed while it ran, or its record is gone",
            )
        ]
    return []


def _outside(step: Step, session: Session) -> list[Reason]:
    reads = depfile.read(session.root / scanner.record_of(step))
    before = step_memory.recall(step.outputs[0], session.state)
    files = [file for file in (reads.external if reads else ()) if before and _is_newer(file, before.at)]
    if not files:
        return [Reason("outside", "", "files outside the project changed, or other ones are read")]
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return [Reason("outside", files[0], f"outside the project: {', '.join(files[:NAMED])} changed{more}")]


def _is_newer(file: str, than: int) -> bool:
    try:
        return Path(file).stat().st_ctime_ns > than
    except OSError:
        return True


def _dropped(before: list[str], current: set[str], session: Session) -> list[Reason]:
    lost = [name for name in before if name not in current and not _is_value(name)]
    return [
        Reason("dropped", name, f"{name} is no input any more")
        if (session.root / name).exists()
        else Reason("gone", name, f"{name} is gone")
        for name in lost
    ]


def _is_value(name: str) -> bool:
    sentences = (scanner.SHADOWING, scanner.OUTSIDE, scanner.NAMES, scanner.UNRECORDED, "[")
    return name.startswith(sentences) or name.endswith(scanner.CHANGED)


def _of_step(target: Any, step: Step, session: Session, renamed: Mapping[str, str]) -> list[Reason]:
    signed = target.get_stored_info().binfo.bactsig
    if signed == SCons.Util.hash_signature(step.signature.encode()):
        return []
    before = step_memory.recall(step.outputs[0], session.state)
    if before is None or signed != SCons.Util.hash_signature(before.signature.encode()):
        return [Reason("step", step.outputs[0], "its command changed; what it was is not known any more")]
    said = step_memory.differences(before, step_memory.as_it_is(step), renamed) or (
        [] if renamed else ["its command changed"]
    )
    return [Reason("step", step.outputs[0], text) for text in said]


def _renamed(before: Collection[str], current: Collection[str]) -> dict[str, str]:
    """Return which inputs took another's place: objects of one name whose keys differ, the old ones to the new ones."""
    here = set(current)
    new = {_stem(name): name for name in current if name not in before and _stem(name)}
    lost = {_stem(name): name for name in before if name not in here and _stem(name)} if new else {}
    return {name: new[stem] for stem, name in lost.items() if stem in new}


def _stem(name: str) -> tuple[str, str] | None:
    """Return what is left of the name of an object or archive without its key: `<name>-<12 hexadecimal digits>.o`."""
    found = re.fullmatch(r"(.*)-[0-9a-f]{12}(\.\w+)", name)
    return (found[1], found[2]) if found else None


def _replaced(old: str, new: str, session: Session, pending: Collection[str]) -> Reason:
    why = "" if new in pending else "; ".join(_since(old, new, session))
    return Reason("replaced", new, f"{new} takes the place of {old}{': ' if why else ''}{why}")


def _since(old: str, new: str, session: Session) -> list[str]:
    """Return in words what distinguishes two steps that have run, by their first outputs."""
    before, now = (step_memory.recall(name, session.state) for name in (old, new))
    return step_memory.differences(before, now, {old: new}) if before and now else []


def _of_new_step(step: Step, session: Session) -> list[Reason]:
    """Return why a step was never run: what it has that the step has not whose place it takes, if there is one."""
    output = step.outputs[0]
    for old in _predecessors(output, session):
        before = step_memory.recall(old, session.state)
        said = step_memory.differences(before, step_memory.as_it_is(step), {old: output}) if before is not None else []
        if said:
            return [Reason("step", output, text) for text in said]
    return [Reason("never_built", output, "it was never built")]


def _predecessors(output: str, session: Session) -> list[str]:
    """Return the files whose place an output takes in the steps that use it."""
    if session.predecessors is None:
        session.predecessors = _all_predecessors(session)
    return session.predecessors.get(output, [])


def _all_predecessors(session: Session) -> dict[str, list[str]]:
    """Return the files whose place each file takes, by the sources of all steps; once a run, since that takes a while.

    Not by the children, which SCons may not know yet.
    """
    seen: dict[Any, None] = dict.fromkeys(node for design in session.designs for node in design.all)
    found: dict[str, list[str]] = {}
    for node in (waiting := list(seen)):
        if not node.sources:
            continue
        for old, new in _renamed(_stored(node) or {}, [str(source) for source in node.sources]).items():
            places = found.setdefault(new, [])
            if old not in places:
                places.append(old)
        for source in node.sources:
            if source not in seen:
                seen[source] = None
                waiting.append(source)
    return found
