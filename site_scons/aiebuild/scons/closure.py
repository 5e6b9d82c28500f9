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
    from collections.abc import Iterable

    from aiebuild.scons.session import Session


@dataclass
class Closure:
    """Files read or written and which of them were made; folders searched or listed; files looked for in vain."""

    files: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)


def closure(nodes: Iterable[Any], session: Session, scripts: Iterable[str]) -> Closure:
    """Return the closure of some targets.

    Args:
        nodes: the targets.
        session: what this run knows: files outside the graph that it fingerprinted, and where tools were looked for.
        scripts: contracts, recipes and the `SConstruct`.
    """
    found = Closure(files=set(scripts))
    seen: set[Any] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, SCons.Node.FS.Base):
            name = project_path(Path(str(node.get_abspath())), session.root)
            found.files.add(name)
            if node.has_builder():
                found.made.add(name)
        _add_reads(node, found, session)
        waiting += node.children(scan=0) if node.has_builder() else []
    _add_tools(found, session)
    return found


def _add_reads(node: Any, found: Closure, session: Session) -> None:
    if not node.has_builder():
        return
    step = node.get_build_env().get("AIE_STEP")
    if step is None or not step.depfile:
        return
    record = record_of(step)
    reads = depfile.read(session.root / record)
    if reads is None:
        return
    found.made.add(record)
    found.files.update((record, *reads.files, *reads.external))
    found.folders.update(reads.folders)
    _add_absent(reads.absent, found, session)


def _add_absent(names: Iterable[str], found: Closure, session: Session) -> None:
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


def _add_tools(found: Closure, session: Session) -> None:
    """Note our own modules, the tools and their headers, and the folders in which other tools would have been found."""
    tools = session.fingerprints.settled
    found.files.update(tools)
    found.files.update(str(path) for path in PACKAGE.rglob("*.py"))
    found.folders.update(str(Path(path).parent) for path in tools)
    found.folders.update(folder for folder in session.searched if Path(folder).is_dir())
