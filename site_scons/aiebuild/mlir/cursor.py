"""A place in MLIR text, and what is read from there without knowing any op: types, dictionaries, locations."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from aiebuild.errors import Location, MlirError
from aiebuild.mlir.scan import ScanError, closing, split, squeeze, value_end

GAP = r"(?:\s+|//[^\n]*)*"
STRING = r'"(?:[^"\\\n]|\\.)*"'
_GAP = re.compile(GAP)
_END_OF_DICTIONARY = re.compile(rf"{GAP}\}}")
# A value without brackets, strings and aliases is taken here; all others are measured by `value_end`.
_ENTRY = re.compile(
    rf"{GAP}(?:([A-Za-z_][\w$.\-]*)|({STRING}))\s*(?:=\s*([^\s\"<>(){{}}\[\],#!/][^\"<>(){{}}\[\],#!/=\n]*))?([,}}])?"
)
_SIMPLE_TYPE = r"!?[A-Za-z_][\w$.]*(?:<[^()\"<>/]*(?:<[^()\"<>/]*>[^()\"<>/]*)*>)?(?![<\w$.])"
_SIGNATURE = re.compile(rf'\s*\(([^()"/]*)\)\s*->\s*(?:\(([^()"/]*)\)|({_SIMPLE_TYPE}))')
_TYPE_WORD = re.compile(r"!?[A-Za-z_][\w$.]*")
_LOC = re.compile(rf"{GAP}loc\s*(?=\()")
_LOC_OR_STRING = re.compile(rf"{STRING}|\bloc\(")
_ALIAS = re.compile(r"([#!](?:[A-Za-z_][\w$]*|\d+))\s*=\s*")
_ALIAS_USE = re.compile(rf"{STRING}|([#!](?:[A-Za-z_][\w$]*|\d+))(?![\w$.<\"])")
_LONE_ALIAS = re.compile(r"[#!][A-Za-z_][\w$]*")
_WORD = re.compile(r"[\w.$@#!%^\-]+|\S")


class CustomSyntaxError(MlirError):
    """An op in custom syntax where the generic form was expected."""


class Cursor:
    """One reading of one text: `position` is how far it got, as an offset."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.position = 0
        self._starts = line_starts(text)
        self._aliases: dict[str, str] = {}
        self._signatures: dict[str, tuple[list[str], list[str]]] = {}

    def line_column(self, position: int) -> tuple[int, int]:
        """Return line and column of an offset, counted from 1."""
        line = bisect_right(self._starts, position)
        return line, position - self._starts[line - 1] + 1

    def fail(self, position: int, message: str, hint: str = "") -> NoReturn:
        """Raise the error of what is at an offset."""
        raise MlirError(message, Location(self.file, *self.line_column(position)), hint)

    def expected(self, wanted: str, position: int | None = None, hint: str = "") -> NoReturn:
        """Raise the error that something else is here than what was expected."""
        if position is not None:
            self.position = position
        found = self.found()
        self.fail(self.position, f"expected {wanted}, found {found}", hint)

    def found(self) -> str:
        """Go behind blanks and return the next word, as a message names it."""
        self.skip()
        match = _WORD.match(self.text, self.position)
        return f"`{match.group()}`" if match else "the end of the text"

    def skip(self) -> None:
        """Go behind blanks and comments."""
        match = _GAP.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def ahead(self, mark: str) -> bool:
        """Tell whether this mark comes next, blanks aside."""
        self.skip()
        return self.text.startswith(mark, self.position)

    def take(self, mark: str) -> bool:
        """Go behind this mark, if it comes next."""
        found = self.ahead(mark)
        if found:
            self.position += len(mark)
        return found

    def expect(self, mark: str, where: str) -> None:
        """Go behind this mark.

        Raises:
            MlirError: something else comes next.
        """
        if not self.take(mark):
            self.expected(f"`{mark}` {where}")

    def enclosed(self) -> tuple[int, int]:
        """Go behind the bracket that closes the one just read; return the offsets of what is between them."""
        start = self.position
        self.position = closing(self.text, start - 1)
        return start, self.position - 1

    # --- aliases ---

    def alias(self) -> bool:
        """Read `#name = attribute` or `!name = type`, if it comes next, up to a line end with no bracket open."""
        match = _ALIAS.match(self.text, self.position)
        if match is None:
            return False
        name = match.group(1)
        if name in self._aliases:
            self.fail(match.start(), f"alias `{name}` is defined twice")
        end = self._end_of_lines(match.end())
        value = squeeze(self.text[match.end() : end])
        if not value:
            self.expected(f"what `{name}` stands for", match.end())
        stop = value_end(self.text[:end], match.end(), at_equals=True)
        if stop < end:
            self.expected("a line end behind what the alias stands for", stop)
        self._aliases[name] = self.inlined(value)
        self.position = end
        return True

    def inlined(self, text: str, *, in_location: bool = False) -> str:
        """Return the text with each alias in it replaced by what it stands for.

        Args:
            text: of an attribute, a type or a location.
            in_location: the text stands inside `loc(...)`, where a location has no `loc` of its own.
        """
        if "#" not in text and "!" not in text:
            return text

        def replaced(match: re.Match[str]) -> str:
            value = self._aliases.get(match.group(1), match.group())
            inside = value.startswith("loc(") and (in_location or _is_in_location(text, match.start()))
            return value[len("loc(") : -1] if inside else value

        return _ALIAS_USE.sub(replaced, text)

    def _end_of_lines(self, start: int) -> int:
        """Return the offset of the first line end after `start` at which no bracket is open."""
        end = start
        while True:
            end = self.text.find("\n", end)
            end = len(self.text) if end < 0 else end
            try:
                value_end(self.text[:end], start)
            except ScanError:
                if end == len(self.text):
                    raise
                end += 1
            else:
                return end

    def _checked(self, text: str, position: int) -> str:
        """Return the text with its aliases replaced; one that stands alone must be known."""
        value = self.inlined(text)
        if value[:1] in ("#", "!") and _LONE_ALIAS.fullmatch(value):
            self.fail(position, f"alias `{value}` is not defined before this")
        return value

    def _all_checked(self, types: list[str]) -> list[str]:
        """Return the types with their aliases replaced."""
        for type_ in types:
            if not type_.startswith(("!", "(", "_")) and not type_[:1].isalpha():
                self.fail(self.position, f"expected a type, found `{type_}`")
        return [self._checked(type_, self.position) for type_ in types]

    # --- types ---

    def signature(self) -> tuple[list[str], list[str]]:
        """Read `(types) -> types`."""
        match = _SIGNATURE.match(self.text, self.position)
        if match is None:
            return self._long_signature()
        known = self._signatures.get(match.group())
        if known is None:
            outputs = [squeeze(match.group(3))] if match.group(3) else self.types(*match.span(2))
            known = self._signatures[match.group()] = (self.types(*match.span(1)), self._all_checked(outputs))
        self.position = match.end()
        return known

    def types(self, start: int, end: int) -> list[str]:
        """Return the types of a list that stands between two offsets, a closing bracket at the second."""
        pieces = [squeeze(piece) for piece in split(self.text, start, end)]
        if pieces == [""]:
            return []  # there is a comment only
        if "" in pieces:
            self.fail(start, "expected a type before and behind each comma")
        return self._all_checked(pieces)

    def type(self) -> str:
        """Read one type."""
        self.skip()
        start = self.position
        if self.take("("):
            self.enclosed()
            self.expect("->", "of a function type")
            self._function_results()
        else:
            self._plain_type()
        return self._checked(squeeze(self.text[start : self.position]), start)

    def _plain_type(self) -> None:
        """Go behind `word` or `word<...>`."""
        match = _TYPE_WORD.match(self.text, self.position)
        if match is None:
            self.expected("a type")
        end = match.end()
        self.position = closing(self.text, end) if self.text.startswith("<", end) else end

    def _function_results(self) -> None:
        """Go behind the results of a function type: a list in parentheses, or one type."""
        if self.take("("):
            self.enclosed()
        else:
            self.type()

    def _long_signature(self) -> tuple[list[str], list[str]]:
        """Read a signature whose types hold parentheses, strings or comments."""
        self.expect("(", "of a type such as `(i32) -> i32`")
        inputs = self.types(*self.enclosed())
        self.expect("->", "and the types of the results")
        if self.take("("):
            return inputs, self.types(*self.enclosed())
        return inputs, [self.type()]

    # --- dictionaries and locations ---

    def entries(self) -> dict[str, str]:
        """Read the entries of a dictionary up to and with its `}`; the text of a unit entry is `unit`."""
        entries: dict[str, str] = {}
        match = _END_OF_DICTIONARY.match(self.text, self.position)
        if match is not None:
            self.position = match.end()
            return entries
        while True:
            match = _ENTRY.match(self.text, self.position)
            if match is None:
                self.expected("`name = value` or `}`")
            plain, quoted, value, mark = match.groups()
            name = plain or quoted[1:-1]
            if name in entries:
                self.fail(match.start(1 if plain else 2), f"`{name}` is given twice")
            self.position = match.end()
            if mark is None:
                self.position = match.end(1 if plain else 2)
                value, mark = self._value()
            entries[name] = "unit" if value is None else squeeze(value)
            if mark == "}":
                return entries

    def location(self) -> str | None:
        """Read `loc(...)`, if it comes next: the text inside."""
        match = _LOC.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end() + 1
        start, end = self.enclosed()
        return squeeze(self.text[start:end])

    def _value(self) -> tuple[str | None, str]:
        """Read `= value`, or nothing, and the `,` or `}` behind it."""
        given = self.take("=")
        self.skip()
        start = self.position
        end = value_end(self.text, start, at_equals=True)
        value = squeeze(self.text[start:end])
        if given != bool(value):
            self.expected("a value behind `=`" if given else "`=`, `,` or `}`")
        if not self.text.startswith((",", "}"), end):
            self.expected("`,` or `}`", end)
        self.position = end + 1
        return self._checked(value, start) if given else None, self.text[end]


def _is_in_location(text: str, position: int) -> bool:
    """Tell whether an offset of the text of an attribute is between the brackets of a `loc(...)`."""
    openings = (match.end() - 1 for match in _LOC_OR_STRING.finditer(text, 0, position) if match.group() == "loc(")
    return any(closing(text, start) > position for start in openings)


def line_starts(text: str) -> list[int]:
    """Return the offset of the beginning of each line."""
    return [0, *(match.end() for match in re.finditer("\n", text))]
