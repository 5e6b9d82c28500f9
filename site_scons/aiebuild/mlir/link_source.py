"""A module that is linked, and what of it goes to one table of another module."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from aiebuild.mlir.copying import body_of
from aiebuild.mlir.identity import key_of
from aiebuild.mlir.link_names import ORIGIN, read_origin
from aiebuild.mlir.signatures import same_type
from aiebuild.mlir.symbols import is_declaration, is_private, scoped_uses, symbol_name, symbols

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.mlir.ir import Block, Module, Op

_ENDS = (".end", "_end", ".terminator")


@dataclass(eq=False)
class Source:
    """A module that is linked: its key, its symbols, and its ops that are none."""

    module: Module
    key: str
    symbols: dict[str, Op]
    loose: tuple[Op, ...]
    blobs: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, module: Module) -> Source:
        """Read a module."""
        loose = tuple(op for op in module.op.body if symbol_name(op) is None)
        return cls(module, key_of(module), symbols(module.op), loose)

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.module.file or symbol_name(self.module.op) or f"the module with key {self.key}"

    @cached_property
    def defined(self) -> tuple[str, ...]:
        """The names that it defines."""
        return tuple(name for name, op in self.symbols.items() if not is_declaration(op))

    def exports(self, name: str) -> bool:
        """Tell whether other modules may use this name."""
        op = self.symbols.get(name)
        return op is not None and not is_declaration(op) and not is_private(op)

    @cached_property
    def needs(self) -> Mapping[Op, tuple[str, ...]]:
        """The names that each op at the module's level refers to, in it and in all that is nested in it."""
        found: dict[Op, dict[str, None]] = {op: {} for op in self.module.op.body}
        for use in scoped_uses(self.module.op):
            above = use.op
            while above not in found and above.parent_op is not None:
                above = above.parent_op
            found[above][use.path[0]] = None
        return {op: tuple(names) for op, names in found.items()}

    def is_in(self, table: Op) -> bool:
        """Tell whether some of it was linked into a table before."""
        origins = (read_origin(op.attributes.get(ORIGIN)) for op in table.body)
        return any(origin is not None and origin[0] == self.key for origin in origins)


@dataclass(eq=False)
class Import:
    """What one source brings to one table.

    Attributes:
        source: where it comes from.
        table: where it goes to.
        ops: what is copied, in the order of the source.
        names: for names as the source has them, what they are called in the table.
        fills: for an op of the source, the declaration in the table that it takes the place of.
    """

    source: Source
    table: Op
    ops: list[Op] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    fills: dict[Op, Op] = field(default_factory=dict)

    @property
    def block(self) -> Block:
        """The block that ops are put into."""
        return body_of(self.table)

    @property
    def end(self) -> int:
        """Where ops are added: behind all others, but before what ends the block."""
        ops = self.block.ops
        return len(ops) - 1 if ops and ops[-1].name.endswith(_ENDS) else len(ops)


def _type_of(op: Op) -> str:
    """Return the text of the type that a symbol has."""
    return next((text for entry in ("function_type", "type", "global_type") if (text := op.get(entry))), "")


def same_types(op: Op, other: Op) -> bool:
    """Tell whether two symbols have one type."""
    return same_type(_type_of(op), _type_of(other))


def shown(op: Op) -> str:
    """Return a symbol's kind and type."""
    return f"{op.name} {_type_of(op)}".strip()


def described(op: Op) -> dict[str, str]:
    """Return what a declaration says besides name, type and visibility."""
    return {name: text for name, text in op.attributes.items() if name not in ("sym_name", "sym_visibility", ORIGIN)}
