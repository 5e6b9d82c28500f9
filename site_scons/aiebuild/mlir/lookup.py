"""Looking up what a reference means, with all tables of a module read once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from aiebuild.errors import nearest
from aiebuild.mlir.symbols import (
    in_configured_device,
    in_module_scope,
    is_declaration,
    is_table,
    symbol_name,
    symbols,
    tables,
    uses_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.errors import Location
    from aiebuild.mlir.ir import Module, Op
    from aiebuild.mlir.symbols import Use


class Scopes:
    """The symbol tables of a module, and where an op's references are looked up.

    Args:
        module: it must not change while this is used.
        others: modules that are known, but not part of this one: for hints.
    """

    def __init__(self, module: Module, others: Sequence[Module] = ()) -> None:
        self.module = module
        self.tables = tuple(tables(module))
        self._others = tuple(others)
        self._symbols: dict[Op, dict[str, Op]] = {}

    def symbols(self, table: Op) -> dict[str, Op]:
        """Return the names that a table defines."""
        found = self._symbols.get(table)
        if found is None:
            found = self._symbols[table] = symbols(table)
        return found

    def table_of(self, op: Op) -> Op:
        """Return the nearest table around an op."""
        above = op.parent_op
        while above is not None and not is_table(above):
            above = above.parent_op
        return above or self.module.op

    def look_up(self, table: Op, path: Sequence[str]) -> Op | None:
        """Return the op that `a` or `a::b` names in a table, or in any other op with named ones directly in it."""
        found: Op | None = table
        for name in path:
            if found is None:
                return None
            found = self.symbols(found).get(name)
        return found

    def resolve(self, use: Use) -> Op | None:
        """Return what a reference means where it stands; None where nothing there has that name."""
        op = use.op
        if in_configured_device(op, use.entry):
            return self._in_configured_device(use)
        if in_module_scope(op, use.entry):
            return self.look_up(self._module_around(op), use.path)
        if is_table(op) and (found := self.look_up(op, use.path)):
            return found
        above = op.parent_op
        # An op that is not known may be a table as well: what it holds directly is seen, and so is what is around it.
        while above is not None:
            found = self.look_up(above, use.path)
            if found is not None or is_table(above):
                return found
            above = above.parent_op
        return None

    @cached_property
    def uses(self) -> tuple[tuple[Use, Op | None], ...]:
        """All references of the module and what they mean, in the order of the text."""
        return tuple((use, self.resolve(use)) for op in self.module.walk() for use in uses_of(op))

    @cached_property
    def used(self) -> frozenset[Op]:
        """What references mean, and each part of their paths."""
        used: set[Op] = set()
        for use, meaning in self.uses:
            found = meaning
            while found is not None and found is not self.module.op:
                used.add(found)
                found = found.parent_op if len(use.path) > 1 else None
        return frozenset(used)

    def elsewhere(self, name: str) -> str:
        """Say which of the other modules defines a name; empty, if none does."""
        for module in self._others:
            op = next((op for op in module.op.body if symbol_name(op) == name and not is_declaration(op)), None)
            if op is not None:
                where: Location = module.where(op)
                # The module's own file may be one that the build wrote; the place is in the user's.
                file = where.file or module.file
                return f"@{name} is defined in module {file} ({where}), which is not linked here: import it"
        return ""

    def nearest(self, table: Op, name: str, *, functions: bool = True) -> str:
        """Return a hint: the nearest function of a table, or symbol of any kind; else all of them, if there are few."""
        known = sorted(key for key, op in self.symbols(table).items() if op.name == "func.func" or not functions)
        near = nearest(name, known)
        if near is not None:
            return f"did you mean {near!r}?"
        return f"one of: {', '.join(known)}" if 0 < len(known) <= 40 else ""

    def _module_around(self, op: Op) -> Op:
        """Return the nearest module around an op."""
        above = op.parent_op
        while above is not None and above.name != "builtin.module":
            above = above.parent_op
        return above or self.module.op

    def _in_configured_device(self, use: Use) -> Op | None:
        """Return the sequence of the device that the op around this one configures."""
        above = use.op.parent_op
        while above is not None:
            for each in uses_of(above):
                if in_module_scope(above, each.entry):
                    device = self.look_up(self._module_around(above), each.path)
                    return None if device is None else self.look_up(device, use.path)
            above = above.parent_op
        return None
