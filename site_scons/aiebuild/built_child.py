"""The child of a run with a program's own arrays: reads them, runs one sequence, writes what it left."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aiebuild.host.child import Run, end_with_the_parent
from aiebuild.host.reads import search_installed_only

if TYPE_CHECKING:
    from aiebuild.errors import AieBuildError
    from aiebuild.host.job import Job
    from aiebuild.host.simulate import Outcome


def main(text: str) -> int:
    """Do the job that the parent gave as text; return the exit status."""
    end_with_the_parent()
    beside = search_installed_only()
    from aiebuild.errors import AieBuildError  # noqa: PLC0415 - no module beside the project may hide one of these
    from aiebuild.host import job as jobs  # noqa: PLC0415 - the same
    from aiebuild.host import simulate  # noqa: F401, PLC0415 - the same

    sys.path.append(beside)
    job = jobs.Job.from_json(text)
    try:
        _call(job)
    except AieBuildError as error:
        _write_error(job, error)
        job.file(jobs.ENDED).touch()
        return 1
    job.file(jobs.LINE).touch()
    job.file(jobs.ENDED).touch()
    return 0


def _call(job: Job) -> None:
    from aiebuild.built_run import NOTES  # noqa: PLC0415 - see main

    outcome = Call(job).call()
    for place, array in enumerate(outcome.arrays):
        job.file(f"output_{place}").write_bytes(array.tobytes())
    notes = [f"note: {sentence}" for sentence in outcome.unfinished]
    notes += [early.note(job.arguments[early.argument]) for early in outcome.early]
    job.file(NOTES).write_text(json.dumps(notes))


def _write_error(job: Job, error: AieBuildError) -> None:
    from aiebuild.built_run import ERROR  # noqa: PLC0415 - see main

    where = asdict(error.where) if error.where else None
    job.file(ERROR).write_text(json.dumps({"message": error.message, "where": where, "hint": error.hint}))


class Call(Run):
    """One run of one sequence, without a check."""

    def call(self) -> Outcome:
        """Run the sequence and return what it left.

        Raises:
            RunError: the design did something wrong, can go no further, or takes too long.
        """
        from aiebuild.host import job as jobs  # noqa: PLC0415 - see main

        sequence = self.program.sequence(self.job.sequences[0])
        names = self._arguments(sequence)
        inputs = self._inputs(names, sequence.arguments)
        self.job.file(jobs.STARTED).touch()
        signal.signal(signal.SIGALRM, self._too_long)
        signal.setitimer(signal.ITIMER_REAL, self.job.timeout)
        try:
            return self._simulate(0, sequence, names, inputs)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._write_trace()

    def _inputs(self, names: list[str], types: tuple[tuple[tuple[int, ...], str], ...]) -> dict[str, Any]:
        import numpy as np  # noqa: PLC0415 - see main

        from aiebuild.host import support  # noqa: PLC0415 - see main

        files = {place: self.job.file(f"input_{place}") for place in range(len(names))}
        return {
            names[place]: np.fromfile(file, support.dtype(types[place][1])).reshape(types[place][0])
            for place, file in files.items()
            if file.exists()
        }
