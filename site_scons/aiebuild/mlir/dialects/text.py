"""The text of xDSL's attributes and types as `mlir-opt` prints them."""

from __future__ import annotations

import re
from functools import lru_cache
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.printer import Printer

from aiebuild.mlir.attributes import quote
from aiebuild.mlir.dialects.affine import map_text, set_text

if TYPE_CHECKING:
    from xdsl.ir import Attribute

_BARE_NAME = re.compile(r"[A-Za-z_][\w$.]*")
_OVERFLOW = re.compile(r"^#arith\.overflow<.*>$")
_TYPE_TO_LEAVE_OUT = re.compile(r" : (?:i64|f64)$")


@lru_cache(maxsize=4096)
def attribute_text(attribute: Attribute) -> str:
    """Return the text of an attribute or a type."""
    if isinstance(attribute, StringAttr):
        return quote(attribute.data)
    if isinstance(attribute, ArrayAttr):
        return f"[{', '.join(_element(each) for each in attribute.data)}]"
    if isinstance(attribute, DictionaryAttr):
        return f"{{{', '.join(_entry(name, value) for name, value in sorted(attribute.data.items()))}}}"
    if isinstance(attribute, FloatAttr):
        return _hexadecimal_in_capitals(_printed(attribute))
    return _printed(attribute)


def _element(attribute: Attribute) -> str:
    """Return the text inside an array, where MLIR leaves out the types that it would assume."""
    text = attribute_text(attribute)
    return _TYPE_TO_LEAVE_OUT.sub("", text) if isinstance(attribute, IntegerAttr | FloatAttr) else text


def _entry(name: str, value: Attribute) -> str:
    """Return `name = value`, or the name alone for a unit."""
    shown = name if _BARE_NAME.fullmatch(name) else quote(name)
    return shown if isinstance(value, UnitAttr) else f"{shown} = {attribute_text(value)}"


def _hexadecimal_in_capitals(text: str) -> str:
    """Return the text of a float with `0x7f800000` as `0x7F800000`."""
    digits, colon, type_ = text.partition(" : ")
    return f"0x{digits[2:].upper()}{colon}{type_}" if digits.startswith("0x") else text


def _printed(attribute: Attribute) -> str:
    """Return what xDSL prints."""
    stream = StringIO()
    _Printer(stream).print_attribute(attribute)
    return _OVERFLOW.sub(lambda match: match.group().replace(",", ", "), stream.getvalue())


class _Printer(Printer):
    """xDSL's printer, with affine maps and sets and memory spaces as MLIR prints them, also inside types."""

    _is_in_buffer = False

    def print_attribute(self, attribute: Attribute) -> None:
        """Print an attribute or a type."""
        if isinstance(attribute, AffineMapAttr):
            self.print_string(map_text(attribute.data))
        elif isinstance(attribute, AffineSetAttr):
            self.print_string(set_text(attribute.data))
        elif self._is_in_buffer and isinstance(attribute, IntegerAttr):
            # A memory space: its type is left out where it is i64.
            self.print_string(_TYPE_TO_LEAVE_OUT.sub("", _printed(attribute)))
        else:
            outer, self._is_in_buffer = self._is_in_buffer, isinstance(attribute, MemRefType | UnrankedMemRefType)
            super().print_attribute(attribute)
            self._is_in_buffer = outer
