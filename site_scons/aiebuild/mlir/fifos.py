"""Checks of object FIFOs and cores: who uses what, from which side, how much of it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, did_you_mean
from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import CONSUME, PRODUCE, Fabric, elements, number, reference, tile_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.devices import Coordinates
    from aiebuild.mlir.fabric import Fifo, Link
    from aiebuild.mlir.ir import Op

_USES = {"aie.objectfifo.acquire": "acquires", "aie.objectfifo.release": "releases"}
_PORTS = {PRODUCE: "Produce", CONSUME: "Consume"}


def check_cores(fabric: Fabric) -> Iterator[CheckError]:
    """Yield an error for each core that is not on a core tile, or not alone there."""
    first: dict[Coordinates, Op] = {}
    device = fabric.known_device
    for core in fabric.cores:
        place = tile_of(core)
        if place is None:
            continue
        kind = device.kind(*place) if device else None
        if device and kind is not None and kind.name != "core":
            yield CheckError(
                f"a core is put on tile {place}, which is a {kind.name} tile",
                fabric.where(core),
                f"{device.name} has {device.describe()}",
            )
        if place in first:
            yield CheckError(
                f"two cores are put on tile {place}",
                fabric.where(core),
                f"the first one is at {fabric.where(first[place])}",
            )
        first.setdefault(place, core)


def check_fifos(fabric: Fabric) -> Iterator[CheckError]:
    """Yield the errors of FIFOs, links, and the uses of FIFOs in cores."""
    for fifo in fabric.fifos.values():
        yield from _check_fifo(fabric, fifo)
    for link in fabric.links:
        yield from _check_link(fabric, link)
    for core in fabric.cores:
        for op in core.walk():
            if op.name in _USES:
                yield from _check_use(fabric, core, op)
            elif op.name == "aie.objectfifo.subview.access":
                yield from _check_access(fabric, op)


def _check_fifo(fabric: Fabric, fifo: Fifo) -> Iterator[CheckError]:
    """Check what a FIFO says of itself."""
    if len(fifo.depths) != len(fifo.ends):
        yield CheckError(
            f"@{fifo.name} has {len(fifo.ends)} ends and {len(fifo.depths)} depths",
            fabric.where(fifo.op),
            "give one depth for all ends, or one for each, the producer's first",
        )
    if min(fifo.depths, default=1) < 1:
        yield CheckError(f"@{fifo.name} has the depth {min(fifo.depths)}", fabric.where(fifo.op), "at least 1")
    if fifo.from_stream and len(fifo.from_stream) != len(fifo.consumers):
        yield CheckError(
            f"@{fifo.name} has {len(fifo.consumers)} consumers and {len(fifo.from_stream)} dimensionsFromStream",
            fabric.where(fifo.op),
        )


def _missing(fabric: Fabric, op: Op, name: str) -> CheckError:
    """Return the error of a FIFO that is not there."""
    return CheckError(f"there is no object FIFO @{name}", fabric.where(op), did_you_mean(name, fabric.fifos))


def _check_link(fabric: Fabric, link: Link) -> Iterator[CheckError]:
    """Check a link's FIFOs, the tile where they meet, and its offsets."""
    missing = [name for name in (*link.inputs, *link.outputs) if name not in fabric.fifos]
    yield from (_missing(fabric, link.op, name) for name in missing)
    if missing:
        return
    if not link.inputs or not link.outputs:
        yield CheckError("a link has no inputs or no outputs", fabric.where(link.op))
        return
    if len(link.inputs) > 1 and len(link.outputs) > 1:
        yield CheckError(
            f"a link has {len(link.inputs)} inputs and {len(link.outputs)} outputs",
            fabric.where(link.op),
            "several inputs are joined into one output, or one input is distributed to several outputs",
        )
        return
    ends = [fabric.fifos[name] for name in (*link.inputs, *link.outputs)]
    if any(place is None for fifo in ends for place in fifo.ends):
        return
    if fabric.linked_tile(link) is None:
        yield CheckError(
            "the FIFOs of a link do not meet in one tile: inputs must end where all outputs begin",
            fabric.where(link.op),
            "; ".join(f"@{fifo.name} leads {fifo.path}" for fifo in ends),
        )
    yield from _check_offsets(fabric, link)


def _check_offsets(fabric: Fabric, link: Link) -> Iterator[CheckError]:
    """Check that the pieces of a distribute or join lie inside the whole object."""
    if link.segments == 1:
        return
    pieces, whole = (link.outputs, link.inputs[0]) if len(link.outputs) > 1 else (link.inputs, link.outputs[0])
    if len(link.offsets) != len(pieces):
        yield CheckError(
            f"the link has {len(pieces)} pieces and {len(link.offsets)} offsets",
            fabric.where(link.op),
            f"give the offset of each of {', '.join(pieces)} in an object of @{whole}, in elements",
        )
        return
    total = elements(fabric.fifos[whole].element)
    for name, offset in zip(pieces, link.offsets, strict=True):
        size = elements(fabric.fifos[name].element)
        if size is not None and total is not None and not 0 <= offset <= total - size:
            yield CheckError(
                f"@{name} takes elements {offset} to {offset + size - 1} of an object of @{whole}, which has {total}",
                fabric.where(link.op),
            )


def _check_use(fabric: Fabric, core: Op, op: Op) -> Iterator[CheckError]:
    """Check an acquire or a release in a core."""
    name = reference(op, "objFifo_name")
    fifo = fabric.fifos.get(name)
    if fifo is None:
        yield _missing(fabric, op, name)
        return
    port, place, verb = number(op, "port", PRODUCE), tile_of(core), _USES[op.name]
    right = (fifo.producer,) if port == PRODUCE else fifo.consumers
    if place is not None and None not in right and place not in right:
        yield CheckError(
            f"core {place} {verb} @{name} as {_PORTS.get(port, port)}, but @{name} leads {fifo.path}",
            fabric.where(op),
            _port_hint(fifo, place),
        )
        return
    yield from _check_amount(fabric, op, fifo, _depth(fifo, port, place))
    if op.results and attributes.fifo_element(op.results[0].type) != fifo.element:
        yield CheckError(
            f"@{name} is acquired as {op.results[0].type}, but is declared as {fifo.op.get('elemType')}",
            fabric.where(op),
        )


def _port_hint(fifo: Fifo, place: Coordinates) -> str:
    """Return what a core may do with a FIFO."""
    if place == fifo.producer:
        return f"write Produce: core {place} is its producer"
    return f"write Consume: core {place} is a consumer" if place in fifo.consumers else "it has no end there"


def _depth(fifo: Fifo, port: int, place: Coordinates | None) -> int:
    """Return the FIFO's depth at the end that a core uses."""
    end = 0 if port == PRODUCE or place not in fifo.consumers else fifo.consumers.index(place) + 1
    return fifo.depth(end)


def _check_amount(fabric: Fabric, op: Op, fifo: Fifo, depth: int) -> Iterator[CheckError]:
    """Check the number of objects that an op takes or gives back."""
    amount, verb = number(op, "size", 1), _USES[op.name]
    if not 1 <= amount <= depth:
        hint = f"a depth of {amount} or more, or fewer objects" if amount > depth else "at least 1"
        yield CheckError(
            f"the core {verb} {amount} objects of @{fifo.name}, whose depth is {depth}",
            fabric.where(op),
            hint,
        )


def _check_access(fabric: Fabric, op: Op) -> Iterator[CheckError]:
    """Check that an object is one of those that were acquired, and of their type."""
    acquire = op.operands[0].owner if op.operands else None
    if getattr(acquire, "name", "") != "aie.objectfifo.acquire":
        return
    amount = number(acquire, "size", 1)  # type: ignore[arg-type]  # a block has no name
    index = number(op, "index", 0)
    if not 0 <= index < amount:
        yield CheckError(
            f"object {index} is accessed, but {amount} {'was' if amount == 1 else 'were'} acquired",
            fabric.where(op),
            f"0 to {amount - 1}, or acquire {index + 1}" if index > 0 else "",
        )
    if attributes.fifo_element(op.operands[0].type) != attributes.memref(op.results[0].type):
        yield CheckError(f"an object of {op.operands[0].type} is accessed as {op.results[0].type}", fabric.where(op))
