"""The events of a run on the host as a trace that Perfetto opens: lanes of cores, DMAs and the host, counters of FIFOs.

The host knows no cycles: the time of an event is its place in the order in which things happened, one event a
microsecond. So two runs give the same file, and a slice says what happened between two things, not how long it took.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiebuild import trace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from aiebuild.trace_file import TraceEvent

    Event = Mapping[str, Any]

CORES, DMAS, HOST, OBJECTS = 1, 2, 3, 4
NAMES = {CORES: "cores", DMAS: "DMAs", HOST: "host", OBJECTS: "full objects, and locks"}
MOST = 1_000_000
"""Events that are kept; a few millions would take a gigabyte of memory."""

TIME = "the order of events: one event is one microsecond"


def text(events: Iterable[Event], design: str) -> str:
    """Return the trace of a run.

    Args:
        events: what `Built.trace` returns, in order.
        design: its name.
    """
    return trace_file.text(convert(events), {"design": design, "time": TIME})


def convert(events: Iterable[Event]) -> list[TraceEvent]:
    """Return the events of a trace, after the names of its lanes."""
    trace = _Trace()
    for event in events:
        trace.add(event)
    return trace.whole()


class Recording:
    """Keeps the events of a run, as many as somebody may look at; `most` of them."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._events: list[Event] = []
        self._left_out = 0

    def add(self, event: Event) -> None:
        """Keep the next event, or count it where there are too many."""
        if len(self._events) < self._most:
            self._events.append(event)
        else:
            self._left_out += 1

    def whole(self) -> list[Event]:
        """Return the events, the last one about what was left out, if anything was."""
        end = {"who": "host", "event": "end of the trace", "left_out": self._left_out}
        return [*self._events, *([end] if self._left_out else [])]


@dataclass
class _Wait:
    """Somebody waits since `start`; `end` is when he could go on, though perhaps for no more than another look."""

    start: int
    reason: str
    end: int | None = None


class _Trace:
    """What the events so far have become; `now` is the number of the next one."""

    def __init__(self) -> None:
        self.now = 0
        self._events: list[TraceEvent] = []
        self._lanes: dict[str, tuple[int, int]] = {}
        self._calls: dict[str, tuple[int, str]] = {}
        self._waiting: dict[str, _Wait] = {}
        self._open: dict[str, TraceEvent] = {}
        self._kinds: dict[str, Callable[[Event, str], None]] = {
            "sequence": self._sequence,
            "call": self._call,
            "return": self._return,
            "waits": self._wait,
            "goes on": self._go_on,
            "acquire": self._acquire,
            "release": self._release,
            "transfer": self._transfer,
            "transferred": self._transferred,
            "level": self._level,
            "take": self._lock,
            "give": self._lock,
        }

    def add(self, event: Event) -> None:
        """Take the next event."""
        kind, who = event["event"], event.get("who", "")
        if kind not in {"waits", "goes on", "level", "transferred"}:
            self._end_wait(who)
        self._kinds.get(kind, self._instant)(event, who)
        self.now += 1

    def whole(self) -> list[TraceEvent]:
        """Return everything, with the names of the lanes first."""
        self._close()
        processes = [trace_file.process(pid, name) for pid, name in NAMES.items()]
        lanes = sorted(self._lanes.items(), key=lambda item: item[1])
        return [*processes, *(trace_file.thread(*lane, who) for who, lane in lanes), *self._events]

    def _close(self) -> None:
        """End what is open: a call that did not return, waiting for what never came, objects that are still held."""
        for who, (start, function) in self._calls.items():
            self._span(function, who, start, self.now, {"returned": False})
        for who in list(self._waiting):
            self._end_wait(who)
        for name in list(self._open):
            self._end(name)
        self._calls.clear()

    def _lane(self, who: str) -> tuple[int, int]:
        if who not in self._lanes:
            pid = CORES if who.startswith("core ") else DMAS if who.startswith("DMA ") else HOST
            self._lanes[who] = (pid, 1 + sum(lane[0] == pid for lane in self._lanes.values()))
        return self._lanes[who]

    def _span(self, name: str, who: str, start: int, end: int, args: Mapping[str, object]) -> None:
        self._events.append(trace_file.span(name, self._lane(who), start, max(end - start, 1), args))

    def _instant(self, event: Event, who: str) -> None:
        """Add something that happened at once: an object was moved, a transfer was waited for."""
        rest = {key: value for key, value in event.items() if key not in {"who", "event"}}
        what = next((rest[key] for key in ("fifo", "buffer", "name") if key in rest), "")
        self._span(f"{event['event']} {what}".strip(), who, self.now, self.now + 1, rest)

    def _sequence(self, event: Event, who: str) -> None:
        """Begin another sequence: it runs on an array of its own."""
        self._close()
        self._instant(event, who)

    def _call(self, event: Event, who: str) -> None:
        self._calls[who] = (self.now, event["function"])

    def _return(self, _event: Event, who: str) -> None:
        start, function = self._calls.pop(who)
        self._span(function, who, start, self.now, {})

    def _wait(self, event: Event, who: str) -> None:
        before = self._waiting.get(who)
        if before is not None and before.reason == event["for"]:
            before.end = None  # nothing came of the other look
            return
        self._end_wait(who)
        self._waiting[who] = _Wait(self.now, event["for"])

    def _go_on(self, _event: Event, who: str) -> None:
        if who in self._waiting:
            self._waiting[who].end = self.now

    def _end_wait(self, who: str) -> None:
        wait = self._waiting.pop(who, None)
        if wait is not None:
            self._span("waits", who, wait.start, self.now if wait.end is None else wait.end, {"for": wait.reason})

    def _begin(self, name: str, who: str, key: str) -> None:
        """Begin a slice that may overlap others; one that is open already goes on."""
        if key in self._open:
            return
        pid, tid = self._lane(who)
        event = {"ph": "b", "cat": "objects", "name": name, "id": key, "pid": pid, "tid": tid, "ts": self.now}
        self._open[key] = event
        self._events.append(event)

    def _end(self, key: str) -> None:
        begun = self._open.pop(key, None)
        if begun is not None:
            self._events.append({**begun, "ph": "e", "ts": self.now})

    def _acquire(self, event: Event, who: str) -> None:
        for number in event["objects"]:
            fifo, port = event["fifo"], event["port"]
            self._begin(f"{fifo} ({port})", who, f"{who}/{fifo}/{port}/{number}")

    def _release(self, event: Event, who: str) -> None:
        for number in event["objects"]:
            self._end(f"{who}/{event['fifo']}/{event['port']}/{number}")

    def _transfer(self, event: Event, who: str) -> None:
        self._begin(f"transfer of {event['fifo']}", who, f"transfer/{event['fifo']}/{event['transfer']}")

    def _transferred(self, event: Event, _who: str) -> None:
        self._end(f"transfer/{event['fifo']}/{event['transfer']}")

    def _level(self, event: Event, who: str) -> None:
        self._counter(f"{event['fifo']}: {who} to {event['for']}", {"full": event["full"]})

    def _lock(self, event: Event, _who: str) -> None:
        self._counter(f"lock {event['lock']}", {"value": event["value"]})

    def _counter(self, name: str, values: Mapping[str, int]) -> None:
        counter = {"ph": "C", "name": name, "pid": OBJECTS, "tid": 0, "ts": self.now}
        self._events.append({**counter, "args": dict(values)})
