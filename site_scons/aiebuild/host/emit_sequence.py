"""Writing the ops of a runtime sequence: calls of the host's side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiebuild.host.emit_memref import mixed_lists, tuple_text
from aiebuild.host.reading import DIRECTIONS, tile_of
from aiebuild.mlir import attributes

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.host.emitter import Function
    from aiebuild.mlir.ir import Block, Op

_WAITING = ("aiex.npu.dma_wait", "aiex.dma_await_task", "aiex.npu.sync")


def _transfer(function: Function, op: Op) -> None:
    memref, offsets, sizes, strides = mixed_lists(function, op)
    name, token = function.reader.symbol(op, "metadata"), function.reader.flag(op, "issue_token")
    lists = f"{tuple_text(offsets)}, {tuple_text(sizes)}, {tuple_text(strides)}"
    number = function.reader.integer(op, "id", 0)
    function.write(f"_host.transfer({name!r}, {function.text(memref)}, {lists}, {number}, {token})", op)


def _wait(function: Function, op: Op) -> None:
    function.write(f"yield from _host.wait({function.reader.symbol(op, 'symbol')!r})", op)


def _sync(function: Function, op: Op) -> None:
    reader = function.reader
    place = (reader.integer(op, "column"), reader.integer(op, "row", 0))
    direction = DIRECTIONS[reader.integer(op, "direction")]
    function.write(f"yield from _host.sync({place}, {direction!r}, {reader.integer(op, 'channel')})", op)


def _rtp_write(function: Function, op: Op) -> None:
    reader = function.reader
    name = reader.symbol(op, "buffer") if reader.text(op, "buffer").startswith("@") else ""
    name = name or attributes.string(reader.text(op, "buffer"))
    function.write(f"_host.rtp_write({name!r}, {reader.integer(op, 'index')}, {reader.integer(op, 'value')})", op)


def _set_lock(function: Function, op: Op) -> None:
    name = function.unit.design.lock_names.get(op.operands[0])
    if name is None:
        raise function.reader.refuse(op, "its operand is not an `aie.lock` of this device")
    function.write(f"_host.set_lock({name!r}, {function.reader.integer(op, 'value')})", op)


def _configure(function: Function, op: Op) -> None:
    reader = function.reader
    if op.name.endswith("_for"):
        target = repr(reader.symbol(op, "alloc"))
    else:
        direction = DIRECTIONS[reader.integer(op, "direction")]
        target = f"({tile_of(op.operands[0])}, {direction!r}, {reader.integer(op, 'channel')})"
    pieces = tuple_text(_piece(function, bd) for bd in _descriptors(function, op))
    runs = reader.integer(op, "repeat_count", 0) + 1
    token = reader.flag(op, "issue_token")
    function.write(f"{function.name(op.results[0])} = _host.configure({target}, {pieces}, {runs}, {token})", op)


def _descriptors(function: Function, task: Op) -> list[Op]:
    """Return the transfers of a task, in the order in which its blocks follow each other."""
    found: list[Op] = []
    seen: list[Block] = []
    block: Block | None = task.regions[0].blocks[0]
    while block is not None:
        if block in seen:
            raise function.reader.refuse(task, "a task that never ends is not supported on the host")
        seen.append(block)
        for op in block.ops[:-1]:
            if op.name != "aie.dma_bd":
                raise function.reader.unsupported(op)
            found.append(op)
        last = block.ops[-1]
        block = last.successors[0].block if last.name == "aie.next_bd" else None
    return found


def _piece(function: Function, bd: Op) -> str:
    """Return the text of one transfer: memref, offset, length, sizes and strides."""
    reader = function.reader
    dimensions = reader.dimensions(bd)
    shape, _ = reader.shape(bd, bd.operands[0].type)
    length = reader.integer(bd, "len", math.prod(shape))
    view, offset = function.text(bd.operands[0]), reader.integer(bd, "offset", 0)
    sizes, strides = [size for size, _ in dimensions], [stride for _, stride in dimensions]
    return f"({view}, {offset}, {length}, {tuple_text(sizes)}, {tuple_text(strides)})"


def _start(function: Function, op: Op) -> None:
    function.write(f"_host.start({function.text(op.operands[0])})", op)


def _await(function: Function, op: Op) -> None:
    function.write(f"yield from _host.await_task({function.text(op.operands[0])})", op)


def _free(function: Function, op: Op) -> None:
    function.write(f"_host.free({function.text(op.operands[0])})", op)


OPS: dict[str, Callable[[Function, Op], None]] = {
    "aiex.npu.dma_memcpy_nd": _transfer,
    "aiex.npu.dma_wait": _wait,
    "aiex.npu.sync": _sync,
    "aiex.npu.rtp_write": _rtp_write,
    "aiex.set_lock": _set_lock,
    "aiex.dma_configure_task_for": _configure,
    "aiex.dma_configure_task": _configure,
    "aiex.dma_start_task": _start,
    "aiex.dma_await_task": _await,
    "aiex.dma_free_task": _free,
}
