"""Running a built design on the host with a program's own arrays, in a child process that prints nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.environment import current
from aiebuild.errors import Location, RunError
from aiebuild.host import job as jobs
from aiebuild.host import run as host_run
from aiebuild.host import support
from aiebuild.host.job import Job
from aiebuild.toolchains.python import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aiebuild.built import Built
    from aiebuild.manifest import Argument
    from aiebuild.manifest import Sequence as RuntimeSequence

    Array = NDArray[Any]
    Given = Sequence[Array | None]

ERROR = "error.json"
NOTES = "notes.json"
SAID = "said"
LONGER = "if it needs that long, say so: run(..., timeout=120)"

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from aiebuild.built_child import main; sys.exit(main(sys.argv[1]))"
)


class RunNote(UserWarning):
    """What is to be said of a run that ended well: a transfer that the sequence does not wait for."""


def run(built: Built, arrays: Given, sequence: RuntimeSequence, timeout: float) -> tuple[Array, ...]:
    """Return the arguments that a sequence writes; see `Built.run`."""
    given = _assign(built, arrays, sequence)
    with tempfile.TemporaryDirectory(prefix="aiebuild-run-") as folder:
        job = _job(built, sequence, folder, timeout)
        _write_inputs(job, given, sequence)
        _run(job, built.root)
        for note in json.loads(job.file(NOTES).read_bytes()):
            warnings.warn(note, RunNote, stacklevel=3)
        return tuple(
            _result(job, place, argument, given[place])
            for place, argument in enumerate(sequence.arguments)
            if argument.direction != "in"
        )


def trace(built: Built, arrays: Given, sequence: RuntimeSequence, timeout: float) -> list[dict[str, Any]]:
    """Return the events of a run; see `Built.trace`."""
    given = _assign(built, arrays, sequence)
    with tempfile.TemporaryDirectory(prefix="aiebuild-run-") as folder:
        job = _job(built, sequence, folder, timeout, traced=True)
        _write_inputs(job, given, sequence)
        _run(job, built.root)
        return [json.loads(line) for line in job.file(jobs.TRACE).read_text(encoding="utf-8").splitlines()]


def _job(built: Built, sequence: RuntimeSequence, folder: str, timeout: float, *, traced: bool = False) -> Job:
    files = {kind: str(path) for kind, path in built.artifacts.items()}
    return Job(
        cores=files["cores"],
        kernels=files["kernels"],
        check="",
        parameters=files["parameters"],
        arguments=tuple(argument.name for argument in sequence.arguments),
        sequences=(sequence.name,),
        timeout=timeout,
        output="",
        folder=folder,
        trace=traced,
    )


def _assign(built: Built, arrays: Given, sequence: RuntimeSequence) -> list[Array | None]:
    """Return the array of each argument, None for zeros.

    Raises:
        RunError: the number of arrays is neither that of the arguments nor that of those which are read, or an array
            does not fit its argument.
    """
    arguments = sequence.arguments
    read = [place for place, argument in enumerate(arguments) if argument.direction != "out"]
    places = read if len(arrays) == len(read) else list(range(len(arrays)))
    left_out = set(range(len(arguments))) - set(places)
    if len(places) > len(arguments) or (arrays and any(arguments[place].direction == "in" for place in left_out)):
        wanted = ", ".join(f"{each.name} ({each.direction or 'in or out'}, {_type(each)})" for each in arguments)
        raise RunError(f"{built.design} is given {len(arrays)} arrays; its arguments: {wanted}")
    given: list[Array | None] = [None] * len(arguments)
    for place, array in zip(places, arrays, strict=True):
        given[place] = None if array is None else _fitting(arguments[place], np.asarray(array))
    return given


def _fitting(argument: Argument, array: Array) -> Array:
    wanted, count = support.dtype(argument.element), int(np.prod(argument.shape, dtype=np.int64))
    if array.dtype == wanted and array.size == count:
        return array
    name = "ml_dtypes.bfloat16" if wanted.name == "bfloat16" else f"numpy.{wanted.name}"
    raise RunError(
        f"{argument.name} is given {array.size} elements of {array.dtype}, "
        f"the design has {count} of {wanted} there ({_type(argument)})",
        hint=f"{argument.name}.astype({name})" if array.size == count else "",
    )


def _type(argument: Argument) -> str:
    return f"memref<{'x'.join([*map(str, argument.shape), argument.element])}>"


def _write_inputs(job: Job, given: list[Array | None], sequence: RuntimeSequence) -> None:
    """Write the arrays as their plain bytes: NumPy's own files do not keep every type (bf16)."""
    for place in range(len(sequence.arguments)):
        array = given[place]
        if array is not None:
            job.file(f"input_{place}").write_bytes(np.ascontiguousarray(array).tobytes())


def _result(job: Job, place: int, argument: Argument, given: Array | None) -> Array:
    found = np.frombuffer(job.file(f"output_{place}").read_bytes(), support.dtype(argument.element))
    if given is None or not given.flags.writeable:
        return found.reshape(argument.shape).copy()
    given[...] = found.reshape(given.shape)
    return given


def _run(job: Job, root: Path) -> None:
    """Run the child to its end.

    Raises:
        RunError: what it found wrong; or that it crashed or did not end, with the kernel that ran then.
    """
    host_run.prepare(job)
    package = str(Path(__file__).resolve().parents[1])
    with job.file(SAID).open("wb") as said:
        child = subprocess.Popen(
            (sys.executable, "-c", _START, package, job.to_json()),
            cwd=root,
            env=current().for_steps() | VARIABLES,
            stdin=subprocess.PIPE,  # never written to: that it is closed tells the child that its parent has gone
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        with child:
            watch = host_run.Watch(job, child)
            try:
                ended = child.wait()
            finally:
                watch.over.set()
                host_run.end(child)
    if watch.killed:
        raise host_run.failed(job, f"was still running after {job.timeout:g} s", LONGER)
    _finish(job, ended)


def _finish(job: Job, ended: int) -> None:
    if job.file(ERROR).exists():
        record = json.loads(job.file(ERROR).read_bytes())
        raise RunError(record["message"], Location(**record["where"]) if record["where"] else None, record["hint"])
    try:
        host_run.finish(job, ended)
    except RunError as error:
        said = job.file(SAID).read_text(encoding="utf-8", errors="replace").strip()
        error.hint = "\n  ".join(text for text in (error.hint, *said.splitlines()[-10:]) if text)
        raise
