"""The files of a project as they are at one moment: what `watch` compares where no record says what to look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aiebuild.stamps import CACHE, stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from aiebuild.record import Difference
    from aiebuild.stamps import Stamp


class Tree:
    """Looks at the files below a folder; hidden ones, caches and the build folder are left out.

    Args:
        root: the folder.
        build_dir: the build folder.
    """

    def __init__(self, root: Path, build_dir: Path) -> None:
        self._root = str(root)
        self._build_dir = str(build_dir)

    def look(self) -> dict[str, Stamp]:
        """Return the stamp of each file, by its name relative to the folder."""
        start = len(self._root) + 1
        return {path[start:]: stamp(path) for path in self._files(self._root)}

    def _files(self, folder: str) -> Iterator[str]:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.name == CACHE or entry.path == self._build_dir:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._files(entry.path)
            else:
                yield entry.path


def differences(before: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> list[Difference]:
    """Return what happened to the files between two looks, sorted by name."""
    names = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    return [(name, _event(name, before, now)) for name in names]


def _event(name: str, before: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> str:
    if name not in before:
        return "is new"
    return "changed" if now.get(name) else "is gone"


def changed_since(moment: int, tree: Mapping[str, Stamp], now: int) -> set[str]:
    """Return the files that changed after a moment (ns), by their change time; those of the future tell nothing."""
    return {name for name, known in tree.items() if known and moment < known[2] <= now}
