"""Writing files so that a reader sees the old content or the new one, never a part."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write `data` (text as UTF-8, its newlines untouched) beside `path`, then rename it into place.

    Missing folders are made. On failure, nothing is left beside `path` and what stood there is unchanged.

    Raises:
        OSError: the file cannot be written.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        # A device or a pipe is written to, never replaced.
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not `tempfile`: it makes files that only their owner can read, and renaming keeps that.
    aside = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.part")
    try:
        with aside.open("xb") as stream:
            stream.write(data.encode() if isinstance(data, str) else data)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def project_path(path: str | os.PathLike[str]) -> str:
    """Return `path` relative to the current folder where it is below it, else absolute."""
    full = Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links, and links are inputs
    here = Path.cwd()
    return (full.relative_to(here) if full.is_relative_to(here) else full).as_posix()
