"""Lowering `affine.parallel`: a nest of loops that run one iteration after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir import attributes
from aiebuild.mlir.ir import Block, Op, Region

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.mlir.affine_ops import Arithmetic
    from aiebuild.mlir.ir import Value

_GROUPS = re.compile(r"dense<(.*)>\s*:\s*(?:tensor|vector)<(\d+)xi32>", re.DOTALL)


def lower_parallel(arithmetic: Arithmetic, op: Op) -> None:
    """Make the op the outermost loop of a nest.

    Raises:
        MlirError: it has reductions, or bounds that do not fit its counters.
    """
    if op.results:
        message = "affine.parallel with reductions is not supported without MLIR's own tools"
        raise MlirError(message, hint="use affine.for with iter_args")
    lower, upper = _bounds(arithmetic, op)
    steps = [arithmetic.constant(step) for step in attributes.integers(op.get("steps") or "[]")]
    body = op.regions[0].blocks[0]
    if not len(lower) == len(upper) == len(steps) == len(body.arguments):
        raise MlirError("affine.parallel needs a lower bound, an upper bound and a step for each counter")
    known = (counter for counter, first in zip(body.arguments, lower, strict=True) if arithmetic.is_not_negative(first))
    arithmetic.not_negative.update(known)
    _nest(op, body, list(zip(lower, upper, steps, strict=True)))
    arithmetic.append(op)


def _bounds(arithmetic: Arithmetic, op: Op) -> tuple[list[Value], list[Value]]:
    """Return the bounds of each counter: the greatest of its lower and the least of its upper ones."""
    taken = arithmetic.affine_map("lowerBoundsMap").inputs
    lower = arithmetic.values("lowerBoundsMap", op.operands[:taken])
    upper = arithmetic.values("upperBoundsMap", op.operands[taken:])
    return (
        _grouped(op, "lowerBoundsGroups", lower, arithmetic.greatest),
        _grouped(op, "upperBoundsGroups", upper, arithmetic.least),
    )


def _grouped(op: Op, name: str, values: list[Value], choose: Callable[[list[Value]], Value]) -> list[Value]:
    """Return one value for each group of results of a map."""
    match = _GROUPS.fullmatch((op.get(name) or "").strip())
    if match is None:
        raise MlirError(f"{name} of affine.parallel must be a constant such as `dense<1> : tensor<2xi32>`")
    text, count = match.group(1).strip(), int(match.group(2))
    sizes = attributes.integers(text) if text.startswith("[") else [attributes.integer(text)] * count
    if sum(sizes) != len(values):
        raise MlirError(f"{name} of affine.parallel does not fit the {len(values)} results of its map")
    found, at = [], 0
    for size in sizes:
        found.append(choose(values[at : at + size]))
        at += size
    return found


def _nest(op: Op, body: Block, bounds: list[tuple[Value, Value, Value]]) -> None:
    """Let the op be the loop over the first counter; the others become loops inside it."""
    if not bounds:
        _once(op)
        return
    _, *counters = body.arguments
    op.name, op.operands, op.properties = "scf.for", list(bounds[0]), {}
    if not counters:
        return
    region = Region(parent=op)
    inner = Op("scf.for", regions=op.regions, location=op.location, line=op.line, column=op.column)
    for each in inner.regions:
        each.parent = inner
    outer = Block(arguments=[body.arguments[0]], parent=region)
    outer.arguments[0].owner = outer
    body.arguments = counters
    for index, counter in enumerate(counters):
        counter.index = index
    region.blocks.append(outer)
    op.regions = [region]
    end = Op("scf.yield", location=op.location, line=op.line, column=op.column)
    for each_op in (inner, end):
        each_op.parent = outer
        outer.ops.append(each_op)
    _nest(inner, body, bounds[1:])


def _once(op: Op) -> None:
    """A nest without counters runs its body once."""
    op.name, op.operands, op.properties = "scf.execute_region", [], {}
