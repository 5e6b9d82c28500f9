"""Text that knows where it came from: the file and line of each of its lines.

A template's text is put together from pieces: what stands in the template, what its expressions give, and
what macros and includes return. Each piece is a `Traced`; joining them keeps, for every line of the result,
the origin of the first piece in it that shows something. So the map is exact through loops, macros and
includes. A filter that makes a new string forgets the origins inside it, and the result counts as the line
that called it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

Place = tuple[str, int]
"""A file of the user and a line in it, counted from 1."""

Origin = tuple[Place, ...]
"""Where a line came from: the place of its text alone, or the place of the outermost call, then that of the text."""

_Result = TypeVar("_Result")


class Traced(str):
    """A string with the origin of each of its lines: one more than it has newlines."""

    __slots__ = ("origins",)
    origins: tuple[Origin, ...]

    def __new__(cls, text: str, origins: tuple[Origin, ...]) -> Traced:  # noqa: PYI034 - `Self` needs Python 3.11
        """Return the text with its origins."""
        traced = super().__new__(cls, text)
        traced.origins = origins
        return traced

    def __str__(self) -> str:
        """Return the string itself, with its origins: `str()` is what templates put around every value."""
        return self


def literal(text: str, file: str, line: int) -> Traced:
    """Return text that stands in a file from `line` on."""
    return Traced(text, tuple(((file, line + further),) for further in range(text.count("\n") + 1)))


def value(text: str, file: str, line: int) -> Traced:
    """Return what an expression in that line gave; what it calls keeps the origins that it has."""
    if isinstance(text, Traced):
        return text
    return Traced(text, (((file, line),),) * (text.count("\n") + 1))


def called(result: _Result, file: str, line: int) -> _Result:
    """Return what a macro or an include gave that this line uses: from now on the text's origin is here.

    Text that stands in that line or below it is what the call itself holds (`{% call %}`), and keeps its origin.
    """
    if not isinstance(result, Traced):
        return result
    origins = tuple(_seen_from(origin, file, line) for origin in result.origins)
    return cast("_Result", Traced(str.__str__(result), origins))


def _seen_from(origin: Origin, file: str, line: int) -> Origin:
    outer_file, outer_line = origin[0]
    return origin if outer_file == file and outer_line >= line else ((file, line), origin[-1])


def join(pieces: Iterable[str]) -> str:
    """Return all pieces as one, traced if any of them is."""
    texts: list[str] = []
    origins: list[Origin] = []
    blank = True
    for piece in pieces:
        texts.append(piece)
        if not piece or not isinstance(piece, Traced):
            continue
        first, *further = piece.origins
        if blank:
            origins[-1:] = [first]
        origins += further
        last = piece[piece.rfind("\n") + 1 :]
        blank = (blank or bool(further)) and not last.strip()
    text = "".join(texts)
    return Traced(text, tuple(origins)) if origins else text
