"""Rendering a design's MLIR: a Jinja2 template (`.j2`), or plain text that is passed through as it is.

Every line of the result knows the line of the design's own file that it came from, and the one of the macro that
wrote it, so that whatever is found wrong with the MLIR later is reported there.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import Location, MlirError
from aiebuild.files import project_path
from aiebuild.mlir.lines import Line
from aiebuild.mlir.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from aiebuild.mlir.traced import Origin
    from aiebuild.parameters import Parameters

SUFFIX = ".j2"


@dataclass(frozen=True)
class Rendered:
    """MLIR text and where it came from.

    `lines[i]` is where line i + 1 of the text came from: a line of the design's own template, the outermost of the
    calls that led to the text, and the line of the macro or the included file, if it came through one. `read` are the
    files that were read. `absent` are files that would have been read instead of one of them, had they existed.
    Paths are relative to the current folder where they are below it.
    """

    text: str
    lines: tuple[Line, ...]
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
        MlirError: the file cannot be read, is wrong, or gives no text; with the line of the file that says so.
    """
    if not template.is_file():
        raise MlirError(f"there is no file {project_path(template)}")
    if template.suffix != SUFFIX:
        return _plain(template)
    from aiebuild.mlir import jinja  # noqa: PLC0415 - slow to import, and plain text does without

    loader = jinja.SearchLoader((template.parent, *search))
    context = {"arch": parameters.arch, "device": parameters.device, "design": parameters.design}
    text = jinja.text_of(template.name, {**parameters.as_dict(), **context, "p": parameters}, loader)
    if not text.strip():
        raise MlirError("the template gives no text", Location(project_path(template)))
    origins = text.origins if isinstance(text, Traced) else ()
    lines = _lines(text, _as_own(origins, project_path(template), loader.read), loader.read)
    return Rendered(str.__str__(text), lines, tuple(sorted(loader.read)), tuple(sorted(loader.absent)))


def _as_own(origins: Sequence[Origin], own: str, read: Mapping[str, str]) -> Sequence[Origin]:
    """Return the origins with the text of a template that this one extends at the line that says so."""
    if all(origin[0][0] == own for origin in origins):
        return origins
    from aiebuild.mlir import jinja  # noqa: PLC0415 - slow to import, and plain text does without

    line = jinja.line_of_extends(read[own])
    if line is None:
        return origins
    return [origin if origin[0][0] == own else ((own, line), origin[-1]) for origin in origins]


def _lines(text: str, origins: Sequence[Origin], read: Mapping[str, str]) -> tuple[Line, ...]:
    sources = {file: content.split("\n") for file, content in read.items()}
    texts = text.split("\n")[: _line_count(text)]
    return tuple(_line(shown, origin, sources) for shown, origin in zip(texts, origins, strict=False))


def _line(shown: str, origin: Origin, sources: Mapping[str, Sequence[str]]) -> Line:
    (file, line), *inner = origin
    if inner:
        return Line(file, line, inner[0])
    written = sources[file][line - 1]
    return Line(file, line, None, None if written == shown else _common(written, shown))


def _common(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _plain(path: Path) -> Rendered:
    file = project_path(path)
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise MlirError("the file is not UTF-8 text", Location(file, line)) from None
    if not text.strip():
        raise MlirError("the file is empty", Location(file))
    return Rendered(text, tuple(Line(file, number) for number in range(1, _line_count(text) + 1)), (file,))


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))
