"""Runs StableHLO functions of elementwise ops, sums and products of matrices with NumPy: what the tests call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from aiebuild.mlir.attributes import integers, symbol
from aiebuild.mlir.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.ir import Module, Op, Value

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
ELEMENTWISE: dict[str, np.ufunc] = {
    "stablehlo.add": np.add,
    "stablehlo.subtract": np.subtract,
    "stablehlo.multiply": np.multiply,
    "stablehlo.log": np.log,
}


def run(module: Module, name: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Return the results of a function of a module."""
    function = symbols(module.op)[name]
    (block,) = function.regions[0].blocks
    values: dict[Value, Any] = dict(zip(block.arguments, arguments, strict=True))
    for op in block.ops:
        given = [values[value] for value in op.operands]
        if op.name == "func.return":
            return tuple(given)
        if op.name in ELEMENTWISE:
            results: tuple[Any, ...] = (ELEMENTWISE[op.name](*given),)
        elif op.name == "stablehlo.reduce":
            results = (_reduced(op, *given),)
        elif op.name == "stablehlo.dot_general":
            results = (_product(op, *given),)
        elif op.name == "func.call":
            results = run(module, symbol(op.properties["callee"]), given)
        elif op.name == "stablehlo.optimization_barrier":
            results = tuple(given)
        elif op.name == "stablehlo.constant":
            results = (_constant(op.properties["value"]),)
        else:
            raise NotImplementedError(op.name)
        values.update(zip(op.results, results, strict=True))
    raise AssertionError(f"@{name} does not return")


def _reduced(op: Op, values: Any, start: Any) -> Any:
    """Return what is left of an array whose elements one op of the region joins."""
    (joining,) = (ELEMENTWISE[each.name] for each in op.body if each.name in ELEMENTWISE)
    return joining.reduce(values, axis=tuple(integers(op.properties["dimensions"])), initial=start)


def _product(op: Op, left: Any, right: Any) -> Any:
    """Return the sums of products over the contracted dimensions."""
    lists = re.findall(r"_contracting_dimensions = (\[[^\]]*\])", op.properties["dot_dimension_numbers"])
    ours, theirs = (integers(each) for each in lists)
    return np.tensordot(left, right, axes=(ours, theirs))


def _constant(text: str) -> Any:
    """Return the array of `dense<0.0> : tensor<3xf32>`: one number for all elements."""
    match = re.fullmatch(r"dense<([^>]*)> : tensor<((?:\d+x)*)(\w+)>", text)
    assert match is not None
    shape = tuple(int(size) for size in match.group(2).split("x") if size)
    return np.full(shape, float(match.group(1)), TYPES[match.group(3)])
