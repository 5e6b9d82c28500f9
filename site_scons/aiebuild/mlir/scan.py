"""Finding where a piece of MLIR text ends: balanced brackets, strings, comments, `->` and `>=` inside types."""

from __future__ import annotations

import re

from aiebuild.errors import MlirError

_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[<>=]=|[<>(){}\[\]",=]')
_BLANK = re.compile(r'("(?:[^"\\\n]|\\.)*")|\s*//[^\n]*|\s+')
_CLOSER = {"(": ")", "[": "]", "{": "}", "<": ">"}


class ScanError(MlirError):
    """Text that does not balance; `position` is the offset in the text that was scanned."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


def value_end(text: str, start: int, *, at_equals: bool = False) -> int:
    """Return the offset of the first `,` or closing bracket after `start` that is not nested; else the text's end.

    With `at_equals`, a `=` that is not nested ends it as well.

    Raises:
        ScanError: a string does not end, or brackets do not match.
    """
    pending: list[tuple[str, int]] = []
    for match in _PIECE.finditer(text, start):
        piece = match.group()
        if piece in _CLOSER:
            pending.append((_CLOSER[piece], match.start()))
        elif (piece == "," and not pending) or (piece == "=" and not pending and at_equals):
            return match.start()
        elif piece in (")", "]", "}", ">"):
            if not pending:
                return match.start()
            _close(piece, pending, match.start())
        elif piece == '"':
            raise ScanError(match.start(), 'expected a closing `"` on the same line')
    if pending:
        closer, opened = pending[-1]
        raise ScanError(opened, f"expected `{closer}` that closes `{text[opened]}`")
    return len(text)


def closing(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the one at `start`.

    Raises:
        ScanError: it is not closed, or brackets do not match.
    """
    position, closer = start + 1, _CLOSER[text[start]]
    while True:
        position = value_end(text, position)
        if position >= len(text):
            raise ScanError(start, f"expected `{closer}` that closes `{text[start]}`")
        if text[position] == ",":
            position += 1
            continue
        _close(text[position], [(closer, start)], position)
        return position + 1


def split(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """Return the pieces of a list between its top-level commas, blanks around them removed; none for blank text.

    `start` and `end` are the offsets of the list in the text, a closing bracket standing at `end`; without them all of
    the text is the list.

    Raises:
        ScanError: brackets do not match.
    """
    pieces, stop = [], len(text) if end is None else end
    while True:
        comma = value_end(text, start)
        pieces.append(text[start:comma].strip())
        if comma >= stop:
            return [] if pieces == [""] else pieces
        if text[comma] != ",":
            raise ScanError(comma, f"unexpected `{text[comma]}`")
        start = comma + 1


def squeeze(text: str) -> str:
    """Return the text on one line: each run of blanks outside strings is one space, comments are left out."""
    if "\n" not in text and "  " not in text and "\t" not in text and "//" not in text:
        return text.strip()
    return _BLANK.sub(lambda match: match.group(1) or " ", text).strip()


def _close(piece: str, pending: list[tuple[str, int]], position: int) -> None:
    """Take the innermost open bracket off the list, if this piece closes it."""
    wanted, _ = pending.pop()
    if piece != wanted:
        raise ScanError(position, f"expected `{wanted}`, found `{piece}`")
