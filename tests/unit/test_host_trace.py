"""The trace of a run on the host: slices that people look at, made of the events of the run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiebuild.host import trace

CORE, DMA = "core (0, 2)", "DMA of `in`"
EVENTS: list[dict[str, Any]] = [
    {"who": "host", "event": "sequence", "name": "main"},
    {"who": CORE, "event": "waits", "for": "an object"},
    {"who": "host", "event": "transfer", "fifo": "in", "transfer": 1},
    {"who": DMA, "event": "filled", "fifo": "in", "object": 0},
    {"who": DMA, "event": "level", "fifo": "in", "for": CORE, "full": 1, "of": 2},
    {"who": CORE, "event": "goes on"},
    {"who": CORE, "event": "waits", "for": "an object"},
    {"who": CORE, "event": "goes on"},
    {"who": CORE, "event": "acquire", "fifo": "in", "port": "consume", "objects": [0, 1]},
    {"who": CORE, "event": "acquire", "fifo": "in", "port": "consume", "objects": [1]},
    {"who": CORE, "event": "call", "function": "scale"},
    {"who": CORE, "event": "return", "function": "scale"},
    {"who": CORE, "event": "release", "fifo": "in", "port": "consume", "objects": [0]},
    {"event": "take", "lock": "full", "by": 1, "value": 0},
    {"who": "host", "event": "transferred", "fifo": "in", "transfer": 1},
    {"who": CORE, "event": "call", "function": "hang"},
    {"who": DMA, "event": "waits", "for": "ever"},
]


def found(kind: str, events: list[dict[str, Any]] | None = None) -> list[tuple[Any, ...]]:
    """Return the events of a kind: name, start, and duration or values."""
    converted = trace.convert(EVENTS if events is None else events)
    return [
        (event["name"], event.get("ts"), event.get("dur", event.get("args")))
        for event in converted
        if event["ph"] == kind
    ]


def test_calls_waiting_and_what_moves_are_slices() -> None:
    assert found("X") == [
        ("sequence main", 0, 1),
        ("filled in", 3, 1),
        ("waits", 1, 6),
        ("scale", 10, 1),
        ("hang", 15, 2),
        ("waits", 16, 1),
    ]


def test_objects_that_are_held_and_transfers_may_overlap() -> None:
    ends = [(event["name"], event["ph"], event["ts"]) for event in trace.convert(EVENTS) if event["ph"] in "be"]
    assert ends == [
        ("transfer of in", "b", 2),
        ("in (consume)", "b", 8),
        ("in (consume)", "b", 8),
        ("in (consume)", "e", 12),
        ("transfer of in", "e", 14),
        ("in (consume)", "e", 17),
    ]


def test_fifos_and_locks_are_counters() -> None:
    assert found("C") == [(f"in: {DMA} to {CORE}", 4, {"full": 1}), ("lock full", 13, {"value": 0})]


def test_lanes_are_named_by_kind() -> None:
    names = {
        (event["pid"], event["tid"]): event["args"]["name"] for event in trace.convert(EVENTS) if event["ph"] == "M"
    }
    assert names[1, 1] == CORE
    assert names[2, 1] == DMA
    assert names[3, 1] == "host"
    lanes = {(event["pid"], event["tid"]) for event in trace.convert(EVENTS)}
    assert lanes <= set(names)


def test_a_second_sequence_begins_anew() -> None:
    again = found("b", [*EVENTS, *EVENTS])
    assert len(again) == 2 * len(found("b"))


def test_the_text_is_json_that_says_what_time_is() -> None:
    said = json.loads(trace.text(EVENTS, "scale"))
    assert said["otherData"] == {"design": "scale", "time": trace.TIME}
    assert len(said["traceEvents"]) == len(trace.convert(EVENTS))
    assert json.loads(trace.text([], "empty"))["traceEvents"]


def test_an_event_of_another_kind_is_shown_as_it_is() -> None:
    event = {"who": "host", "event": "rtp_write", "buffer": "rtp", "index": 0, "value": 3}
    (slice_,) = (each for each in trace.convert([event]) if each["ph"] == "X")
    assert (slice_["name"], slice_["args"]) == ("rtp_write rtp", {"buffer": "rtp", "index": 0, "value": 3})


def test_a_trace_that_is_too_long_says_what_is_missing() -> None:
    recording = trace.Recording(most=3)
    for event in EVENTS[:5]:
        recording.add(event)
    *kept, end = recording.whole()
    assert kept == EVENTS[:3]
    assert end == {"who": "host", "event": "end of the trace", "left_out": 2}
    assert trace.convert([end])[-1]["name"] == "end of the trace"
    short = trace.Recording(most=3)
    short.add(EVENTS[0])
    assert short.whole() == EVENTS[:1]


@pytest.mark.parametrize("kind", ["b", "e"])
def test_each_slice_that_begins_ends(kind: str) -> None:
    keys = [event["id"] for event in trace.convert(EVENTS) if event["ph"] == kind]
    assert len(keys) == len(set(keys)) == 3
