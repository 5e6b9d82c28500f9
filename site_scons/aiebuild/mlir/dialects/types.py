"""The types of the `aie` dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer


class _Holder(Data[Attribute], TypeAttribute):
    """A type that holds one type in angle brackets."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Attribute:
        """Read `<memref<4xi32>>`."""
        parser.parse_characters("<")
        held = parser.parse_type()
        parser.parse_characters(">")
        return held

    def print_parameter(self, printer: Printer) -> None:
        """Write it."""
        printer.print_string("<")
        printer.print_attribute(self.data)
        printer.print_string(">")


@irdl_attr_definition
class FifoType(_Holder):
    """`!aie.objectfifo<memref<...>>`."""

    name = "aie.objectfifo"


@irdl_attr_definition
class SubviewType(_Holder):
    """`!aie.objectfifosubview<memref<...>>`."""

    name = "aie.objectfifosubview"
