"""Text that knows where it came from: the file and line of each of its lines.

A template's text is put together from pieces: what stands in the template, what its expressions give, and
what macros and includes return. Each piece is a `Traced`; joining them keeps, for every line of the result,
the place of the first piece in it that shows something. So the map is exact through loops, macros and
includes. A filter that makes a new string forgets the places inside it, and the result counts as the line
that called it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Place = tuple[str, int]
"""A file of the user and a line in it, counted from 1."""


class Traced(str):
    """A string with the place of each of its lines: one more than it has newlines."""

    __slots__ = ("places",)
    places: tuple[Place, ...]

    def __new__(cls, text: str, places: tuple[Place, ...]) -> Traced:  # noqa: PYI034 - `Self` needs Python 3.11
        """Return the text with its places."""
        traced = super().__new__(cls, text)
        traced.places = places
        return traced

    def __str__(self) -> str:
        """Return the string itself, with its places: `str()` is what templates put around every value."""
        return self


def literal(text: str, file: str, line: int) -> Traced:
    """Return text that stands in a file from `line` on."""
    return Traced(text, tuple((file, line + further) for further in range(text.count("\n") + 1)))


def value(text: str, file: str, line: int) -> Traced:
    """Return what an expression in that line gave; what it calls keeps the places that it has."""
    if isinstance(text, Traced):
        return text
    return Traced(text, ((file, line),) * (text.count("\n") + 1))


def join(pieces: Iterable[str]) -> str:
    """Return all pieces as one, traced if any of them is."""
    texts: list[str] = []
    places: list[Place] = []
    blank = True
    for piece in pieces:
        texts.append(piece)
        if not piece or not isinstance(piece, Traced):
            continue
        first, *further = piece.places
        if blank:
            places[-1:] = [first]
        places += further
        last = piece[piece.rfind("\n") + 1 :]
        blank = (blank or bool(further)) and not last.strip()
    text = "".join(texts)
    return Traced(text, tuple(places)) if places else text
