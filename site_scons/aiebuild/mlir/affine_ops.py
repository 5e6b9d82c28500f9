"""The arithmetic that stands for affine maps: ops of `arith` that are written to the end of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir import attributes
from aiebuild.mlir.affine_map import AffineMap, Binary, Input, IntegerSet, Number, read_map, read_set
from aiebuild.mlir.ir import Op, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.affine_map import Expression
    from aiebuild.mlir.ir import Block

_EQUAL, _LESS, _LESS_OR_EQUAL, _GREATER_OR_EQUAL = 0, 2, 3, 5
"""Predicates of `arith.cmpi`, in the order of MLIR's `CmpIPredicate`: eq, ne, slt, sle, sgt, sge."""
_WRAPS = ("arith.addi", "arith.muli", "arith.subi")


class Arithmetic:
    """What an op of `affine` computes, as ops of `arith` before it, with its location.

    `not_negative` holds the values that are known not to be negative, such as counters of loops from zero: divisions of
    those need no case for negative numbers.
    """

    def __init__(self, op: Op, block: Block, not_negative: set[Value]) -> None:
        self._op, self._block = op, block
        self.not_negative = not_negative
        self._constants: dict[int, Value] = {}

    # --- what the op says ---

    def segments(self, name: str, count: int) -> list[list[Value]]:
        """Return the operands by segment.

        Raises:
            MlirError: the property is not there, or does not fit the operands.
        """
        sizes = attributes.integers(self._text(name))
        if len(sizes) != count or sum(sizes) != len(self._op.operands):
            raise MlirError(f"{name} of {self._op.name} must be {count} numbers whose sum is that of its operands")
        found, at = [], 0
        for size in sizes:
            found.append(self._op.operands[at : at + size])
            at += size
        return found

    def property_integer(self, name: str) -> int:
        """Return an integer property."""
        return attributes.integer(self._text(name))

    def affine_map(self, name: str) -> AffineMap:
        """Return a map that the op has as a property."""
        return read_map(self._text(name))

    def values(self, name: str, operands: Sequence[Value]) -> list[Value]:
        """Return the results of a map of the op."""
        found = self.affine_map(name)
        self._check(found, operands)
        return [self.value(result, operands) for result in found.results]

    def test(self, name: str, operands: Sequence[Value]) -> Value:
        """Return an `i1` that says whether the operands are in a set of the op."""
        members = read_set(self._text(name))
        self._check(members, operands)
        zero, all_of = self.constant(0), None
        for expression, equal in members.constraints:
            value = self.value(expression, operands)
            one = self._compare(_EQUAL if equal else _GREATER_OR_EQUAL, value, zero)
            all_of = one if all_of is None else self._write("arith.andi", [all_of, one], "i1")
        return self._write("arith.constant", [], "i1", value="true") if all_of is None else all_of

    def _text(self, name: str) -> str:
        text = self._op.get(name)
        if text is None:
            raise MlirError(f"{self._op.name} has no {name}")
        return text

    def _check(self, wanted: AffineMap | IntegerSet, operands: Sequence[Value]) -> None:
        if wanted.inputs != len(operands):
            raise MlirError(f"the map of {self._op.name} takes {wanted.inputs} operands, but {len(operands)} are given")

    # --- expressions ---

    def value(self, expression: Expression, operands: Sequence[Value]) -> Value:
        """Return the value of an expression.

        Raises:
            MlirError: it divides by what is not a positive constant.
        """
        if isinstance(expression, Number):
            return self.constant(expression.value)
        if isinstance(expression, Input):
            return operands[expression.index]
        left = self.value(expression.left, operands)
        if expression.sign in ("+", "*"):
            return self._ring(expression, left, operands)
        if not isinstance(expression.right, Number) or expression.right.value < 1:
            hint = "write the op of `arith` instead"
            raise MlirError(f"{expression.sign} needs a positive constant on its right side", hint=hint)
        divisor = self.constant(expression.right.value)
        divide = {"mod": self._mod, "floordiv": self._floor, "ceildiv": self._ceiling}[expression.sign]
        return divide(left, divisor)

    def _ring(self, expression: Binary, left: Value, operands: Sequence[Value]) -> Value:
        """Return a sum or product; a term times -1 is subtracted."""
        right = expression.right
        if expression.sign == "+" and isinstance(right, Binary) and right.sign == "*" and right.right == Number(-1):
            return self._write("arith.subi", [left, self.value(right.left, operands)])
        found = self.value(right, operands)
        name = "arith.addi" if expression.sign == "+" else "arith.muli"
        result = self._write(name, [left, found])
        if self.is_not_negative(left) and self.is_not_negative(found):
            self.not_negative.add(result)
        return result

    def _mod(self, left: Value, divisor: Value) -> Value:
        """Return the remainder that is never negative."""
        rest = self._write("arith.remsi", [left, divisor])
        if not self.is_not_negative(left):
            negative = self._compare(_LESS, rest, self.constant(0))
            rest = self._select(negative, self._write("arith.addi", [rest, divisor]), rest)
        self.not_negative.add(rest)
        return rest

    def _floor(self, left: Value, divisor: Value) -> Value:
        """Return the quotient rounded down: that of a negative `a` is -1 - (-1 - a) / divisor."""
        if self.is_not_negative(left):
            return self._known(self._write("arith.divsi", [left, divisor]))
        minus = self.constant(-1)
        negative = self._compare(_LESS, left, self.constant(0))
        dividend = self._select(negative, self._write("arith.subi", [minus, left]), left)
        quotient = self._write("arith.divsi", [dividend, divisor])
        return self._select(negative, self._write("arith.subi", [minus, quotient]), quotient)

    def _ceiling(self, left: Value, divisor: Value) -> Value:
        """Return the quotient rounded up: -(-a / divisor) for `a` <= 0, else (a - 1) / divisor + 1."""
        zero, one = self.constant(0), self.constant(1)
        small = self._compare(_LESS_OR_EQUAL, left, zero)
        negated, less = self._write("arith.subi", [zero, left]), self._write("arith.subi", [left, one])
        quotient = self._write("arith.divsi", [self._select(small, negated, less), divisor])
        down, up = self._write("arith.subi", [zero, quotient]), self._write("arith.addi", [quotient, one])
        found = self._select(small, down, up)
        return self._known(found) if self.is_not_negative(left) else found

    def greatest(self, values: Sequence[Value]) -> Value:
        """Return the greatest of some values."""
        return self._chosen("arith.maxsi", values, any(self.is_not_negative(value) for value in values))

    def least(self, values: Sequence[Value]) -> Value:
        """Return the least of some values."""
        return self._chosen("arith.minsi", values, all(self.is_not_negative(value) for value in values))

    def _chosen(self, name: str, values: Sequence[Value], not_negative: bool) -> Value:
        if not values:
            raise MlirError(f"a map of {self._op.name} has no results")
        found = values[0]
        for value in values[1:]:
            found = self._write(name, [found, value])
        return self._known(found) if not_negative else found

    # --- ops ---

    def is_not_negative(self, value: Value) -> bool:
        """Tell whether a value is known not to be negative."""
        if value in self.not_negative:
            return True
        owner = value.owner
        if not isinstance(owner, Op) or owner.name != "arith.constant" or value.type != "index":
            return False
        return attributes.integer(owner.get("value") or "-1") >= 0

    def _known(self, value: Value) -> Value:
        self.not_negative.add(value)
        return value

    def constant(self, number: int) -> Value:
        """Return a constant of type index."""
        if number not in self._constants:
            self._constants[number] = self._write("arith.constant", [], value=f"{number} : index")
        return self._constants[number]

    def _compare(self, predicate: int, left: Value, right: Value) -> Value:
        return self._write("arith.cmpi", [left, right], "i1", predicate=f"{predicate} : i64")

    def _select(self, condition: Value, one: Value, other: Value) -> Value:
        return self._write("arith.select", [condition, one, other])

    def _write(self, name: str, operands: list[Value], type_: str = "index", **properties: str) -> Value:
        """Write an op with one result, and return that."""
        if name in _WRAPS:
            properties["overflowFlags"] = "#arith.overflow<none>"
        made = Op(name, list(operands), properties=properties)
        made.results.append(Value(type_, "", made))
        self.append(made)
        return made.results[0]

    def append(self, op: Op) -> None:
        """Write an op; a new one gets the place of the op that it is made for."""
        if op.line is None:
            op.location, op.line, op.column = self._op.location, self._op.line, self._op.column
        op.parent = self._block
        self._block.ops.append(op)
