"""JSON with comments, as VS Code reads it (`//`, `/* */`, trailing commas), with the place of every value in the text.

Nothing is ever written back from what was read: an edit is made in the text, at these places, so that what is not
meant stays as it is, byte for byte. The libraries for this write the whole document anew, move the comment behind an
element to the one that is added after it, or need another program to run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from aiebuild.errors import AieBuildError, Location

DEEPEST = 100
"""Levels of nesting; files of editors have a handful."""

BOM = "\ufeff"

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])")


class JsoncError(AieBuildError):
    """A file is not JSON, not even with comments."""


@dataclass(frozen=True)
class Comment:
    """A comment with its marks, and where it stands in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Value:
    """A value: its kind (`object`, `array` or `scalar`), its place in the text, what is in it, or what it is.

    `start` is its first character, `end` the one after its last.
    """

    kind: str
    start: int
    end: int
    members: tuple[Member, ...] = ()
    scalar: Any = None

    def get(self, key: str) -> Value | None:
        """Return a member of an object by its key; of several the last one, as editors do."""
        return next((member.value for member in reversed(self.members) if member.key == key), None)

    def plain(self) -> Any:
        """Return the value as Python has it."""
        if self.kind == "object":
            return {member.key: member.value.plain() for member in self.members}
        if self.kind == "array":
            return [member.value.plain() for member in self.members]
        return self.scalar


@dataclass(frozen=True)
class Member:
    """An element of an array, or a member of an object with its key; `comma` is the place of the comma after it."""

    key: str
    start: int
    value: Value
    comma: int | None

    @property
    def end(self) -> int:
        """The character after its last one, without the comma."""
        return self.value.end


@dataclass(frozen=True)
class Document:
    """A text with its value, None where there is nothing but comments, and its comments in order."""

    text: str
    value: Value | None
    comments: tuple[Comment, ...]


def read(text: str, file: str) -> Document:
    """Return what a text says.

    Raises:
        JsoncError: it is no JSON with comments; with its line and column.
    """
    return _Reader(text, file).document()


def location(text: str, at: int, file: str) -> Location:
    """Return the line and column of a character."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n").removeprefix(BOM)
    return Location(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


class _Reader:
    """Goes through a text once."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._at = len(BOM) if text.startswith(BOM) else 0
        self._comments: list[Comment] = []

    def document(self) -> Document:
        value = None if self._next() == "" else self._value(0)
        if self._next():
            raise self._error("expected the end of the file")
        return Document(self._text, value, tuple(self._comments))

    def _next(self) -> str:
        """Go over white space and comments; return the character that follows, or nothing at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                break
            self._comments.append(Comment(comment[0], comment.start(), comment.end()))
            self._at = comment.end()
        if self._text.startswith("/*", self._at):
            raise self._error("this comment has no end")
        return self._text[self._at : self._at + 1]

    def _value(self, depth: int) -> Value:
        character = self._next()
        if depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} levels of nesting")
        if character == "{":
            return self._members("object", "}", depth)
        if character == "[":
            return self._members("array", "]", depth)
        start = self._at
        token = self._string() if character == '"' else self._token(_SCALAR, "a value")
        # As a float: Python refuses to read integers of thousands of digits.
        scalar = json.loads(token, parse_int=float)
        return Value("scalar", start, self._at, scalar=scalar)

    def _members(self, kind: str, closing: str, depth: int) -> Value:
        start = self._at
        self._at += 1
        members: list[Member] = []
        while self._next() != closing:
            if members and members[-1].comma is None:
                raise self._error(f"expected ',' or {closing!r}")
            members.append(self._member(kind, depth))
        self._at += 1
        return Value(kind, start, self._at, tuple(members))

    def _member(self, kind: str, depth: int) -> Member:
        start, key = self._at, ""
        if kind == "object":
            if self._next() != '"':
                raise self._error("expected a key in double quotes, or '}'")
            key = json.loads(self._string())
            if self._next() != ":":
                raise self._error("expected ':'")
            self._at += 1
        value = self._value(depth + 1)
        comma = None
        if self._next() == ",":
            comma = self._at
            self._at += 1
        return Member(key, start, value, comma)

    def _string(self) -> str:
        return self._token(_STRING, "a string with its closing quote, on one line, without wrong escapes")

    def _token(self, form: re.Pattern[str], what: str) -> str:
        found = form.match(self._text, self._at)
        if found is None:
            raise self._error(f"expected {what}")
        self._at = found.end()
        return found[0]

    def _error(self, message: str) -> JsoncError:
        found = "the file ends" if self._at >= len(self._text) else f"there is {self._text[self._at]!r}"
        return JsoncError(f"{message}, and {found}", location(self._text, self._at, self._file))
