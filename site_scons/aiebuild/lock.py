"""One build at a time in one build folder."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def hold(path: Path, tell: Callable[[str], None]) -> IO[str] | None:
    """Take the lock of a build folder, until the returned file is closed or the process ends.

    Waits for as long as another build holds it, after saying which process that is. Returns None on systems without
    `flock`, where nothing is locked.
    """
    if sys.platform == "win32":
        return None
    import fcntl  # noqa: PLC0415 - not on every system

    path.parent.mkdir(parents=True, exist_ok=True)
    stream = path.open("a+", encoding="ascii")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.seek(0)
        number = stream.read().strip()
        tell(f"waiting for {f'the build of process {number}' if number else 'another build'}, which holds {path}")
        fcntl.flock(stream, fcntl.LOCK_EX)
    stream.truncate(0)
    stream.write(f"{os.getpid()}\n")
    stream.flush()
    return stream


def is_held(path: Path) -> bool:
    """Return whether another process holds the lock of a build folder now."""
    if sys.platform == "win32" or not path.exists():
        return False
    import fcntl  # noqa: PLC0415 - not on every system

    with path.open(encoding="ascii") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
