"""xDSL's ops to our own form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr

from aiebuild.mlir.dialects import upstream
from aiebuild.mlir.dialects.syntax import TextOp
from aiebuild.mlir.dialects.text import attribute_text
from aiebuild.mlir.ir import Block, Module, Op, Region, Successor, Value
from aiebuild.mlir.locations import location_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xdsl import ir as xdsl_ir
    from xdsl.dialects.builtin import ModuleOp

    from aiebuild.errors import Location

# Where xDSL keeps the name of an op that it does not know.
_UNREGISTERED_NAME = "op_name__"


class Converter:
    """One conversion.

    Args:
        places: the offset of each op that stands in the text.
        place: gives the user's own place for an offset.
    """

    def __init__(self, places: Mapping[xdsl_ir.Operation, int], place: Callable[[int], Location]) -> None:
        self._places = places
        self._place = place
        self._values: dict[xdsl_ir.SSAValue, Value] = {}
        self._blocks: dict[xdsl_ir.Block, Block] = {}

    def module(self, module: ModuleOp, file: str) -> Module:
        """Return the whole module."""
        start = self._places.get(module)
        return Module(self._op(module, self._place(0 if start is None else start)), file=file)

    def _op(self, theirs: xdsl_ir.Operation, above: Location) -> Op:
        """Return an op; one that the text leaves out has the place of the op that it is in."""
        start = self._places.get(theirs)
        where = above if start is None else self._place(start)
        op = Op(theirs.name, line=where.line, column=where.column, location=location_text(where))
        self._name_and_entries(op, theirs)
        op.operands = [self._value(value) for value in theirs.operands]
        for index, result in enumerate(theirs.results):
            op.results.append(self._define(result, op, index))
        op.successors = [Successor(self._block(block)) for block in theirs.successors]
        op.regions = [self._region(region, op, where) for region in theirs.regions]
        return op

    def _name_and_entries(self, op: Op, theirs: xdsl_ir.Operation) -> None:
        """Give the op its name, properties and attributes."""
        op.properties = {name: attribute_text(value) for name, value in theirs.properties.items()}
        op.attributes = {name: attribute_text(value) for name, value in theirs.attributes.items()}
        unregistered = theirs.attributes.get(_UNREGISTERED_NAME)
        if isinstance(unregistered, StringAttr):
            op.name = unregistered.data
            del op.attributes[_UNREGISTERED_NAME]
        if isinstance(theirs, TextOp) and theirs.built is not None:
            op.name = theirs.built.name or op.name
            op.properties |= theirs.built.properties
            op.attributes |= theirs.built.attributes
        upstream.complete(op.name, op.properties, op.attributes)

    def _region(self, theirs: xdsl_ir.Region, op: Op, where: Location) -> Region:
        """Return a region of the op."""
        region = Region(parent=op)
        for their_block in theirs.blocks:
            block = self._block(their_block)
            block.parent = region
            region.blocks.append(block)
            block.arguments = [self._define(value, block, n) for n, value in enumerate(their_block.args)]
            for their_op in their_block.ops:
                inner = self._op(their_op, where)
                inner.parent = block
                block.ops.append(inner)
        return region

    def _block(self, theirs: xdsl_ir.Block) -> Block:
        """Return the block that stands for one of xDSL's."""
        if theirs not in self._blocks:
            self._blocks[theirs] = Block(label=theirs.name_hint or "")
        return self._blocks[theirs]

    def _value(self, theirs: xdsl_ir.SSAValue) -> Value:
        """Return the value that stands for one of xDSL's; it may be defined later."""
        found = self._values.get(theirs)
        if found is None:
            found = self._values[theirs] = Value(attribute_text(theirs.type), theirs.name_hint or "")
        return found

    def _define(self, theirs: xdsl_ir.SSAValue, owner: Op | Block, index: int) -> Value:
        """Return the value that stands for a result or an argument."""
        value = self._value(theirs)
        value.owner, value.index = owner, index
        return value
