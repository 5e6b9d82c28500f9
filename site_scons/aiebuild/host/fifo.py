"""Objects that are handed over: lanes count them, ends give them to cores.

A lane counts what was produced and what was consumed; an object is free again once it is consumed. A FIFO in shared
memory has one lane; one with DMAs has a lane at each end. A mem tile that deals objects out, or joins them, has a lane
for each part of its objects, since the parts are handed over independently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.host.scheduler import Waitable
from aiebuild.host.support import Fault
from aiebuild.host.words import count_words, ordinal

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.host.plan import Tile
    from aiebuild.host.views import View

    Trace = Callable[[dict[str, object]], None] | None

MOST = 63


class Lane(Waitable):
    """How many objects were produced and consumed; at the most `depth` lie between."""

    def __init__(self, name: str, depth: int, *, synchronised: bool = True) -> None:
        super().__init__()
        self.name = name
        self.depth = depth
        self.synchronised = synchronised
        self.produced = 0
        self.consumed = 0
        self.filler = "nobody"
        self.emptier = "nobody"

    @property
    def there(self) -> int:
        """How many objects are full."""
        return self.produced - self.consumed

    @property
    def free(self) -> int:
        """How many objects are empty."""
        return self.depth - self.there

    def why(self) -> str:
        """Return the state of the lane."""
        return f"waits for `{self.name}`: {self.there} of {self.depth} objects are full"


class TracedLane(Lane):
    """A lane that tells how full it is whenever that changes."""

    def __init__(
        self, name: str, depth: int, trace: Callable[[dict[str, object]], None], *, synchronised: bool
    ) -> None:
        super().__init__(name, depth, synchronised=synchronised)
        self._trace = trace

    def wake(self) -> None:
        """Tell, and let all who wait try again."""
        who, reader = self.filler.removeprefix("the "), self.emptier.removeprefix("the ")
        level = {"who": who, "event": "level", "fifo": self.name, "for": reader}
        self._trace({**level, "full": self.there, "of": self.depth})
        super().wake()


class Producer:
    """The end at which a core fills objects."""

    port = "produce"

    def __init__(self, lane: Lane, objects: list[View], tile: Tile, trace: Trace = None) -> None:
        self.lane = lane
        self.objects = objects
        self.held = 0
        self.wanted = 0
        self.waiting = lane.waiting
        self.who = f"core {tile}"
        self.trace = trace

    def acquire(self, count: int) -> list[View] | None:
        """Return `count` empty objects, those held already among them; None where there are not so many."""
        lane = self.lane
        if lane.produced + count - lane.consumed > lane.depth and lane.synchronised:
            self.wanted = count
            return None
        first, objects = lane.produced, self.objects
        if self.trace is not None:
            self._tell("acquire", first, count)
        self.held = max(self.held, count)
        return [objects[number % lane.depth] for number in range(first, first + count)]

    def release(self, count: int) -> None:
        """Hand over the `count` oldest objects that are held."""
        _check_release(self, count)
        if self.trace is not None:
            self._tell("release", self.lane.produced, count)
        self.held -= count
        self.lane.produced += count
        self.lane.wake()

    def _tell(self, event: str, first: int, count: int) -> None:
        _tell(self, event, first, count)

    def why(self) -> str:
        """Return what the core waits for."""
        lane = self.lane
        there = lane.depth - lane.there
        return (
            f"waits for {_wanted(self.wanted, there, lane.name, 'free object')}; {lane.emptier} would have to free "
            f"{'it' if self.wanted - there == 1 else 'them'}"
        )


class Consumer:
    """The end at which a core reads objects."""

    port = "consume"

    def __init__(self, lane: Lane, objects: list[View], tile: Tile, trace: Trace = None) -> None:
        self.lane = lane
        self.objects = objects
        self.held = 0
        self.wanted = 0
        self.waiting = lane.waiting
        self.who = f"core {tile}"
        self.trace = trace

    def acquire(self, count: int) -> list[View] | None:
        """Return the `count` oldest full objects, those held already among them; None where there are not so many."""
        lane = self.lane
        if lane.produced - lane.consumed < count and lane.synchronised:
            self.wanted = count
            return None
        first, objects = lane.consumed, self.objects
        if self.trace is not None:
            self._tell("acquire", first, count)
        self.held = max(self.held, count)
        return [objects[number % lane.depth] for number in range(first, first + count)]

    def release(self, count: int) -> None:
        """Give back the `count` oldest objects that are held."""
        _check_release(self, count)
        if self.trace is not None:
            self._tell("release", self.lane.consumed, count)
        self.held -= count
        self.lane.consumed += count
        self.lane.wake()

    def _tell(self, event: str, first: int, count: int) -> None:
        _tell(self, event, first, count)

    def why(self) -> str:
        """Return what the core waits for."""
        lane = self.lane
        return (
            f"waits for {_wanted(self.wanted, lane.there, lane.name, 'object')}; {lane.filler} would have to bring "
            f"{'it' if self.wanted - lane.there == 1 else 'them'}"
        )


def _wanted(wanted: int, there: int, name: str, noun: str) -> str:
    """Return `a second object of `in`, one is there`."""
    if wanted == 1:
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun} of `{name}`, none is there"
    if wanted == there + 1:
        return f"a {ordinal(wanted)} {noun} of `{name}`, {count_words(there)} there"
    return f"{wanted} {noun}s of `{name}`, {count_words(there)} there"


def _check_release(end: Producer | Consumer, count: int) -> None:
    if count > end.held:
        raise Fault(f"releases {count} objects of `{end.lane.name}` and holds {end.held}")


def _tell(end: Producer | Consumer, event: str, first: int, count: int) -> None:
    if end.trace is not None:
        numbers = list(range(first, first + count))
        end.trace({"who": end.who, "event": event, "fifo": end.lane.name, "port": end.port, "objects": numbers})


class Lock(Waitable):
    """A lock: a number from 0 to 63 that is taken from and given to."""

    def __init__(self, name: str, value: int, trace: Trace = None) -> None:
        super().__init__()
        self.name = name
        self.value = value
        self.wanted = 0
        self.trace = trace

    def take(self, value: int, kind: str) -> bool:
        """Take `value` from the lock where it holds that much (`>=`), or exactly that (`=`); return whether it did."""
        if self.value < value if kind == ">=" else self.value != value:
            self.wanted = value
            return False
        self.value -= value
        self._tell("take", value)
        self.wake()
        return True

    def give(self, value: int) -> None:
        """Add `value` to the lock."""
        if not 0 <= self.value + value <= MOST:
            raise Fault(f"the lock `{self.name}` holds {self.value}, and {value} more is beyond {MOST}")
        self.value += value
        self._tell("give", value)
        self.wake()

    def _tell(self, event: str, value: int) -> None:
        if self.trace is not None:
            self.trace({"event": event, "lock": self.name, "by": value, "value": self.value})

    def why(self) -> str:
        """Return what is waited for."""
        return f"waits for the lock `{self.name}` to hold {self.wanted}; it holds {self.value}"
