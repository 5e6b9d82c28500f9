"""A module's custom text without its runtime sequences, or with one of them: the texts that aiecc gets.

The text stays the user's own, since enumerations printed as numbers differ between versions of the tools. A sequence
is replaced by as many empty lines, so that every other line keeps its number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aiebuild.errors import Location, MlirError, did_you_mean
from aiebuild.mlir.scan import closing

UNNAMED = "sequence"
"""The name that mlir-aie gives a runtime sequence without one."""

_SKIPPED = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|\baiex?\.runtime_sequence\b')
_NAME = re.compile(r'\s*@(?:"([^"]+)"|([A-Za-z_$][\w$.]*))?')
_ATTRIBUTES = re.compile(r"\s*(?:attributes\s*)?(?=\{)")
_LOCATION = re.compile(r"\s*loc(?=\()")


@dataclass(frozen=True)
class SequenceText:
    """Where a runtime sequence stands in a text: its name, and the offsets of its start and end."""

    name: str
    start: int
    end: int


def find(text: str) -> tuple[SequenceText, ...]:
    """Return the runtime sequences of a custom text that has been read before, in its order.

    Raises:
        MlirError: brackets do not match.
    """
    found: list[SequenceText] = []
    position = 0
    while (match := _SKIPPED.search(text, position)) is not None:
        position = match.end()
        if not match[0].endswith("runtime_sequence"):
            continue
        sequence = _read(text, match.start(), match.end())
        found.append(sequence)
        position = sequence.end
    return tuple(found)


def only(text: str, name: str | None, file: str) -> str:
    """Return the text with the sequence of that name alone; None: with none.

    Raises:
        MlirError: there is no such sequence.
    """
    sequences = find(text)
    names = [sequence.name for sequence in sequences]
    if name is not None and name not in names:
        message = f"there is no runtime sequence {name!r}"
        raise MlirError(message, Location(file), did_you_mean(name, names))
    for sequence in reversed(sequences):
        if sequence.name != name:
            text = text[: sequence.start] + _blank(text[sequence.start : sequence.end]) + text[sequence.end :]
    return text


def _blank(text: str) -> str:
    return "\n" * text.count("\n")


def _read(text: str, start: int, position: int) -> SequenceText:
    named = _NAME.match(text, position)
    name = (named[1] or named[2]) if named else None
    position = text.index("(", named.end() if named else position)
    position = closing(text, position)
    position = closing(text, text.index("{", position))
    attributes = _ATTRIBUTES.match(text, position)
    if attributes is not None:
        position = closing(text, attributes.end())
    location = _LOCATION.match(text, position)
    if location is not None:
        position = closing(text, location.end())
    return SequenceText(name or UNNAMED, start, position)
