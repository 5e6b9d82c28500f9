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
from aiebuild.scons.asked import ABSENT, FILES, FOLDERS, asked, uncached
from aiebuild.scons.before import doubt_of_scripts
from aiebuild.scons.location import LIBRARIES, OURS, reading_line
from aiebuild.scons.session import project_path
from aiebuild.stamps import CACHE
from aiebuild.toolchains.python import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from aiebuild.errors import Location


PROGRAMS = frozenset(
    {"subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "os.exec", "os.fork", "os.forkpty"}
)
"""Audit events of running a program, https://docs.python.org/3/library/audit_events.html."""

LOADED = frozenset({"sqlite3.connect", "ctypes.dlopen"})
"""Audit events of libraries that open files by themselves."""

SYSTEM = ("/proc/", "/sys/", "/dev/")
"""Folders whose files are none that anybody edits."""

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
    """Watches the reading of recipes: by an audit hook, and by standing in for `os.stat` and the like meanwhile.

    A module is imported once, by the recipe that is read first: what it read then counts for all that are read later.
    What was read before this was made, by `SConstruct` or a module that it imports, nobody knows.

    Args:
        root: the project's folder; of files outside it those that the project's own lines read are noted.
        build_dir: the build folder, which is not noted: its files are in the graph.
    """

    def __init__(self, root: Path, build_dir: str) -> None:
        self._root = root
        self._inside = f"{root}{os.sep}"
        self._ignored = (f"{root / build_dir}{os.sep}", *installed(root))
        self._not_own = (*self._ignored, *LIBRARIES, *(f"{place}{os.sep}" for place in OURS), *SYSTEM)
        self._seen: Seen | None = None
        self._of_modules = Seen(doubt=doubt_of_scripts(root) or self._doubt_of_modules())
        sys.addaudithook(self._hear)

    def _doubt_of_modules(self) -> str:
        early = next(iter(sorted(own_modules(self._root))), "")
        return f"{early} is imported before anything is watched, and may read something else each time" if early else ""

    @contextlib.contextmanager
    def watch(self) -> Iterator[Seen]:
        """Note what is read until the end of the block."""
        seen = self._seen = Seen()
        try:
            with asked(self._hear_question), noted(self._hear_variable), uncached(self._is_own):
                yield seen
        finally:
            self._seen = None
            seen.add(self._of_modules)

    def _is_own(self, path: str) -> bool:
        return not path.startswith(self._not_own)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._seen is None:
            return
        if event == "open":
            self._note(FILES, arguments[0])
        elif event in LOADED:
            self._note(FILES, _loaded_file(arguments[0]))
        elif event in {"os.listdir", "os.scandir"}:
            self._note(FOLDERS, arguments[0] or ".", is_searched=_is_search(sys._getframe(1)))
        elif event in PROGRAMS:
            self._doubt("runs a program")
        elif event in NETWORK:
            self._doubt("asks another computer")

    def _hear_question(self, kind: str, path: Any) -> None:
        """Note what the project's own lines ask; of what SCons asks, what is absent."""
        if self._seen is not None and (kind == ABSENT or reading_line() is not None):
            self._note(kind, path)

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

    def _note(self, kind: str, path: Any, *, is_searched: bool = False) -> None:
        seen = self._seen
        if seen is None or not isinstance(path, (str, bytes, os.PathLike)):
            return
        self._seen = None  # what is asked to know what was asked is nothing that a recipe asks
        try:
            self._note_spelled(seen, kind, _spelled(path), is_searched=is_searched)
        finally:
            self._seen = seen

    def _note_spelled(self, seen: Seen, kind: str, full: str, *, is_searched: bool) -> None:
        reading = reading_line()
        is_inside = full == str(self._root) or full.startswith(self._inside)
        if CACHE in full or f"{full}{os.sep}".startswith(self._ignored if is_inside else self._not_own):
            return
        if not is_inside and (reading is None or is_searched):
            return
        names: set[str] = getattr(self._place(seen, reading), kind)
        names.add(project_path(Path(full), self._root))


def _spelled(path: str | bytes | os.PathLike[Any]) -> str:
    """Return an absolute path with its links as they are.

    Where a link stands before a `..` the path stays as it is: what it means depends on where that link leads.
    """
    text = os.fsdecode(path)
    full = os.path.abspath(text)  # noqa: PTH100 - links are left as they are
    if ".." not in text or os.path.realpath(text) == os.path.realpath(full):
        return full
    return os.path.join(os.getcwd(), text)  # noqa: PTH109, PTH118 - the same


def _is_search(frame: FrameType) -> bool:
    """Return whether Python itself lists a folder, to find modules: where it looks is known."""
    return "importlib" in frame.f_code.co_filename


def _loaded_file(name: Any) -> Any:
    """Return the file of a database or library; None for one in memory, or one that the system looks for."""
    text = os.fsdecode(name).removeprefix("file:").partition("?")[0] if isinstance(name, (str, bytes)) else name
    is_named = isinstance(text, os.PathLike) or (isinstance(text, str) and text and not text.startswith(":"))
    is_library = isinstance(text, str) and ".so" in text and os.sep not in text
    return text if is_named and not is_library else None


def own_modules(root: Path) -> set[str]:
    """Return the files of the project's own modules that this process has imported."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    below = {_on_disk(file) for file in files if isinstance(file, str) and file.startswith(f"{root}{os.sep}")}
    return {project_path(Path(file), root) for file in below if not file.startswith(installed(root))}


def _on_disk(file: str) -> str:
    """Return the archive of a module that was imported from one, else its own file."""
    path = Path(file)
    return next((str(place) for place in (path, *path.parents) if place.is_file()), file)


def installed(root: Path) -> tuple[str, ...]:
    """Return the folders below a project's that are not its own: aiebuild, and a virtual environment."""
    places = [PACKAGE, Path(sys.prefix)]
    return tuple(f"{place}{os.sep}" for place in places if place.is_relative_to(root))
