"""Locations in MLIR text: `loc("file":line:column)`, also inside fused, named and call-site locations."""

from __future__ import annotations

import re

from aiebuild.errors import Location
from aiebuild.mlir.attributes import quote, string

_PLACE = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*(\d+)\s*:\s*(\d+)')


def file_line_column(text: str) -> Location | None:
    """Return the first file, line and column in the text of a location; None where there is none."""
    match = _PLACE.search(text)
    if match is None:
        return None
    return Location(string(match.group(1)), int(match.group(2)), int(match.group(3)))


def location_text(place: Location) -> str:
    """Return the text that stands inside `loc(...)`; a column that is not known is 1."""
    return f"{quote(place.file)}:{place.line or 1}:{place.column or 1}"
