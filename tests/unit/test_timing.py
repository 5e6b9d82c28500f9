"""Where the time of a build went: job slots, the slowest steps, and the file that Perfetto opens."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest
from aiebuild import timing
from aiebuild.errors import OptionError
from aiebuild.timing import Span
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000_000
READING = Span("read the recipes", 5 * SECOND, 0.5)
STEPS = [
    Span("compile a.cc", 6 * SECOND, 2.0, {"why": ["a.cc changed"]}),
    Span("compile b.cc", 6 * SECOND + 1, 0.5),
    Span("link", 7 * SECOND, 4.0),
    Span("run", 8 * SECOND, 1.0),
]


def test_steps_are_on_the_lanes_of_the_jobs_that_ran_them() -> None:
    said = json.loads(timing.text(READING, STEPS, {"designs": ["one"]}))
    assert said["otherData"] == {"designs": ["one"]}
    slices = [event for event in said["traceEvents"] if event["ph"] == "X"]
    assert [(event["name"], event["tid"], event["ts"], event["dur"]) for event in slices] == [
        ("read the recipes", 0, 0.0, 500_000.0),
        ("compile a.cc", 1, 1_000_000.0, 2_000_000.0),
        ("compile b.cc", 2, 1_000_000.001, 500_000.0),
        ("link", 2, 2_000_000.0, 4_000_000.0),
        ("run", 1, 3_000_000.0, 1_000_000.0),
    ]
    assert slices[1]["args"] == {"why": ["a.cc changed"]}
    names = [event["args"]["name"] for event in said["traceEvents"] if event["name"] == "thread_name"]
    assert names == ["recipes", "job 1", "job 2"]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=12))
def test_steps_of_one_slot_never_overlap_and_no_slot_is_needless(times: list[tuple[int, int]]) -> None:
    spans = [Span(str(number), start * SECOND, float(length)) for number, (start, length) in enumerate(times)]
    slots = timing.slots(spans)
    for slot in set(slots):
        of_slot = (span for span, used in zip(spans, slots, strict=True) if used == slot)
        own = sorted(of_slot, key=lambda span: span.start)
        assert all(first.end <= second.start for first, second in itertools.pairwise(own))
    at_once = [sum(span.start <= moment.start < span.end for span in spans) for moment in spans]
    assert max(slots, default=0) == max(at_once, default=0)


def test_the_slowest_steps_are_told_of_long_builds_alone() -> None:
    assert timing.slowest(STEPS) == "slowest: link (4.0 s), compile a.cc (2.0 s), run (1.0 s)"
    assert timing.is_worth_telling(STEPS, 7.0)
    assert not timing.is_worth_telling(STEPS, 4.9)
    assert not timing.is_worth_telling(STEPS[:2], 60.0)


def test_no_file_is_overwritten_that_is_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    timing.require_writable(str(file))
    for fine in ("", timing.text(READING, [], {})):
        file.write_text(fine)
        timing.require_writable(str(file))
    file.write_text('{"mine": 1}')
    with pytest.raises(OptionError, match="no trace of a build"):
        timing.require_writable(str(file))
    with pytest.raises(OptionError, match="is a folder"):
        timing.require_writable(str(tmp_path))
