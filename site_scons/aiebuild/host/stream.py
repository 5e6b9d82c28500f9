"""DMAs: data goes from a source to one or several sinks in pieces as large as all of them allow.

Sizes between the two sides are bytes; inside a side, places are elements. A source or sink that cannot move leaves in
`blocked` what it waits for.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aiebuild.host.scheduler import Waitable
from aiebuild.host.support import Fault
from aiebuild.host.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from aiebuild.host.fifo import Lane
    from aiebuild.host.scheduler import Waits

    Places = NDArray[np.intp] | slice
    Trace = Callable[[dict[str, object]], None] | None


class Side(Protocol):
    """A source or a sink."""

    blocked: Waits
    unit: int

    def ready(self) -> int:
        """Return how many bytes can move now; 0 leaves `blocked`."""
        ...

    def why(self) -> str:
        """Return what the side waits for, and who would have to act."""
        ...


class Source(Side, Protocol):
    """A side that gives."""

    def take(self, count: int) -> NDArray[np.uint8]:
        """Return the next `count` bytes."""
        ...


class Sink(Side, Protocol):
    """A side that receives."""

    def put(self, data: NDArray[np.uint8]) -> None:
        """Store the next bytes."""
        ...


def places(offset: int, sizes: Sequence[int], strides: Sequence[int]) -> Places:
    """Return the elements that a data layout visits, in order, outermost dimension first."""
    dense, contiguous = 1, True
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        contiguous = contiguous and (size == 1 or stride == dense)
        dense *= size
    if contiguous:
        return slice(offset, offset + dense)
    found = np.full((1,), offset, np.intp)
    for size, stride in zip(sizes, strides, strict=True):
        found = (found[:, None] + np.arange(size, dtype=np.intp) * stride).reshape(-1)
    return found


def length(found: Places) -> int:
    """Return how many elements are visited."""
    return found.stop - found.start if isinstance(found, slice) else len(found)


def part(found: Places, start: int, count: int) -> Places:
    """Return a piece of what is visited."""
    if isinstance(found, slice):
        return slice(found.start + start, found.start + start + count)
    return found if count == len(found) else found[start : start + count]


def highest(found: Places) -> int:
    """Return the highest element that is visited."""
    return found.stop - 1 if isinstance(found, slice) else int(found.max())


class Segment:
    """A part of each object that is handed over at once: the lanes that count it, and its elements in order."""

    def __init__(self, lanes: tuple[Lane, ...], found: Places) -> None:
        self.lanes = lanes
        self.places = found
        self.count = length(found)


class _Pool:
    """The side of a DMA at a set of objects, filled or read in turn, segment by segment."""

    def __init__(self, name: str, objects: list[NDArray[Any]], segments: list[Segment]) -> None:
        self.name = name
        self.objects = objects
        self.segments = segments
        self.unit = objects[0].itemsize
        self.blocked: Waits = segments[0].lanes[0]
        self.number = 0
        self.at = 0
        self.position = 0
        self.run = 1

    def _move(self, count: int) -> tuple[NDArray[Any], Places]:
        """Go `count` elements on; return the object and the elements that were meant."""
        segment = self.segments[self.at]
        found = part(segment.places, self.position, count)
        self.position += count
        return self.objects[self.number % len(self.objects)], found

    def _next(self) -> None:
        self.position = 0
        self.at += 1
        if self.at == len(self.segments):
            self.at = 0
            self.number += 1


class PoolSource(_Pool):
    """Reads full objects; each is sent `repeat` times before it is given back."""

    def __init__(
        self, name: str, objects: list[NDArray[Any]], segments: list[Segment], repeat: int = 1, trace: Trace = None
    ) -> None:
        super().__init__(name, objects, segments)
        self.repeat = repeat
        self.trace = trace

    def ready(self) -> int:
        """Return the bytes that are left of the object, once there is one."""
        segment = self.segments[self.at]
        if not self.position:
            for lane in segment.lanes:
                if lane.produced - lane.consumed < 1:
                    self.blocked = lane
                    return 0
        return (segment.count - self.position) * self.unit

    def take(self, count: int) -> NDArray[np.uint8]:
        """Return the next bytes; the last ones of an object free it."""
        segment = self.segments[self.at]
        array, found = self._move(count // self.unit)
        data = array[found]
        if self.position == segment.count:
            self._done(segment)
        return data.view(np.uint8)

    def _done(self, segment: Segment) -> None:
        self.position = 0
        if self.run < self.repeat:
            self.run += 1
            return
        self.run = 1
        if self.trace is not None:
            self.trace({"who": f"DMA of `{self.name}`", "event": "sent", "fifo": self.name, "object": self.number})
        for lane in segment.lanes:
            lane.consumed += 1
            lane.wake()
        self._next()

    def why(self) -> str:
        """Return what is missing."""
        lane = next((each for each in self.segments[self.at].lanes if each.there < 1), self.segments[self.at].lanes[0])
        return f"waits for an object of `{lane.name}`, none is there; {lane.filler} would have to bring it"


class PoolSink(_Pool):
    """Fills empty objects."""

    def __init__(self, name: str, objects: list[NDArray[Any]], segments: list[Segment], trace: Trace = None) -> None:
        super().__init__(name, objects, segments)
        self.trace = trace

    def ready(self) -> int:
        """Return the bytes that the object still takes, once there is an empty one."""
        segment = self.segments[self.at]
        if not self.position:
            for lane in segment.lanes:
                if lane.produced - lane.consumed >= lane.depth:
                    self.blocked = lane
                    return 0
        return (segment.count - self.position) * self.unit

    def put(self, data: NDArray[np.uint8]) -> None:
        """Store the next bytes; the last ones of an object make it full."""
        segment = self.segments[self.at]
        array, found = self._move(len(data) // self.unit)
        array[found] = data.view(array.dtype)
        if self.position < segment.count:
            return
        if self.trace is not None:
            self.trace({"who": f"DMA of `{self.name}`", "event": "filled", "fifo": self.name, "object": self.number})
        for lane in segment.lanes:
            lane.produced += 1
            lane.wake()
        self._next()

    def why(self) -> str:
        """Return what is missing."""
        lanes = self.segments[self.at].lanes
        lane = next((each for each in lanes if each.there >= each.depth), lanes[0])
        full = f"a free object of `{lane.name}`, all {lane.depth} are full"
        return f"waits for {full}; {lane.emptier} would have to free one"


class Transfer(Waitable):
    """What the host asked one channel to move; `pieces` are data layouts of a flat array.

    `line` is that of the translated text which queued it, `missing` what a sequence would have to say to wait for it.
    """

    def __init__(
        self, name: str, array: NDArray[Any], pieces: list[tuple[int, tuple[int, ...], tuple[int, ...]]]
    ) -> None:
        super().__init__()
        self.name = name
        self.array = array
        self.pieces = pieces
        self.total = sum(math.prod(sizes) for _, sizes, _ in pieces)
        self.moved = 0
        self.done = False
        self.token = False
        self.number = 0
        self.line = 0
        self.missing = ""

    def why(self) -> str:
        """Return how far it got."""
        return f"waits for `{self.name}`: {self.moved} of {self.total} elements have been moved"


class HostQueue(Waitable):
    """The side of a shim DMA at the host's memory: transfers one after the other, in the order they were asked for.

    `waited` is the number of the last one that the host waited for; those before it are then over as well.
    """

    def __init__(self, name: str, direction: str, tile: tuple[int, int], unit: int, trace: Trace = None) -> None:
        super().__init__()
        self.name = name
        self.direction = direction
        self.tile = tile
        self.unit = unit
        self.blocked: Waits = self
        self.queue: deque[Transfer] = deque()
        self.started = 0
        self.waited = 0
        self.trace = trace
        self.layouts: dict[tuple[Any, ...], Places] = {}
        self._steps: Iterator[tuple[int, Places]] = iter(())
        self._base = 0
        self._places: Places = slice(0, 0)
        self._position = 0

    def add(self, transfer: Transfer) -> None:
        """Queue a transfer."""
        self.queue.append(transfer)
        self.started += 1
        transfer.number = self.started
        if len(self.queue) == 1:
            self._begin()
        self.wake()

    def _begin(self) -> None:
        self.unit = self.queue[0].array.itemsize
        self._steps = self._layouts_of(self.queue[0])
        self._advance()

    def _layouts_of(self, transfer: Transfer) -> Iterator[tuple[int, Places]]:
        """Yield (base, elements) for each round of the outermost dimension, so that no large index is made."""
        for offset, sizes, strides in transfer.pieces:
            key = (sizes[1:], strides[1:])
            if key not in self.layouts:
                self.layouts[key] = places(0, *key)
            for outer in range(sizes[0]):
                yield offset + outer * strides[0], self.layouts[key]

    def _advance(self) -> None:
        """Go to the next round, or the next transfer."""
        self._position = 0
        following = next(self._steps, None)
        if following is not None:
            self._base, self._places = following
            return
        finished = self.queue.popleft()
        finished.done = True
        if self.trace is not None:
            self.trace({"who": "host", "event": "transferred", "fifo": self.name, "transfer": finished.number})
        finished.wake()
        if self.queue:
            self._begin()

    def ready(self) -> int:
        """Return the bytes that are left of the round."""
        if not self.queue:
            return 0
        return (length(self._places) - self._position) * self.unit

    def _move(self, size: int) -> tuple[NDArray[Any], Places]:
        transfer, count = self.queue[0], size // self.unit
        found = part(self._places, self._position, count)
        self._position += count
        transfer.moved += count
        return transfer.array[self._base :], found

    def take(self, count: int) -> NDArray[np.uint8]:
        """Return the next bytes of the host's array."""
        array, found = self._move(count)
        data = array[found].view(np.uint8)
        if self._position == length(self._places):
            self._advance()
        return data

    def put(self, data: NDArray[np.uint8]) -> None:
        """Store the next bytes in the host's array."""
        array, found = self._move(len(data))
        array[found] = data.view(array.dtype)
        if self._position == length(self._places):
            self._advance()

    def why(self) -> str:
        """Return what is missing."""
        verb = "sends nothing more" if self.direction == "MM2S" else "takes nothing more"
        done = "no transfer was queued" if not self.started else f"{counted(self.started, 'transfer')} done"
        return f"waits for the host, which {verb} ({done})"


def move(source: Source, sinks: list[Sink]) -> Generator[Waits, None, None]:
    """Move data for ever; yield what is waited for."""
    while True:
        count = source.ready()
        if not count:
            yield source.blocked
            continue
        unit = source.unit
        for sink in sinks:
            room = sink.ready()
            if not room:
                yield sink.blocked
                break
            count, unit = min(count, room), max(unit, sink.unit)
        else:
            count -= count % unit
            if not count:
                raise Fault(f"elements of {unit} bytes do not fill objects evenly")
            data = source.take(count)
            for sink in sinks:
                sink.put(data)


def explain(source: Source, sinks: list[Sink]) -> str:
    """Return what the movement waits for."""
    if not source.ready():
        return source.why()
    stuck = next((sink for sink in sinks if not sink.ready()), None)
    return stuck.why() if stuck is not None else "can move"
