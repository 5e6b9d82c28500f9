"""Which project files a process reads: what it opens, and what it imports."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGE = Path(__file__).resolve().parents[1]


class Reads:
    """Records what this process opens from now on; it cannot be switched off again."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        path, mode, flags = arguments
        if isinstance(path, (str, bytes, os.PathLike)) and not _writes(mode, flags):
            self._seen[os.fsdecode(path)] = None

    def files(self, without: Iterable[Path]) -> list[str]:
        """Return the project's files that were read, relative to the current folder, sorted.

        Installed packages, aiebuild itself (its identity is part of the step's signature) and compiled Python are not
        the project's; neither are the files in `without`, nor what lies in folders in `without`.
        """
        # An extension module is mapped into memory, not opened.
        imported = [module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
        here = Path.cwd()
        left_out = [_PACKAGE, *installed(here), *(path.resolve() for path in without)]
        found = set()
        for name in (*self._seen, *(name for name in imported if name)):
            path = Path(name).absolute()
            ours = path.is_relative_to(here) and path.suffix != ".pyc" and path.is_file()
            if ours and not any(path.resolve().is_relative_to(each) for each in left_out):
                found.add(path.relative_to(here).as_posix())
        return sorted(found)


def _writes(mode: object, flags: object) -> bool:
    """Return whether a file is opened to be written; `os.open` gives flags and no mode."""
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def installed(here: Path) -> list[Path]:
    """Return the folders below `here` that hold an installed Python: a virtual environment inside the project."""
    prefixes = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    return [prefix for prefix in prefixes if prefix.is_relative_to(here.resolve()) and prefix != here.resolve()]
