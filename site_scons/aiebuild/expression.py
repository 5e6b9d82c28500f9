"""The expression language of contracts: arithmetic, comparison, `and`, `or`, `not` and `in` over parameters.

It is read by a tokenizer and a precedence parser of its own into a frozen tree, so that nothing in a contract
can run code. Values mean what they mean in Python, but numbers, strings and true/false are three kinds: an
operator that is given the wrong kind is an error.

```text
from the loosest binding: or, and, not, comparisons (== != < <= > >= in, not in; they chain), + -, * / // %,
a sign, ** (from the right).  Operands: numbers (decimal, 0x hexadecimal, floats), "strings" without escapes,
true, false, names, (...), min(a, b, ...), max(a, b, ...), abs(a).  A list [a, b] stands only after `in`.
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import ContractError, did_you_mean
from aiebuild.expression_tree import (
    COMPARISONS,
    FUNCTIONS,
    Binary,
    Call,
    Compare,
    Literal,
    Logical,
    Name,
    Node,
    Scalar,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WORDS = frozenset({"and", "or", "not", "in", "true", "false"})

# A tree this deep is far from Python's own limit, and nobody writes one.
_MOST_OPERANDS = 100
_MOST_CHARACTERS = 1000

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>0[xX][0-9a-fA-F]+ | (?:[0-9]+\.[0-9]* | \.[0-9]+ | [0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<string>"[^"\\\n]*" | '[^'\\\n]*')
  | (?P<sign>\*\* | // | == | != | <= | >= | [-+*/%<>()\[\],])
  | (?P<end>\Z)
    )""",
    re.VERBOSE,
)

_LOOSEST, _NEGATION, _COMPARISON, _SIGNED = 1, 3, 4, 7

# How tightly each operator binds what stands on its left.
_BINDING = {
    "or": _LOOSEST,
    "and": 2,
    **dict.fromkeys((*COMPARISONS, "in", "not"), _COMPARISON),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "//", "%"), 6),
    "**": 8,
}


@dataclass(frozen=True)
class _Token:
    """A piece of the text; `column` counts from 1; `kind` is number, word, string, sign or end."""

    kind: str
    text: str
    column: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


@dataclass(frozen=True)
class Expression:
    """An expression that has been read: its text and its tree."""

    text: str
    root: Node

    @property
    def names(self) -> tuple[str, ...]:
        """The names of parameters in it, each once, in the order in which they appear."""
        return tuple(dict.fromkeys(self.root.names()))

    def evaluate(self, values: Mapping[str, Scalar]) -> Scalar:
        """Return the value of the expression.

        Args:
            values: the value of each name. A name that is absent and never reached is no error.

        Raises:
            ContractError: a name is unknown, a kind of value is wrong, a number is divided by zero or grows
                without bound. It has no location: the caller knows the line.
        """
        try:
            return self.root.evaluate(values)
        except ContractError as error:
            raise ContractError(f"in {self.text!r}: {error.message}", hint=error.hint) from None


def parse(text: str) -> Expression:
    """Read an expression.

    Raises:
        ContractError: the text is not an expression; the message has the column, counted from 1.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ContractError(f"an expression has at most {_MOST_CHARACTERS} characters, this one has {len(text)}")
    try:
        return Expression(text, _Parser(tuple(_tokens(text))).whole())
    except _SyntaxFault as fault:
        raise ContractError(f"in {text!r}, column {fault.column}: {fault.message}", hint=fault.hint) from None


class _SyntaxFault(Exception):  # noqa: N818 - it never leaves this module
    """What is wrong with the text, and where in it."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.hint = hint


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while True:
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            column = position + len(text[position:]) - len(text[position:].lstrip())
            raise _unreadable(text, column)
        token = _Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup) + 1)
        position = found.end()
        if token.kind == "number" and re.match(r"[\w.]", text[position:]):
            raise _SyntaxFault(f"{token.text + text[position]!r} is not a number", token.column)
        yield token
        if token.kind == "end":
            return


_INSTEAD = {
    "=": "'==' compares",
    "&": "'and' joins two conditions",
    "|": "'or' joins two conditions",
    "!": "'not' negates",
}


def _unreadable(text: str, at: int) -> _SyntaxFault:
    if text[at] in "\"'":
        return _SyntaxFault("a string is not closed on its line, or has a backslash in it", at + 1)
    return _SyntaxFault(f"unexpected {text[at]!r}", at + 1, _INSTEAD.get(text[at], ""))


class _Parser:
    """A precedence parser: an operator takes what binds at least as tightly as its own number."""

    def __init__(self, tokens: tuple[_Token, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self._operands = 0

    def whole(self) -> Node:
        root = self._expression(_LOOSEST)
        if self._next.kind != "end":
            raise _SyntaxFault(f"expected an operator or the end, not {self._next}", self._next.column)
        return root

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    @property
    def _binding(self) -> int:
        """How tightly the next token binds as an operator between two operands; 0 if it is none."""
        return _BINDING.get(self._next.text, 0) if self._next.kind in {"sign", "word"} else 0

    def _take(self, text: str) -> bool:
        found = self._next.kind in {"sign", "word"} and self._next.text == text
        self._at += found
        return found

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise _SyntaxFault(f"expected {text!r}, not {self._next}", self._next.column)

    def _expression(self, least: int) -> Node:
        self._operands += 1
        if self._operands > _MOST_OPERANDS:
            raise _SyntaxFault(f"more than {_MOST_OPERANDS} operands", self._next.column)
        left = self._operand(least)
        while self._binding >= least:
            left = self._joined(left)
        return left

    def _joined(self, left: Node) -> Node:
        binding, sign = self._binding, self._next.text
        if binding == _COMPARISON:
            return self._comparison(left)
        self._at += 1
        if sign in {"and", "or"}:
            return Logical(sign, left, self._expression(binding + 1))
        # `**` alone groups from the right.
        return Binary(sign, left, self._expression(binding if sign == "**" else binding + 1))

    def _comparison(self, first: Node) -> Node:
        links: list[tuple[str, tuple[Node, ...]]] = []
        while self._binding == _COMPARISON:
            if links and links[-1][0] in {"in", "not in"}:
                raise _SyntaxFault(f"{self._next} cannot follow a list", self._next.column, "join the two with 'and'")
            links.append(self._link())
        return Compare(first, tuple(links))

    def _link(self) -> tuple[str, tuple[Node, ...]]:
        negated = self._take("not")
        if not negated and self._next.text != "in":
            self._at += 1
            return self._tokens[self._at - 1].text, (self._expression(_COMPARISON + 1),)
        self._expect("in")
        if not self._take("["):
            raise _SyntaxFault(f"'in' needs a list such as [a, b], not {self._next}", self._next.column)
        return "not in" if negated else "in", self._until("]")

    def _until(self, closing: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self._take(closing):
            if found:
                self._expect(",")
            found.append(self._expression(_LOOSEST))
        return tuple(found)

    def _operand(self, least: int) -> Node:
        token = self._next
        self._at += 1
        if token.kind == "number":
            return Literal(_number(token))
        if token.kind == "string":
            return Literal(token.text[1:-1])
        if token.kind == "word" and token.text not in _BINDING:
            return self._named(token)
        if token.kind == "sign" and token.text in {"-", "+"}:
            return Unary(token.text, self._expression(_SIGNED))
        if token.text == "not" and token.kind == "word" and least <= _NEGATION:
            return Unary("not", self._expression(_NEGATION))
        if token.kind == "sign" and token.text == "(":
            inner = self._expression(_LOOSEST)
            self._expect(")")
            return inner
        hint = "a list stands only after 'in'" if token.text == "[" else ""
        raise _SyntaxFault(f"expected a value, not {token}", token.column, hint)

    def _named(self, token: _Token) -> Node:
        if token.text in {"true", "false"}:
            return Literal(token.text == "true")
        if not self._take("("):
            if token.text in FUNCTIONS:
                raise _SyntaxFault(f"expected '(' after {token}, not {self._next}", self._next.column)
            return Name(token.text)
        if token.text not in FUNCTIONS:
            raise _SyntaxFault(f"{token} is not a function", token.column, did_you_mean(token.text, FUNCTIONS))
        arguments = self._until(")")
        if not arguments or (token.text == "abs" and len(arguments) > 1):
            raise _SyntaxFault(f"{token} takes {FUNCTIONS[token.text]}, not {len(arguments)}", token.column)
        return Call(token.text, arguments)


def _number(token: _Token) -> int | float:
    if token.text[:2] in {"0x", "0X"}:
        return int(token.text, 16)
    if not token.text.isdigit():
        return _finite(token)
    if token.text.startswith("0") and token.text.strip("0"):
        raise _SyntaxFault(f"{token} has leading zeros", token.column, "hexadecimal is 0x..., octal does not exist")
    return int(token.text)


def _finite(token: _Token) -> float:
    value = float(token.text)
    if value == float("inf"):
        raise _SyntaxFault(f"{token} is too large for a float", token.column)
    return value
