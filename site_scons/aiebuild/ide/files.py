"""Writing the files of editors: one that has changed, never one that is as it should be."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildError, Location
from aiebuild.files import in_the_way, project_path, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def update(root: Path, file: str, change: Callable[[str], str], *, writes: bool = True) -> bool:
    """Write what `change` makes of a file's text, empty where there is none; return whether that is something new.

    A file that a link leads to is changed where it is, and keeps its mode.

    Raises:
        AieBuildError: the file is no text in UTF-8, or cannot be read or written; or what `change` raises.
    """
    path = (root / file).resolve()
    above = in_the_way(path.parent)
    if above is not None:
        raise AieBuildError("this is a file, and a folder belongs there", Location(project_path(above)), "move it away")
    try:
        data = path.read_bytes() if path.exists() else b""
        before = data.decode("utf-8")
        after = change(before)
        if after == before:
            return False
        if not writes:
            return True
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        write_atomically(path, after)
        if mode is not None:
            path.chmod(mode)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise AieBuildError("this is not text in UTF-8", Location(file, line)) from None
    except OSError as error:
        raise AieBuildError(f"{error.strerror or error}", Location(file)) from None
    return True
