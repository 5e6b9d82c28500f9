"""Copies of ops with all that is nested in them: the services change copies, never what they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.ir import Block, Module, Op, Region, Successor, Value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Copier:
    """A copy in the making: which new value or block stands for which old one.

    What was not copied stands for itself, so that a copy may use values from around it.
    """

    def __init__(self, values: dict[Value, Value] | None = None) -> None:
        self.values: dict[Value, Value] = {} if values is None else values
        self._blocks: dict[Block, Block] = {}
        self._open: list[tuple[Op, Op]] = []

    def op(self, op: Op) -> Op:
        """Return a copy of an op, without a parent."""
        made = self._shell(op)
        self._connect()
        return made

    def ops(self, ops: list[Op]) -> list[Op]:
        """Return copies of ops that may use each other's results in any order."""
        made = [self._shell(op) for op in ops]
        self._connect()
        return made

    def _shell(self, op: Op) -> Op:
        """Return a copy that has no operands yet: uses may come before definitions."""
        made = Op(
            op.name,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            location=op.location,
            line=op.line,
            column=op.column,
        )
        for index, value in enumerate(op.results):
            self.values[value] = copy = Value(value.type, value.hint, made, index)
            made.results.append(copy)
        if op.operands or op.successors:
            self._open.append((op, made))
        for region in op.regions:
            made.regions.append(self._region(region, made))
        return made

    def _region(self, region: Region, parent: Op) -> Region:
        """Return a copy of a region."""
        made = Region(parent=parent)
        for block in region.blocks:
            self._blocks[block] = copy = Block(label=block.label, parent=made)
            for index, value in enumerate(block.arguments):
                self.values[value] = argument = Value(value.type, value.hint, copy, index)
                copy.arguments.append(argument)
            for op in block.ops:
                inner = self._shell(op)
                inner.parent = copy
                copy.ops.append(inner)
            made.blocks.append(copy)
        return made

    def _connect(self) -> None:
        """Give the copies their operands and branch targets."""
        values, blocks = self.values, self._blocks
        for old, new in self._open:
            new.operands = [values.get(value, value) for value in old.operands]
            new.successors = [
                Successor(blocks.get(each.block, each.block), [values.get(value, value) for value in each.operands])
                for each in old.successors
            ]
        self._open.clear()


def copy_module(module: Module) -> Module:
    """Return a copy that shares nothing that can be changed."""
    return Module(Copier().op(module.op), module.resources, module.file)


def captured(ops: Collection[Op]) -> Iterator[tuple[Op, Value]]:
    """Yield each op of a module's level that uses a result of another one that is not among these, and that value.

    Functions cannot do that, but ops of dialects that are not known here may.
    """
    own = set(ops)
    block = next((op.parent for op in ops), None)
    if block is None or not any(op.results for op in block.ops):
        return
    outer = {value for op in block.ops if op not in own for value in op.results}
    for op in ops:
        for inner in op.walk():
            passed = (value for each in inner.successors for value in each.operands)
            yield from ((op, value) for value in (*inner.operands, *passed) if value in outer)


def body_of(op: Op) -> Block:
    """Return the first block of an op; make one, if there is none."""
    if not op.regions:
        op.regions.append(Region(parent=op))
    region = op.regions[0]
    if not region.blocks:
        region.blocks.append(Block(parent=region))
    return region.blocks[0]


def adopt(block: Block, position: int, *ops: Op) -> None:
    """Put ops into a block at a position."""
    for op in ops:
        op.parent = block
    block.ops[position:position] = ops
