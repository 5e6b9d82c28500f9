"""Messages about a run: where in the user's MLIR a task is, what it waits for, and why nothing can move."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from aiebuild.errors import Location, RunError
from aiebuild.host.emitter import MARK

if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType

    from aiebuild.host.scheduler import Scheduler, Task

_MARK = re.compile(rf"{MARK} (\S+) (.*)$")
_PLACE = re.compile(r"(.*?)(?::(\d+))?(?::(\d+))?$")


class Places:
    """The ops that the lines of a translated text stand for."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines = text.split("\n")

    def op(self, line: int) -> tuple[str, Location | None]:
        """Return the op and the user's line of a line of the text: its mark, else that of the line it belongs to.

        An unmarked line belongs to the one before it; those at the start of a function to its first op.
        """
        before = itertools.takewhile(lambda text: not text.startswith("def "), reversed(self.lines[:line]))
        for text in (*before, *self.lines[line:]):
            found = _MARK.search(text)
            if found is not None:
                return found.group(1), _location(found.group(2))
        return "", None

    def owns(self, code: CodeType) -> bool:
        """Return whether code comes from the text."""
        return code.co_filename == self.file

    def of_traceback(self, traceback: TracebackType | None) -> tuple[str, Location | None]:
        """Return the op in which an exception was raised."""
        line = 0
        while traceback is not None:
            if self.owns(traceback.tb_frame.f_code):
                line = traceback.tb_lineno
            traceback = traceback.tb_next
        return self.op(line) if line else ("", None)

    def of_frame(self, frame: FrameType | None) -> tuple[str, Location | None]:
        """Return the op that a running frame is in."""
        while frame is not None:
            if self.owns(frame.f_code):
                return self.op(frame.f_lineno)
            frame = frame.f_back
        return "", None

    def of_task(self, task: Task) -> tuple[str, Location | None]:
        """Return the op at which a task stands still: that of the innermost function of the text."""
        steps: Any = task.steps
        found: tuple[str, Location | None] = ("", None)
        while steps is not None:
            frame = getattr(steps, "gi_frame", None)
            if frame is not None and self.owns(frame.f_code):
                found = self.op(frame.f_lineno)
            steps = getattr(steps, "gi_yieldfrom", None)
        return found


def _location(text: str) -> Location | None:
    found = _PLACE.match(text)
    if found is None or text == "?":
        return None
    file, line, column = found.groups()
    return Location(file, int(line) if line else None, int(column) if column else None)


def fault(task: Task, error: Exception, places: Places) -> RunError:
    """Return what a task did wrong: the task, the op, and the user's line."""
    op, where = places.of_traceback(error.__traceback__)
    return RunError(f"{task.name}: {op + ': ' if op else ''}{error}", where)


def deadlock(scheduler: Scheduler, places: Places) -> RunError:
    """Return the report of a run in which nothing can move: what each task waits for, and who would have to act."""
    where = None
    lines = []
    for kind in ("host", "core", "dma"):
        for task in scheduler.of_kind(kind):
            op, place = places.of_task(task)
            where = place if kind == "host" else where
            lines.append(_state(task, op, place))
    return RunError(
        "deadlock: nothing can move any more, on the NPU this design would hang\n  " + "\n  ".join(lines), where
    )


def _state(task: Task, op: str, place: Location | None) -> str:
    if task.done:
        return f"{_subject(task)} has ended"
    at = f" ({op}, {place})" if op else ""
    return f"{_subject(task)} {task.why()}{at}"


def _subject(task: Task) -> str:
    return f"the core at {task.tile}" if task.kind == "core" else task.name
