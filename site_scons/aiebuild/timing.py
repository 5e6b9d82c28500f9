"""What a build spent its time on: a trace for Perfetto, and the slowest steps in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import trace_file
from aiebuild.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANY, LONG = 3, 5.0
"""Steps and seconds of a build from which on people want to know what was slow."""

NAMED = 3
"""How many steps are named then."""

BUILD = 1
READING = "recipes"


@dataclass(frozen=True)
class Span:
    """Something that took time: from `start` (ns of the clock) on, `seconds` long."""

    name: str
    start: int
    seconds: float
    args: Mapping[str, object] = field(default_factory=dict)

    @property
    def end(self) -> float:
        """When it was over (ns)."""
        return self.start + self.seconds * 1e9


def slots(spans: Sequence[Span]) -> list[int]:
    """Return the job slot of each span, from 1 on: the first one that was free when the span began."""
    free: list[float] = []
    found = [0] * len(spans)
    for place in sorted(range(len(spans)), key=lambda place: spans[place].start):
        slot = next((slot for slot, end in enumerate(free) if end <= spans[place].start), len(free))
        free[slot : slot + 1] = [spans[place].end]
        found[place] = slot + 1
    return found


def text(reading: Span, steps: Sequence[Span], about: Mapping[str, object]) -> str:
    """Return the trace of a build: a lane for reading the recipes, and one for each job slot.

    Args:
        reading: from the start until the recipes were read; times are shown from its start on.
        steps: the steps that ran.
        about: what is said of the whole.
    """
    used = slots(steps)
    lanes = [trace_file.thread(BUILD, 0, READING)]
    lanes += [trace_file.thread(BUILD, slot, f"job {slot}") for slot in range(1, max(used, default=0) + 1)]
    events = [_event(span, slot, reading.start) for span, slot in zip((reading, *steps), (0, *used), strict=True)]
    return trace_file.text([trace_file.process(BUILD, "build"), *lanes, *events], about)


def _event(span: Span, slot: int, zero: int) -> trace_file.TraceEvent:
    return trace_file.span(span.name, (BUILD, slot), (span.start - zero) / 1e3, span.seconds * 1e6, span.args)


def is_worth_telling(steps: Sequence[Span], seconds: float) -> bool:
    """Return whether a build was so long, of so many steps, that the slowest ones say something."""
    return len(steps) >= MANY and seconds >= LONG


def slowest(steps: Sequence[Span]) -> str:
    """Return the slowest steps in words."""
    slow = sorted(steps, key=lambda span: -span.seconds)[:NAMED]
    return f"slowest: {', '.join(f'{span.name} ({span.seconds:.1f} s)' for span in slow)}"


def require_writable(file: str) -> None:
    """Refuse to write a trace over something else.

    Raises:
        OptionError: there is a folder, or a file that is no trace.
    """
    path = Path(file)
    hint = "give another name: timing=build/timing.json"
    if path.is_dir():
        raise OptionError(f"timing={file} is a folder", hint=hint)
    if not path.is_file():
        return
    with path.open("rb") as stream:
        head = stream.read(len(trace_file.HEAD))
    if head and head != trace_file.HEAD.encode():
        raise OptionError(f"timing={file} is a file that is no trace of a build", hint=hint)
