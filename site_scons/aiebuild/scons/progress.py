"""How far a build is, on a terminal: one line at the bottom. Elsewhere each step is a line of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import SCons.Script

from aiebuild.environment import current, has_cursor
from aiebuild.scons.closure import step_of, walk
from aiebuild.status_line import Counts, StatusLine

if TYPE_CHECKING:
    from aiebuild.scons.session import Session
    from aiebuild.step import Step

OPTION = "--no-progress"
QUIET = ("silent", "no_exec", "question", "clean", "help", "interactive", "tree_printers", "debug")
"""Options of SCons with which its own output is what people want to see, or none."""


def add_option() -> None:
    """Give SCons the option that keeps to plain lines on a terminal."""
    SCons.Script.AddOption(
        OPTION, dest="plain_lines", action="store_true", default=False, help="Plain lines, no status line."
    )


class Progress:
    """The status line of one build."""

    def __init__(self, session: Session, targets: list[Any]) -> None:
        steps = {step.outputs[0] for node in walk(targets) if (step := step_of(node)) is not None}
        self._counts = Counts(len(steps))
        self._line = StatusLine(sys.stdout, self._counts.text)
        self._title = session.title
        SCons.Script.Progress(self._see)
        self._line.begin()

    def _see(self, node: Any) -> None:
        step = step_of(node)
        if step is not None:
            self._counts.see(step.outputs[0])

    def begin(self, step: Step) -> None:
        """Show that a step runs."""
        self._counts.begin(step.outputs[0], self._title(step))
        self._line.draw()

    def end(self, step: Step, *, failed: bool) -> None:
        """Show that it has ended."""
        self._counts.end(step.outputs[0], failed=failed)
        self._line.draw()

    def close(self) -> None:
        """Remove the line."""
        self._line.end()


def begin(session: Session, targets: list[Any]) -> None:
    """Show how far a build is, where somebody looks at it on a terminal."""
    if SCons.Script.GetOption("plain_lines") or any(map(_is_set, QUIET)) or not has_cursor(current(), sys.stdout):
        return
    session.progress = Progress(session, targets)


def _is_set(name: str) -> bool:
    try:
        return bool(SCons.Script.GetOption(name))
    except AttributeError:
        return False
