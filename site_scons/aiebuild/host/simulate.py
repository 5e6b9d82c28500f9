"""Running one sequence of a translated design, from arrays to arrays."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.errors import RunError, did_you_mean
from aiebuild.host import report
from aiebuild.host.kernels import Kernels
from aiebuild.host.machine import Machine, flat_views
from aiebuild.host.support import Fault
from aiebuild.host.translate import translate
from aiebuild.mlir.ir import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from aiebuild.errors import Location
    from aiebuild.host import plan
    from aiebuild.host.plan import Plan, Tile
    from aiebuild.host.views import View

    Trace = Callable[[dict[str, object]], None] | None


class Program:
    """A translated text, loaded.

    Args:
        text: what `translate` returned.
        name: a name for it in Python's own messages.
    """

    def __init__(self, text: str, name: str = "translated cores") -> None:
        self.places = report.Places(text, f"<{name}>")
        self.functions: dict[str, Any] = {}
        exec(compile(text, self.places.file, "exec"), self.functions)  # noqa: S102 - the text is our own translator's
        self.plan: Plan = self.functions["PLAN"]
        self.sites: tuple[str, ...] = self.functions["SITES"]

    def sequence(self, name: str | None) -> plan.Sequence:
        """Return a sequence by name; the only one, or the first, where no name is given.

        Raises:
            RunError: there is no such sequence.
        """
        known = {sequence.name: sequence for sequence in self.plan.sequences}
        if not known:
            raise RunError("the design has no runtime sequence")
        found = known.get(name) if name is not None else self.plan.sequences[0]
        if found is None:
            raise RunError(f"there is no runtime sequence {name!r}", hint=did_you_mean(name or "", known))
        return found


@dataclass(frozen=True)
class Early:
    """A transfer into an argument, by its place, that the host would read too early on the NPU.

    `missing` is what the sequence would have to say to wait for it; `where` is the line that queues it.
    """

    argument: int
    fifo: str
    missing: str
    where: Location | None = None

    def note(self, name: str) -> str:
        """Return what there is to say about it; `name` is that of the argument."""
        place = f"{self.where}: " if self.where else ""
        return (
            f"{place}note: the sequence does not wait for this transfer of `{self.fifo}` into {name}: here it was "
            f"complete, on the NPU the host may read {name} too early; add {self.missing}"
        )


@dataclass(frozen=True)
class Outcome:
    """What a run left.

    `arrays` are the arguments afterwards, flat, in the order of the sequence. `unfinished` has a sentence about each
    transfer into them that was not waited for and had not moved all of its elements when nothing could move any more.
    `early` are the transfers into them that were not waited for either, and did end.
    """

    arrays: tuple[NDArray[Any], ...]
    unfinished: tuple[str, ...] = ()
    early: tuple[Early, ...] = ()


def simulate(
    design: Module | Program,
    kernels: Mapping[Tile, Path] | Path | None,
    arrays: Sequence[NDArray[Any]],
    sequence: str | None = None,
    trace: Trace = None,
) -> Outcome:
    """Run one sequence on a freshly configured array.

    After the sequence has returned, the array goes on until nothing can move, so that the result does not depend on
    what was waited for; on the NPU only what was waited for is sure to be there.

    Args:
        design: a normalised module, or one that was translated and loaded before.
        kernels: the shared library of each core, by (column, row), or one for all; each core loads its own copy.
        arrays: the arguments of the sequence, of any shape with the right number of elements; they are not changed.
        sequence: its name; the first one where it is left out.
        trace: is called with each event, in order.

    Raises:
        MlirError: the design has something that the host cannot run.
        RunError: the design did something wrong, or can go no further (a deadlock).
    """
    program = Program(translate(design)) if isinstance(design, Module) else design
    tiles = [core.tile for core in program.plan.cores]
    libraries = dict.fromkeys(tiles, kernels) if isinstance(kernels, Path) else dict(kernels or {})
    with tempfile.TemporaryDirectory(prefix="aiebuild-kernels-") as folder:
        loaded = Kernels(program.plan.externals, libraries, Path(folder), tiles)
        return run(program, loaded, arrays, sequence, trace=trace)


def run(
    program: Program,
    kernels: Kernels,
    arrays: Sequence[NDArray[Any]],
    sequence: str | None = None,
    *,
    trace: Trace = None,
    watch: Callable[[Machine], None] | None = None,
) -> Outcome:
    """Run one sequence with kernels that are loaded already; see `simulate`. `watch` is given the machine first."""
    chosen = program.sequence(sequence)
    try:
        machine = Machine(program.plan, kernels, trace)
        arguments = flat_views(chosen, list(arrays))
    except Fault as error:
        raise RunError(str(error), chosen.where) from None
    if watch is not None:
        watch(machine)
    machine.start(program.functions)
    host = machine.scheduler.add("the host", "host", program.functions[chosen.function](machine.host, *arguments))
    with np.errstate(all="ignore"):
        _run(machine, program)
    if not host.done:
        raise report.deadlock(machine.scheduler, program.places)
    _check_guards(machine, program)
    early = tuple(dict.fromkeys(_early(machine, program, arguments)))
    return Outcome(tuple(view.base for view in arguments), machine.host.unfinished(), early)


def _early(machine: Machine, program: Program, arguments: list[View]) -> Iterator[Early]:
    for queue, transfer in machine.host.early():
        place = next(number for number, view in enumerate(arguments) if view.base is transfer.array)
        yield Early(place, queue.name, transfer.missing, program.places.op(transfer.line)[1])


def _check_guards(machine: Machine, program: Program) -> None:
    """Look at the zones of all buffers: a kernel may have written around one that it was not given."""
    damaged = next((guard for guard in machine.guards if not guard.intact), None)
    if damaged is None:
        return
    call = machine.kernels.noted.last()
    hint = ""
    if call is not None:
        function, _, place = program.sites[call.site].partition(" at ")
        hint = f"the last kernel that ran was {function}, called by core {machine.kernels.cores[call.core]} at {place}"
    raise RunError(f"a kernel wrote {damaged.damage()} of a buffer that it was not given ({damaged.what})", hint=hint)


def _run(machine: Machine, program: Program) -> None:
    try:
        machine.scheduler.run(machine.trace)
    except RunError as error:
        task = machine.scheduler.current
        if error.where is None and task is not None:
            _, error.where = program.places.of_traceback(error.__traceback__)
        raise
    except (Fault, ArithmeticError, ValueError, IndexError, OverflowError) as error:
        task = machine.scheduler.current
        if task is None:
            raise
        raise report.fault(task, error, program.places) from error
