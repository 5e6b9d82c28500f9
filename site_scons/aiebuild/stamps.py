"""What tells one state of a file or folder from another, of one and of many.

Standard library only, and little of that: this module is imported before anything else.
"""

from __future__ import annotations

import binascii
import os
from array import array

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, NoReturn

    Part = tuple[str, list[str], list[array[int]]]

RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was recorded may have changed again within one tick of its clock (up to
2 s on FAT): its content is compared as well, as git does with its index."""

COLUMNS = "qqqQ"
"""The numbers of a stamp as they are packed, 64 bits each: some file systems use all of them for an inode."""

PART = 1024
"""How many files of a folder are looked at in one go."""

MANY = 4096
"""Of fewer files than that, looking at all of them costs no more than a second process does."""

CACHE = "__pycache__"
"""Python's own folder beside modules, which is no name that anybody looks for."""

FEW = 4
"""In a folder of fewer files opening it costs more than looking each of them up from further away."""

Stamp = list[int]
"""Size, mtime and ctime (ns) and inode of a file; empty for one that does not exist."""


def stamp(path: str) -> Stamp:
    """Return what tells one state of a file or folder from another."""
    try:
        status = os.stat(path)  # noqa: PTH116 - pathlib costs more than the question itself
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def stamps(names: Iterable[str]) -> dict[str, Stamp]:
    """Return the stamp of each file or folder, in the order of their names."""
    return {name: stamp(name) for name in sorted(names)}


def is_young(known: Stamp, now: int) -> bool:
    """Return whether a file changed so shortly before `now` that its times do not tell its next state from this one."""
    return max(known[1], known[2]) + RACY_NS > now


def digest(name: str) -> str:
    """Return the digest of a file's content, or of the names in a folder, each with what it is; empty for none."""
    import hashlib  # noqa: PLC0415 - only young files and folders that changed need it

    try:
        if os.path.isdir(name):  # noqa: PTH112 - see above
            names = "\0".join(sorted(_kind(entry) for entry in os.scandir(name) if entry.name != CACHE))
            return hashlib.sha256(names.encode(errors="surrogateescape")).hexdigest()
        with open(name, "rb") as stream:  # noqa: PTH123 - see above
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""


def _kind(entry: os.DirEntry[str]) -> str:
    return f"{entry.name}/{entry.is_symlink():d}{entry.is_dir(follow_symlinks=False):d}"


def listings(folders: Iterable[str]) -> dict[str, str]:
    """Return the digest of the names in each folder below the current one.

    To be taken before the stamps: a name that comes between the two has to be seen in the stamp.
    """
    root = os.getcwd()  # noqa: PTH109 - see above
    inside = f"{root}{os.sep}"
    return {
        name: digest(name)
        for name in folders
        if not os.path.isabs(name) or name == root or name.startswith(inside)  # noqa: PTH117 - see above
    }


class Moment:
    """Looks at each file once, for several records that are compared with one state of the files."""

    def __init__(self) -> None:
        self._known: dict[str, Stamp] = {}

    def __call__(self, name: str) -> Stamp:
        """Return the stamp of a file, as it was when it was asked for first."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = stamp(name)
        return found


def pack(files: Mapping[str, Stamp]) -> dict[str, Any]:
    """Return files with their stamps as JSON that is read fast: names by folder, and each column of numbers as one."""
    folders: dict[str, list[str]] = {}
    for name in files:
        start = name.rfind("/") + 1
        folders.setdefault(name[:start], []).append(name[start:])
    rows = [files[folder + name] for folder, names in folders.items() for name in names]
    columns = [array(kind, column).tobytes() for kind, column in zip(COLUMNS, zip(*rows, strict=True), strict=False)]
    return {"names": folders, "columns": [binascii.b2a_base64(column, newline=False).decode() for column in columns]}


class Table:
    """Files with their stamps, as they were packed.

    Args:
        packed: what `pack` returned.
        root: the folder that their names start from; the current one when empty.
        forks: whether a process may be forked that looks at half of many files. Only for a process without threads.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is damaged.
    """

    def __init__(self, packed: dict[str, Any], root: str = "", *, forks: bool = False) -> None:
        self._folders: dict[str, list[str]] = packed["names"]
        self._columns = [array(kind) for kind in COLUMNS]
        for column, text in zip(self._columns, packed["columns"], strict=False):
            column.frombytes(binascii.a2b_base64(text))
        self._start = f"{root.rstrip('/')}/" if root else ""
        self._forks = forks and hasattr(os, "fork")
        if sum(map(len, self._folders.values())) != len(self._columns[0]):
            raise ValueError(packed)

    def names(self) -> list[str]:
        """Return the names, as they were given."""
        return [folder + name for folder, names in self._folders.items() for name in names]

    def items(self) -> Iterator[tuple[str, Stamp]]:
        """Yield each name, as it was given, with its stamp."""
        rows = zip(*self._columns, strict=True)
        for folder, names in self._folders.items():
            for name, row in zip(names, rows, strict=False):
                yield folder + name, list(row)

    def is_same(self) -> bool:
        """Return whether all files have these stamps."""
        parts = sorted(self._parts(), key=_size, reverse=True)
        child = _fork() if self._forks and len(self._columns[0]) >= MANY else None
        if child is None:
            return all(map(_is_same, parts))
        if child == 0:
            _leave(parts[1::2])
        return all(map(_is_same, parts[::2])) & (os.waitpid(child, 0)[1] == 0)

    def _parts(self) -> Iterator[Part]:
        """Yield folders with some of their files and the rows of these."""
        row = 0
        for folder, names in self._folders.items():
            place = folder if folder[:1] == "/" else self._start + folder
            for first in range(0, len(names), PART):
                part = names[first : first + PART]
                yield place, part, [column[row : row + len(part)] for column in self._columns]
                row += len(part)


def _size(part: Part) -> int:
    return len(part[1])


def _is_same(part: Part) -> bool:
    """Return whether some files of a folder have their stamps."""
    folder, names, columns = part
    try:
        if len(names) < FEW or os.stat not in os.supports_dir_fd:
            return _are_same([folder + name for name in names], columns, None)
        opened = os.open(folder or ".", getattr(os, "O_PATH", os.O_RDONLY))
        try:
            return _are_same(names, columns, opened)
        finally:
            os.close(opened)
    except OSError:
        return False


def _are_same(names: list[str], columns: list[array[int]], folder: int | None) -> bool:
    """Return whether files have their stamps.

    Raises:
        OSError: one of them is gone.
    """
    stat = os.stat
    for name, size, mtime, ctime, inode in zip(names, *columns, strict=True):
        now = stat(name, dir_fd=folder)
        if now.st_mtime_ns != mtime or now.st_ctime_ns != ctime or now.st_size != size or now.st_ino != inode:
            return False
    return True


def _fork() -> int | None:
    """Return what `os.fork` does, None where there may be no further process."""
    try:
        return os.fork()
    except OSError:
        return None


def _leave(parts: list[Part]) -> NoReturn:
    """End this process; its status is 0 where the files have their stamps."""
    status = 1
    try:
        status = 0 if all(map(_is_same, parts)) else 1
    finally:
        os._exit(status)
