"""Reading the text of attributes and types: each function takes MLIR text and returns a Python value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from aiebuild.errors import MlirError
from aiebuild.mlir.scan import closing, split, squeeze

_INTEGER = re.compile(r"(-?)(0x[0-9a-fA-F]+|\d+)(?:\s*:\s*[\w!.]+)?")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\s*:.*)?', re.DOTALL)
_ESCAPE = re.compile(rb'\\(?:([0-9a-fA-F]{2})|([nt"\\]))')
_REFERENCE = re.compile(r'@(?:([A-Za-z_$.][\w$.\-]*)|"((?:[^"\\]|\\.)*)")')
_DENSE_ARRAY = re.compile(r"array<\s*[\w!.]+\s*(?::(.*))?>", re.DOTALL)
_DIMENSION = re.compile(r"<\s*size\s*=\s*(-?\d+)\s*,\s*stride\s*=\s*(-?\d+)\s*>")
_STRIDED = re.compile(r"strided<\[(.*?)\](?:\s*,\s*offset\s*:\s*(\?|-?\d+))?\s*>", re.DOTALL)
_SIZE = re.compile(r"\s*(\?|\d+)\s*x\s*")
_BOOLEAN = {"true": 1, "false": 0}


@dataclass(frozen=True)
class MemRef:
    """A `memref` type: the shape (None where a size is dynamic), the element type's text, and the rest as text.

    `strides` and `offset` are those of a `strided<[...], offset: n>` layout, in elements, else None.
    """

    shape: tuple[int | None, ...]
    element: str
    strides: tuple[int | None, ...] | None = None
    offset: int | None = None
    layout: str = ""
    space: str = ""


def integer(text: str) -> int:
    """Return the value of `4 : i32`, `-1`, `0x10 : index`, `true`, `false`.

    Raises:
        MlirError: the text is not an integer.
    """
    stripped = text.strip()
    if stripped in _BOOLEAN:
        return _BOOLEAN[stripped]
    match = _INTEGER.fullmatch(stripped)
    if match is None:
        _refuse("an integer such as `4 : i32`", text)
    digits = match.group(2)
    value = int(digits, 16) if digits.startswith("0x") else int(digits)
    return -value if match.group(1) else value


def string(text: str) -> str:
    r"""Return the value of `"text"`, escapes (`\0A`, `\n`, `\"`) resolved.

    Raises:
        MlirError: the text is not a string.
    """
    match = _STRING.fullmatch(text.strip())
    if match is None:
        _refuse('a string such as `"text"`', text)
    return _unescape(match.group(1))


def symbol(text: str) -> str:
    """Return `in` for `@in`, `a b` for `@"a b"`; nested references `@a::@b` give `a::b`.

    Raises:
        MlirError: the text is not a reference to a symbol.
    """
    names, position, stripped = [], 0, text.strip()
    while match := _REFERENCE.match(stripped, position):
        plain, quoted = match.groups()
        names.append(_unescape(quoted) if plain is None else plain)
        position = match.end()
        if position == len(stripped):
            return "::".join(names)
        position += 2 if stripped.startswith("::", position) else 0
    return _refuse("a reference such as `@name`", text)


def array(text: str) -> list[str]:
    """Return the elements' texts of `[a, [b, c]]` (top level only).

    Raises:
        MlirError: the text is not an array.
    """
    return split(_inside(text, "[", "an array such as `[1, 2]`"))


def dictionary(text: str) -> dict[str, str]:
    """Return name to text of `{a = 1 : i32, b}`; a unit entry's text is `unit`.

    Raises:
        MlirError: the text is not a dictionary.
    """
    entries: dict[str, str] = {}
    for entry in split(_inside(text, "{", "a dictionary such as `{a = 1 : i32}`")):
        name, equals, value = _name_and_value(entry)
        if not name or (equals and not value):
            _refuse("an entry such as `name = 1 : i32`", entry)
        entries[name] = value if equals else "unit"
    return entries


def integers(text: str) -> list[int]:
    """Return the values of `array<i64: 2, 2>`, of `[0, 64]` or of `[0 : i64, 64 : i64]`.

    Raises:
        MlirError: the text is not an array of integers.
    """
    match = _DENSE_ARRAY.fullmatch(text.strip())
    pieces = split(match.group(1) or "") if match else array(text)
    return [integer(piece) for piece in pieces]


def memref(text: str) -> MemRef:
    """Return the parts of `memref<32x32xi16, strided<[64, 1], offset: 5>, 1>`.

    Raises:
        MlirError: the text is not a ranked memref type.
    """
    pieces = split(_parameters(text, "memref", "a type such as `memref<4xi32>`"))
    if not pieces or len(pieces) > 3 or not pieces[0] or pieces[0].startswith("*"):
        _refuse("a type such as `memref<4xi32>`", text)
    shape, element = _shape(pieces[0])
    if not element:
        _refuse("a type such as `memref<4xi32>`", text)
    layout = next((piece for piece in pieces[1:] if _is_layout(piece)), "")
    space = next((piece for piece in pieces[1:] if not _is_layout(piece)), "")
    strides, offset = _strided(layout)
    return MemRef(shape, element, strides, offset, layout, space)


def function_type(text: str) -> tuple[list[str], list[str]]:
    """Return the inputs' and results' texts of `(i32, memref<4xi8>) -> (i32, i32)` or `(i32) -> i32`.

    Raises:
        MlirError: the text is not a function type.
    """
    stripped = text.strip()
    if not stripped.startswith("("):
        _refuse("a function type such as `(i32) -> i32`", text)
    end = closing(stripped, 0)
    arrow = stripped[end:].lstrip()
    if not arrow.startswith("->") or not arrow[2:].strip():
        _refuse("a function type such as `(i32) -> i32`", text)
    results = arrow[2:].strip()
    # `() -> (i32) -> i32` has one result, a function: its parentheses do not end the text.
    if results.startswith("(") and closing(results, 0) == len(results):
        return split(stripped[1 : end - 1]), split(results[1:-1])
    return split(stripped[1 : end - 1]), [results]


def dimensions(text: str) -> list[tuple[int, int]]:
    """Return (size, stride) pairs of `#aie<bd_dim_layout_array[<size = 16, stride = 1>, ...]>`; empty for none.

    Raises:
        MlirError: the text is not of that form.
    """
    return _pairs(_parameters(text, "#aie", "`#aie<bd_dim_layout_array[...]>`"), "bd_dim_layout_array")


def dimensions_per_consumer(text: str) -> list[list[tuple[int, int]]]:
    """Return one list of (size, stride) per consumer of `#aie<bd_dim_layout_array_array[[...], []]>`.

    Raises:
        MlirError: the text is not of that form.
    """
    body = _parameters(text, "#aie", "`#aie<bd_dim_layout_array_array[...]>`")
    if not body.startswith("bd_dim_layout_array_array"):
        _refuse("`#aie<bd_dim_layout_array_array[...]>`", text)
    return [_pairs(each, "") for each in array(body.removeprefix("bd_dim_layout_array_array"))]


def fifo_element(text: str) -> MemRef:
    """Return the element of `!aie.objectfifo<memref<...>>` or `!aie.objectfifosubview<memref<...>>`.

    Raises:
        MlirError: the text is not such a type.
    """
    kind = text.strip().partition("<")[0]
    if kind not in ("!aie.objectfifo", "!aie.objectfifosubview"):
        _refuse("a type such as `!aie.objectfifo<memref<4xi32>>`", text)
    return memref(_parameters(text, kind, "a type such as `!aie.objectfifo<memref<4xi32>>`"))


def quote(value: str) -> str:
    r"""Return the MLIR string of a value: `"`, `\` and all that is not printable ASCII are escaped."""
    plain = (
        chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else "\\\\" if byte == 92 else f"\\{byte:02X}"
        for byte in value.encode("utf-8", "surrogateescape")
    )
    return f'"{"".join(plain)}"'


def _refuse(wanted: str, text: str) -> NoReturn:
    """Raise the error of a text that is not what was asked for."""
    msg = f"expected {wanted}, found `{squeeze(text)}`"
    raise MlirError(msg)


def _unescape(body: str) -> str:
    """Return the body of a string with its escapes resolved; its bytes are UTF-8."""
    if "\\" not in body:
        return body
    plain = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
    raw = _ESCAPE.sub(
        lambda match: bytes.fromhex(match.group(1).decode()) if match.group(1) else plain[match.group(2)],
        body.encode("utf-8", "surrogateescape"),
    )
    return raw.decode("utf-8", "surrogateescape")


def _inside(text: str, opener: str, wanted: str) -> str:
    """Return what is between the brackets that the whole text is in."""
    stripped = text.strip()
    if not stripped.startswith(opener) or closing(stripped, 0) != len(stripped):
        _refuse(wanted, text)
    return stripped[1:-1]


def _parameters(text: str, kind: str, wanted: str) -> str:
    """Return what is between the angle brackets of `kind<...>`."""
    stripped = text.strip()
    rest = stripped.removeprefix(kind).lstrip()
    if not stripped.startswith(kind):
        _refuse(wanted, text)
    return _inside(rest, "<", wanted).strip()


def _name_and_value(entry: str) -> tuple[str, str, str]:
    """Return the name, `=` and the value's text of a dictionary's entry; the last two are empty for a unit."""
    if not entry.startswith('"'):
        name, equals, value = entry.partition("=")
        return name.strip(), equals, value.strip()
    match = re.match(r'"((?:[^"\\]|\\.)*)"\s*(=?)(.*)', entry, re.DOTALL)
    if match is None:
        _refuse("an entry such as `name = 1 : i32`", entry)
    return _unescape(match.group(1)), match.group(2), match.group(3).strip()


def _shape(text: str) -> tuple[tuple[int | None, ...], str]:
    """Return the sizes and the element type of `4x?xi32`."""
    sizes: list[int | None] = []
    position = 0
    while match := _SIZE.match(text, position):
        sizes.append(None if match.group(1) == "?" else int(match.group(1)))
        position = match.end()
    return tuple(sizes), text[position:].strip()


def _is_layout(piece: str) -> bool:
    """Tell a layout of a memref from its memory space."""
    return piece.startswith(("strided<", "affine_map<"))


def _strided(layout: str) -> tuple[tuple[int | None, ...] | None, int | None]:
    """Return strides and offset of a strided layout; a dynamic offset is None, one that is not written is 0."""
    match = _STRIDED.fullmatch(layout)
    if match is None:
        return None, None
    strides = tuple(None if stride == "?" else int(stride) for stride in split(match.group(1)))
    offset = match.group(2) or "0"
    return strides, None if offset == "?" else int(offset)


def _pairs(text: str, kind: str) -> list[tuple[int, int]]:
    """Return (size, stride) of each entry of `kind[<size = 16, stride = 1>]`."""
    if not text.startswith(kind):
        _refuse(f"`{kind}[<size = 16, stride = 1>]`", text)
    pairs = []
    for entry in array(text.removeprefix(kind)):
        match = _DIMENSION.fullmatch(entry)
        if match is None:
            _refuse("`<size = 16, stride = 1>`", entry)
        pairs.append((int(match.group(1)), int(match.group(2))))
    return pairs
