"""Finding the files that recipes name: `#` is the project's folder, `{arch}` the arch, with its fallback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import RecipeError, nearest
from aiebuild.scons.session import project_path

if TYPE_CHECKING:
    from aiebuild.errors import Location
    from aiebuild.model import CoreArchive, CoreObject, Prebuilt


NAMED = 5
"""How many files of a folder are named."""


def located(name: str, folder: Path, root: Path) -> str:
    """Return a recipe's path relative to the project: `#` starts at its root, else the recipe's folder counts."""
    # Not pathlib: this is asked of each source of each recipe.
    path = f"{root}/{name[1:].lstrip('/')}" if name.startswith("#") else os.path.join(folder, name)  # noqa: PTH118
    if "/." in path or "//" in path or path.endswith("/") or os.sep != "/":
        return project_path(_plain(Path(path)), root)
    return path.removeprefix(f"{root}/")


def find_source(item: CoreObject, arch: str, folder: Path, root: Path) -> str:
    """Return the source of a core object for an arch, relative to the project.

    Raises:
        RecipeError: where there is none, with the places that were tried.
    """
    chosen = item.host_source if arch == "host" and item.host_source else str(item.source)
    return find_file(chosen, arch, folder, root, where=item.where, word=f"CoreObject {item.name!r}")


def find_member_sources(item: CoreArchive, arch: str, folder: Path, root: Path) -> tuple[str, ...]:
    """Return the sources of an archive's members for an arch, relative to the project."""
    chosen = item.host_sources if arch == "host" and item.host_sources else item.sources
    word = f"CoreArchive {item.name!r}"
    return tuple(find_file(source, arch, folder, root, where=item.where, word=word) for source in chosen)


def prebuilt_file(item: Prebuilt, arch: str, folder: Path, root: Path) -> str:
    """Return the file of a prebuilt object or archive for an arch, relative to the project."""
    return find_file(item.file, arch, folder, root, where=item.where, word=f"Prebuilt {item.name!r}")


def find_file(source: str, arch: str, folder: Path, root: Path, *, where: Location | None, word: str) -> str:
    """Return a file that a recipe names, for an arch, relative to the project.

    Raises:
        RecipeError: where there is none, with the places that were tried.
    """
    tried = [located(name, folder, root) for name in _spellings(source, arch)]
    for name in tried:
        # Not pathlib, which keeps `os.stat` to itself in Python 3.10: who watches what recipes ask for sees this.
        if os.path.isfile(root / name):  # noqa: PTH113 - see above
            return name
    for name in tried:
        refuse_what_is_no_file(root / name, f"{word} for arch={arch}: {name}", where)
    raise RecipeError(
        f"{word} for arch={arch}: no such file: {' or '.join(tried)}",
        where,
        _advice(source, arch, tried, root, kernel="Prebuilt" not in word),
    )


def refuse_what_is_no_file(path: Path, name: str, where: Location | None) -> None:
    """Refuse what is in the place of a file; nothing where nothing is there.

    Raises:
        RecipeError: a folder, a link that leads nowhere, or a device is.
    """
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir() if entry.is_file())[:NAMED]
        raise RecipeError(f"{name} is a folder", where, f"name a file in it: {', '.join(names)}" if names else "")
    if path.is_symlink():
        hint = f"there is no file {path.readlink()}: make it lead to one"
        raise RecipeError(f"{name} is a link that leads nowhere", where, hint)
    if path.exists():
        raise RecipeError(f"{name} is a device or a pipe", where, "name a file")


def _spellings(source: str, arch: str) -> tuple[str, ...]:
    if "{arch}" not in source:
        return (source,)
    return source.replace("{arch}", arch), source.replace("{arch}/", "").replace("{arch}", "")


def _advice(source: str, arch: str, tried: list[str], root: Path, *, kernel: bool) -> str:
    if arch == "host" and "{arch}" in source and kernel:
        return 'give host_source="...": the same functions in plain C++, for this machine'
    folder = (root / tried[-1]).parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = nearest(Path(tried[-1]).name, names)
    return f"did you mean {project_path(folder / near, root)!r}?" if near else ""


def _plain(path: Path) -> Path:
    return path.resolve() if ".." in path.parts else path
