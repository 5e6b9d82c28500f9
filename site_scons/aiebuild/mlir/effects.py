"""What is known of ops when a function is cut: which write to which operand, and which only compute.

The writers are those of the dialects' definitions (`MemWrite` in the operands of memref, affine, vector and linalg
ops). An op that is not known here counts as reading its operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir import attributes
from aiebuild.mlir.ir import Op
from aiebuild.mlir.symbols import is_declaration, symbols

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from aiebuild.mlir.ir import Value

_WRITTEN = {
    "affine.store": 1,
    "affine.vector_store": 1,
    "memref.store": 1,
    "memref.copy": 1,
    "memref.atomic_rmw": 1,
    "memref.generic_atomic_rmw": 0,
    "memref.dealloc": 0,
    "vector.store": 1,
    "vector.transfer_write": 1,
    "vector.maskedstore": 0,
    "vector.scatter": 0,
    "vector.compressstore": 0,
    "llvm.store": 1,
}
"""The operand that an op writes to."""
VIEWS = frozenset(
    f"memref.{name}"
    for name in (
        "subview",
        "cast",
        "view",
        "reinterpret_cast",
        "collapse_shape",
        "expand_shape",
        "transpose",
        "reshape",
        "memory_space_cast",
        "assume_alignment",
    )
)
"""Ops whose result is the memory of their first operand."""
ALLOCATIONS = ("memref.alloc", "memref.alloca")
REMADE = frozenset(
    (
        "arith.constant",
        "memref.get_global",
        "func.constant",
        "index.constant",
        "complex.constant",
        "llvm.mlir.constant",
        "llvm.mlir.addressof",
        "llvm.mlir.zero",
        "llvm.mlir.undef",
        "stablehlo.constant",
        "ub.poison",
        "emitc.constant",
    )
)
"""Ops without operands that are made again where their value is needed."""
INDICES = ("affine.apply", "affine.min", "affine.max", "memref.dim")
"""Ops whose results may be subscripts of affine accesses anywhere, which results of calls may not."""
BOUND = ("linalg.index", "scf.reduce", "scf.forall.in_parallel", "gpu.yield")
"""Ops that mean something only right inside the op that they are in."""
_PURE_DIALECTS = ("arith.", "index.", "math.", "affine.apply", "affine.min", "affine.max", "memref.dim", "tensor.dim")
_TRAPS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildiv", "arith.floordiv")
_ENDS = ("return", "yield", "terminator", "br", "cond_br", "switch", "end", "unreachable", "condition", "in_parallel")


def is_pure(op: Op) -> bool:
    """Tell whether an op computes its results from its operands and does nothing else, so that it can be moved."""
    return op.name.startswith(_PURE_DIALECTS) and not op.regions and not op.name.startswith(_TRAPS)


def is_terminator(op: Op) -> bool:
    """Tell whether an op ends its block."""
    last = op.parent is not None and op.parent.ops[-1] is op
    return last and (bool(op.successors) or op.name.rpartition(".")[2] in _ENDS)


def base_of(value: Value, inside: Collection[Value] | None = None) -> Value:
    """Return the value whose memory a value is a view of; itself, if it is none.

    Args:
        value: any value.
        inside: where given, views among these alone are looked through.
    """
    while isinstance(value.owner, Op) and value.owner.name in VIEWS and value.owner.operands:
        if inside is not None and value not in inside:
            break
        value = value.owner.operands[0]
    return value


def written_by(op: Op, arguments: Written) -> Iterator[Value]:
    """Yield the values whose memory an op writes to, without those of ops nested in it."""
    position = _WRITTEN.get(op.name)
    if position is not None:
        yield from op.operands[position : position + 1]
    elif op.name.startswith("linalg."):
        yield from _outputs(op)
    elif op.name == "func.call":
        yield from arguments.of_call(op)


class Written:
    """Which arguments functions of one symbol table write to."""

    def __init__(self, table: Op) -> None:
        self._functions = symbols(table)
        self._known: dict[str, frozenset[int]] = {}

    def add(self, name: str, function: Op) -> None:
        """Take in a function that was added to the table."""
        self._functions[name] = function

    def of_call(self, call: Op) -> Iterator[Value]:
        """Yield the operands that the callee writes to; none, if it is not defined here."""
        try:
            name = attributes.symbol(call.get("callee") or "")
        except MlirError:
            return
        positions = self._of(name)
        yield from (value for number, value in enumerate(call.operands) if number in positions)

    def _of(self, name: str) -> frozenset[int]:
        """Return the positions of the arguments that a function writes to."""
        known = self._known.get(name)
        if known is not None:
            return known
        self._known[name] = frozenset()  # a function that calls itself adds nothing by that
        function = self._functions.get(name)
        if function is None or function.name != "func.func" or is_declaration(function):
            return frozenset()
        arguments = function.regions[0].blocks[0].arguments
        written = {base_of(value) for op in function.walk() for value in written_by(op, self)}
        self._known[name] = frozenset(number for number, value in enumerate(arguments) if value in written)
        return self._known[name]


def _outputs(op: Op) -> list[Value]:
    """Return the outputs of a linalg op."""
    text = op.get("operandSegmentSizes")
    if text is None:
        return op.operands[-1:]
    sizes = attributes.integers(text)
    return op.operands[sizes[0] : sizes[0] + sizes[1]] if len(sizes) > 1 else op.operands[-1:]
