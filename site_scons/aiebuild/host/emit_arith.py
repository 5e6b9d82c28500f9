"""Writing the ops of `arith` and `math`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiebuild.host import elements, expressions, ranges
from aiebuild.host.expressions import Result, Unsupported
from aiebuild.mlir import attributes

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.host.emitter import Function
    from aiebuild.mlir.ir import Op

_CONVERSIONS = (
    "extsi", "extui", "trunci", "index_cast", "index_castui", "sitofp", "uitofp", "fptosi", "fptoui", "extf", "truncf",
    "bitcast",
)  # fmt: skip


def _check(op: Op) -> None:
    """Refuse types that are neither integers nor floats, such as vectors."""
    for value in (*op.operands, *op.results):
        if elements.width(value.type) is None and not elements.is_float(value.type):
            raise Unsupported


def _constant(function: Function, op: Op) -> None:
    value, text = op.results[0], function.reader.text(op, "value")
    bits = elements.width(value.type)
    if bits is not None:
        low, _ = ranges.limits(bits)
        number = attributes.integer(text) & expressions.mask(bits)
        number = number - (1 << bits) if low < 0 and number >> (bits - 1) else number
        function.share(value, str(number) if number >= 0 else f"({number})")
        function.ranges[value] = (number, number)
        return
    if not elements.is_float(value.type):
        raise Unsupported
    found = elements.float_value(text, value.type)
    literal = repr(found) if math.isfinite(found) else f"float('{found}')"
    function.share(value, function.unit.constant(value.type, literal))


def _binary(function: Function, op: Op) -> None:
    _check(op)
    operands = [function.operand(value) for value in op.operands]
    function.assign(op, expressions.BINARY[op.name](*operands))


def _unary(function: Function, op: Op) -> None:
    _check(op)
    function.assign(op, expressions.UNARY[op.name](function.operand(op.operands[0])))


def _compare(function: Function, op: Op) -> None:
    _check(op)
    make = expressions.compare if op.name == "arith.cmpi" else expressions.compare_floats
    left, right = (function.operand(value) for value in op.operands)
    function.assign(op, make(function.reader.integer(op, "predicate"), left, right))


def _convert(function: Function, op: Op) -> None:
    _check(op)
    name = op.name.removeprefix("arith.")
    function.assign(op, expressions.convert(name, function.operand(op.operands[0]), op.results[0].type))


def _fma(function: Function, op: Op) -> None:
    _check(op)
    left, right, added = (function.text(value) for value in op.operands)
    function.assign(op, Result(f"_fma({left}, {right}, {added}, {op.results[0].type!r})"))


def _select(function: Function, op: Op) -> None:
    condition, one, other = (function.text(value) for value in op.operands)
    text = f"{one} if {condition} else {other}"
    if op.results[0].type.startswith("memref"):
        function.assign_view(op, text)
        return
    _check(op)
    interval = ranges.union(*(function.operand(value).range for value in op.operands[1:]))
    function.assign(op, Result(text, interval))


def _reinterpret_sign(function: Function, op: Op) -> None:
    """Write a cast between `i8` and `ui8` and the like: the bits stay."""
    if len(op.operands) != 1 or len(op.results) != 1:
        raise Unsupported
    _check(op)
    value, target = function.operand(op.operands[0]), op.results[0].type
    if value.bits != elements.width(target):
        raise Unsupported
    if elements.is_unsigned(target):
        function.assign(op, Result(value.unsigned))
        function.ranges[op.results[0]] = value.unsigned_range
    else:
        function.assign(op, expressions.wrap(value.text, value.bits, (0, expressions.mask(value.bits))))


OPS: dict[str, Callable[[Function, Op], None]] = {
    "arith.constant": _constant,
    "arith.cmpi": _compare,
    "arith.cmpf": _compare,
    "arith.select": _select,
    "math.fma": _fma,
    "builtin.unrealized_conversion_cast": _reinterpret_sign,
    **dict.fromkeys(expressions.BINARY, _binary),
    **dict.fromkeys(expressions.UNARY, _unary),
    **{f"arith.{name}": _convert for name in _CONVERSIONS},
}
