"""What linking asks of modules before it plans: equal definitions, values and tables that cannot be taken along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.copying import captured
from aiebuild.mlir.identity import fingerprint
from aiebuild.mlir.link_names import ORIGIN
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.symbols import is_function, is_table, symbol_name, symbols, uses_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Op
    from aiebuild.mlir.link_source import Import, Source


def all_equal(ops: Sequence[Op]) -> bool:
    """Tell whether ops are the same, but for where they came from."""
    return len({fingerprint(op, (ORIGIN, "sym_visibility")) for op in ops}) == 1


def is_seen_between(op: Op, table: Op, name: str) -> bool:
    """Tell whether an op between this one and its table holds something of that name, and may be a table itself."""
    above = op.parent_op
    while above is not None and above is not table:
        if name in symbols(above):
            return True
        above = above.parent_op
    return False


def captured_values(brought: Import) -> Iterator[Problem]:
    """Yield an error for each value of the module's level that is used, but not brought along."""
    for op, value in captured(brought.ops):
        message = f"{op.name} uses %{value.hint} of the module's level, which does not come along"
        hint = "make the value where it is used, or link without needed_only"
        yield Problem("E-LINK-VALUE", message, brought.source.module.where(op), hint)


def unknown_tables(source: Source) -> Iterator[Problem]:
    """Yield a warning for each op that may be a table, where that decides what a reference in it means."""
    for op in source.module.walk():
        if is_table(op) or is_function(op) or not op.regions:
            continue
        shared = {name for child in op.body if (name := symbol_name(child))} & source.symbols.keys()
        if not shared or op.parent_op is not source.module.op:
            continue
        used = {use.path[0] for inner in op.walk() for use in uses_of(inner)} & shared
        if used:
            name = min(used)
            message = f"@{name} inside {op.name} is taken for the module's, but {op.name} defines one as well"
            hint = f"if {op.name} is a symbol table, rename one of the two"
            yield Problem("W-LINK-UNKNOWN-TABLE", message, source.module.where(op), hint)
