"""Affine maps and integer sets: their text as expressions (MLIR's "Affine" dialect page has the grammar)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from aiebuild.errors import MlirError
from aiebuild.mlir.scan import split, squeeze

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = re.compile(r"\s*\(([^()]*)\)\s*(?:\[([^\]]*)\])?\s*")
_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_$.][\w$.]*|[-+*()])")
_PRODUCTS = ("*", "floordiv", "ceildiv", "mod")
_CONSTRAINT = re.compile(r"(.*?)(>=|<=|==)(.*)", re.DOTALL)


@dataclass(frozen=True)
class Input:
    """An operand of the map, counted over the dimensions and then the symbols."""

    index: int


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True)
class Binary:
    """Two expressions joined by `+`, `*`, `floordiv`, `ceildiv` or `mod`; a difference is a sum with a factor -1."""

    sign: str
    left: Expression
    right: Expression


Expression = Input | Number | Binary


@dataclass(frozen=True)
class AffineMap:
    """`affine_map<(d0, ...)[s0, ...] -> (...)>`: how many dimensions and symbols it takes, and its results."""

    dimensions: int
    symbols: int
    results: tuple[Expression, ...]

    @property
    def inputs(self) -> int:
        """How many operands it takes: dimensions first, then symbols."""
        return self.dimensions + self.symbols


@dataclass(frozen=True)
class IntegerSet:
    """`affine_set<(d0, ...)[s0, ...] : (...)>`: each constraint is an expression >= 0; == 0 if its flag is set."""

    dimensions: int
    symbols: int
    constraints: tuple[tuple[Expression, bool], ...]

    @property
    def inputs(self) -> int:
        """How many operands it takes: dimensions first, then symbols."""
        return self.dimensions + self.symbols


def read_map(text: str) -> AffineMap:
    """Return the map that a text stands for.

    Raises:
        MlirError: the text is not `affine_map<(...)[...] -> (...)>`, or names an unknown dimension.
    """
    names, counts, rest = _head(text, "affine_map")
    if not rest.startswith("->"):
        _refuse("`->` and the results of an affine map", text)
    results = tuple(_Reader(each, names).whole() for each in split(_bracketed(rest[2:], text)))
    return AffineMap(*counts, results)


def read_set(text: str) -> IntegerSet:
    """Return the integer set that a text stands for.

    Raises:
        MlirError: the text is not `affine_set<(...)[...] : (...)>`, or names an unknown dimension.
    """
    names, counts, rest = _head(text, "affine_set")
    if not rest.startswith(":"):
        _refuse("`:` and the constraints of an integer set", text)
    constraints = tuple(_constraint(each, names) for each in split(_bracketed(rest[1:], text)))
    return IntegerSet(*counts, constraints)


def evaluate(expression: Expression, operands: Sequence[int]) -> int:
    """Return the value of an expression; `floordiv` rounds down, `ceildiv` up, `mod` is never negative."""
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Input):
        return operands[expression.index]
    left, right = evaluate(expression.left, operands), evaluate(expression.right, operands)
    if expression.sign == "+":
        return left + right
    if expression.sign == "*":
        return left * right
    if expression.sign == "mod":
        return left % right
    return left // right if expression.sign == "floordiv" else -(-left // right)


def contains(members: IntegerSet, operands: Sequence[int]) -> bool:
    """Tell whether a point is in an integer set."""
    values = ((evaluate(expression, operands), equal) for expression, equal in members.constraints)
    return all(value == 0 if equal else value >= 0 for value, equal in values)


def _head(text: str, kind: str) -> tuple[dict[str, int], tuple[int, int], str]:
    """Return the inputs by name, how many dimensions and symbols there are, and the text behind them."""
    stripped = text.strip()
    if not stripped.startswith(f"{kind}<") or not stripped.endswith(">"):
        _refuse(f"`{kind}<...>`", text)
    body = stripped[len(kind) + 1 : -1]
    match = _HEAD.match(body)
    if match is None:
        _refuse("dimensions such as `(d0, d1)`", text)
    dimensions, symbols = split(match.group(1)), split(match.group(2) or "")
    names = {name: number for number, name in enumerate((*dimensions, *symbols))}
    return names, (len(dimensions), len(symbols)), body[match.end() :].strip()


def _bracketed(text: str, whole: str) -> str:
    """Return what is between the round brackets of a text."""
    stripped = text.strip()
    if not stripped.startswith("(") or not stripped.endswith(")"):
        _refuse("a list in round brackets", whole)
    return stripped[1:-1]


def _constraint(text: str, names: dict[str, int]) -> tuple[Expression, bool]:
    """Read `d0 - 1 >= 0`, `d0 == 4` or `d0 <= s0`."""
    match = _CONSTRAINT.fullmatch(text)
    if match is None:
        _refuse("a constraint such as `d0 >= 0`", text)
    left, right = _Reader(match.group(1), names).whole(), _Reader(match.group(3), names).whole()
    if match.group(2) == "<=":
        left, right = right, left
    return _difference(left, right), match.group(2) == "=="


def _difference(left: Expression, right: Expression) -> Expression:
    """Return `left - right`."""
    if right == Number(0):
        return left
    return Binary("+", left, Number(-right.value) if isinstance(right, Number) else Binary("*", right, Number(-1)))


class _Reader:
    """Reads one expression."""

    def __init__(self, text: str, names: dict[str, int]) -> None:
        self._text, self._names = text, names
        self._tokens = self._split(text)

    def _split(self, text: str) -> list[str]:
        """Return the tokens, the last one first."""
        tokens, position = [], 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                _refuse("an affine expression", text)
            tokens.append(match.group(1))
            position = match.end()
        return tokens[::-1]

    def whole(self) -> Expression:
        """Read all of the text."""
        found = self._sum()
        if self._tokens:
            _refuse("an affine expression", self._text)
        return found

    def _take(self, *wanted: str) -> str:
        """Take the next token, if it is one of these."""
        return self._tokens.pop() if self._tokens and self._tokens[-1] in wanted else ""

    def _sum(self) -> Expression:
        found = self._product()
        while sign := self._take("+", "-"):
            right = self._product()
            found = Binary("+", found, right) if sign == "+" else _difference(found, right)
        return found

    def _product(self) -> Expression:
        found = self._atom()
        while sign := self._take(*_PRODUCTS):
            found = Binary(sign, found, self._atom())
        return found

    def _atom(self) -> Expression:
        if self._take("-"):
            inner = self._atom()
            return Number(-inner.value) if isinstance(inner, Number) else Binary("*", inner, Number(-1))
        if self._take("("):
            inner = self._sum()
            if not self._take(")"):
                _refuse("`)`", self._text)
            return inner
        token = self._tokens.pop() if self._tokens else ""
        if token.isdigit():
            return Number(int(token))
        if token not in self._names:
            _refuse(f"one of {', '.join(self._names) or 'no dimensions'}, or a number", self._text)
        return Input(self._names[token])


def _refuse(wanted: str, text: str) -> NoReturn:
    """Raise the error of a text that is not what was asked for."""
    raise MlirError(f"expected {wanted}, found `{squeeze(text)}`")
