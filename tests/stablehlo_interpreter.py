"""Runs StableHLO functions of elementwise ops with NumPy: enough for the cases of the linker's tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from aiebuild.mlir.attributes import symbol
from aiebuild.mlir.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.ir import Module, Value

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
ELEMENTWISE = {
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


def _constant(text: str) -> Any:
    """Return the array of `dense<0.0> : tensor<3xf32>`: one number for all elements."""
    match = re.fullmatch(r"dense<([^>]*)> : tensor<((?:\d+x)*)(\w+)>", text)
    assert match is not None
    shape = tuple(int(size) for size in match.group(2).split("x") if size)
    return np.full(shape, float(match.group(1)), TYPES[match.group(3)])
