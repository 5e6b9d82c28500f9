"""Finding the line of the user's own file that a call came from."""

from __future__ import annotations

import os
import site
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

WITNESSES = frozenset(
    f"{folder}/{name}"
    for folder in OURS
    for name in ("noted_environment.py", "scons/asked.py", "scons/location.py", "scons/recipe_reads.py")
)
"""Our own files that hear of a reading; they are not who reads."""

LIBRARIES = tuple(
    f"{folder}{os.sep}"
    for folder in (str(Path(os.__file__).parent), *site.getsitepackages(), site.USER_SITE or "")
    if folder
)
"""Folders of Python's own and of installed modules."""


def calling_line() -> Location | None:
    """Return the nearest line outside aiebuild and SCons that led to this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else Location(_shown(frame.f_code.co_filename), frame.f_lineno)


def recipe_line() -> Location:
    """Return the line of the recipe, or `SConstruct`, that led to this call."""
    return calling_line() or Location("SConstruct")


def reading_line() -> tuple[Location, bool] | None:
    """Return the project's line that reads something by Python's or another library, and whether an import led there.

    None where aiebuild or SCons reads it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or _is_ours(frame.f_code.co_filename):
        return None
    return Location(_shown(frame.f_code.co_filename), frame.f_lineno), _is_imported(frame)


def _is_imported(frame: FrameType | None) -> bool:
    """Return whether a line is run because a recipe imports a module, or a module another one."""
    while frame is not None and not _is_ours(frame.f_code.co_filename):
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.endswith(".py"):
            return True
        frame = frame.f_back
    return False


def _is_library(name: str) -> bool:
    """Return whether a file is Python's, of an installed package, or what hears the reading itself."""
    return name in WITNESSES or name.startswith("<") or (name.startswith(LIBRARIES) and not name.startswith(OURS))


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
