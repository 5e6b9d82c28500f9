"""Writing files so that a reader sees the old content or the new one, never a part."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write `data` (text as UTF-8, its newlines untouched) beside `path`, then rename it into place.

    Missing folders are made. On failure, nothing is left beside `path` and what stood there is unchanged.

    Raises:
        OSError: the file cannot be written.
    """
    content = data.encode() if isinstance(data, str) else data
    try:
        _write(Path(path), content)
    except OSError as error:
        # Of a full disk Python does not say which file it was, and of another one the name that nobody knows.
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write(target: Path, content: bytes) -> None:
    if target.exists() and not target.is_file():
        # A device or a pipe is written to, never replaced.
        target.write_bytes(content)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not `tempfile`: it makes files that only their owner can read, and renaming keeps that.
    aside = target.with_name(f".{target.name[:200]}.{os.urandom(6).hex()}.part")
    try:
        with aside.open("xb") as stream:
            stream.write(content)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def read_regular(path: Path) -> bytes:
    """Return the content of a file that is one: devices and pipes may never end.

    Raises:
        OSError: it cannot be read, or is something else.
    """
    if path.is_dir():
        raise OSError(errno.EISDIR, "this is a folder, not a file", str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "this is a device or a pipe, not a file", str(path))
    return path.read_bytes()


def in_the_way(folder: Path) -> Path | None:
    """Return the file that keeps a folder from being made; None where nothing does."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return there if there.is_file() else None


def project_path(path: str | os.PathLike[str]) -> str:
    """Return `path` relative to the current folder where it is below it, else absolute."""
    full = Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links, and links are inputs
    here = Path.cwd()
    return (full.relative_to(here) if full.is_relative_to(here) else full).as_posix()
