"""The ops of object FIFOs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.mlir.dialects.layouts import dimensions
from aiebuild.mlir.dialects.syntax import Built, Syntax
from aiebuild.mlir.dialects.text import attribute_text
from aiebuild.mlir.dialects.types import FifoType, SubviewType

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.ir import Attribute, SSAValue

_PORTS = {"Produce": 0, "Consume": 1}
_FIFO = {
    "via_DMA": "bool",
    "plio": "bool",
    "disable_synchronization": "bool",
    "repeat_count": "i32",
    "iter_count": "any",
    "aie_stream": "any",
    "aie_stream_port": "any",
    "via_shared_mem": "any",
    "padDimensions": "any",
    "initValues": "any",
}
_DEPTH = re.compile(r"\d+ : i32|\[\d+( : i32)?(, \d+( : i32)?)*\]")


def _fifo(s: Syntax) -> Built:
    """Read `@name(%from dimensionsToStream [...], {%to dimensionsFromStream [...]}, 2 : i32) {...} : type = [...]`."""
    built = Built(properties={"sym_name": s.symbol_name()})
    s.mark("(")
    built.operands = [s.value()]
    to_stream = dimensions(s) if s.has("dimensionsToStream") else "[]"
    from_stream: list[str] = []
    s.mark(",")
    s.list("{", "}", lambda: _consumer(s, built.operands, from_stream))
    s.mark(",")
    depth = _depth(s)
    s.mark(")")
    built.properties |= {
        "dimensionsToStream": f"#aie<bd_dim_layout_array{to_stream}>",
        "dimensionsFromStreamPerConsumer": f"#aie<bd_dim_layout_array_array[{', '.join(from_stream)}]>",
        "elemNumber": depth,
        "via_DMA": "false",
        "plio": "false",
        "disable_synchronization": "false",
    }
    s.entries(built, _FIFO)
    s.mark(":")
    type_ = _type(s, FifoType, "!aie.objectfifo<memref<4xi32>>")
    built.properties["elemType"] = attribute_text(type_)
    if s.has("="):
        values: list[str] = []
        s.list("[", "]", lambda: values.append(s.elements(type_.data)))
        built.properties["initValues"] = f"[{', '.join(values)}]"
    return built


def _consumer(s: Syntax, operands: list[SSAValue], from_stream: list[str]) -> None:
    """Read `%tile dimensionsFromStream [...]`."""
    operands.append(s.value())
    from_stream.append(dimensions(s) if s.has("dimensionsFromStream") else "[]")


def _depth(s: Syntax) -> str:
    """Read `2 : i32`, or one depth for the producer and each consumer: `[2, 2, 4]`."""
    position = s.parser.pos
    depth = s.attribute()
    if not _DEPTH.fullmatch(depth):
        s.fail(f"the depth of a FIFO must be written like `2 : i32` or `[2, 2]`, found `{depth}`", position)
    return depth


def _type(s: Syntax, kind: type[FifoType | SubviewType], example: str) -> FifoType | SubviewType:
    """Read a type of this kind."""
    position = s.parser.pos
    type_ = s.parser.parse_type()
    if not isinstance(type_, kind):
        s.fail(f"expected a type such as `{example}`, found `{attribute_text(type_)}`", position)
    return type_


def _allocate(s: Syntax) -> Built:
    """Read `@fifo(%tile)`."""
    built = Built(properties={"objFifo_name": s.symbol()})
    s.mark("(")
    built.operands = [s.value()]
    s.mark(")")
    return s.entries(built, {})


def _link(s: Syntax) -> Built:
    """Read `[@a, @b] -> [@c]([0, 64] [])`."""
    built = Built(properties={"fifoIns": _symbols(s)})
    s.mark("->")
    built.properties["fifoOuts"] = _symbols(s)
    s.mark("(")
    built.properties["src_offsets"] = f"[{', '.join(s.integers('an offset'))}]"
    built.properties["dst_offsets"] = f"[{', '.join(s.integers('an offset'))}]"
    s.mark(")")
    return s.entries(built, {})


def _symbols(s: Syntax) -> str:
    """Read `[@a, @b]`."""
    symbols: list[str] = []
    s.list("[", "]", lambda: symbols.append(s.symbol()))
    return f"[{', '.join(symbols)}]"


def _register_external_buffers(s: Syntax) -> Built:
    """Read `@fifo(%tile, {%a, %b}) : (memref<4xi32>, memref<4xi32>)`."""
    built = s.entries(Built(), {})
    built.properties["objFifo_name"] = s.symbol()
    s.mark("(")
    tile = s.value()
    s.mark(",")
    position = s.parser.pos
    names = s.names("{", "}")
    s.mark(")", ":")
    built.operands = [tile, *s.resolve_all(names, s.types("(", ")"), position)]
    return built


def _port(s: Syntax) -> Built:
    """Read `@fifo(Produce, 1)`."""
    built = s.entries(Built(), {})
    built.properties["objFifo_name"] = s.symbol()
    s.mark("(")
    built.properties["port"] = s.choice(_PORTS, "an end of a FIFO")
    s.mark(",")
    built.properties["size"] = s.integer("i32")
    s.mark(")")
    return built


def _acquire(s: Syntax) -> Built:
    """Read `@fifo(Consume, 1) : !aie.objectfifosubview<memref<4xi32>>`."""
    built = _port(s)
    s.mark(":")
    built.results = [_type(s, SubviewType, "!aie.objectfifosubview<memref<4xi32>>")]
    return built


def _access(s: Syntax) -> Built:
    """Read `%subview[0] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>`."""
    name = s.name()
    s.mark("[")
    index = s.integer("i32")
    s.mark("]")
    built = s.entries(Built(properties={"index": index}), {})
    s.mark(":")
    subview: Attribute = _type(s, SubviewType, "!aie.objectfifosubview<memref<4xi32>>")
    s.mark("->")
    built.operands, built.results = [s.resolve(name, subview)], [s.parser.parse_type()]
    return built


READERS: dict[str, Callable[[Syntax], Built]] = {
    "aie.objectfifo": _fifo,
    "aie.objectfifo.acquire": _acquire,
    "aie.objectfifo.allocate": _allocate,
    "aie.objectfifo.link": _link,
    "aie.objectfifo.register_external_buffers": _register_external_buffers,
    "aie.objectfifo.release": _port,
    "aie.objectfifo.subview.access": _access,
}
