"""After a build: the records by which the next start sees, without SCons's graph, that there is nothing to do.

A record is a promise. It is made only where everything is built, every output is there, and no input can have changed
since this process began: of a file that did, nobody knows which of its states was built.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Node
import SCons.Node.FS
import SCons.Script
import SCons.Util

from aiebuild import freshness
from aiebuild.scons.closure import Closure, closure
from aiebuild.scons.recipe_reads import own_modules
from aiebuild.stamps import CACHE, listings, stamps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.scons.recipe_reads import Seen
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import DesignNodes
    from aiebuild.stamps import Stamp

STEPPED = 1.0
"""Seconds by which the clock may differ from one that is never set before the times of files count for nothing."""

UNFIT = ("no_exec", "question", "clean", "help", "interactive", "repository", "site_dir", "include_dir")
"""Options of SCons under which nothing is built, or something else than what the command line of a record says."""


def is_fit() -> bool:
    """Return whether a record of this run would say what its command line asks for."""
    return not any(map(option, UNFIT)) and option("file") in (None, [], ["SConstruct"])


def option(name: str) -> Any:
    """Return one of SCons's options; None where this SCons has none of the name."""
    try:
        return SCons.Script.GetOption(name)
    except AttributeError:
        return None


def remember(
    session: Session,
    typed: list[tuple[str, str]],
    planned: Mapping[tuple[str, str], list[DesignNodes]],
    seen: Mapping[tuple[str, str], Seen],
) -> None:
    """Record each design, with its arch, that is wholly built."""
    if session.failed or SCons.Script.GetBuildFailures() or _was_set(session):
        return
    for key, nodes in planned.items():
        targets = [node for design in nodes for node in design.all]
        if not all(map(_is_built, targets)):
            continue
        found = closure([*targets, *session.chains], session, _scripts(key[0], session, seen[key]))
        _write(freshness.record_of(typed, *key), found, seen[key], session, nodes[0].output)


def _scripts(name: str, session: Session, seen: Seen) -> set[str]:
    """Return what was read to know what is to be built."""
    read = {str(node) for node in SCons.Node.SConscriptNodes}
    return {"SConstruct", f"designs/{name}/design.yaml", f"designs/{name}/SConscript"} | (
        read | seen.files | own_modules(session.root)
    )


def _write(record: freshness.Record, found: Closure, seen: Seen, session: Session, output: str) -> None:
    found.folders |= seen.folders
    found.absent |= seen.absent
    # In this order: a name that comes after the listings changes a stamp, and what changes while the stamps are looked
    # through is noticed by the next start.
    names = listings(found.listed | found.folders)
    files, folders = stamps(found.files), stamps(found.listed | found.folders)
    if not _Judge(session, found).approves(files, folders):
        return
    try:
        freshness.write(
            record,
            files={name: known for name, known in files.items() if name not in found.notes},
            folders=folders,
            names=names,
            absent=sorted(found.absent),
            variables=session.environment.values({*freshness.VARIABLES, *seen.variables}),
            answer={"output": output},
            doubt=seen.doubt or found.doubt,
        )
    except OSError as error:
        session.warn(f"{record.path} cannot be written: {error.strerror}; the next build reads the recipe again")


@dataclass(frozen=True)
class _Judge:
    """Tells whether what is there now is what this build saw."""

    session: Session
    found: Closure

    def approves(self, files: dict[str, Stamp], folders: dict[str, Stamp]) -> bool:
        """Return whether no input can have changed, no output is missing, and nothing new may be found first."""
        if any(os.path.lexists(self.session.root / name) for name in self.found.absent | self.found.hidden):
            return False
        if not all(self._is_as_built(name, known) for name, known in files.items()):
            return False
        return all(self._is_as_listed(name, known) for name, known in folders.items())

    def _is_as_built(self, name: str, known: Stamp) -> bool:
        if not known:
            return name not in self.found.made and self.session.fingerprints.is_missing(name)
        if known[2] <= self.session.opened_at:
            return True
        node = self.found.made.get(name)
        return name in self.found.made and (node is None or _has_its_content(node))

    def _is_as_listed(self, name: str, known: Stamp) -> bool:
        if not known or known[2] <= self.session.opened_at:
            return True
        return name not in self.found.listed and not self._has_new_names(self.session.root / name)

    def _has_new_names(self, folder: Path) -> bool:
        """Return whether something beside caches and the build folder came into a folder while this build ran."""
        own = {CACHE, Path(self.session.build_dir).parts[0]}
        try:
            return any(self._is_new(entry) for entry in os.scandir(folder) if entry.name not in own)
        except OSError:
            return True

    def _is_new(self, entry: os.DirEntry[str]) -> bool:
        """Return whether a name may have come while this build ran, for its file or folder changed meanwhile.

        Python's cache of the modules that a recipe imports is a change of their folder, and no new name above it.
        """
        if entry.stat(follow_symlinks=False).st_ctime_ns <= self.session.opened_at:
            return False
        cache = Path(entry.path, CACHE)
        is_cached = cache.is_dir() and cache.stat().st_ctime_ns > self.session.opened_at
        return not is_cached or self._has_new_names(Path(entry.path))


def _has_its_content(node: Any) -> bool:
    """Return whether a file that was made still has the content that SCons has stored of it."""
    stored = getattr(node.get_stored_info().ninfo, "csig", None)
    return stored is not None and stored == SCons.Util.hash_file_signature(
        node.get_abspath(), chunksize=SCons.Node.FS.File.hash_chunksize
    )


def _was_set(session: Session) -> bool:
    """Return whether somebody set the clock while this build ran."""
    by_clock = (time.time_ns() - session.started_at) / 1e9
    return abs(by_clock - (time.monotonic() - session.started)) > STEPPED


def _is_built(node: Any) -> bool:
    built = (SCons.Node.up_to_date, SCons.Node.executed)
    return node.get_state() in built or not node.has_builder()
