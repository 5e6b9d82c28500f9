"""The child of a run: it configures the array, runs each sequence, compares, and leaves its answers in a folder."""

from __future__ import annotations

import json
import mmap
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from aiebuild.host.reads import Reads, search_installed_only

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from aiebuild.host.checking import Check
    from aiebuild.host.compare import Comparison
    from aiebuild.host.job import Job
    from aiebuild.host.machine import Machine
    from aiebuild.host.plan import Sequence, Tile
    from aiebuild.host.simulate import Outcome, Program


def main(text: str) -> int:
    """Do the job that the parent gave as text; return the exit status."""
    end_with_the_parent()
    beside = search_installed_only()
    reads = Reads()
    reads.install()
    # Everything slow comes after this, and only in this process; all of ours before `check.py` turns up, so that it
    # is compiled once and kept.
    from aiebuild.errors import AieBuildError  # noqa: PLC0415 - the reason above
    from aiebuild.host import checking, compare, link, prelude, simulate  # noqa: F401, PLC0415 - the same
    from aiebuild.host import job as jobs  # noqa: PLC0415 - the same

    sys.path.append(beside)
    job = jobs.Job.from_json(text)
    sys.dont_write_bytecode = True
    try:
        line = Run(job).run()
    except AieBuildError as error:
        print(error, file=sys.stderr, flush=True)
        job.file(jobs.ENDED).touch()
        return 1
    finally:
        for note in reads.notes():
            print(note, file=sys.stderr, flush=True)
    given = [Path(job.cores), Path(job.kernels), Path(job.parameters), Path(job.folder), Path(job.output)]
    depfile = reads.found([*given, Path(job.output).parent])
    job.file(jobs.DEPFILE).write_text(json.dumps(depfile, indent=1) + "\n")
    job.file(jobs.LINE).write_text(line + "\n", encoding="utf-8")
    job.file(jobs.ENDED).touch()
    return 0


def end_with_the_parent() -> None:
    """End this process as soon as its parent is gone, in whatever it is then; its standard input is the sign."""
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class Run:
    """One job."""

    def __init__(self, job: Job) -> None:
        from aiebuild.host import job as jobs  # noqa: PLC0415 - see main
        from aiebuild.host import link  # noqa: PLC0415 - the same
        from aiebuild.host.simulate import Program  # noqa: PLC0415 - the same
        from aiebuild.host.status import Status  # noqa: PLC0415 - the same
        from aiebuild.host.trace import Recording  # noqa: PLC0415 - the same
        from aiebuild.parameters import Parameters  # noqa: PLC0415 - the same

        self.job = job
        self.doing = f"`{job.check}`"
        self.machine: Machine | None = None
        self.parameters = Parameters.from_json(Path(job.parameters).read_text(encoding="utf-8"))
        self.program: Program = Program(Path(job.cores).read_text(encoding="utf-8"), job.cores)
        self.libraries: dict[Tile, Path] = link.unpack(Path(job.kernels), Path(job.folder))
        self.tiles = [core.tile for core in self.program.plan.cores]
        known = {"sites": self.program.sites, "cores": self.tiles}
        job.file(jobs.SITES).write_text(json.dumps(known))
        with job.file(jobs.STATUS).open("r+b") as stream:
            self.status = Status(mmap.mmap(stream.fileno(), 0))
        self.recording = Recording()

    def run(self) -> str:
        """Run and compare every sequence; return the line for people.

        Raises:
            AieBuildError: something is wrong with the design, with `check.py` or with a result.
        """
        from aiebuild.host import job as jobs  # noqa: PLC0415 - see main
        from aiebuild.host.checking import Check  # noqa: PLC0415 - the same

        self.job.file(jobs.STARTED).touch()
        signal.signal(signal.SIGALRM, self._too_long)
        signal.setitimer(signal.ITIMER_REAL, self.job.timeout)
        names = self.job.sequences or (None,)
        results: list[tuple[Sequence, list[Comparison]]] = []
        try:
            check = Check(Path(self.job.check), self.parameters)
            for number, name in enumerate(names):
                chosen = self.program.sequence(name)
                results.append((chosen, self._sequence(number, chosen, check)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._write_trace()
        self._write_result(results)
        return self._line(results)

    def _sequence(self, number: int, sequence: Sequence, check: Check) -> list[Comparison]:
        """Run one sequence on an array of its own, and compare what it left."""
        from aiebuild.host.compare import compare, failure  # noqa: PLC0415 - see main

        arguments = self._arguments(sequence)
        self.doing = f"`inputs` of {self.job.check}"
        inputs = check.make_inputs(sequence, arguments)
        outcome = self._simulate(number, sequence, arguments, inputs)
        left = dict(zip(arguments, outcome.arrays, strict=True))
        self.doing = f"`reference` of {self.job.check}"
        expected = check.make_reference(sequence, arguments, inputs)
        several = len(self.program.plan.sequences) > 1
        found = [compare(name, left[name], array, check.tolerance) for name, array in expected.items()]
        for each in found:
            if not each.ok:
                error = failure(self.parameters.design, sequence.name if several else "", each)
                error.hint = "\n  ".join(outcome.unfinished)
                raise error
        notes = [*(f"note: {sentence}" for sentence in outcome.unfinished)]
        notes += [each.note(arguments[each.argument]) for each in outcome.early]
        for note in notes:
            print(note, file=sys.stderr, flush=True)
        return found

    def _arguments(self, sequence: Sequence) -> list[str]:
        from aiebuild.errors import RunError  # noqa: PLC0415 - see main

        count, names = len(sequence.arguments), list(self.job.arguments)
        if not names:
            return [f"arg{number}" for number in range(count)]
        several = len(self.program.plan.sequences) > 1
        if len(names) < count or (len(names) > count and not several):
            raise RunError(
                f"the contract names {len(names)} arguments ({', '.join(names)}), "
                f"the sequence {sequence.name!r} has {count}",
                sequence.where,
            )
        return names[:count]

    def _simulate(
        self, number: int, sequence: Sequence, arguments: list[str], inputs: dict[str, NDArray[Any]]
    ) -> Outcome:
        import numpy as np  # noqa: PLC0415 - see main

        from aiebuild.host import simulate, support  # noqa: PLC0415 - see main
        from aiebuild.host.kernels import Kernels  # noqa: PLC0415 - the same

        arrays = [
            inputs.get(name, np.zeros(shape, support.dtype(element)))
            for name, (shape, element) in zip(arguments, sequence.arguments, strict=True)
        ]
        folder = self.job.file(f"sequence_{number}")
        folder.mkdir()
        kernels = Kernels(self.program.plan.externals, self.libraries, folder, self.tiles, self.status)
        self.doing = f"the sequence {sequence.name!r}"
        trace = self.recording.add if self.job.trace else None
        if trace is not None:
            trace({"who": "host", "event": "sequence", "name": sequence.name})
        return simulate.run(self.program, kernels, arrays, sequence.name, trace=trace, watch=self._watch)

    def _watch(self, machine: Machine) -> None:
        self.machine = machine

    def _too_long(self, _number: int, frame: types.FrameType | None) -> NoReturn:
        """Say where the run was when its time was over."""
        from aiebuild.errors import RunError  # noqa: PLC0415 - see main
        from aiebuild.host.job import LONGER  # noqa: PLC0415 - the same

        task = self.machine.scheduler.current if self.machine is not None else None
        op, where = self.program.places.of_frame(frame)
        who = f"{task.name} ({op})" if task is not None and op else self.doing
        raise RunError(f"{who} was still running after {self.job.timeout:g} s", where, LONGER)

    def _write_trace(self) -> None:
        from aiebuild.host import job as jobs  # noqa: PLC0415 - see main

        if self.job.trace:
            lines = "".join(json.dumps(event) + "\n" for event in self.recording.whole())
            self.job.file(jobs.TRACE).write_text(lines)

    def _write_result(self, results: list[tuple[Sequence, list[Comparison]]]) -> None:
        """Write what only depends on the inputs: equal inputs give equal bytes."""
        from aiebuild.host import job as jobs  # noqa: PLC0415 - see main

        sequences = [
            {"name": sequence.name, "outputs": [each.to_json() for each in found]} for sequence, found in results
        ]
        record = {
            "design": self.parameters.design,
            "device": self.parameters.device,
            "sequences": sequences,
            "ok": True,
        }
        self.job.file(jobs.RESULT).write_text(json.dumps(record, indent=1) + "\n")

    def _line(self, results: list[tuple[Sequence, list[Comparison]]]) -> str:
        return f"{self.parameters.design}: {'; '.join(self._parts(results))}"

    def _parts(self, results: list[tuple[Sequence, list[Comparison]]]) -> Iterator[str]:
        for sequence, found in results:
            name = f"{sequence.name}: " if len(results) > 1 else ""
            yield name + ", ".join(str(each) for each in found)
