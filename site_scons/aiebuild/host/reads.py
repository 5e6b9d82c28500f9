"""Which files a process reads: what it opens, and what it imports."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGE = Path(__file__).resolve().parents[1]
DEVICES = (Path("/proc"), Path("/sys"), Path("/dev"))


class Reads:
    """Records what this process opens from now on; it cannot be switched off again."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self._before = frozenset(sys.modules)
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        path, mode, flags = arguments
        if isinstance(path, (str, bytes, os.PathLike)) and not _writes(mode, flags):
            self._seen[os.fsdecode(path)] = None

    def files(self, without: Iterable[Path]) -> list[str]:
        """Return the files that were read: the project's relative to the current folder, others absolute, sorted.

        Left out are: Python's own library, aiebuild, NumPy and ml_dtypes (their versions are part of the step's
        identity), compiled Python, devices, and what lies in `without`.
        """
        # An extension module is mapped into memory, not opened.
        modules = [module for name, module in list(sys.modules.items()) if name not in self._before]
        imported = [module.__file__ for module in modules if getattr(module, "__file__", None)]
        here = Path.cwd()
        left_out = [_PACKAGE, *identified(), *DEVICES, *(path.resolve() for path in without)]
        found = set()
        for name in (*self._seen, *(name for name in imported if name)):
            path = Path(name).absolute()
            if path.suffix == ".pyc" or not path.is_file():
                continue
            if not any(path.resolve().is_relative_to(each) for each in left_out):
                found.add(path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path))
        return sorted(found)


def _writes(mode: object, flags: object) -> bool:
    """Return whether a file is opened to be written; `os.open` gives flags and no mode."""
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def identified() -> list[Path]:
    """Return the folders whose contents the identity of a run already stands for."""
    library = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    packages = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    known = [package / name for package in packages for name in ("numpy", "numpy.libs", "ml_dtypes")]
    return [*(entry for folder in library for entry in _without_packages(folder)), *known]


def _without_packages(library: Path) -> list[Path]:
    """Return what a library's folder holds, except the folder of installed packages below it."""
    return [entry for entry in library.iterdir() if entry.name not in {"site-packages", "dist-packages"}]


def installed(here: Path) -> list[Path]:
    """Return the folders below `here` that hold an installed Python: a virtual environment inside the project."""
    prefixes = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    return [prefix for prefix in prefixes if prefix.is_relative_to(here.resolve()) and prefix != here.resolve()]
