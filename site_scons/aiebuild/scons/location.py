"""Finding the line of the user's own file that a call came from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import SCons
import SCons.Node.FS

import aiebuild
from aiebuild.errors import Location

if TYPE_CHECKING:
    from types import FrameType, TracebackType

OURS = tuple(
    str(path)
    for module in (aiebuild, SCons)
    for path in (Path(str(module.__file__)).parent, Path(str(module.__file__)).resolve().parent)
)


def calling_line() -> Location | None:
    """Return the nearest line outside aiebuild and SCons that led to this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else Location(_shown(frame.f_code.co_filename), frame.f_lineno)


def recipe_line() -> Location:
    """Return the line of the recipe, or `SConstruct`, that led to this call."""
    return calling_line() or Location("SConstruct")


def failing_line(trace: TracebackType | None) -> Location | None:
    """Return the innermost line outside aiebuild and SCons of a traceback."""
    found: Location | None = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not _is_ours(name) and not name.startswith("<"):
            found = Location(_shown(name), trace.tb_lineno)
        trace = trace.tb_next
    return found


def _is_ours(name: str) -> bool:
    return name.startswith(OURS) or "/site_tools/" in name.replace("\\", "/")


def _shown(name: str) -> str:
    """Return a path relative to the project; SCons changes the current folder while it reads a recipe."""
    top = Path(SCons.Node.FS.get_default_fs().Top.get_abspath())
    path = top / name
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else name
