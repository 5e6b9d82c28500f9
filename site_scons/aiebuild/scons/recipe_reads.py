"""What recipes read beside their own text: files that they open, folders that they list, names that they ask for.

A recipe should need none of it; one that does all the same must not be taken for up to date when the answer changes.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.scons.session import project_path
from aiebuild.toolchains.python import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE = "__pycache__"


@dataclass
class Seen:
    """Files that were opened, folders that were listed, and names that were asked for in vain."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)


class RecipeReads:
    """Watches the reading of recipes, by an audit hook and by standing in for `os.stat` meanwhile.

    Args:
        root: the project's folder; what lies outside it is not noted.
        build_dir: the build folder, which is not noted either: its files are in the graph.
    """

    def __init__(self, root: Path, build_dir: str) -> None:
        self._root = root
        self._ignored = tuple(f"{path}{os.sep}" for path in (root / build_dir, PACKAGE, Path(sys.prefix)))
        self._seen: Seen | None = None
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
                self._note(seen.absent, path)
                raise

        os.stat = asking
        try:
            yield seen
        finally:
            os.stat = real
            self._seen = None

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        seen = self._seen
        if seen is None:
            return
        if event == "open":
            self._note(seen.files, arguments[0])
        elif event in {"os.listdir", "os.scandir"}:
            self._note(seen.folders, arguments[0] or ".")

    def _note(self, names: set[str], path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links are left as they are
        inside = full == str(self._root) or full.startswith(f"{self._root}{os.sep}")
        if inside and CACHE not in full and not f"{full}{os.sep}".startswith(self._ignored):
            names.add(project_path(Path(full), self._root))


def own_modules(root: Path) -> set[str]:
    """Return the files of the project's own modules that this process has imported."""
    installed = (f"{PACKAGE}{os.sep}", f"{Path(sys.prefix)}{os.sep}")
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    below = {file for file in files if isinstance(file, str) and file.startswith(f"{root}{os.sep}")}
    return {project_path(Path(file), root) for file in below if not file.startswith(installed)}
