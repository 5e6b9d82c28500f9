"""Element types: the text of a constant as bytes, sizes, and the names that NumPy and ctypes have for them.

bf16 is the upper half of an f32; the other formats are IEEE 754.
"""

from __future__ import annotations

import re
import struct

from aiebuild.errors import MlirError, did_you_mean

_FLOATS = {"f16": ("<e", 2), "f32": ("<f", 4), "f64": ("<d", 8), "bf16": ("", 2)}
_INTEGER = re.compile(r"(u|s)?i(\d+)")
_BYTES = {1: 1, 8: 1, 16: 2, 32: 4, 64: 8}
_NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "i1": "bool", "index": "int64"}
SUPPORTED = ("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "index", "f16", "bf16", "f32", "f64")


def width(element: str) -> int | None:
    """Return the bits of an integer type (`index` has 64); None for any other type."""
    if element == "index":
        return 64
    found = _INTEGER.fullmatch(element)
    return int(found.group(2)) if found else None


def is_unsigned(element: str) -> bool:
    """Return whether the type is `uiN`; `i1` counts as unsigned, since its values are 0 and 1 here."""
    return element.startswith("ui") or element == "i1"


def is_float(element: str) -> bool:
    """Return whether the type is a floating-point one."""
    return element in _FLOATS


def size(element: str) -> int:
    """Return the bytes of an element in memory.

    Raises:
        MlirError: the host has no such element type.
    """
    if element in _FLOATS:
        return _FLOATS[element][1]
    bits = width(element)
    if bits is None or bits not in _BYTES:
        raise MlirError(
            f"elements of type {element} are not supported on the host", hint=did_you_mean(element, SUPPORTED)
        )
    return _BYTES[bits]


def numpy_name(element: str) -> str:
    """Return NumPy's (or ml_dtypes') name of an element type: `int16` for `i16`."""
    size(element)
    if element in _NUMPY:
        return _NUMPY[element]
    kind = "uint" if is_unsigned(element) else "int"
    return f"{kind}{width(element)}"


def mlir_name(numpy: str) -> str:
    """Return MLIR's name of a NumPy type: `i16` for `int16`, `ui8` for `uint8`."""
    for element in SUPPORTED:
        if element != "index" and numpy_name(element) == numpy:
            return element
    return numpy


def float_value(text: str, element: str) -> float:
    """Return the value of a float literal; `0x7FC00000` is a pattern of bits.

    Raises:
        MlirError: the text is not a literal of that type.
    """
    body = text.partition(":")[0].strip()
    layout, count = _FLOATS[element]
    try:
        if not body.lower().startswith("0x"):
            return float(body)
        bits = int(body, 16).to_bytes(count, "little")
    except (ValueError, OverflowError) as error:
        raise MlirError(f"`{text}` is not a value of type {element}") from error
    if element == "bf16":
        return _unpack("<f", b"\0\0" + bits)
    return _unpack(layout, bits)


def _unpack(layout: str, data: bytes) -> float:
    value = struct.unpack(layout, data)[0]
    return float(value)


def encode(text: str, element: str) -> bytes:
    """Return the bytes of one constant, little-endian.

    Raises:
        MlirError: the text is not a value of that type.
    """
    if is_float(element):
        return _encode_float(float_value(text, element), element)
    body = text.partition(":")[0].strip()
    value = {"true": 1, "false": 0}.get(body)
    try:
        number = int(body, 0) if value is None else value
    except ValueError as error:
        raise MlirError(f"`{text}` is not a value of type {element}") from error
    count = size(element)
    return (number & ((1 << 8 * count) - 1)).to_bytes(count, "little")


def _encode_float(value: float, element: str) -> bytes:
    if element == "bf16":
        return _encode_bf16(value)
    layout, _ = _FLOATS[element]
    try:
        return struct.pack(layout, value)
    except OverflowError:
        return struct.pack(layout, float("inf") if value > 0 else float("-inf"))


def _encode_bf16(value: float) -> bytes:
    """Round to bf16, to nearest even, once: the f32 in between is rounded to odd."""
    single = _encode_float(value, "f32")
    bits = int.from_bytes(single, "little")
    if value != value:  # noqa: PLR0124 - only a NaN differs from itself
        return ((bits >> 16) | 0x40).to_bytes(2, "little")
    back = _unpack("<f", single)
    if back not in {value, float("inf"), float("-inf")}:
        bits = (bits - (abs(back) > abs(value))) | 1
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return ((rounded >> 16) & 0xFFFF).to_bytes(2, "little")
