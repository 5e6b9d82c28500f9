"""The transfers of a runtime sequence: between a buffer of the host and an end at a shim tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import MM2S, S2MM, number, reference, symbol, tile_of
from aiebuild.mlir.layouts import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.devices import Coordinates
    from aiebuild.mlir.attributes import MemRef
    from aiebuild.mlir.fabric import Fabric
    from aiebuild.mlir.ir import Op

MEMCPY = "aiex.npu.dma_memcpy_nd"
TASK_FOR = "aiex.dma_configure_task_for"
TASKS = (TASK_FOR, "aiex.dma_configure_task")
_DYNAMIC = -(2**63)
"""What stands in a list of static sizes where an operand gives the size (`ShapedType::kDynamic`)."""


@dataclass(frozen=True)
class End:
    """What a runtime sequence reads from or writes to: a FIFO's end at a shim tile, or an allocated channel.

    Attributes:
        tile: the shim tile; None where it has no coordinates yet.
        direction: MM2S where data go into the array, S2MM where they come out of it.
        element: the FIFO's object; None for an allocated channel.
    """

    tile: Coordinates | None
    direction: int
    element: MemRef | None


@dataclass(frozen=True)
class Transfer:
    """One buffer descriptor of a runtime sequence.

    Attributes:
        op: the `dma_memcpy_nd` or `dma_bd`.
        end: the name that the transfer goes by; empty for a task on a tile's channel.
        buffer: the type of the host's buffer.
        pattern: None where a part of it is known at run time only.
        length: elements that a `dma_bd` says it moves; None where it is not stated.
    """

    op: Op
    end: str
    buffer: MemRef
    pattern: Pattern | None
    length: int | None = None

    @property
    def is_task(self) -> bool:
        """Whether it is a part of a task."""
        return self.op.name == "aie.dma_bd"


def ends(fabric: Fabric) -> Mapping[str, End]:
    """Return what runtime sequences can name, by name: FIFOs with an end at a shim, allocated channels."""
    found: dict[str, End] = {}
    for fifo in fabric.fifos.values():
        if is_shim(fifo.producer):
            found[fifo.name] = End(fifo.producer, MM2S, fifo.element)
        elif shim := next((place for place in fifo.consumers if is_shim(place)), None):
            found[fifo.name] = End(shim, S2MM, fifo.element)
    for op in fabric.named("aie.shim_dma_allocation"):
        found[symbol(op) or ""] = End(tile_of(op), number(op, "channel_dir", S2MM), None)
    return found


def is_shim(place: Coordinates | None) -> bool:
    """Tell whether a tile is in the shim's row."""
    return place is not None and place[1] == 0


def transfers(sequence: Op) -> Iterator[Transfer]:
    """Yield the transfers of a runtime sequence, in the order of the text."""
    for op in sequence.walk():
        if op.name == MEMCPY and op.operands:
            yield _memcpy(op)
        elif op.name in TASKS:
            end = reference(op, "alloc") if op.name == TASK_FOR else ""
            yield from (_descriptor(each, end) for each in op.walk() if each.name == "aie.dma_bd" and each.operands)


def _memcpy(op: Op) -> Transfer:
    """Read a `dma_memcpy_nd`."""
    offsets, sizes, strides = (
        tuple(attributes.integers(op.get(f"static_{name}") or "[]")) for name in ("offsets", "sizes", "strides")
    )
    pattern = None
    if _DYNAMIC not in (*offsets, *sizes, *strides) and len(op.operands) == 1:
        missing = len(sizes) - len(strides)
        strides = (0,) * missing + strides
        start = sum(offset * stride for offset, stride in zip(offsets, strides, strict=False))
        pattern = Pattern(sizes, strides[: len(sizes)], start)
    return Transfer(op, reference(op, "metadata"), attributes.memref(op.operands[0].type), pattern)


def _descriptor(op: Op, end: str) -> Transfer:
    """Read a `dma_bd` of a task."""
    buffer = attributes.memref(op.operands[0].type)
    length = op.get("len")
    moved = None if length is None else attributes.integer(length)
    text = op.get("dimensions")
    dimensions = attributes.dimensions(text) if text else []
    if not dimensions and moved is not None:
        dimensions = [(moved, 1)]
    sizes = tuple(size for size, _ in dimensions)
    strides = tuple(stride for _, stride in dimensions)
    pattern = Pattern(sizes, strides, number(op, "offset", 0)) if dimensions else None
    return Transfer(op, end, buffer, pattern, moved)
