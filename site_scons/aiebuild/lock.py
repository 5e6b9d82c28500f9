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
        tell(f"waiting for the build of process {stream.read().strip() or '?'}, which holds {path}")
        fcntl.flock(stream, fcntl.LOCK_EX)
    stream.truncate(0)
    stream.write(f"{os.getpid()}\n")
    stream.flush()
    return stream
