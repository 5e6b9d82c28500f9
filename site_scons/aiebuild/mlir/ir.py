"""An MLIR module in memory, as the generic form has it: attributes and types stay text.

The form is that of `mlir-opt --mlir-print-op-generic`. No dialect is known here: any op passes through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.errors import Location

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(eq=False, slots=True)
class Value:
    """An SSA value: a result of an op or an argument of a block.

    `type` is the type's text, for example `memref<4xi32>`. `hint` is the name that the text gave it, without `%`.
    """

    type: str
    hint: str = ""
    owner: Op | Block | None = None
    index: int = 0


@dataclass(eq=False, slots=True)
class Successor:
    """A branch target with the operands that are passed to it."""

    block: Block
    operands: list[Value] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Block:
    """A list of ops with arguments; `label` is the text's name without `^`."""

    arguments: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    label: str = ""
    parent: Region | None = None


@dataclass(eq=False, slots=True)
class Region:
    """A list of blocks that an op holds."""

    blocks: list[Block] = field(default_factory=list)
    parent: Op | None = None

    @property
    def ops(self) -> list[Op]:
        """The ops of the only block; none where the region is empty."""
        return [op for block in self.blocks for op in block.ops]


@dataclass(eq=False, slots=True)
class Op:
    """One operation.

    `properties` are the entries of `<{...}>` and `attributes` those of `{...}`, name to text (a unit attribute's
    text is `unit`). `line` and `column` are those of the op in the text that was read, counted from 1; after
    normalising they are those of the user's own text. `location` is the text inside a trailing `loc(...)`.
    """

    name: str
    operands: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    successors: list[Successor] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    location: str | None = None
    line: int | None = None
    column: int | None = None
    parent: Block | None = None

    def get(self, name: str) -> str | None:
        """Return the text of a property, else of an attribute, else None."""
        found = self.properties.get(name)
        return self.attributes.get(name) if found is None else found

    @property
    def parent_op(self) -> Op | None:
        """The op that this one is nested in."""
        return self.parent.parent.parent if self.parent is not None and self.parent.parent is not None else None

    @property
    def body(self) -> list[Op]:
        """The ops of the first region."""
        return self.regions[0].ops if self.regions else []

    def walk(self) -> Iterator[Op]:
        """Yield this op and all that are nested in it, in the order of the text."""
        yield self
        for region in self.regions:
            for block in region.blocks:
                for op in block.ops:
                    yield from op.walk()


@dataclass(eq=False, slots=True)
class Module:
    """A whole text: the top-level `builtin.module` op (made where the text leaves it out) and what surrounds it.

    `resources` are the sections of a trailing `{-# ... #-}`, as text. `file` is where the text came from, for
    messages.
    """

    op: Op
    resources: str = ""
    file: str = ""

    def walk(self) -> Iterator[Op]:
        """Yield every op below the module op, in the order of the text."""
        for op in self.op.body:
            yield from op.walk()

    def where(self, op: Op) -> Location:
        """Return the place of an op in the user's own file: that of its `location`, else its line in `file`."""
        from aiebuild.mlir.locations import file_line_column  # noqa: PLC0415 - it reads text, which this module does not

        place = file_line_column(op.location) if op.location else None
        return place or Location(self.file, op.line, op.column)
