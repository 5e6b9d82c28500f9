"""The ops of DMAs and their buffer descriptors (BDs)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i1

from aiebuild.mlir.dialects.layouts import dimensions_attribute, packet_attribute, padding_attribute
from aiebuild.mlir.dialects.syntax import Built, Syntax

if TYPE_CHECKING:
    from collections.abc import Callable

DIRECTIONS = {"S2MM": 0, "MM2S": 1}
_BD = {
    "bd_id": "i32",
    "next_bd_id": "i32",
    "burst_length": "i32",
    "packet": "any",
    "pad_dimensions": "any",
    "pad_value": "i32",
    "dimensions": "any",
}


def _dma_start(s: Syntax) -> Built:
    """Read `(S2MM, 0, ^bd, ^next, repeat_count = 1)`."""
    s.mark("(")
    properties = {"channel_dir": s.choice(DIRECTIONS, "a direction of a DMA")}
    s.mark(",")
    properties["channel_index"] = s.integer("i32")
    s.mark(",")
    successors = [s.block()]
    s.mark(",")
    successors.append(s.block())
    properties["repeat_count"] = "0 : i32"
    if s.has(","):
        s.mark("repeat_count", "=")
        properties["repeat_count"] = s.integer("i32")
    s.mark(")")
    built = Built(results=[i1], properties=properties, successors=successors)
    return s.entries(built, {"repeat_count": "i32"})


def _next_bd(s: Syntax) -> Built:
    """Read `^bd`."""
    return s.entries(Built(successors=[s.block()]), {})


def _dma_bd(s: Syntax) -> Built:
    """Read `(%a : memref<8xi32>, 0, 8, [<...>])` or `(%a : memref<8xi32> offset = 0 len = 8 sizes = [..] ...)`."""
    s.mark("(")
    built = Built(operands=[s.typed_value()], properties={"offset": "0 : i32"})
    if s.ahead == ",":
        _bd_by_position(s, built.properties)
    else:
        _bd_by_name(s, built.properties)
    s.mark(")")
    return s.entries(built, _BD)


def _bd_by_position(s: Syntax, properties: dict[str, str]) -> None:
    """Read offset, length, access pattern, padding and `pad_value = n`, in that order (before July 2026)."""
    readers: list[tuple[str, Callable[[], str]]] = [
        ("offset", lambda: s.integer("i32")),
        ("len", lambda: s.integer("i32")),
        ("dimensions", lambda: dimensions_attribute(s)),
        ("pad_dimensions", lambda: padding_attribute(s)),
    ]
    for name, read in readers:
        if not s.has(","):
            return
        if s.ahead == "pad_value":
            break
        s.no_variable(f"`{name}` of a BD")
        properties[name] = read()
    else:
        if not s.has(","):
            return
    s.mark("pad_value", "=")
    properties["pad_value"] = s.integer("i32")


def _bd_by_name(s: Syntax, properties: dict[str, str]) -> None:
    """Read `offset = 0 len = 8 sizes = [..] strides = [..]` and what else is named (since July 2026)."""
    lists: dict[str, list[str]] = {}
    while s.ahead != ")":
        position = s.parser.pos
        name = s.word("`offset`, `len`, `sizes`, `strides` or `)`")
        s.mark("=")
        if name in ("sizes", "strides"):
            lists[name] = s.integers(f"`{name}` of a BD")
        elif name in ("offset", "len", "pad_value"):
            s.no_variable(f"`{name}` of a BD")
            properties[name] = s.integer("i32")
        elif name in ("pad_dimensions", "padding"):
            properties["pad_dimensions"] = padding_attribute(s)
        else:
            s.fail(f"a BD has no `{name}`: expected offset, len, sizes, strides, pad_dimensions or pad_value", position)
        s.has(",")
    sizes, strides = lists.get("sizes", []), lists.get("strides", [])
    if len(sizes) != len(strides):
        s.fail(f"{len(sizes)} sizes, but {len(strides)} strides: each dimension has one of both")
    if sizes:
        pairs = (f"<size = {size}, stride = {stride}>" for size, stride in zip(sizes, strides, strict=True))
        properties["dimensions"] = f"#aie<bd_dim_layout_array[{', '.join(pairs)}]>"


def _dma_bd_packet(s: Syntax) -> Built:
    """Read `(0x4, 0xD)`: the type and the number of a packet."""
    s.mark("(")
    kind = s.integer("i32")
    s.mark(",")
    number = s.integer("i32")
    s.mark(")")
    return s.entries(Built(properties={"packet_type": kind, "packet_id": number}), {})


def _shim_dma_allocation(s: Syntax) -> Built:
    """Read `@name(%tile, MM2S, 0, <pkt_type = 0, pkt_id = 1>)`, or with the column last, as before September 2025."""
    built = Built(properties={"sym_name": s.symbol_name(), "plio": "false"})
    s.mark("(")
    old = not s.ahead.startswith("%")
    if not old:
        built.operands = [s.value()]
        s.mark(",")
    built.properties["channel_dir"] = s.choice(DIRECTIONS, "a direction of a DMA")
    s.mark(",")
    built.properties["channel_index"] = s.integer("i64")
    if old:
        s.mark(",")
        built.properties["col"] = s.integer("i64")
    if s.has(","):
        built.properties["packet"] = packet_attribute(s)
    s.mark(")")
    return s.entries(built, {"plio": "bool", "packet": "any"})


READERS: dict[str, Callable[[Syntax], Built]] = {
    "aie.dma_bd": _dma_bd,
    "aie.dma_bd_packet": _dma_bd_packet,
    "aie.dma_start": _dma_start,
    "aie.next_bd": _next_bd,
    "aie.shim_dma_allocation": _shim_dma_allocation,
}
