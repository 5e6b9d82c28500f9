"""The parent of a run: it starts a child process with a time limit, and says what happened where the child cannot.

Nothing that is slow to import is imported here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from aiebuild.errors import Location, RunError
from aiebuild.files import write_atomically
from aiebuild.host import job as jobs
from aiebuild.host import status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.host.job import Job

_GRACE = 1.0
"""Seconds that the child has, beyond the limit, to say itself where it was."""

_START_LIMIT = 60.0
"""Seconds that the child has to import what it needs."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from aiebuild.host.child import main; sys.exit(main(sys.argv[1]))"
)


class Reported(Exception):  # noqa: N818 - it is no error, it says that one was shown
    """The child has shown what is wrong."""


def run(job: Job, depfile: Path | None, trace: Path | None) -> str:
    """Run a job and write its result, its depfile and its trace; return the line for people.

    Raises:
        RunError: the child crashed, or did not end in time.
        Reported: the child found an error and has said so on stderr.
    """
    prepare(job)
    try:
        finish(job, _wait(job))
    finally:
        recorded = job.file(jobs.TRACE)
        if trace is not None and recorded.exists():
            write_atomically(trace, recorded.read_bytes())
    if depfile is not None:
        write_atomically(depfile, job.file(jobs.DEPFILE).read_bytes())
    write_atomically(job.output, job.file(jobs.RESULT).read_bytes())
    return job.file(jobs.LINE).read_text(encoding="utf-8")


def trace(job: Job, depfile: Path) -> list[dict[str, object]]:
    """Run a job that traces, write its depfile, and return the events.

    Raises:
        RunError: the child crashed, or did not end in time.
        Reported: the child found an error and has said so on stderr.
    """
    prepare(job)
    finish(job, _wait(job))
    write_atomically(depfile, job.file(jobs.DEPFILE).read_bytes())
    return [json.loads(line) for line in job.file(jobs.TRACE).read_text(encoding="utf-8").splitlines()]


@contextmanager
def private_folder() -> Iterator[str]:
    """Make a folder that is removed afterwards, however the child ended."""
    with tempfile.TemporaryDirectory(prefix="aiebuild-run-") as folder:
        yield folder


def prepare(job: Job) -> None:
    """Put into a job's folder what the child notes its progress in."""
    job.file(jobs.STATUS).write_bytes(status.empty())


def _wait(job: Job) -> int:
    """Run the child in a process group of its own; return its exit status, negative for a signal."""
    package = str(Path(__file__).resolve().parents[2])
    command = (sys.executable, "-c", _START, package, job.to_json())
    # The pipe is never written to: that it is closed tells the child that its parent has gone.
    child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    before = signal.signal(signal.SIGTERM, _terminated)
    watch = Watch(job, child)
    try:
        # Without a limit of its own: Python would look for the child's end only every 50 ms.
        ended = child.wait()
    finally:
        watch.over.set()
        end(child)
        signal.signal(signal.SIGTERM, before)
    if watch.killed:
        raise failed(job, f"was still running after {job.timeout:g} s", jobs.LONGER)
    return ended


class Watch:
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
            end(self._child)


def _terminated(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def end(child: subprocess.Popen[bytes]) -> None:
    """End the child's own process group, where it still runs."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def finish(job: Job, ended: int) -> None:
    """Turn the exit status, negative for a signal, into an error, unless all is well."""
    said, good = job.file(jobs.ENDED).exists(), job.file(jobs.LINE).exists()
    if ended == 0 and said and good:
        return
    if said and not good:
        raise Reported
    how = f"crashed ({_signal_name(-ended)})" if ended < 0 else f"ended the process with exit status {ended}"
    raise failed(job, how)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def failed(job: Job, how: str, hint: str = "") -> RunError:
    """Return the error of a run that did not say itself what went wrong, at the call of a kernel that it noted."""
    call = status.read(job.file(jobs.STATUS).read_bytes())
    if call is None or not job.file(jobs.SITES).exists():
        return RunError(f"the run, outside any kernel, {how}", hint=hint)
    known = json.loads(job.file(jobs.SITES).read_bytes())
    function, _, place = known["sites"][call.site].partition(" at ")
    where, called = Location(place), f"called by core {tuple(known['cores'][call.core])}"
    if call.runs:
        return RunError(f"kernel {function} {called} {how}", where, hint)
    if hint:
        return RunError(f"the run, outside any kernel, {how}", hint=hint)
    likely = f"the last kernel that ran, {function} {called} at {place}, is the likely cause"
    return RunError(f"the run, outside any kernel, {how}", where, f"{likely}: it may have left its buffers")
