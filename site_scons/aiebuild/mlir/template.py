"""Rendering a design's MLIR: a Jinja2 template (`.j2`), or plain text that is passed through as it is.

Every line of the result knows the user's file and line that it came from, so that whatever is found wrong
with the MLIR later is reported there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import Location, MlirError
from aiebuild.files import project_path
from aiebuild.mlir.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aiebuild.parameters import Parameters

SUFFIX = ".j2"


@dataclass(frozen=True)
class Rendered:
    """MLIR text and where it came from.

    `lines[i]` is the file and the line (from 1) that line i + 1 of the text came from. `read` are the files
    that were read. `absent` are files that would have been read instead of one of them, had they existed.
    Paths are relative to the current folder where they are below it.
    """

    text: str
    lines: tuple[tuple[str, int], ...]
    read: tuple[str, ...]
    absent: tuple[str, ...] = ()


def render(template: Path, parameters: Parameters, search: Sequence[Path] = ()) -> Rendered:
    """Return the MLIR text of a template.

    In it every parameter is a name (`M`), as are `arch`, `device`, `design` and `p`, the namespace that
    recipes have. `import` and `include` find templates in the template's own folder, then in those of
    `search`, in order. `raise("...")` refuses to be rendered.

    Args:
        template: a `.j2` file; any other file is text that is passed through unchanged.
        parameters: what the template can use.
        search: folders of shared templates.

    Raises:
        MlirError: the file cannot be read, or is wrong; with the line of the file that says so.
    """
    if not template.is_file():
        raise MlirError(f"there is no file {project_path(template)}")
    if template.suffix != SUFFIX:
        return _plain(template)
    from aiebuild.mlir import jinja  # noqa: PLC0415 - slow to import, and plain text does without

    loader = jinja.SearchLoader((template.parent, *search))
    context = {"arch": parameters.arch, "device": parameters.device, "design": parameters.design}
    text = jinja.text_of(template.name, {**parameters.as_dict(), **context, "p": parameters}, loader)
    places = text.places if isinstance(text, Traced) else ()
    lines = places[: _line_count(text)]
    return Rendered(str.__str__(text), lines, tuple(sorted(loader.read)), tuple(sorted(loader.absent)))


def _plain(path: Path) -> Rendered:
    file = project_path(path)
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise MlirError("the file is not UTF-8 text", Location(file, line)) from None
    return Rendered(text, tuple((file, number) for number in range(1, _line_count(text) + 1)), (file,))


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))
