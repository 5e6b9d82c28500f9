"""The user's own Python: which code is theirs, where it is, and errors in it shown as theirs."""

from __future__ import annotations

import inspect
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.errors import AieBuildError, Location, RunError
from aiebuild.files import project_path
from aiebuild.host.reads import PACKAGE, installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def users_errors(path: Path) -> Iterator[None]:
    """Show an exception as the user's: its line first, then the traceback without our own frames."""
    try:
        yield
    except RunError:
        raise
    except (SystemExit, KeyboardInterrupt) as error:
        raise RunError(f"check.py ended the run: {error!r}", _innermost(_frames(error), path)) from None
    except SyntaxError as error:
        where = Location(project_path(error.filename or path), error.lineno)
        raise RunError(f"{type(error).__name__}: {error.msg}", where) from None
    except Exception as error:
        raise _as_users(error, path) from None


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of a traceback that are not aiebuild's."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if not Path(frame.filename).resolve().is_relative_to(PACKAGE)]


def _innermost(frames: list[traceback.FrameSummary], path: Path) -> Location:
    """Return the line of the innermost frame that is the user's; the file itself where there is none."""
    last = next((frame for frame in reversed(frames) if _is_users(frame.filename)), None)
    return Location(project_path(last.filename), last.lineno) if last is not None else Location(str(path))


def _as_users(error: Exception, path: Path) -> RunError:
    frames = _frames(error)
    where, told = _innermost(frames, path), "".join(traceback.format_list(frames)).rstrip()
    if isinstance(error, AieBuildError):
        return RunError(error.message, where, "\n  ".join(part for part in (error.hint, told.strip()) if part))
    return RunError(f"{type(error).__name__}: {error}" + (f"\n{told}" if told else ""), where)


def _is_users(file: str) -> bool:
    """Return whether a file is the user's: below the current folder, and no installed package."""
    full, here = Path(file).absolute(), Path.cwd()
    packages = any(full.resolve().is_relative_to(prefix) for prefix in installed(here))
    return full.is_relative_to(here) and full.exists() and not packages


def definition(function: Callable[..., Any], path: Path) -> Location:
    """Return the line where a function is defined; the file alone where it is not one of Python's."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Location(project_path(code.co_filename), code.co_firstlineno) if code is not None else Location(str(path))
