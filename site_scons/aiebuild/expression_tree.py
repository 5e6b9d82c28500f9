"""The tree of an expression, and what each node of it means."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from aiebuild.errors import ContractError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Scalar: TypeAlias = bool | int | float | str

# What each function takes, as a message says it.
FUNCTIONS = {"min": "one number or more", "max": "one number or more", "abs": "one number"}

# A parameter is a size or a count; anything wider than this is a slip, and could fill the memory.
_MOST_BITS = 1024


class Node(Protocol):
    """A part of an expression."""

    def names(self) -> Iterator[str]:
        """Yield the names in it, in the order of the text."""

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return its value, or raise a ContractError without a location."""


@dataclass(frozen=True)
class Literal:
    """A number, a string, true or false."""

    value: Scalar

    def names(self) -> Iterator[str]:
        """Yield nothing."""
        return iter(())

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:  # noqa: ARG002 - the protocol's signature
        """Return the value itself."""
        return self.value


@dataclass(frozen=True)
class Name:
    """The name of a parameter."""

    name: str

    def names(self) -> Iterator[str]:
        """Yield the name."""
        yield self.name

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return what the name stands for."""
        if self.name not in values:
            raise ContractError(f"unknown name {self.name!r}", hint=did_you_mean(self.name, values))
        return values[self.name]


@dataclass(frozen=True)
class Unary:
    """`-x`, `+x` or `not x`."""

    sign: str
    operand: Node

    def names(self) -> Iterator[str]:
        """Yield the names in the operand."""
        return self.operand.names()

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return the number with its sign, or the other truth."""
        value = self.operand.evaluate(values)
        if self.sign == "not":
            return not _truth("not", value)
        number = _number(self.sign, value)
        return -number if self.sign == "-" else number


@dataclass(frozen=True)
class Binary:
    """Arithmetic on two numbers."""

    sign: str
    left: Node
    right: Node

    def names(self) -> Iterator[str]:
        """Yield the names on the left, then those on the right."""
        yield from self.left.names()
        yield from self.right.names()

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return the number; `/` gives a float, `//` and `%` round towards minus infinity."""
        left = _number(self.sign, self.left.evaluate(values))
        right = _number(self.sign, self.right.evaluate(values))
        if self.sign == "**":
            _check_power(left, right)
        try:
            return _bounded(_ARITHMETIC[self.sign](left, right))
        except ZeroDivisionError:
            raise ContractError(f"{_show(left)} {self.sign} {_show(right)} divides by zero") from None
        except OverflowError:
            raise ContractError(_TOO_LARGE) from None


@dataclass(frozen=True)
class Logical:
    """`and` or `or`: the right side is looked at only if the left does not decide."""

    sign: str
    left: Node
    right: Node

    def names(self) -> Iterator[str]:
        """Yield the names on the left, then those on the right."""
        yield from self.left.names()
        yield from self.right.names()

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return true or false."""
        left = _truth(self.sign, self.left.evaluate(values))
        if left == (self.sign == "or"):
            return left
        return _truth(self.sign, self.right.evaluate(values))


@dataclass(frozen=True)
class Compare:
    """A chain of comparisons: `a < b <= c` means `a < b and b <= c`.

    Each link has its sign and what stands to the right of it: one node, or the elements of a list after `in`.
    """

    first: Node
    links: tuple[tuple[str, tuple[Node, ...]], ...]

    def names(self) -> Iterator[str]:
        """Yield the names from left to right."""
        yield from self.first.names()
        for _, nodes in self.links:
            for node in nodes:
                yield from node.names()

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return whether each link holds; the first that does not ends it."""
        left = self.first.evaluate(values)
        for sign, nodes in self.links:
            if sign in {"in", "not in"}:
                # Nothing follows a list: the parser has seen to it.
                return _among(left, nodes, values) == (sign == "in")
            right = nodes[0].evaluate(values)
            if not _compare(sign, left, right):
                return False
            left = right
        return True


@dataclass(frozen=True)
class Call:
    """`min`, `max` or `abs` of numbers."""

    function: str
    arguments: tuple[Node, ...]

    def names(self) -> Iterator[str]:
        """Yield the names in the arguments."""
        for argument in self.arguments:
            yield from argument.names()

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return the number."""
        numbers = [_number(self.function, argument.evaluate(values)) for argument in self.arguments]
        if self.function == "abs":
            return abs(numbers[0])
        return min(numbers) if self.function == "min" else max(numbers)


_ARITHMETIC: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}

COMPARISONS: dict[str, Callable[[int | float, int | float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_TOO_LARGE = f"the number is too large (more than {_MOST_BITS} bits)"


def kind(value: Scalar) -> str:
    """Return which of the three kinds a value is of: `true or false`, `number` or `string`."""
    if isinstance(value, bool):
        return "true or false"
    return "string" if isinstance(value, str) else "number"


def _show(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _number(sign: str, value: Scalar) -> int | float:
    if isinstance(value, (bool, str)):
        raise ContractError(f"{sign!r} takes numbers, not {_show(value)}")
    return value


def _truth(sign: str, value: Scalar) -> bool:
    if not isinstance(value, bool):
        raise ContractError(f"{sign!r} takes true or false, not {_show(value)}")
    return value


def _check_power(base: float, exponent: float) -> None:
    if not isinstance(exponent, int) or exponent < 0:
        raise ContractError(f"the exponent of '**' must be a whole number from 0, not {_show(exponent)}")
    if isinstance(base, int) and abs(base) > 1 and base.bit_length() * exponent > _MOST_BITS:
        raise ContractError(_TOO_LARGE)


def _bounded(value: float) -> int | float:
    fits = value.bit_length() <= _MOST_BITS if isinstance(value, int) else math.isfinite(value)
    if not fits:
        raise ContractError(_TOO_LARGE)
    return value


def _compare(sign: str, left: Scalar, right: Scalar) -> bool:
    if sign in {"==", "!="}:
        return _equal(sign, left, right) == (sign == "==")
    return COMPARISONS[sign](_number(sign, left), _number(sign, right))


def _equal(sign: str, left: Scalar, right: Scalar) -> bool:
    if kind(left) != kind(right):
        raise ContractError(f"{sign!r} cannot compare {_show(left)} with {_show(right)}")
    return left == right


def _among(value: Scalar, nodes: tuple[Node, ...], values: Mapping[str, Scalar]) -> bool:
    return any(_equal("in", value, node.evaluate(values)) for node in nodes)
