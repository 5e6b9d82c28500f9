"""Where the lines of a rendered text came from, and the file that says so: JSON, a list for each line.

`["d.mlir.j2", 7]` is a line that stands so in the template. `["d.mlir.j2", 7, null, 12]` has a value of an expression
after its 12th column. `["d.mlir.j2", 7, ["aie.mlir.j2", 23]]` is text of line 23 of a macro or an included file, which
line 7 uses.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from aiebuild.errors import Location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.mlir.traced import Place


class Line(NamedTuple):
    """Where one line of a text came from.

    `file` and `line` (from 1) are the user's own. `inner` is the line of the macro or the included file that was used
    there, None for the user's own text. `columns` is how many columns at the line's beginning are those of the file,
    None for all of them; it has no meaning beside `inner`.
    """

    file: str
    line: int
    inner: Place | None = None
    columns: int | None = None

    def place(self, column: int) -> Location:
        """Return the user's own place for a column of the text (from 1); without one that would be another's."""
        if self.inner is not None:
            return Location(self.file, self.line).through(Location(*self.inner))
        # Where the file's text and the text made of it part, the column still is the same.
        is_own = self.columns is None or column <= self.columns + 1
        return Location(self.file, self.line, column if is_own else None)


def to_json(lines: Iterable[Line]) -> str:
    """Return the content of the file of a text's lines."""
    return json.dumps([_without_end(line) for line in lines]) + "\n"


def _without_end(line: Line) -> tuple[object, ...]:
    if line.inner is not None:
        return line[:3]
    return line[:2] if line.columns is None else line


def from_json(text: str) -> list[Line]:
    """Return the lines that such a file says.

    Raises:
        ValueError, TypeError: the text is not that of such a file.
    """
    return [_line(*entry) for entry in json.loads(text)]


def _line(file: str, line: int, inner: list[str | int] | None = None, columns: int | None = None) -> Line:
    if inner is None:
        return Line(file, line, None, columns)
    inner_file, inner_line = inner
    return Line(file, line, (str(inner_file), int(inner_line)))
