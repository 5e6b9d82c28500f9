"""The parent of a run: it starts a child process with a time limit, and says what happened where the child cannot.

Nothing that is slow to import is imported here.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from aiebuild.errors import RunError
from aiebuild.files import write_atomically
from aiebuild.host import job as jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.host.job import Job

_STATUS = struct.Struct("<ii")
_GRACE = 1.0
"""Seconds that the child has, beyond the limit, to say itself where it was."""

_START_LIMIT = 60.0
"""Seconds that the child has to import what it needs."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from aiebuild.host.child import main; sys.exit(main(sys.argv[1]))"
)


class Reported(Exception):  # noqa: N818 - it is no error, it says that one was shown
    """The child has shown what is wrong."""


def run(job: Job, depfile: Path | None, trace: Path | None) -> None:
    """Run a job and write its result, its depfile and its trace.

    Raises:
        RunError: the child crashed, or did not end in time.
        Reported: the child found an error and has said so on stderr.
    """
    _prepare(job)
    try:
        _finish(job, _wait(job))
    finally:
        recorded = job.file(jobs.TRACE)
        if trace is not None and recorded.exists():
            write_atomically(trace, recorded.read_bytes())
    if depfile is not None:
        write_atomically(depfile, job.file(jobs.DEPFILE).read_bytes())
    write_atomically(job.output, job.file(jobs.RESULT).read_bytes())


@contextmanager
def private_folder() -> Iterator[str]:
    """Make a folder that is removed afterwards, however the child ended."""
    with tempfile.TemporaryDirectory(prefix="aiebuild-run-") as folder:
        yield folder


def _prepare(job: Job) -> None:
    job.file(jobs.STATUS).write_bytes(_STATUS.pack(-1, -1))


def _wait(job: Job) -> int:
    """Run the child in a process group of its own; return its exit status, negative for a signal."""
    package = str(Path(__file__).resolve().parents[2])
    command = (sys.executable, "-c", _START, package, job.to_json())
    # The pipe is never written to: that it is closed tells the child that its parent has gone.
    child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    before = signal.signal(signal.SIGTERM, _terminated)
    watch = _Watch(job, child)
    try:
        # Without a limit of its own: Python would look for the child's end only every 50 ms.
        status = child.wait()
    finally:
        watch.over.set()
        _end(child)
        signal.signal(signal.SIGTERM, before)
    if watch.killed:
        raise _too_long(job)
    return status


class _Watch:
    """Ends the child where it does not say itself that its time is over: it hangs in a kernel."""

    def __init__(self, job: Job, child: subprocess.Popen[bytes]) -> None:
        self.over = threading.Event()
        self.killed = False
        self._job = job
        self._child = child
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Count from when the child has started its work: imports are not the design's."""
        start = time.monotonic()
        while not self._job.file(jobs.STARTED).exists() and time.monotonic() - start < _START_LIMIT:
            if self.over.wait(0.1):
                return
        if not self.over.wait(self._job.timeout + _GRACE):
            self.killed = True
            _end(self._child)


def _terminated(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child's own process group, where it still runs."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _finish(job: Job, status: int) -> None:
    """Turn the exit status into an error, unless all is well."""
    ended = job.file(jobs.ENDED).exists()
    if status == 0 and ended:
        return
    if ended and status == 1:
        raise Reported
    if status < 0:
        raise RunError(f"{_what_ran(job)} crashed ({_signal_name(-status)})")
    raise RunError(f"{_what_ran(job)} ended the process with exit status {status}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _too_long(job: Job) -> RunError:
    return RunError(
        f"{_what_ran(job)} was still running after {job.timeout:g} s",
        hint="if it needs that long, give Design(...) a larger run_timeout=",
    )


def _what_ran(job: Job) -> str:
    """Return the call of a kernel that was going on, as the child noted it before it began."""
    core, site = _STATUS.unpack(job.file(jobs.STATUS).read_bytes()[: _STATUS.size])
    if core < 0 or not job.file(jobs.SITES).exists():
        return "the run, outside any kernel,"
    known = json.loads(job.file(jobs.SITES).read_bytes())
    function, _, place = known["sites"][site].partition(" at ")
    return f"kernel {function} called by core {tuple(known['cores'][core])} at {place}"
