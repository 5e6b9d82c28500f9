"""Everything that a design's result depends on, gathered from SCons's graph after a successful build."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Node.FS

from aiebuild import depfile
from aiebuild.scons.scanner import record_of
from aiebuild.scons.session import project_path
from aiebuild.toolchains.python import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiebuild.scons.session import Session
    from aiebuild.step import Step


@dataclass
class Closure:
    """What a result depends on.

    `files` were read or written; `made` are those that a step wrote, with their nodes (None: a record beside one, which
    are the `notes`: nothing is made of them).
    `folders` were searched: a new name in one of them may hide another. `listed` were listed by a step or a recipe.
    `absent` were looked for in vain; `hidden` too, and the folders that they would be in tell of them. `doubt` says
    why nobody can tell whether it is up to date, if nobody can.
    """

    files: set[str] = field(default_factory=set)
    made: dict[str, Any] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    doubt: str = ""


def closure(nodes: Iterable[Any], session: Session, scripts: Iterable[str]) -> Closure:
    """Return the closure of some targets.

    Args:
        nodes: the targets.
        session: what this run knows: files outside the graph that it fingerprinted, and where tools were looked for.
        scripts: contracts, recipes and the `SConstruct`.
    """
    found = Closure(files=set(scripts))
    for node in walk(nodes):
        if isinstance(node, SCons.Node.FS.Base):
            name = project_path(Path(str(node.get_abspath())), session.root)
            found.files.add(name)
            if node.has_builder():
                found.made[name] = node
        step = step_of(node)
        if step is not None:
            if step.always:
                found.doubt = f"the step {step.label!r} gives another result each time"
            found.files.update(_programs(step))
            _add_reads(node, step, found, session)
    _add_tools(found, session)
    _add_python(found, session)
    return found


def _programs(step: Step) -> set[str]:
    """Return the programs of a step by the names that it calls them by: a link may come to lead elsewhere."""
    words = {word for command in step.commands for word in command if Path(word).is_absolute()}
    return {word for word in words if Path(word).is_file()}


def walk(nodes: Iterable[Any], below: Callable[[Any], Iterable[Any]] | None = None) -> Iterable[Any]:
    """Yield some nodes and everything that they are made from, each once.

    Args:
        nodes: where to begin.
        below: what a node is made from; as SCons has found out when left out.
    """
    seen: set[Any] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        waiting += (below or _children)(node)


def _children(node: Any) -> Iterable[Any]:
    found: Iterable[Any] = node.children(scan=0) if node.has_builder() else ()
    return found


def _named_sources(node: Any) -> Iterable[Any]:
    """Return the sources that a step names; unlike its children they are nothing that SCons would remember."""
    found: Iterable[Any] = () if step_of(node) is None else node.sources
    return found


def read_of(nodes: Iterable[Any], root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sources that some nodes are made from, and the records of what their steps have read besides.

    It is for graphs that still grow.
    """
    sources: set[str] = set()
    records: set[str] = set()
    for node in walk(nodes, _named_sources):
        step = step_of(node)
        if step is not None:
            records |= {record_of(step)} if step.depfile else set()
        elif isinstance(node, SCons.Node.FS.Base):
            sources.add(project_path(Path(str(node.get_abspath())), root))
    return tuple(sorted(sources)), tuple(sorted(records))


def step_of(node: Any) -> Step | None:
    """Return the step that makes a node; None for a source."""
    step: Step | None = node.get_build_env().get("AIE_STEP") if node.has_builder() else None
    return step


def _add_reads(node: Any, step: Step, found: Closure, session: Session) -> None:
    if step.scans:
        _add_hidden(_hidden_headers(node, step, session), found, session)
    if not step.depfile:
        return
    record = record_of(step)
    found.made.setdefault(record)
    found.notes.add(record)
    found.files.add(record)
    reads = depfile.read(session.root / record)
    if reads is None:
        found.doubt = f"it is not known what the step {step.label!r} has read"
        return
    found.files.update((*reads.files, *reads.external))
    found.listed.update(reads.folders)
    _add_hidden(reads.absent, found, session)


def _hidden_headers(node: Any, step: Step, session: Session) -> tuple[str, ...]:
    """Return the places where scanned headers would have been found first."""
    files = [project_path(Path(str(child.get_abspath())), session.root) for child in node.children(scan=0)]
    inside = tuple(name for name in files if not Path(name).is_absolute())
    places = depfile.candidates(inside, (), session.root, step.search)
    return tuple(name for name in places if not (session.root / name).exists())


def _add_hidden(names: Iterable[str], found: Closure, session: Session) -> None:
    """Note files that must stay away: by their folder where that exists, since its times tell of any new name."""
    for name in names:
        folder = Path(name).parent
        while not (session.root / folder).is_dir() and folder != folder.parent:
            folder = folder.parent
        inside = str(folder)
        if inside == session.build_dir or inside.startswith(f"{session.build_dir}/") or inside in {".", ""}:
            # Builds write there all the time: the file itself is looked for.
            found.absent.add(name)
        else:
            found.folders.add(inside)
            found.hidden.add(name)


def _add_tools(found: Closure, session: Session) -> None:
    """Note what identifies the tools, and the folders that it is in."""
    tools = session.fingerprints.settled
    found.files.update(tools)
    found.folders.update(str(Path(path).parent) for path in tools)


def _add_python(found: Closure, session: Session) -> None:
    """Note our own modules, and the folders in which programs and Python's packages are looked for."""
    found.files.update(str(path) for path in PACKAGE.rglob("*.py"))
    start = "site_scons/site_init.py"
    (found.files if (session.root / start).exists() else found.absent).add(start)
    for folder in {name or "." for name in session.searched}:
        path = Path(folder)
        if not path.is_dir():
            found.absent.add(folder) if not path.exists() else found.files.add(folder)
            continue
        found.folders.add(folder)
        # What they say is put on the search path as well.
        found.files.update(str(entry) for entry in path.glob("*.pth"))
