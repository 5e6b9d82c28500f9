"""Locations in MLIR text: `loc("file":line:column)`, also inside fused, named and call-site locations."""

from __future__ import annotations

import re

from aiebuild.errors import Location
from aiebuild.mlir.attributes import quote, string

_TEXT = r'("(?:[^"\\]|\\.)*")\s*:\s*(\d+)\s*:\s*(\d+)'
_PLACE = re.compile(rf'(fused<"through">\s*\[\s*)?{_TEXT}(?:\s*,\s*{_TEXT})?')


def file_line_column(text: str) -> Location | None:
    """Return the first file, line and column in the text of a location; None where there is none.

    A column of 0 is not known, as MLIR has it.
    """
    match = _PLACE.search(text)
    if match is None:
        return None
    through, *places = match.groups()
    outer = _location(*places[:3])
    return outer.through(_location(*places[3:])) if through and places[3] else outer


def location_text(place: Location) -> str:
    """Return the text that stands inside `loc(...)`; a column that is not known is 0.

    Text of a macro has both places, the user's own first: `fused<"through">["d.mlir.j2":7:0, "aie.mlir.j2":23:0]`.
    """
    if place.inner is not None:
        return f'fused<"through">[{_text(place)}, {_text(place.inner)}]'
    return _text(place)


def _location(file: str, line: str, column: str) -> Location:
    return Location(string(file), int(line), int(column) or None)


def _text(place: Location) -> str:
    return f"{quote(place.file)}:{place.line or 1}:{place.column or 0}"
