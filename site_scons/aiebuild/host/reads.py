"""What a check reads: the files that it opens, the modules that it imports, and what it looks for in vain."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import Location
from aiebuild.generate.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGE = Path(__file__).resolve().parents[1]
_SPELT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as it was imported, links kept
IDENTIFIED = ("numpy", "numpy.libs", "ml_dtypes")
"""What the identity of the run stands for by its version, below the folders of installed packages."""


class Reads(Recorder):
    """Records what this process reads of the project and of what is installed, from `install` on; there is no end.

    It is the generators' recorder, except that aiebuild is no part of the project even where it lies inside.
    """

    def __init__(self) -> None:
        super().__init__(str(Path.cwd()), "")
        self._loaded_before = frozenset(sys.modules)

    def is_own(self, path: str) -> bool:
        """Return whether an absolute path is one of the project's own."""
        return super().is_own(path) and not f"{path}{os.sep}".startswith((f"{_SPELT}{os.sep}", f"{PACKAGE}{os.sep}"))

    def found(self, without: Iterable[Path]) -> dict[str, list[str]]:
        """Return what a depfile says: `files`, `absent` and `folders`, the project's relative to the current folder.

        Left out are: Python's own library, aiebuild, NumPy and ml_dtypes (their versions are part of the step's
        identity), what was loaded before, devices, and what lies in `without`.
        """
        said = self.closure()
        left_out = Folders([PACKAGE, *identified(), *without])
        seen = {path for path, read in self.opened.items() if read} | self.found_there() | self._imported()
        found = {**said, "files": [path for path in said["files"] if path in seen]}
        return {
            name: sorted(self._named(path) for path in found[name] if not left_out.hold(path))
            for name in ("files", "absent", "folders")
        }

    def _named(self, path: str) -> str:
        """Return an absolute path as depfiles have it; `project_path` is ten times as slow, and the paths are many."""
        start = self.root.rstrip(os.sep) + os.sep
        return path[len(start) :] if path.startswith(start) else "." if path == self.root else path

    def _imported(self) -> set[str]:
        """Return the files of the modules that were imported; an extension is mapped into memory, not opened."""
        modules = [module for name, module in list(sys.modules.items()) if name not in self._loaded_before]
        names = [getattr(module, "__file__", None) for module in modules]
        return {self.absolute(name) for name in names if isinstance(name, str)}

    def notes(self) -> list[str]:
        """Return a line about each thing that the check did and after which not everything is seen."""
        return [_note(*warning) for warning in sorted(self.warnings)]


def _note(what: str, file: str, line: int) -> str:
    unseen = "that file" if what.startswith("writes") else "what that reads"
    return f"{Location(file, line)}: warning: the check {what}: the build does not see {unseen}"


class Folders:
    """Folders, and files, that hold a path or do not; a link to one of them counts as well."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(dict.fromkeys(f"{folder.resolve()}{os.sep}" for folder in folders))
        # Resolving costs more than all the rest: each folder is resolved once.
        self._resolved: dict[str, str] = {}

    def hold(self, path: str) -> bool:
        """Return whether an absolute path is one of the folders, or lies in one."""
        folder, _, name = path.rpartition(os.sep)
        if folder not in self._resolved:
            self._resolved[folder] = os.path.realpath(folder or os.sep).rstrip(os.sep)
        return f"{self._resolved[folder]}{os.sep}{name}{os.sep}".startswith(self._folders)


def identified() -> list[Path]:
    """Return the folders of installed packages whose version the identity of a run stands for."""
    packages = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    loaded = [getattr(sys.modules.get(name), "__file__", None) for name in IDENTIFIED]
    packages |= {Path(file).parents[1] for file in loaded if file}
    return [package / name for package in sorted(packages) for name in IDENTIFIED]


def search_installed_only() -> str:
    """Take the current folder, and the one that aiebuild lies in, from where modules are searched; return the latter.

    So no module that somebody may add there could hide one that we or NumPy import. Of aiebuild, more modules are found
    once a first one is imported. Where aiebuild lies among the installed packages, NumPy does as well: that folder
    stays, in its own place, the last one that it has.
    """
    beside = str(PACKAGE.parent)
    kept = [entry for entry in sys.path if entry and os.path.realpath(entry) != beside]
    if beside in _packages():
        last = max((place for place, entry in enumerate(sys.path) if os.path.realpath(entry) == beside), default=0)
        before = [entry for entry in sys.path[:last] if entry and os.path.realpath(entry) != beside]
        kept.insert(len(before), beside)
    sys.path[:] = kept
    return os.path.dirname(_SPELT)  # noqa: PTH120 - see above


def _packages() -> set[str]:
    """Return the folders that packages are installed into, links followed."""
    folders = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return {os.path.realpath(folder) for folder in folders}


def installed(here: Path) -> list[Path]:
    """Return the folders below `here` that hold an installed Python: a virtual environment inside the project."""
    prefixes = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    return [prefix for prefix in prefixes if prefix.is_relative_to(here.resolve()) and prefix != here.resolve()]
