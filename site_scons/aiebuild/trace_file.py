"""Files that Perfetto (ui.perfetto.dev) and Chrome's trace viewer open: the "Trace Event Format", as JSON.

Times are microseconds. `ph` is the kind of an event: `X` a slice with a duration, `b` and `e` the ends of a slice that
may overlap others, `C` a counter, `M` the name of a process (`pid`) or of one of its threads (`tid`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TraceEvent = dict[str, Any]

HEAD = '{"displayTimeUnit":"ms","otherData":'
"""The first characters of every trace that is written here."""


def text(events: Iterable[TraceEvent], about: Mapping[str, object]) -> str:
    """Return a trace as text, an event a line, with what it is `about`."""
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{HEAD}{json.dumps(about, separators=(",", ":"))},"traceEvents":[\n{lines}\n]}}\n'


def process(pid: int, name: str) -> TraceEvent:
    """Return the name of a process; processes are shown in the order of their numbers."""
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def thread(pid: int, tid: int, name: str) -> TraceEvent:
    """Return the name of a lane."""
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def span(name: str, lane: tuple[int, int], start: float, duration: float, args: Mapping[str, object]) -> TraceEvent:
    """Return a slice on a lane (process and thread), in microseconds."""
    pid, tid = lane
    times = {"ts": round(start, 3), "dur": round(duration, 3)}
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, **times, "args": dict(args)}
