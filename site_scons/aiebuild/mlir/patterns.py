"""Checks of access patterns, repeats and numbers of descriptors against what the tile's DMA can do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.devices import (
    PACKET_ID_MAXIMUM,
    PACKET_TYPE_MAXIMUM,
    QUEUE_REPEAT_MAXIMUM,
    SHIM,
    Coordinates,
)
from aiebuild.errors import CheckError
from aiebuild.mlir import attributes
from aiebuild.mlir.budget import direct_memory
from aiebuild.mlir.fabric import Fabric, bits, elements, number, tile_of
from aiebuild.mlir.handmade import descriptors
from aiebuild.mlir.layouts import Fault, descriptor_faults, length_faults, runtime_faults
from aiebuild.mlir.transfers import MEMCPY, TASK_FOR, TASKS, ends, transfers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.devices import TileKind
    from aiebuild.mlir.fabric import Fifo
    from aiebuild.mlir.ir import Op
    from aiebuild.mlir.transfers import End, Transfer

_PACKET = re.compile(r"pkt_type = (\d+), pkt_id = (\d+)")


def check_patterns(fabric: Fabric) -> Iterator[CheckError]:
    """Yield the errors of all access patterns of a device: of FIFOs, of DMA programs, of runtime sequences."""
    for fifo in fabric.fifos.values():
        yield from _check_fifo(fabric, fifo)
        yield from _check_padding(fabric, fifo)
    for program, op in descriptors(fabric):
        yield from _check_descriptor(fabric, program, op)
    known = ends(fabric)
    for sequence in fabric.sequences:
        for transfer in transfers(sequence):
            yield from _check_transfer(fabric, transfer, known)
        for op in sequence.walk():
            yield from _check_numbers(fabric, op)
        yield from _check_tasks(fabric, sequence, known)


def _errors(fabric: Fabric, op: Op, what: str, faults: Iterator[Fault]) -> Iterator[CheckError]:
    """Turn faults into errors at an op."""
    for fault in faults:
        yield CheckError(f"{what}: {fault.message}", fabric.where(op), fault.hint)


def _check_fifo(fabric: Fabric, fifo: Fifo) -> Iterator[CheckError]:
    """Check the patterns and the object's length at each end that has a DMA; a shim's are the sequence's."""
    width, count = bits(fifo.element.element), elements(fifo.element)
    if width is None or count is None or direct_memory(fabric, fifo) is not None:
        return
    patterns = (fifo.to_stream, *(fifo.from_stream or ((),) * len(fifo.consumers)))
    names = ("dimensionsToStream", *(["dimensionsFromStream"] * len(fifo.consumers)))
    padded = fifo.op.get("padDimensions") is not None
    for end, (place, pattern, name) in enumerate(zip(fifo.ends, patterns, names, strict=False)):
        kind = _kind(fabric, place)
        if kind is None or kind.name not in ("core", "mem"):
            continue
        yield from _errors(fabric, fifo.op, f"@{fifo.name}", length_faults(count, width, kind))
        if pattern:
            length = None if padded and end == 0 else count
            faults = descriptor_faults(pattern, count, width, kind, length)
            yield from _errors(fabric, fifo.op, f"{name} of @{fifo.name}", faults)


def _kind(fabric: Fabric, place: Coordinates | None) -> TileKind | None:
    """Return the kind of a tile, if it is known."""
    return None if place is None else fabric.device.kind(*place)


def _check_padding(fabric: Fabric, fifo: Fifo) -> Iterator[CheckError]:
    """Check that padding is done by a mem tile that sends, with a value that the device can pad with."""
    where = fabric.where(fifo.op)
    kind = _kind(fabric, fifo.producer)
    if fifo.op.get("padDimensions") is None:
        return
    if kind is not None and not kind.padding:
        yield CheckError(
            f"@{fifo.name} pads what a {kind.name} tile sends: only a mem tile's DMA can", where, "link it there"
        )
    value = number(fifo.op, "padValue", 0)
    if value and not fabric.device.pad_values:
        yield CheckError(
            f"@{fifo.name} pads with {value}: {fabric.device.name} pads with 0 only", where, "npu2 devices can"
        )


def _check_descriptor(fabric: Fabric, program: Op, op: Op) -> Iterator[CheckError]:
    """Check a descriptor of a DMA program."""
    place = tile_of(program)
    kind = _kind(fabric, place)
    if kind is None or not op.operands or not kind.dimensions:
        return
    type_ = attributes.memref(op.operands[0].type)
    width, count = bits(type_.element), elements(type_)
    if width is None or count is None:
        return
    yield from _check_home(fabric, op, place, kind)
    offset = number(op, "offset", 0)
    length = number(op, "len", count - offset)
    yield from _errors(fabric, op, "the descriptor", length_faults(length, width, kind))
    text = op.get("dimensions")
    dimensions = attributes.dimensions(text) if text else []
    if dimensions:
        padded = op.get("pad_dimensions") is not None
        faults = descriptor_faults(dimensions, count - offset, width, kind, None if padded else length)
        yield from _errors(fabric, op, "the descriptor", faults)
    elif not 0 <= offset <= count - length:
        yield CheckError(
            f"the descriptor moves elements {offset} to {offset + length - 1} of a buffer of {count}",
            fabric.where(op),
        )


def _check_home(fabric: Fabric, op: Op, place: Coordinates | None, kind: TileKind) -> Iterator[CheckError]:
    """Check that a core tile's DMA works in its own memory."""
    buffer = op.operands[0].owner
    if kind.name != "core" or getattr(buffer, "name", "") != "aie.buffer":
        return
    home = tile_of(buffer)  # type: ignore[arg-type]  # a block has no name
    if home is not None and home != place:
        yield CheckError(
            f"the DMA of core tile {place} is given a buffer of tile {home}: it reaches its own only",
            fabric.where(op),
        )


def _check_transfer(fabric: Fabric, transfer: Transfer, known: Mapping[str, End]) -> Iterator[CheckError]:
    """Check a transfer of a runtime sequence."""
    width = bits(transfer.buffer.element)
    end = known.get(transfer.end)
    kind = (_kind(fabric, end.tile) if end else None) or SHIM
    if transfer.pattern is None or width is None or not kind.dimensions:
        return
    what = f"the transfer of @{transfer.end}" if transfer.end else "the transfer"
    yield from _errors(fabric, transfer.op, what, runtime_faults(transfer.pattern, width, kind))
    if transfer.is_task and transfer.length is not None:
        yield from _check_length(fabric, transfer, what)


def _check_length(fabric: Fabric, transfer: Transfer, what: str) -> Iterator[CheckError]:
    """Check that the length of a task's descriptor is that of one pass of its pattern."""
    sizes = transfer.pattern.sizes if transfer.pattern else ()
    once = 1
    for size in sizes[-3:]:
        once *= size
    if transfer.length != once:
        repeat = f", the outermost ({sizes[0]}) is the repeat" if len(sizes) > 3 else ""
        yield CheckError(
            f"{what}: its length is {transfer.length} elements, but one pass of the lowest three dimensions "
            f"moves {once}{repeat}",
            fabric.where(transfer.op),
            f"write {once}",
        )


def _check_numbers(fabric: Fabric, op: Op) -> Iterator[CheckError]:
    """Check numbers that have few bits: descriptor, repeat count, packet."""
    if op.name == MEMCPY and not 0 <= number(op, "id", 0) < SHIM.descriptors:
        yield CheckError(
            f"buffer descriptor {number(op, 'id', 0)}: a shim tile has 0 to {SHIM.descriptors - 1}",
            fabric.where(op),
            "an id can be used again after a dma_wait for its transfer",
        )
    if op.name in (*TASKS, "aiex.npu.push_queue"):
        repeats = number(op, "repeat_count", 0)
        if not 0 <= repeats <= QUEUE_REPEAT_MAXIMUM:
            yield CheckError(
                f"repeat_count is {repeats}, but a task repeats 0 to {QUEUE_REPEAT_MAXIMUM} times",
                fabric.where(op),
            )
    packet = _PACKET.search(op.get("packet") or "")
    if packet and (int(packet[1]) > PACKET_TYPE_MAXIMUM or int(packet[2]) > PACKET_ID_MAXIMUM):
        yield CheckError(
            f"packet type {packet[1]}, id {packet[2]}: types are 0 to {PACKET_TYPE_MAXIMUM}, "
            f"ids 0 to {PACKET_ID_MAXIMUM}",
            fabric.where(op),
        )


def _check_tasks(fabric: Fabric, sequence: Op, known: Mapping[str, End]) -> Iterator[CheckError]:
    """Check that no more tasks are under way at once than their shim tile has descriptors for.

    A task's descriptors are free again when it was awaited or freed.
    """
    live: dict[int, tuple[Coordinates | None, int]] = {}
    for op in sequence.body:
        if op.name in TASKS:
            place = _place(op, known)
            count = sum(each.name == "aie.dma_bd" for each in op.walk())
            live[id(op)] = (place, count)
            used = sum(number_ for other, number_ in live.values() if other == place)
            if used - count <= SHIM.descriptors < used:
                yield CheckError(
                    f"{used} buffer descriptors are used at once on shim tile {place}, which has {SHIM.descriptors}",
                    fabric.where(op),
                    "await or free earlier tasks before (aiex.dma_await_task, aiex.dma_free_task)",
                )
        elif op.name in ("aiex.dma_await_task", "aiex.dma_free_task") and op.operands:
            live.pop(id(op.operands[0].owner), None)


def _place(op: Op, known: Mapping[str, End]) -> Coordinates | None:
    """Return the tile of a task."""
    if op.name != TASK_FOR:
        return tile_of(op)
    end = known.get(attributes.symbol(op.get("alloc") or "@none"))
    return end.tile if end else None
