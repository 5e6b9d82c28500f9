"""Reading ops for the host: their places, numbers and types, with errors that name op, line and core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import Location, MlirError
from aiebuild.host import elements
from aiebuild.mlir import attributes
from aiebuild.mlir.ir import Op
from aiebuild.mlir.locations import file_line_column

if TYPE_CHECKING:
    from aiebuild.host.plan import Tile
    from aiebuild.mlir.ir import Module, Value

DYNAMIC = -(2**63)
FLOW_DMA = 1
DIRECTIONS = ("S2MM", "MM2S")


class Reader:
    """What one module says: where its ops are, and errors about them."""

    def __init__(self, module: Module) -> None:
        self.file = module.file

    def where(self, op: Op) -> Location | None:
        """Return the line of the user's file that an op came from."""
        found = file_line_column(op.location) if op.location else None
        if found is not None:
            return found
        return Location(self.file, op.line, op.column) if op.line is not None else None

    def refuse(self, op: Op, message: str, hint: str = "") -> MlirError:
        """Return the error about an op: it names the op, its line, and the core that it is in."""
        inside = enclosing(op, "aie.core")
        core = f"core {core_tile(inside)}: " if inside is not None else ""
        return MlirError(f"{core}{op.name}: {message}", self.where(op), hint)

    def unsupported(self, op: Op, hint: str = "") -> MlirError:
        """Return the error about an op that the host cannot run."""
        inside = enclosing(op, "aie.core")
        core = f"core {core_tile(inside)}: " if inside is not None else ""
        return MlirError(f"{core}op `{op.name}` is not supported on the host", self.where(op), hint)

    def text(self, op: Op, name: str) -> str:
        """Return the text of a property that the op must have."""
        found = op.get(name)
        if found is None:
            raise self.refuse(op, f"has no `{name}`")
        return found

    def integer(self, op: Op, name: str, default: int | None = None) -> int:
        """Return a property as a number; the default where it is not there."""
        found = op.get(name)
        if found is None and default is not None:
            return default
        return attributes.integer(self.text(op, name))

    def flag(self, op: Op, name: str) -> bool:
        """Return whether a unit or boolean property is there and true."""
        return op.get(name) not in {None, "false"}

    def integers(self, op: Op, *names: str) -> list[int]:
        """Return the first of the named properties that is there, as numbers; none where none is."""
        for name in names:
            found = op.get(name)
            if found is not None:
                return attributes.integers(found)
        return []

    def symbol(self, op: Op, name: str) -> str:
        """Return the name that a property refers to."""
        return attributes.symbol(self.text(op, name))

    def shape(self, op: Op, type_text: str) -> tuple[tuple[int, ...], str]:
        """Return shape and element of a memref type whose sizes are all known."""
        found = attributes.memref(type_text)
        return self.static(op, found), self.element(op, found.element)

    def static(self, op: Op, memref: attributes.MemRef) -> tuple[int, ...]:
        """Return a shape whose sizes are all known."""
        if any(size is None for size in memref.shape):
            raise self.refuse(op, "the sizes of this type must be known")
        return tuple(size for size in memref.shape if size is not None)

    def element(self, op: Op, element: str) -> str:
        """Return an element type that the host has."""
        try:
            elements.size(element)
        except MlirError as error:
            raise self.refuse(op, error.message, error.hint) from None
        return element

    def dimensions(self, op: Op, name: str = "dimensions") -> tuple[tuple[int, int], ...]:
        """Return (size, stride) pairs of a data layout, outermost first; none where there is none."""
        found = op.get(name)
        if found is not None:
            return tuple(attributes.dimensions(found))
        sizes = self.integers(op, "static_sizes", "sizes") if name == "dimensions" else []
        strides = self.integers(op, "static_strides", "strides") if sizes else []
        if len(sizes) != len(strides):
            raise self.refuse(op, f"{len(sizes)} sizes and {len(strides)} strides")
        if DYNAMIC in (*sizes, *strides):
            raise self.refuse(op, "the sizes and strides must be constants")
        return tuple(zip(sizes, strides, strict=True))


def enclosing(op: Op, name: str) -> Op | None:
    """Return the nearest op of that name around `op`, or itself."""
    here: Op | None = op
    while here is not None and here.name != name:
        here = here.parent_op
    return here


def tile_of(value: Value) -> Tile:
    """Return (column, row) of the tile that a value stands for."""
    op = value.owner
    if not isinstance(op, Op) or op.name not in {"aie.tile", "aie.logical_tile"}:
        raise MlirError(f"`%{value.hint}` is not a tile")
    column, row = op.get("col"), op.get("row")
    if column is None or row is None:
        raise MlirError(f"the tile `%{value.hint}` is not placed", hint="write aie.tile(column, row)")
    return attributes.integer(column), attributes.integer(row)


def core_tile(core: Op) -> Tile:
    """Return (column, row) of a core."""
    return tile_of(core.operands[0])


def python_name(kind: str, name: str) -> str:
    """Return the name in the translated text of a function or a sequence: other characters become their numbers."""
    plain = (character if character.isalnum() or character == "_" else f"_x{ord(character):x}_" for character in name)
    return f"{kind}_{''.join(plain)}"
