"""The programs of the steps that run now, and how they end when the build is told to.

Ctrl-C reaches them as well as SCons; what they then say is about themselves, and nobody wants to know. A signal to
SCons alone, as CI and editors send it, does not: SCons would wait for steps that may take hours.
"""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING, Any

import SCons.Taskmaster.Job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

ALONE = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that are sent to one process; SCons has handlers for them."""

INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)
"""Exit statuses of programs that Ctrl-C has ended."""


class Running:
    """Programs that run, from any thread."""

    def __init__(self) -> None:
        self._children: set[subprocess.Popen[bytes]] = set()
        self._ends = False
        self.is_interrupted = False

    def has_ended(self, status: int) -> bool:
        """Return whether a program has this exit status because the build was told to end."""
        return status in INTERRUPTED or (status != 0 and self.is_interrupted)

    def run(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end, and return what it printed; OSError where it cannot be started."""
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with child:
            self._children.add(child)
            if self._ends:
                child.terminate()
            try:
                out, err = child.communicate()
            finally:
                self._children.discard(child)
        return subprocess.CompletedProcess(command, child.returncode, out, err)

    def interrupt(self) -> None:
        """Take note that the build was told to end."""
        self.is_interrupted = True

    def end(self) -> None:
        """End all of them, and each that is started from now on."""
        self.interrupt()
        self._ends = True
        for child in tuple(self._children):
            child.terminate()

    def end_with_the_build(self) -> None:
        """Have them ended by a signal that reaches this process alone, and take note of Ctrl-C."""
        running = self

        class Jobs(SCons.Taskmaster.Job.Jobs):
            def _setup_sig_handler(self) -> None:
                super()._setup_sig_handler()
                signal.signal(signal.SIGINT, _then(signal.getsignal(signal.SIGINT), running.interrupt))
                for number in ALONE:
                    signal.signal(number, _then(signal.getsignal(number), running.end))

        SCons.Taskmaster.Job.Jobs = Jobs


def _then(first: Any, second: Callable[[], None]) -> Callable[[int, FrameType | None], None]:
    """Return the handler of a signal that does what another one does, and one thing more."""

    def handler(number: int, frame: FrameType | None) -> None:
        first(number, frame)
        second()

    return handler
