"""The ops of the `aie` dialect: devices, tiles, cores, buffers, locks, flows and the runtime sequence.

Forms and entries are those of mlir-aie's `AIEOps.td`; the generic forms are those that `aie-opt` prints
(`tests/golden/mlir`). DMAs are in `dmas.py`, object FIFOs in `fifos.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Dialect, Region

from aiebuild.mlir.attributes import quote
from aiebuild.mlir.dialects import dmas, fifos
from aiebuild.mlir.dialects.syntax import Built, Syntax, TextOp, define
from aiebuild.mlir.dialects.types import FifoType, SubviewType

if TYPE_CHECKING:
    from collections.abc import Callable

_BUNDLES = {
    name: number
    for number, name in enumerate(
        ("Core", "DMA", "FIFO", "South", "West", "North", "East", "PLIO", "NOC", "Trace", "TileControl")
    )
}
_CASCADE = {"South": 3, "West": 4, "North": 5, "East": 6}
_LOCK_ACTIONS = {"Acquire": 0, "AcquireGreaterEqual": 2, "Release": 1}
_BLOCKING = {"NonBlocking": 0, "Blocking": 1}
_LOGICAL_TILES = ("CoreTile", "MemTile", "ShimNOCTile", "ShimPLTile")
_CORE = {
    "stack_size": "i32",
    "link_with": "string",
    "link_files": "any",
    "elf_file": "string",
    "dynamic_objfifo_lowering": "bool",
}


def dialect() -> Dialect:
    """Return the dialect for xDSL."""
    return Dialect("aie", define({**_READERS, **dmas.READERS, **fifos.READERS}), [FifoType, SubviewType])


def sequence(s: Syntax) -> Built:
    """Read `@name(%a: memref<4xi32>, ...) { ops }`; a sequence without a name is called `sequence`."""
    built = Built(name="aie.runtime_sequence", properties={"sym_name": s.symbol_name("sequence")})
    arguments = s.arguments()
    built.regions = [s.region(arguments)]
    return s.entries(built, {"sym_name": "string"})


def bd_chain_region(s: Syntax) -> Region:
    """Read a region of BDs, which must end."""
    return _ended(s, s.region())


def _device(s: Syntax) -> Built:
    """Read `(npu1_1col) @name { ops }`; the device keeps its name, since its number depends on the version."""
    s.mark("(")
    device = s.word("a device such as `npu1_1col`")
    s.mark(")")
    built = Built(properties={"device": quote(device), "sym_name": s.symbol_name("main")})
    built.regions = [_with_end(s.region())]
    return s.entries(built, {"sym_name": "string"})


def _tile(s: Syntax) -> Built:
    """Read `(column, row)`."""
    s.mark("(")
    column = s.integer("i32")
    s.mark(",")
    row = s.integer("i32")
    s.mark(")")
    built = Built(results=[IndexType()], properties={"col": column, "row": row})
    return s.entries(built, {"allocation_scheme": "string"})


def _logical_tile(s: Syntax) -> Built:
    """Read `<CoreTile>(?, 2)`; the kind of tile keeps its name."""
    s.mark("<")
    kind = _LOGICAL_TILES[
        int(s.choice({name: n for n, name in enumerate(_LOGICAL_TILES)}, "a kind of tile").split()[0])
    ]
    s.mark(">", "(")
    column = None if s.has("?") else s.integer("i32")
    s.mark(",")
    row = None if s.has("?") else s.integer("i32")
    s.mark(")")
    given = {"tile_type": quote(kind), "col": column, "row": row}
    built = Built(results=[IndexType()], properties={name: text for name, text in given.items() if text is not None})
    return s.entries(built, {"allocation_scheme": "string"})


def _end(s: Syntax) -> Built:
    """Read `aie.end`."""
    return s.entries(Built(), {})


def _core(s: Syntax) -> Built:
    """Read `(%tile) { ops } {stack_size = 1024 : i32, ...}`."""
    built = _on_tile(s)
    built.properties = {"stack_size": "1024 : i32"}
    return s.entries(built, _CORE)


def _memory(s: Syntax) -> Built:
    """Read `(%tile) { blocks }` of `aie.mem`, `aie.memtile_dma` and `aie.shim_dma`."""
    return s.entries(_on_tile(s), {})


def _on_tile(s: Syntax) -> Built:
    """Read `(%tile) { ops }`, whose blocks must end."""
    s.mark("(")
    tile = s.value()
    s.mark(")")
    return Built(operands=[tile], results=[IndexType()], regions=[_ended(s, s.region())])


def _buffer(s: Syntax) -> Built:
    """Read `(%tile) {sym_name = "a", ...} : memref<4xi32> = dense<0>`."""
    s.mark("(")
    tile = s.value()
    s.mark(")")
    kinds = {"sym_name": "string", "address": "i32", "mem_bank": "i32", "initial_value": "any"}
    built = s.entries(Built(operands=[tile]), kinds)
    s.mark(":")
    built.results = [s.parser.parse_type()]
    if s.has("="):
        built.properties["initial_value"] = s.elements(built.results[0])
    return built


def _external_buffer(s: Syntax) -> Built:
    """Read `{sym_name = "a"} : memref<4xi32>`."""
    built = s.entries(Built(), {"sym_name": "string", "address": "i64"})
    s.mark(":")
    built.results = [s.parser.parse_type()]
    return built


def _lock(s: Syntax) -> Built:
    """Read `(%tile, 0) {init = 1 : i32, sym_name = "a"}`."""
    s.mark("(")
    built = Built(operands=[s.value()], results=[IndexType()])
    if s.has(","):
        built.properties["lockID"] = s.integer("i32")
    s.mark(")")
    return s.entries(built, {"init": "i32", "sym_name": "string", "lockID": "i32"})


def _use_lock(s: Syntax) -> Built:
    """Read `(%lock, AcquireGreaterEqual, 1)`; value and `Blocking` may be left out."""
    s.mark("(")
    built = Built(operands=[s.value()])
    s.mark(",")
    built.properties["action"] = s.choice(_LOCK_ACTIONS, "what a lock can be used for")
    while s.has(","):
        if s.ahead in _BLOCKING:
            built.properties["blocking"] = s.choice(_BLOCKING, "a way to wait")
        else:
            s.no_variable("the value of a lock")
            built.properties["value"] = s.integer("i32")
    s.mark(")")
    return s.entries(built, {"acq_en": "bool", "value": "i32", "blocking": "i32"})


def _port(s: Syntax, prefix: str) -> dict[str, str]:
    """Read `DMA : 0`."""
    bundle = s.choice(_BUNDLES, "a port of a tile")
    s.mark(":")
    return {f"{prefix}bundle": bundle, f"{prefix}channel": s.integer("i32")}


def _flow(s: Syntax) -> Built:
    """Read `(%from, DMA : 0, %to, DMA : 1)`."""
    s.mark("(")
    source = s.value()
    s.mark(",")
    properties = _port(s, "source_")
    s.mark(",")
    destination = s.value()
    s.mark(",")
    properties |= _port(s, "dest_")
    s.mark(")")
    return s.entries(Built(operands=[source, destination], properties=properties), {})


def _packet_flow(s: Syntax) -> Built:
    """Read `(0x1) { aie.packet_source<...> aie.packet_dest<...> }`."""
    s.mark("(")
    built = Built(properties={"ID": s.integer("i8")})
    s.mark(")")
    built.regions = [_with_end(s.region())]
    return s.entries(built, {"keep_pkt_header": "bool", "priority_route": "bool"})


def _packet_end(s: Syntax) -> Built:
    """Read `<%tile, DMA : 0>` of `aie.packet_source` and `aie.packet_dest`."""
    s.mark("<")
    tile = s.value()
    s.mark(",")
    properties = _port(s, "")
    s.mark(">")
    return s.entries(Built(operands=[tile], properties=properties), {})


def _cascade_flow(s: Syntax) -> Built:
    """Read `(%from, %to)`."""
    s.mark("(")
    source = s.value()
    s.mark(",")
    destination = s.value()
    s.mark(")")
    return s.entries(Built(operands=[source, destination]), {})


def _configure_cascade(s: Syntax) -> Built:
    """Read `(%tile, West, East)`."""
    s.mark("(")
    tile = s.value()
    s.mark(",")
    source = s.choice(_CASCADE, "a direction of the cascade")
    s.mark(",")
    destination = s.choice(_CASCADE, "a direction of the cascade")
    s.mark(")")
    return s.entries(Built(operands=[tile], properties={"inputDir": source, "outputDir": destination}), {})


def _get_cascade(s: Syntax) -> Built:
    """Read `() : i512`."""
    s.mark("(", ")")
    built = s.entries(Built(), {})
    s.mark(":")
    built.results = [s.parser.parse_type()]
    return built


def _put_cascade(s: Syntax) -> Built:
    """Read `(%value : i512)`."""
    s.mark("(")
    value = s.typed_value()
    s.mark(")")
    return s.entries(Built(operands=[value]), {})


def _event(s: Syntax) -> Built:
    """Read `(0)`."""
    s.mark("(")
    built = Built(properties={"val": s.integer("i32")})
    s.mark(")")
    return s.entries(built, {})


def _bd_chain(s: Syntax) -> Built:
    """Read `@name(%a: memref<4xi32>) { blocks }`."""
    built = Built(properties={"sym_name": s.symbol_name()})
    built.regions = [_ended(s, s.region(s.arguments()))]
    return s.entries(built, {})


def _with_end(region: Region) -> Region:
    """Return the region with an `aie.end` at the end of its block, which the text may leave out."""
    last = region.blocks[-1].last_op
    if last is None or last.name != "aie.end":
        region.blocks[-1].add_op(_ImplicitEnd.create())
    return region


def _ended(s: Syntax, region: Region) -> Region:
    """Check that each block of the region ends with an op that says what comes next."""
    for block in region.blocks:
        if block.last_op is None or block.last_op.name not in _ENDS:
            s.fail(f"expected `aie.end` at the end of a block of {s.op}")
    return region


class _ImplicitEnd(TextOp):
    """An `aie.end` that the text leaves out."""

    name = "aie.end"


_ENDS = ("aie.end", "aie.next_bd", "aie.dma_start", "cf.br", "cf.cond_br")
_READERS: dict[str, Callable[[Syntax], Built]] = {
    "aie.bd_chain": _bd_chain,
    "aie.buffer": _buffer,
    "aie.cascade_flow": _cascade_flow,
    "aie.configure_cascade": _configure_cascade,
    "aie.core": _core,
    "aie.device": _device,
    "aie.end": _end,
    "aie.event": _event,
    "aie.external_buffer": _external_buffer,
    "aie.flow": _flow,
    "aie.get_cascade": _get_cascade,
    "aie.lock": _lock,
    "aie.logical_tile": _logical_tile,
    "aie.mem": _memory,
    "aie.memtile_dma": _memory,
    "aie.packet_dest": _packet_end,
    "aie.packet_flow": _packet_flow,
    "aie.packet_source": _packet_end,
    "aie.put_cascade": _put_cascade,
    "aie.runtime_sequence": sequence,
    "aie.shim_dma": _memory,
    "aie.tile": _tile,
    "aie.use_lock": _use_lock,
}
