"""Building a run from a plan: objects, lanes, DMAs, cores, and the host's side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.host import guards, plan, stream, support, views
from aiebuild.host.channels import ChannelSink, ChannelSource
from aiebuild.host.fifo import Consumer, Lane, Lock, Producer, TracedLane
from aiebuild.host.fifos import share_memory
from aiebuild.host.hostside import HostSide
from aiebuild.host.scheduler import Scheduler
from aiebuild.host.support import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aiebuild.host.fifo import Trace
    from aiebuild.host.kernels import Kernels
    from aiebuild.host.plan import Dimensions, End, Fifo, Tile

SHIM_ROW = 0


class CoreSide:
    """What a translated core calls."""

    def __init__(self, machine: Machine, tile: Tile) -> None:
        self._machine = machine
        self._tile = tile
        self._globals: dict[str, views.View] = {}

    def end(self, name: str, port: int) -> Producer | Consumer:
        """Return the core's end of a FIFO; port 0 produces."""
        return self._machine.ends[self._tile, name, port]

    def buffer(self, name: str) -> views.View:
        """Return a buffer that the core reaches, or its own copy of a constant."""
        buffer = self._machine.plan_buffers[name]
        if buffer.tile is None:
            if name not in self._globals:
                view = views.filled(buffer.shape, buffer.element, buffer.initial, f"global @{name}")
                self._globals[name] = self._machine.guarded(view)
            return self._globals[name]
        if not share_memory(buffer.tile, self._tile):
            raise Fault(f"the buffer `{name}` of tile {buffer.tile} is out of the core's reach")
        return self._machine.buffers[name]

    def lock(self, name: str) -> Lock:
        """Return a lock."""
        return self._machine.locks[name]

    def kernel(self, name: str) -> Callable[..., Any]:
        """Return an external function, from this core's own copy of its library."""
        function = self._machine.kernels.function(self._tile, name)
        trace = self._machine.trace
        return function if trace is None else _traced(function, f"core {self._tile}", name, trace)


def _traced(
    function: Callable[..., Any], who: str, name: str, trace: Callable[[dict[str, object]], None]
) -> Callable[..., Any]:
    """Return an external function that tells when it is called and when it has returned."""

    def call(*arguments: Any) -> Any:
        trace({"who": who, "event": "call", "function": name})
        result = function(*arguments)
        trace({"who": who, "event": "return", "function": name})
        return result

    return call


class Machine:
    """A configured array: every part of the plan, ready to run one sequence."""

    def __init__(self, described: plan.Plan, kernels: Kernels, trace: Trace = None) -> None:
        self.plan = described
        self.kernels = kernels
        self.trace = trace
        self.scheduler = Scheduler()
        self.guards: list[guards.Guard] = []
        self.plan_buffers = {buffer.name: buffer for buffer in described.buffers}
        self.buffers = {
            buffer.name: self.guarded(
                views.filled(buffer.shape, buffer.element, buffer.initial, f"buffer @{buffer.name}")
            )
            for buffer in described.buffers
            if buffer.tile is not None
        }
        self.locks = {lock.name: Lock(lock.name, lock.initial, trace) for lock in described.locks}
        self.ends: dict[tuple[Tile, str, int], Producer | Consumer] = {}
        self.queues: dict[str, stream.HostQueue] = {}
        self.channels: dict[tuple[Tile, str, int], stream.HostQueue] = {}
        self.fifos = {fifo.name: fifo for fifo in described.fifos}
        self._sources: dict[str, stream.PoolSource] = {}
        self._sinks: dict[tuple[str, Tile], stream.PoolSink] = {}
        self.movements: list[tuple[str, stream.Source, list[stream.Sink]]] = []
        for link in described.links:
            self._link(link)
        for fifo in described.fifos:
            self._fifo(fifo)
        self._flows()
        self.host = HostSide(self.queues, self.channels, self.buffers, self.locks, trace)

    def guarded(self, view: views.View) -> views.View:
        """Return a new buffer, whose guard is looked at when all is over."""
        if view.guard is not None:
            self.guards.append(view.guard)
        return view

    # FIFOs

    def _lane(self, name: str, depth: int, *, synchronised: bool = True) -> Lane:
        if self.trace is None:
            return Lane(name, depth, synchronised=synchronised)
        return TracedLane(name, depth, self.trace, synchronised=synchronised)

    def _objects(self, fifo: Fifo, depth: int) -> list[views.View]:
        name = f"fifo @{fifo.name}"
        return [self.guarded(views.allocate(fifo.shape, fifo.element, name)) for _ in range(depth)]

    def _fifo(self, fifo: Fifo) -> None:
        if fifo.shared:
            self._shared(fifo)
            return
        source = self._sources.get(fifo.name) or self._source(fifo)
        sinks = [self._sinks.get((fifo.name, end.tile)) or self._sink(fifo, end) for end in fifo.consumers]
        self.movements.append((f"the DMA of `{fifo.name}`", source, list(sinks)))

    def _shared(self, fifo: Fifo) -> None:
        lane = self._lane(fifo.name, fifo.producer.depth, synchronised=fifo.synchronised)
        objects = self._objects(fifo, lane.depth)
        start_full(lane, objects, fifo)
        consumer = fifo.consumers[0]
        self._produce(fifo.producer, lane, objects)
        self._consume(consumer, lane, objects)
        lane.filler, lane.emptier = f"core {fifo.producer.tile}", f"core {consumer.tile}"

    def _produce(self, end: End, lane: Lane, objects: list[views.View]) -> None:
        self.ends[end.tile, lane.name, 0] = Producer(lane, objects, end.tile, self.trace)

    def _consume(self, end: End, lane: Lane, objects: list[views.View]) -> None:
        self.ends[end.tile, lane.name, 1] = Consumer(lane, objects, end.tile, self.trace)

    def _source(self, fifo: Fifo) -> stream.Source:
        end = fifo.producer
        if end.tile[1] == SHIM_ROW:
            return self._queue(fifo, "MM2S", end.tile)
        lane = self._lane(fifo.name, end.depth)
        objects = self._objects(fifo, end.depth)
        start_full(lane, objects, fifo)
        self._produce(end, lane, objects)
        lane.filler, lane.emptier = f"core {end.tile}", f"the DMA of `{fifo.name}`"
        segment = stream.Segment((lane,), layout(fifo, end.dimensions, 0, math.prod(fifo.shape)))
        return stream.PoolSource(fifo.name, [view.base for view in objects], [segment], fifo.repeat, self.trace)

    def _sink(self, fifo: Fifo, end: End) -> stream.Sink:
        if end.tile[1] == SHIM_ROW:
            return self._queue(fifo, "S2MM", end.tile)
        lane = self._lane(fifo.name, end.depth)
        objects = self._objects(fifo, end.depth)
        self._consume(end, lane, objects)
        lane.filler, lane.emptier = f"the DMA of `{fifo.name}`", f"core {end.tile}"
        segment = stream.Segment((lane,), layout(fifo, end.dimensions, 0, math.prod(fifo.shape)))
        return stream.PoolSink(fifo.name, [view.base for view in objects], [segment], self.trace)

    def _queue(self, fifo: Fifo, direction: str, tile: Tile) -> stream.HostQueue:
        if fifo.name in self.queues:
            raise Fault(f"the FIFO `{fifo.name}` has two ends at the host, which one name cannot tell apart")
        unit = support.dtype(fifo.element).itemsize
        self.queues[fifo.name] = stream.HostQueue(fifo.name, direction, tile, unit, self.trace)
        return self.queues[fifo.name]

    # Links

    def _link(self, link: plan.Link) -> None:
        """Make the one set of objects that the FIFOs of a link share; their parts are handed over independently."""
        tile = self.fifos[link.outputs[0]].producer.tile
        inputs, outputs = [self.fifos[name] for name in link.inputs], [self.fifos[name] for name in link.outputs]
        whole, depth = _whole(inputs, outputs, tile)
        objects = [view.base for view in self._objects(whole, depth)]
        narrow = inputs if len(inputs) > 1 else outputs if len(outputs) > 1 else [whole]
        offsets = link.offsets if len(narrow) > 1 else (0,)
        lanes = [self._lane(each.name, depth) for each in narrow]
        parts = [Part(each, lane, offset) for each, lane, offset in zip(narrow, lanes, offsets, strict=True)]
        for fifo in inputs:
            self._sinks[fifo.name, tile] = self._link_sink(fifo, tile, parts, objects)
        for fifo in outputs:
            self._sources[fifo.name] = self._link_source(fifo, parts, objects)
        _name_lanes(inputs, outputs, lanes)

    def _link_sink(self, fifo: Fifo, tile: Tile, parts: list[Part], objects: list[NDArray[Any]]) -> stream.PoolSink:
        end = next((each for each in fifo.consumers if each.tile == tile), None)
        if end is None:
            raise Fault(f"the FIFO `{fifo.name}` does not end at tile {tile}, where the link is")
        typed = [array.view(support.dtype(fifo.element)) for array in objects]
        return stream.PoolSink(fifo.name, typed, _segments(fifo, end.dimensions, parts, typed[0]), self.trace)

    def _link_source(self, fifo: Fifo, parts: list[Part], objects: list[NDArray[Any]]) -> stream.PoolSource:
        typed = [array.view(support.dtype(fifo.element)) for array in objects]
        segments = _segments(fifo, fifo.producer.dimensions, parts, typed[0])
        return stream.PoolSource(fifo.name, typed, segments, fifo.repeat, self.trace)

    # The level below FIFOs

    def _flows(self) -> None:
        programs = {program.channel: program for program in self.plan.programs}
        names = {allocation.channel: allocation.name for allocation in self.plan.allocations}
        sources = dict.fromkeys(flow.source for flow in self.plan.flows)
        for channel in sources:
            ends = [flow.destination for flow in self.plan.flows if flow.source == channel]
            source = self._channel(channel, programs, names)
            sinks = [self._channel(end, programs, names) for end in ends]
            if source is None or None in sinks:
                continue
            self.movements.append((f"the DMA {channel}", source, sinks))

    def _channel(
        self, channel: plan.Channel, programs: dict[plan.Channel, plan.DmaProgram], names: dict[plan.Channel, str]
    ) -> Any:
        """Return the side of a channel: its program's, or the host's; None where nothing uses it."""
        program = programs.get(channel)
        if program is not None:
            make = ChannelSource if channel.direction == "MM2S" else ChannelSink
            return make(program, self.buffers, self.locks, self.trace)
        name = names.get(channel)
        if name is None:
            return None
        queue = stream.HostQueue(name, channel.direction, channel.tile, 1, self.trace)
        self.queues[name] = self.channels[channel.tile, channel.direction, channel.number] = queue
        return queue

    # Running

    def start(self, functions: dict[str, Any]) -> None:
        """Add the cores and the DMAs; the cores come first, since they run from the configuration on."""
        for core in self.plan.cores:
            steps = functions[core.function](CoreSide(self, core.tile))
            self.scheduler.add(f"core {core.tile}", "core", steps, tile=core.tile)
        for name, source, sinks in self.movements:
            self.scheduler.add(name, "dma", stream.move(source, sinks), _explainer(source, sinks))


class Part:
    """A part of the objects of a link: the FIFO that carries it, its lane, and its place in elements."""

    def __init__(self, fifo: Fifo, lane: Lane, offset: int) -> None:
        self.fifo = fifo
        self.lane = lane
        self.offset = offset
        self.count = math.prod(fifo.shape)


def _explainer(source: stream.Source, sinks: list[stream.Sink]) -> Callable[[], str]:
    return lambda: stream.explain(source, sinks)


def start_full(lane: Lane, objects: list[views.View], fifo: Fifo) -> None:
    """Fill the first objects with the values that the FIFO begins with."""
    for view, initial in zip(objects, fifo.initial):  # noqa: B905 - there may be fewer values than objects
        views.fill(view, initial)
    lane.produced = min(len(fifo.initial), lane.depth)


def layout(fifo: Fifo, dimensions: Dimensions, offset: int, count: int) -> stream.Places:
    """Return the elements of an object, or of a part of it, in the order of the stream."""
    if not dimensions:
        return slice(offset, offset + count)
    sizes, strides = [size for size, _ in dimensions], [stride for _, stride in dimensions]
    if math.prod(sizes) != count:
        raise Fault(
            f"the data layout of `{fifo.name}` visits {math.prod(sizes)} elements, an object has {count} ({fifo.where})"
        )
    return stream.places(offset, sizes, strides)


def _whole(inputs: list[Fifo], outputs: list[Fifo], tile: Tile) -> tuple[Fifo, int]:
    """Return the FIFO whose objects a link keeps, the one with the larger ones, and how many it keeps."""
    fifo = outputs[0]
    if len(inputs) == 1 and (len(outputs) > 1 or object_bytes(inputs[0]) >= object_bytes(outputs[0])):
        fifo = inputs[0]
    ends = (fifo.producer,) if fifo is outputs[0] else fifo.consumers
    return fifo, next((end.depth for end in ends if end.tile == tile), fifo.producer.depth)


def object_bytes(fifo: Fifo) -> int:
    """Return the size of an object."""
    return math.prod(fifo.shape) * support.dtype(fifo.element).itemsize


def _segments(fifo: Fifo, dimensions: Dimensions, parts: list[Part], array: NDArray[Any]) -> list[stream.Segment]:
    """Return how one FIFO of a link goes through the objects: over its own part, or over all parts in turn."""
    own = [part for part in parts if part.fifo is fifo]
    if len(parts) > 1 and own:
        part = own[0]
        found = layout(fifo, dimensions, part.offset, part.count)
        _check_part(fifo, found, array)
        return [stream.Segment((part.lane,), found)]
    lanes = tuple(part.lane for part in parts)
    total = math.prod(size for size, _ in dimensions) if dimensions else 0
    if len(parts) == 1 or total == len(array) or not _tiles(parts, len(array)):
        return [stream.Segment(lanes, layout(fifo, dimensions, 0, len(array)))]
    return [stream.Segment((part.lane,), layout(fifo, dimensions, part.offset, part.count)) for part in parts]


def _check_part(fifo: Fifo, found: stream.Places, array: NDArray[Any]) -> None:
    if stream.highest(found) >= len(array):
        raise Fault(
            f"the part of `{fifo.name}` reaches element {stream.highest(found)} of objects of {len(array)} "
            f"({fifo.where})"
        )


def _tiles(parts: list[Part], total: int) -> bool:
    """Return whether the parts cover the objects without gaps or overlaps."""
    at = 0
    for part in sorted(parts, key=lambda part: part.offset):
        if part.offset != at:
            return False
        at += part.count
    return at == total


def _name_lanes(inputs: list[Fifo], outputs: list[Fifo], lanes: list[Lane]) -> None:
    """Say for each lane which DMA fills it and which one empties it."""
    for number, lane in enumerate(lanes):
        filler = inputs[number if len(inputs) > 1 else 0]
        emptier = outputs[number if len(outputs) > 1 else 0]
        lane.filler, lane.emptier = f"the DMA of `{filler.name}`", f"the DMA of `{emptier.name}`"


def flat_views(sequence: plan.Sequence, arrays: list[NDArray[Any]]) -> list[views.View]:
    """Return the arguments of a sequence as views of copies of the arrays.

    Raises:
        Fault: an array has another element type or number of elements.
    """
    if len(arrays) != len(sequence.arguments):
        raise Fault(f"the sequence `{sequence.name}` has {len(sequence.arguments)} arguments, {len(arrays)} were given")
    found = []
    for place, ((shape, element), array) in enumerate(zip(sequence.arguments, arrays, strict=True)):
        wanted = support.dtype(element)
        if array.dtype != wanted or array.size != math.prod(shape):
            raise Fault(
                f"argument {place} of `{sequence.name}` has {math.prod(shape)} elements of {wanted}, "
                f"{array.size} of {array.dtype} were given"
            )
        found.append(views.View(np.array(array, copy=True).reshape(-1), shape))
    return found
