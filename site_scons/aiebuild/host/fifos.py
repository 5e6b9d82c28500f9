"""From an `aie.objectfifo` to its part of the plan: whether its ends share memory, and how many objects each holds.

Where this follows a choice of mlir-aie's lowering (`AIEObjectFifoStatefulTransform`), the golden files show it: an end
that a core uses through a DMA holds one object more than the core acquires, so that a transfer can go on meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.host import constants, plan
from aiebuild.host.reading import Reader, core_tile, tile_of
from aiebuild.mlir import attributes

if TYPE_CHECKING:
    from aiebuild.host.describe import Design
    from aiebuild.mlir.ir import Op

FIRST_CORE_ROW = 2
_REFUSED = ("padDimensions", "iter_count", "aie_stream", "consumerElemType")


def describe(design: Design, op: Op, links: tuple[plan.Link, ...]) -> plan.Fifo:
    """Return the plan of one FIFO."""
    reader = design.reader
    name = attributes.string(reader.text(op, "sym_name"))
    _check_supported(reader, op)
    memref = attributes.fifo_element(reader.text(op, "elemType"))
    shape, element = reader.static(op, memref), reader.element(op, memref.element)
    tiles = [tile_of(value) for value in op.operands]
    to_stream = reader.dimensions(op, "dimensionsToStream")
    from_stream = _per_consumer(op, len(tiles) - 1)
    repeat = reader.integer(op, "repeat_count", 1)
    plain = not to_stream and not any(from_stream) and repeat == 1 and not reader.flag(op, "via_DMA")
    linked = any(name in (*link.inputs, *link.outputs) for link in links)
    shared = plain and not linked and len(tiles) == 2 and share_memory(tiles[0], tiles[1])
    depths = _depths(design, op, name, tiles, shared=shared)
    ends = [plan.End(tile, depth) for tile, depth in zip(tiles, depths, strict=True)]
    synchronised = not reader.flag(op, "disable_synchronization")
    if not synchronised and not shared:
        raise reader.refuse(op, "without synchronisation, what a FIFO through a DMA yields depends on time")
    return plan.Fifo(
        name=name,
        producer=plan.End(ends[0].tile, ends[0].depth, to_stream),
        consumers=tuple(
            plan.End(end.tile, end.depth, layout) for end, layout in zip(ends[1:], from_stream, strict=True)
        ),
        shape=shape,
        element=element,
        shared=shared,
        repeat=repeat,
        synchronised=synchronised,
        initial=_initial(op, shape, element),
        where=reader.where(op),
    )


def _check_supported(reader: Reader, op: Op) -> None:
    for name in _REFUSED:
        if op.get(name) not in {None, "false", "[]", "#aie<bd_pad_layout_array[]>"}:
            raise reader.refuse(op, f"`{name}` is not supported on the host")
    if reader.flag(op, "plio"):
        raise reader.refuse(op, "PLIO is not supported on the host")


def _per_consumer(op: Op, count: int) -> list[plan.Dimensions]:
    text = op.get("dimensionsFromStreamPerConsumer")
    found = [tuple(each) for each in attributes.dimensions_per_consumer(text)] if text else []
    return found if len(found) == count else [(), *[()] * (count - 1)]


def _initial(op: Op, shape: tuple[int, ...], element: str) -> tuple[str, ...]:
    text = op.get("initValues")
    if text is None:
        return ()
    return tuple(constants.dense(item, shape, element) for item in attributes.array(text))


def declared_depths(op: Op) -> list[int]:
    """Return the depth of each end as the op says it: one number for all, or one for each end."""
    text = op.get("elemNumber") or "1"
    if text.strip().startswith("["):
        return attributes.integers(text)
    return [attributes.integer(text)] * len(op.operands)


def _depths(design: Design, op: Op, name: str, tiles: list[plan.Tile], *, shared: bool) -> list[int]:
    declared = declared_depths(op)
    if len(declared) != len(tiles):
        raise design.reader.refuse(op, f"{len(declared)} depths for {len(tiles)} ends")
    each_end = (op.get("elemNumber") or "").strip().startswith("[")
    if shared or each_end:
        return declared
    return [_depth_at(design, name, tile, depth) for tile, depth in zip(tiles, declared, strict=True)]


def _depth_at(design: Design, name: str, tile: plan.Tile, declared: int) -> int:
    most = max((_acquired(design, core, name) for core in design.cores if core_tile(core) == tile), default=0)
    if most == 0 or (most == 1 and declared == 1):
        return declared
    return most + 1


def _acquired(design: Design, core: Op, name: str) -> int:
    """Return the largest number of objects that a core acquires at once."""
    found = [op for op in core.walk() if op.name == "aie.objectfifo.acquire"]
    sizes = [design.reader.integer(op, "size") for op in found if design.reader.symbol(op, "objFifo_name") == name]
    return max(sizes, default=0)


def share_memory(one: plan.Tile, other: plan.Tile) -> bool:
    """Return whether two core tiles reach one memory: the same tile, or neighbours (west, east, north, south)."""
    if min(one[1], other[1]) < FIRST_CORE_ROW:
        return False
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) <= 1
