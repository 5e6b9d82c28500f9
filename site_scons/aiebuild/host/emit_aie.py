"""Writing the ops by which a core takes and gives objects and locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import did_you_mean
from aiebuild.host.describe import lock_use
from aiebuild.host.fifos import declared_depths
from aiebuild.host.reading import core_tile, enclosing, tile_of
from aiebuild.mlir import attributes

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.host.emitter import Function
    from aiebuild.mlir.ir import Op

PORTS = ("produce", "consume")


def _fifo(function: Function, op: Op) -> tuple[str, int, Op]:
    """Return name, port and definition of the FIFO that an op uses."""
    reader = function.reader
    name, port = reader.symbol(op, "objFifo_name"), reader.integer(op, "port")
    for found in function.unit.design.by_kind["aie.objectfifo"]:
        if attributes.string(reader.text(found, "sym_name")) == name:
            return name, port, found
    hint = did_you_mean(name, function.unit.design.fifo_names())
    raise reader.refuse(op, f"there is no FIFO `{name}`", hint)


def _depth(function: Function, op: Op, fifo: Op, port: int) -> int:
    """Return how many objects the end that this core uses may hold; the core must be at that end."""
    depths, tiles = declared_depths(fifo), [tile_of(value) for value in fifo.operands]
    core = enclosing(op, "aie.core")
    if core is None:
        return max(depths)
    ends = [0] if port == 0 else list(range(1, len(tiles)))
    found = [depths[end] for end in ends if tiles[end] == core_tile(core) and end < len(depths)]
    if not found:
        where = "producer" if port == 0 else "consumer"
        raise function.reader.refuse(
            op, f"the core is not a {where} of `{attributes.string(fifo.get('sym_name') or '')}`"
        )
    return found[0]


def _end(function: Function, name: str, port: int) -> str:
    """Return the name in the function's text of the core's end of a FIFO."""
    return function.fetched(f"_core.end({name!r}, {port})", f"{name}_{PORTS[port]}")


def _acquire(function: Function, op: Op) -> None:
    name, port, fifo = _fifo(function, op)
    count = function.reader.integer(op, "size")
    depth = _depth(function, op, fifo, port)
    if not 1 <= count <= depth:
        hint = f"acquire 1 to {depth}, or give the FIFO a depth of {count}" if count > 0 else ""
        raise function.reader.refuse(
            op, f"acquires {count} objects of `{name}`, which has a depth of {depth}: it would wait for ever", hint
        )
    end = _end(function, name, port)
    objects = function.name(op.results[0])
    function.write(f"while ({objects} := {end}.acquire({count})) is None:", op)
    with function.indented():
        function.write(f"yield {end}", op)


def _access(function: Function, op: Op) -> None:
    place = function.reader.integer(op, "index")
    function.assign_view(op, f"{function.text(op.operands[0])}[{place}]")


def _release(function: Function, op: Op) -> None:
    name, port, _ = _fifo(function, op)
    end = _end(function, name, port)
    function.write(f"{end}.release({function.reader.integer(op, 'size')})", op)


def _use_lock(function: Function, op: Op) -> None:
    name, value, kind = lock_use(function.unit.design, op)
    lock = function.fetched(f"_core.lock({name!r})", f"{name}_lock")
    if kind == "+":
        function.write(f"{lock}.give({value})", op)
        return
    function.write(f"while not {lock}.take({value}, {kind!r}):", op)
    with function.indented():
        function.write(f"yield {lock}", op)


OPS: dict[str, Callable[[Function, Op], None]] = {
    "aie.objectfifo.acquire": _acquire,
    "aie.objectfifo.subview.access": _access,
    "aie.objectfifo.release": _release,
    "aie.use_lock": _use_lock,
}
