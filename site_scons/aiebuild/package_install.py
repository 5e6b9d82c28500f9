"""Installing a package's files into a folder, so that nothing of anybody else's is lost there."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aiebuild import package_archive
from aiebuild.errors import Location
from aiebuild.files import write_atomically
from aiebuild.package_archive import PackageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUMS = "SHA256SUMS"
MOVE = "move it away, and install again"


@dataclass(frozen=True)
class Installed:
    """A folder with a package's files, and which of them were written or removed just now."""

    folder: Path
    written: tuple[str, ...]
    removed: tuple[str, ...]


def install(files: Mapping[str, bytes], folder: Path) -> Installed:
    """Write a package's files into a folder; what is there as it should be is not touched.

    What an earlier package of that name had there and this one has not is removed, as long as it is what that package
    brought; other files are left. The checksum file is written last: until then it tells of the mixture.

    Args:
        files: the contents by path, the checksum file included.
        folder: where they go; missing folders are made.

    Raises:
        PackageError: a file is in the way that no package brought, or that was changed since; nothing is written.
        OSError: a file cannot be written.
    """
    for place in (folder, *folder.parents, *(folder / path for each in files for path in PurePosixPath(each).parents)):
        if place.exists() and not place.is_dir():
            raise PackageError("this file is in the way of a folder", Location(str(place)), MOVE)
    there = _listed(folder)
    for path, content in files.items():
        _refuse_foreign(folder, path, content, there)
    written = [path for path, content in files.items() if _content(folder / path) != content]
    for path in sorted(written, key=lambda path: (path == SUMS, path)):
        write_atomically(folder / path, files[path])
    removed = [path for path in sorted(there.keys() - files.keys()) if _digest(folder / path) == there[path]]
    for path in removed:
        (folder / path).unlink()
    return Installed(folder, tuple(sorted(written)), tuple(removed))


def _refuse_foreign(folder: Path, path: str, content: bytes, there: Mapping[str, str]) -> None:
    """Refuse to replace a file that is not what an earlier package brought."""
    place = folder / path
    for above in (*place.relative_to(folder).parents[:-1], place.relative_to(folder)):
        if (folder / above).is_symlink():
            raise PackageError(
                "this is a link, and a package's file belongs there", Location(str(folder / above)), MOVE
            )
    if not place.exists() or path == SUMS or _content(place) == content:
        return
    if path not in there:
        raise PackageError("this file is in the way, and it is of no package", Location(str(place)), MOVE)
    if _digest(place) != there[path]:
        raise PackageError("this file was changed since it was installed", Location(str(place)), MOVE)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _digest(path: Path) -> str:
    content = _content(path)
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _listed(folder: Path) -> dict[str, str]:
    """Return the digests in a folder's checksum file, by paths that are plain; none where there is no such file."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {line[66:]: line[:64] for line in lines if not package_archive.name_problem(line[66:])}
