"""The ops of the `aiex` dialect that runtime sequences are made of.

Forms and entries are those of mlir-aie's `AIEX.td`. Where a value became an operand in 2026, both forms are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Dialect

from aiebuild.mlir.dialects import aie
from aiebuild.mlir.dialects.dmas import DIRECTIONS
from aiebuild.mlir.dialects.layouts import packet_attribute
from aiebuild.mlir.dialects.syntax import Built, Syntax, define

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.ir import SSAValue

# What MLIR writes into a static list where the number is an operand (`ShapedType::kDynamic`).
_DYNAMIC = "-9223372036854775808"
_MEMCPY = {
    "id": "i64",
    "metadata": "symbol",
    "issue_token": "bool",
    "burst_length": "i64",
    "packet": "any",
    **{f"d{n}_zero_{side}": "i64" for n in range(3) for side in ("before", "after")},
}
_TASK = {"issue_token": "bool", "repeat_count": "i32"}
_PLACE = {"buffer": "symbol", "column": "i32", "row": "i32"}
_LOAD_PDI = {"device_ref": "symbol", "id": "i32", "size": "i32", "address": "ui64", "expand_mode": "any"}
_SYNC = ("column", "row", "direction", "channel", "column_num", "row_num")


def dialect() -> Dialect:
    """Return the dialect for xDSL."""
    return Dialect("aiex", define(_READERS), [])


def _memcpy(s: Syntax) -> Built:
    """Read `(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1], packet = <...>) {id = 0 : i64, ...} : memref<64xi32>`."""
    s.mark("(")
    memory = s.name()
    built, counts = Built(), [1]
    for name in ("offsets", "sizes", "strides"):
        position = s.parser.pos
        operands, static = _index_list(s)
        if len(static) != 4:
            s.fail(f"{s.op} has four {name}, found {len(static)}", position)
        built.operands += operands
        counts.append(len(operands))
        built.properties[f"static_{name}"] = f"array<i64: {', '.join(static)}>"
    if s.has(","):
        s.mark("packet", "=")
        built.properties["packet"] = packet_attribute(s)
    s.mark(")")
    built.properties["operandSegmentSizes"] = f"array<i32: {', '.join(map(str, counts))}>"
    s.entries(built, _MEMCPY, ("id", "metadata"))
    s.mark(":")
    built.operands.insert(0, s.resolve(memory, s.parser.parse_type()))
    return built


def _index_list(s: Syntax) -> tuple[list[SSAValue], list[str]]:
    """Read `[0, %a, 1, 1]`: the operands, and the numbers with a mark where there is an operand."""
    operands: list[SSAValue] = []
    static: list[str] = []

    def entry() -> None:
        if s.ahead.startswith("%"):
            operands.append(s.value(IntegerType(64)))
            static.append(_DYNAMIC)
        else:
            static.append(s.integer())

    s.list("[", "]", entry)
    return operands, static


def _entries_only(kinds: dict[str, str], *required: str) -> Callable[[Syntax], Built]:
    """Return a reader of ops that have nothing but `{...}`."""
    return lambda s: s.entries(Built(), kinds, required)


def _operands_or_entries(kinds: dict[str, str], *moved: str) -> Callable[[Syntax], Built]:
    """Return a reader of ops whose entries `moved` became operands: `{a = 1 : i32}` or `(%a) {...} : i32`."""

    def read(s: Syntax) -> Built:
        if s.ahead != "(":
            return s.entries(Built(), kinds, moved)
        position = s.parser.pos
        names = s.names("(", ")")
        if len(names) != len(moved):
            s.fail(f"{s.op} has {len(moved)} operands ({', '.join(moved)}), found {len(names)}", position)
        built = s.entries(Built(), {name: kind for name, kind in kinds.items() if name not in moved})
        s.mark(":")
        built.operands = s.resolve_all(names, s.type_list(), position)
        return built

    return read


def _rtp_write(s: Syntax) -> Built:
    """Read `(@buffer, 0, 3)` or `(@buffer, 0, %value) : i32`."""
    s.mark("(")
    built = Built(properties={"buffer": s.symbol()})
    s.mark(",")
    built.properties["index"] = s.integer("ui32")
    s.mark(",")
    name = s.name() if s.ahead.startswith("%") else None
    if name is None:
        built.properties["value"] = s.integer("i32")
    s.mark(")")
    s.entries(built, {})
    if name is not None:
        s.mark(":")
        built.operands = [s.resolve(name, s.parser.parse_type())]
    return built


def _push_queue(s: Syntax) -> Built:
    """Read `(0, 0, MM2S : 0) {...}` or `(0, 0, MM2S : 0) bd_id %a repeat %b {...} : i32, i32`."""
    s.mark("(")
    built = Built(properties={"column": s.integer("i32")})
    s.mark(",")
    built.properties["row"] = s.integer("i32")
    s.mark(",")
    built.properties["direction"] = s.choice(DIRECTIONS, "a direction of a DMA")
    s.mark(":")
    built.properties["channel"] = s.integer("i32")
    s.mark(")")
    position = s.parser.pos
    if not s.has("bd_id"):
        kinds = {"issue_token": "bool", "repeat_count": "i32", "bd_id": "i32"}
        return s.entries(built, kinds, kinds)
    number = s.name()
    s.mark("repeat")
    repeat = s.name()
    s.entries(built, {"issue_token": "bool"}, ("issue_token",))
    s.mark(":")
    # The operands come in the other order than in the text.
    built.operands = s.resolve_all([number, repeat], s.type_list(), position)[::-1]
    return built


def _address_patch(s: Syntax) -> Built:
    """Read `{addr = 0 : ui32, arg_idx = 0 : i32, arg_plus = 0 : i32}` or `(%plus : i32) {...}`."""
    kinds = {"addr": "ui32", "arg_idx": "i32", "arg_plus": "i32"}
    if not s.has("("):
        return s.entries(Built(), kinds, kinds)
    built = Built(operands=[s.typed_value()])
    s.mark(")")
    return s.entries(built, {"addr": "ui32", "arg_idx": "i32"}, ("addr", "arg_idx"))


def _block_write(s: Syntax) -> Built:
    """Read `(%data) {address = 0 : ui32} : memref<8xi32>`."""
    s.mark("(")
    name = s.name()
    s.mark(")")
    built = s.entries(Built(), {"address": "ui32", **_PLACE}, ("address",))
    s.mark(":")
    built.operands = [s.resolve(name, s.parser.parse_type())]
    return built


def _configure(s: Syntax) -> Built:
    """Read `@device { ops }`."""
    built = Built(results=[IndexType()], properties={"symbol": s.symbol()})
    built.regions = [s.region()]
    return s.entries(built, {})


def _run(s: Syntax) -> Built:
    """Read `@sequence(%a, %b) : (memref<4xi32>, memref<4xi32>)`."""
    built = Built(properties={"runtime_sequence_symbol": s.symbol()})
    built.operands = _call(s)
    return s.entries(built, {})


def _call(s: Syntax) -> list[SSAValue]:
    """Read `(%a, %b) : (type, type)`."""
    position = s.parser.pos
    names = s.names("(", ")")
    s.mark(":")
    return s.resolve_all(names, s.types("(", ")"), position)


def _configure_task_for(s: Syntax) -> Built:
    """Read `@fifo { aie.dma_bd(...) aie.end } {issue_token = true}`."""
    built = Built(results=[IndexType()], properties={"alloc": s.symbol()})
    if s.has("repeat"):
        built.operands = [s.typed_value()]
    built.regions = [aie.bd_chain_region(s)]
    return s.entries(built, _TASK)


def _configure_task(s: Syntax) -> Built:
    """Read `(%tile, MM2S, 0) { aie.dma_bd(...) aie.end } {issue_token = true}`."""
    built = Built(results=[IndexType()])
    s.mark("(")
    built.operands, properties = _channel(s)
    if s.has(","):
        properties["packet"] = packet_attribute(s)
    s.mark(")")
    if s.ahead in ("repeat", "bd_id"):
        s.no_variable(f"`{s.ahead}` of a task", known=False)
    built.properties = properties
    built.regions = [aie.bd_chain_region(s)]
    return s.entries(built, _TASK)


def _channel(s: Syntax) -> tuple[list[SSAValue], dict[str, str]]:
    """Read `%tile, MM2S, 0`."""
    tile = s.value()
    s.mark(",")
    direction = s.choice(DIRECTIONS, "a direction of a DMA")
    s.mark(",")
    return [tile], {"direction": direction, "channel": s.integer("i32")}


def _task(s: Syntax) -> Built:
    """Read `(%task)` of the ops that start, await and free a task."""
    s.mark("(")
    built = Built(operands=[s.value()])
    s.mark(")")
    return s.entries(built, {})


def _start_bd_chain(s: Syntax) -> Built:
    """Read `@chain(%a) : (memref<4xi32>) on (%tile, MM2S, 0) {...}`."""
    built = Built(results=[IndexType()], properties={"symbol": s.symbol()})
    built.operands = _call(s)
    s.mark("on", "(")
    tile, properties = _channel(s)
    s.mark(")")
    built.operands += tile
    built.properties |= properties
    return s.entries(built, _TASK)


def _start_bd_chain_for(s: Syntax) -> Built:
    """Read `@chain(%a) : (memref<4xi32>) for @fifo {...}`."""
    built = Built(results=[IndexType()], properties={"symbol": s.symbol()})
    built.operands = _call(s)
    s.mark("for")
    built.properties["alloc"] = s.symbol()
    return s.entries(built, _TASK)


def _set_lock(s: Syntax) -> Built:
    """Read `(%lock, 5)`."""
    s.mark("(")
    built = Built(operands=[s.value()])
    s.mark(",")
    built.properties["value"] = s.integer("i32")
    s.mark(")")
    return s.entries(built, {})


_READERS: dict[str, Callable[[Syntax], Built]] = {
    "aiex.configure": _configure,
    "aiex.dma_await_task": _task,
    "aiex.dma_configure_task": _configure_task,
    "aiex.dma_configure_task_for": _configure_task_for,
    "aiex.dma_free_task": _task,
    "aiex.dma_start_bd_chain": _start_bd_chain,
    "aiex.dma_start_bd_chain_for": _start_bd_chain_for,
    "aiex.dma_start_task": _task,
    "aiex.npu.address_patch": _address_patch,
    "aiex.npu.blockwrite": _block_write,
    "aiex.npu.dma_memcpy_nd": _memcpy,
    "aiex.npu.dma_wait": _entries_only({"symbol": "symbol"}, "symbol"),
    "aiex.npu.load_pdi": _entries_only(_LOAD_PDI),
    "aiex.npu.maskwrite32": _operands_or_entries(
        {"address": "ui32", "value": "ui32", "mask": "ui32", **_PLACE}, "address", "value", "mask"
    ),
    "aiex.npu.preempt": _entries_only({"level": "ui8"}, "level"),
    "aiex.npu.push_queue": _push_queue,
    "aiex.npu.rtp_write": _rtp_write,
    "aiex.npu.sync": _operands_or_entries(dict.fromkeys(_SYNC, "i32"), *_SYNC),
    "aiex.npu.write32": _operands_or_entries({"address": "ui32", "value": "ui32", **_PLACE}, "address", "value"),
    "aiex.run": _run,
    "aiex.runtime_sequence": aie.sequence,
    "aiex.set_lock": _set_lock,
}
