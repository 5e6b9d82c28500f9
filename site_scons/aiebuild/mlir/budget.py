"""What a design uses of each tile: DMA channels, buffer descriptors, locks, data memory.

Object FIFOs are counted as what mlir-aie makes of them (`--aie-objectFifo-stateful-transform`):

- a FIFO whose ends share memory costs its objects and two locks in that memory, and no DMA, unless it has
  `via_DMA`, a repeat count, an access pattern, several consumers, or takes part in a link;
- else each end costs one DMA channel, and each end that is not at a shim tile one descriptor, and room, for
  each object. Where a core acquires n objects at once there are n + 1 of them, or 1 for n = 1 and a depth of
  1; where no core acquires, as many as the depth; where the text states a depth for each end, that many;
- the FIFOs of a link share the objects of one: the only input, or the only output of a join. A distribute or
  join divides each object into pieces: one descriptor a piece at the whole side, two locks a piece;
- a shim end has two locks and no descriptors of its own: those are the runtime sequence's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import (
    CONSUME,
    MM2S,
    PRODUCE,
    S2MM,
    Fabric,
    Fifo,
    Link,
    fabrics,
    number,
    reference,
    size_in_bytes,
    stack_size,
    symbol,
    tile_of,
)
from aiebuild.mlir.handmade import channels as handmade_channels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiebuild.devices import Coordinates, Device, TileKind
    from aiebuild.errors import Location
    from aiebuild.mlir.ir import Module


@dataclass(frozen=True)
class Part:
    """Something that takes data memory or locks.

    Attributes:
        what: in words.
        amount: bytes or locks.
        where: the line.
        each: bytes of one object of a FIFO, else 0.
    """

    what: str
    amount: int
    where: Location
    each: int = 0


@dataclass(frozen=True)
class Channel:
    """A DMA channel in use; `direction` is S2MM (0, into the tile) or MM2S (1, out of it)."""

    what: str
    direction: int
    index: int
    descriptors: int
    where: Location


@dataclass(frozen=True)
class TileBudget:
    """What a design uses of one tile; `kind` holds the limits."""

    column: int
    row: int
    kind: TileKind
    channels: tuple[Channel, ...] = ()
    memory: tuple[Part, ...] = ()
    locks: tuple[Part, ...] = ()

    @property
    def channels_in(self) -> int:
        """DMA channels into the tile."""
        return sum(channel.direction == S2MM for channel in self.channels)

    @property
    def channels_out(self) -> int:
        """DMA channels out of the tile."""
        return sum(channel.direction == MM2S for channel in self.channels)

    @property
    def descriptors(self) -> int:
        """Buffer descriptors of all channels."""
        return sum(channel.descriptors for channel in self.channels)

    @property
    def memory_used(self) -> int:
        """Bytes of data memory, a core's stack included."""
        return sum(part.amount for part in self.memory)

    @property
    def locks_used(self) -> int:
        """Locks."""
        return sum(part.amount for part in self.locks)

    def group(self, number_: int) -> tuple[Channel, ...]:
        """Return the channels of a group of descriptors: of two groups the even (0) or the odd (1) ones."""
        groups = self.kind.descriptor_groups
        return tuple(channel for channel in self.channels if channel.index % groups == number_)


@dataclass
class _Account:
    """A budget while it is being counted."""

    channels: list[Channel] = field(default_factory=list)
    memory: list[Part] = field(default_factory=list)
    locks: list[Part] = field(default_factory=list)

    def free_index(self, direction: int) -> int:
        """Return the lowest channel that nothing uses."""
        used = {channel.index for channel in self.channels if channel.direction == direction}
        return next(index for index in range(len(used) + 1) if index not in used)


@dataclass(frozen=True)
class Pool:
    """The objects of FIFO ends in a tile's memory: how many, and into how many pieces each is divided."""

    place: Coordinates
    count: int
    segments: int = 1


def budget(module: Module) -> tuple[TileBudget, ...]:
    """Return what the module uses of each tile that it uses, by column and row.

    Raises:
        CheckError: the device is not known.
        MlirError: a property is not of the form that it should have.
    """
    return tuple(each for fabric in fabrics(module) for each in fabric_budget(fabric))


def fabric_budget(fabric: Fabric) -> tuple[TileBudget, ...]:
    """Return the budget of one device; see `budget`."""
    counter = _Counter(fabric, fabric.device)
    counter.count()
    placed = ((place, fabric.device.kind(*place), account) for place, account in counter.accounts.items())
    found = [
        TileBudget(*place, kind, tuple(each.channels), tuple(each.memory), tuple(each.locks))
        for place, kind, each in placed
        if kind is not None
    ]
    return tuple(sorted(found, key=lambda each: (each.column, each.row)))


@dataclass
class _Counter:
    """One counting of one device."""

    fabric: Fabric
    device: Device
    accounts: dict[Coordinates, _Account] = field(default_factory=dict)

    def at(self, place: Coordinates) -> _Account:
        """Return the account of a tile."""
        return self.accounts.setdefault(place, _Account())

    def count(self) -> None:
        """Count what is written by hand, whose channels are fixed, then FIFOs in the order of the text."""
        self._handmade()
        pools = dict(self._link_pools())
        for fifo in self.fabric.fifos.values():
            shared = direct_memory(self.fabric, fifo)
            if shared is not None:
                self._store(fifo, Pool(shared, fifo.depth(0)))
                continue
            for end, place in enumerate(fifo.ends):
                if place is not None:
                    self._end(fifo, end, place, pools.get((fifo.name, place)))

    def _handmade(self) -> None:
        """Count buffers, locks, stacks and DMA programs that the text states itself."""
        where = self.fabric.where
        for op in self.fabric.named("aie.buffer", "aie.lock", "aie.core"):
            place = tile_of(op)
            if place is None:
                continue
            if op.name == "aie.buffer":
                size = size_in_bytes(attributes.memref(op.results[0].type)) or 0
                self.at(place).memory.append(Part(f"buffer {symbol(op) or ''} {size:,} B", size, where(op)))
            elif op.name == "aie.lock":
                self.at(place).locks.append(Part(f"lock {symbol(op) or number(op, 'lockID', -1)}", 1, where(op)))
            else:
                size = stack_size(op)
                self.at(place).memory.append(Part(f"stack {size:,} B", size, where(op)))
        for place, direction, index, descriptors, op in handmade_channels(self.fabric):
            what = f"{op.name} {symbol(op) or ''}".rstrip()
            self.at(place).channels.append(Channel(what, direction, index, descriptors, where(op)))

    def _link_pools(self) -> Iterator[tuple[tuple[str, Coordinates], tuple[Pool, int]]]:
        """Count the objects of each link; yield its pool for each FIFO, and the pieces that its end moves."""
        for link in self.fabric.links:
            place = self.fabric.linked_tile(link)
            if place is None:
                continue
            owner = self._owner(link)
            outputs = owner.name in link.outputs
            end = 0 if outputs else owner.consumers.index(place) + 1
            count = owner.depth(0) if outputs else object_count(self.fabric, owner, end)
            pool = Pool(place, count, link.segments)
            self._store(owner, pool)
            for side, names in ((link.inputs, link.outputs), (link.outputs, link.inputs)):
                # A side of several FIFOs moves one piece by each of them, a side of one all pieces.
                pieces = 1 if len(side) > 1 else max(1, len(names))
                yield from (((name, place), (pool, pieces)) for name in side)

    def _owner(self, link: Link) -> Fifo:
        """Return the FIFO whose objects a link holds: that of the whole objects, of two the larger ones."""
        first, last = self.fabric.fifos[link.inputs[0]], self.fabric.fifos[link.outputs[0]]
        if link.segments > 1:
            return last if len(link.inputs) > 1 else first
        larger = (size_in_bytes(last.element) or 0) > (size_in_bytes(first.element) or 0)
        padded = last.op.get("padDimensions") is not None
        return last if last.op.get("initValues") or (larger and not padded) else first

    def _store(self, fifo: Fifo, pool: Pool) -> None:
        """Count the memory and the locks of objects."""
        size = size_in_bytes(fifo.element) or 0
        account, where = self.at(pool.place), self.fabric.where(fifo.op)
        what = f"fifo {fifo.name}"
        account.memory.append(Part(f"{what} {pool.count} x {size:,} B", pool.count * size, where, size))
        if not fifo.flag("disable_synchronization"):
            account.locks.append(Part(what, 2 * pool.segments, where))

    def _end(self, fifo: Fifo, end: int, place: Coordinates, linked: tuple[Pool, int] | None) -> None:
        """Count an end with a DMA; a producer sends each object `repeat_count` times."""
        if fifo.flag("plio") and place[1] == 0:
            return
        direction = MM2S if end == 0 else S2MM
        account, where = self.at(place), self.fabric.where(fifo.op)
        descriptors = 0
        if linked is not None:
            descriptors = linked[0].count * linked[1]
        elif place[1] == 0:
            account.locks.append(Part(f"fifo {fifo.name}", 2, where))
        else:
            pool = Pool(place, object_count(self.fabric, fifo, end))
            self._store(fifo, pool)
            descriptors = pool.count
        if end == 0:
            descriptors *= max(1, number(fifo.op, "repeat_count", 1))
        index = account.free_index(direction)
        account.channels.append(Channel(f"fifo {fifo.name}", direction, index, descriptors, where))


def direct_memory(fabric: Fabric, fifo: Fifo) -> Coordinates | None:
    """Return the tile in whose memory both ends of a FIFO work without a DMA; None where they need one."""
    if fifo.flag("via_DMA") or fifo.op.get("repeat_count") or fifo.to_stream or any(fifo.from_stream):
        return None
    if len(fifo.consumers) != 1 or fifo.producer is None or fifo.consumers[0] is None:
        return None
    if any(fifo.name in (*link.inputs, *link.outputs) for link in fabric.links):
        return None
    shared = fabric.device.shared_memory(fifo.producer, fifo.consumers[0])
    for op in fabric.named("aie.objectfifo.allocate"):
        if shared is not None and reference(op, "objFifo_name") == fifo.name:
            return tile_of(op) or shared
    return shared


def object_count(fabric: Fabric, fifo: Fifo, end: int) -> int:
    """Return the objects that a DMA end of a FIFO has room for; end 0 is the producer's."""
    depth = fifo.depth(end)
    if fifo.per_end or (end == 0 and fifo.op.get("initValues")):
        return depth
    port = PRODUCE if end == 0 else CONSUME
    most = max(_acquired(fabric, fifo, fifo.ends[end], port), default=0)
    if most == 0:
        return depth
    return 1 if most == depth == 1 else most + 1


def _acquired(fabric: Fabric, fifo: Fifo, place: Coordinates | None, port: int) -> Iterable[int]:
    """Yield how many objects each acquire of a FIFO by the core of a tile takes."""
    for core in fabric.cores:
        if tile_of(core) != place:
            continue
        acquires = (op for op in core.walk() if op.name == "aie.objectfifo.acquire")
        for op in acquires:
            if reference(op, "objFifo_name") == fifo.name and number(op, "port", port) == port:
                yield number(op, "size", 1)
