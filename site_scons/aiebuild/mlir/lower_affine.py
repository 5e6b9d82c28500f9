"""Lowering the `affine` dialect to `scf`, `arith` and `memref`, for kernels that are run without MLIR's own tools.

The ops that hold regions keep their places, attributes and names; what a map computes becomes `arith` before its user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import MlirError, did_you_mean
from aiebuild.mlir.affine_ops import Arithmetic
from aiebuild.mlir.affine_parallel import lower_parallel
from aiebuild.mlir.copying import copy_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.mlir.ir import Block, Module, Op, Value


def lower_affine(module: Module) -> Module:
    """Return the module without ops of `affine`; it computes the same.

    Loops become `scf.for`, a parallel one a nest of loops in order; `affine.if` becomes `scf.if`; accesses become those
    of `memref` and `vector`. `affine.prefetch`, a mere hint, is left out. Each op has the location of the one that it
    was made for.

    Raises:
        MlirError: an op that is not known here, or a map that divides by what is not a positive constant; with its
            line.
    """
    copy = copy_module(module)
    _Lowering(copy).run()
    return copy


class _Lowering:
    """The rewriting of one module, in place."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._replaced: dict[Value, Value] = {}
        self._not_negative: set[Value] = set()

    def run(self) -> None:
        """Rewrite all of it."""
        self._inside(self._module.op)
        if not self._replaced:
            return
        for op in self._module.walk():
            op.operands = [self._now(value) for value in op.operands]
            for successor in op.successors:
                successor.operands = [self._now(value) for value in successor.operands]

    def _now(self, value: Value) -> Value:
        """Return what stands for a value now: an apply of an apply is replaced twice."""
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def _inside(self, op: Op) -> None:
        for region in op.regions:
            for block in region.blocks:
                self._block(block)

    def _block(self, block: Block) -> None:
        """Rewrite the ops of a block, outer ones first: what is known of a loop's counter helps the maps inside."""
        ops, block.ops = block.ops, []
        for op in ops:
            if not op.name.startswith("affine."):
                block.ops.append(op)
                self._inside(op)
                continue
            self._affine(op, block)

    def _affine(self, op: Op, block: Block) -> None:
        """Write what an op of `affine` becomes to the end of a block."""
        lower = _OPS.get(op.name)
        if lower is None:
            hint = "the native tools (mlir-opt, mlir-translate, llc of one version) compile it"
            near = did_you_mean(op.name, _OPS) if op.name not in _KNOWN_ELSEWHERE else ""
            raise MlirError(
                f"{op.name} is not supported without MLIR's own tools", self._module.where(op), near or hint
            )
        arithmetic = Arithmetic(op, block, self._not_negative)
        op.operands = [self._now(value) for value in op.operands]
        if op.name in ("affine.for", "affine.parallel") and not (op.regions and op.regions[0].blocks):
            raise MlirError(f"{op.name} has no body", self._module.where(op))
        try:
            result = lower(arithmetic, op)
        except MlirError as error:
            raise MlirError(error.message, error.where or self._module.where(op), error.hint) from None
        if result is not None:
            self._replaced[op.results[0]] = result
        self._inside(op)


_KNOWN_ELSEWHERE = frozenset(
    {"affine.delinearize_index", "affine.linearize_index", "affine.dma_start", "affine.dma_wait"}
)


def _rename(op: Op, name: str, operands: list[Value], *properties: str) -> None:
    """Make the op another one, in its place; only these properties stay."""
    op.name, op.operands = name, operands
    op.properties = {entry: text for entry, text in op.properties.items() if entry in properties}


def _for(arithmetic: Arithmetic, op: Op) -> None:
    lower, upper, initial = arithmetic.segments("operandSegmentSizes", 3)
    step = arithmetic.property_integer("step")
    counters = op.regions[0].blocks[0].arguments[:1]
    if not counters:
        raise MlirError("the body of affine.for has no counter")
    if step < 1:
        raise MlirError(f"the step of a loop must be positive, it is {step}")
    first = arithmetic.greatest(arithmetic.values("lowerBoundMap", lower))
    last = arithmetic.least(arithmetic.values("upperBoundMap", upper))
    operands = [first, last, arithmetic.constant(step), *initial]
    if arithmetic.is_not_negative(first):
        arithmetic.not_negative.update(counters)
    _rename(op, "scf.for", operands)
    arithmetic.append(op)


def _if(arithmetic: Arithmetic, op: Op) -> None:
    _rename(op, "scf.if", [arithmetic.test("condition", op.operands)])
    arithmetic.append(op)


def _yield(arithmetic: Arithmetic, op: Op) -> None:
    _rename(op, "scf.yield", op.operands)
    arithmetic.append(op)


def _access(name: str, fixed: int) -> Callable[[Arithmetic, Op], None]:
    """Lower an access whose first `fixed` operands are not indices."""

    def lower(arithmetic: Arithmetic, op: Op) -> None:
        indices = arithmetic.values("map", op.operands[fixed:])
        _rename(op, name, [*op.operands[:fixed], *indices], "nontemporal", "alignment")
        arithmetic.append(op)

    return lower


def _apply(arithmetic: Arithmetic, op: Op) -> Value:
    (value,) = arithmetic.values("map", op.operands)
    return value


def _least(arithmetic: Arithmetic, op: Op) -> Value:
    return arithmetic.least(arithmetic.values("map", op.operands))


def _greatest(arithmetic: Arithmetic, op: Op) -> Value:
    return arithmetic.greatest(arithmetic.values("map", op.operands))


def _nothing(arithmetic: Arithmetic, op: Op) -> None:
    """Leave the op out: it is a hint."""
    del arithmetic, op


_OPS: dict[str, Callable[[Arithmetic, Op], Value | None]] = {
    "affine.for": _for,
    "affine.if": _if,
    "affine.yield": _yield,
    "affine.parallel": lower_parallel,
    "affine.load": _access("memref.load", 1),
    "affine.store": _access("memref.store", 2),
    "affine.vector_load": _access("vector.load", 1),
    "affine.vector_store": _access("vector.store", 2),
    "affine.apply": _apply,
    "affine.min": _least,
    "affine.max": _greatest,
    "affine.prefetch": _nothing,
}
