"""What recipes read beside their own text: files, folders, names that are not there, environment variables.

A recipe should need none of it; one that does all the same must not be taken for up to date when the answer changes.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.noted_environment import ALL, noted
from aiebuild.scons.location import reading_line
from aiebuild.scons.session import project_path
from aiebuild.stamps import CACHE
from aiebuild.toolchains.python import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.errors import Location


PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "os.exec"})
"""Audit events of running a program, https://docs.python.org/3/library/audit_events.html."""

NETWORK = frozenset({"socket.connect", "socket.getaddrinfo"})
"""Audit events of asking another computer."""


@dataclass
class Seen:
    """What was read.

    Attributes:
        files: they were opened.
        folders: they were listed.
        absent: names that were asked for in vain.
        variables: of the environment.
        doubt: what was asked whose answer nobody can compare, with its line; empty for nothing.
    """

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    doubt: str = ""

    def add(self, other: Seen) -> None:
        """Note what another one has noted."""
        self.files |= other.files
        self.folders |= other.folders
        self.absent |= other.absent
        self.variables |= other.variables
        self.doubt = self.doubt or other.doubt


class RecipeReads:
    """Watches the reading of recipes, by an audit hook and by standing in for `os.stat` and the environment meanwhile.

    A module is imported once, by the recipe that is read first: what it read then counts for all that are read later.

    Args:
        root: the project's folder; files outside it are not noted.
        build_dir: the build folder, which is not noted either: its files are in the graph.
    """

    def __init__(self, root: Path, build_dir: str) -> None:
        self._root = root
        self._ignored = (f"{root / build_dir}{os.sep}", *installed(root))
        self._seen: Seen | None = None
        self._of_modules = Seen()
        sys.addaudithook(self._hear)

    @contextlib.contextmanager
    def watch(self) -> Iterator[Seen]:
        """Note what is read until the end of the block."""
        seen = self._seen = Seen()
        real = os.stat

        def asking(path: Any, *arguments: Any, **keywords: Any) -> os.stat_result:
            try:
                return real(path, *arguments, **keywords)
            except OSError:
                self._note("absent", path)
                raise

        os.stat = asking
        try:
            with noted(self._hear_variable):
                yield seen
        finally:
            os.stat = real
            self._seen = None
            seen.add(self._of_modules)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._seen is None:
            return
        if event == "open":
            self._note("files", arguments[0])
        elif event in {"os.listdir", "os.scandir"}:
            self._note("folders", arguments[0] or ".")
        elif event in PROGRAMS:
            self._doubt("runs a program")
        elif event in NETWORK:
            self._doubt("asks another computer")

    def _hear_variable(self, name: str) -> None:
        if name == ALL:
            self._doubt("goes through all environment variables")
        elif self._seen is not None and (reading := reading_line()) is not None:
            self._place(self._seen, reading).variables.add(name)

    def _doubt(self, what: str) -> None:
        reading = reading_line()
        if self._seen is None or reading is None:
            return
        seen = self._place(self._seen, reading)
        seen.doubt = seen.doubt or f"{reading[0]} {what}, and the answer may be another one each time"

    def _place(self, seen: Seen, reading: tuple[Location, bool] | None) -> Seen:
        """Return where it is noted what a line reads."""
        return self._of_modules if reading is not None and reading[1] else seen

    def _note(self, kind: str, path: Any) -> None:
        if self._seen is None or not isinstance(path, (str, bytes, os.PathLike)):
            return
        full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links are left as they are
        inside = full == str(self._root) or full.startswith(f"{self._root}{os.sep}")
        if inside and CACHE not in full and not f"{full}{os.sep}".startswith(self._ignored):
            names: set[str] = getattr(self._place(self._seen, reading_line()), kind)
            names.add(project_path(Path(full), self._root))


def own_modules(root: Path) -> set[str]:
    """Return the files of the project's own modules that this process has imported."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    below = {file for file in files if isinstance(file, str) and file.startswith(f"{root}{os.sep}")}
    return {project_path(Path(file), root) for file in below if not file.startswith(installed(root))}


def installed(root: Path) -> tuple[str, ...]:
    """Return the folders below a project's that are not its own: aiebuild, and a virtual environment."""
    places = [PACKAGE, Path(sys.prefix)]
    return tuple(f"{place}{os.sep}" for place in places if place.is_relative_to(root))
