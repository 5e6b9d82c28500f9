"""The rule that a value is defined before it is used, in the same region or in one around it.

The readers of text resolve names; this check is for text that a person wrote, where a name used too early is a mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir.ir import Op

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module, Region, Value


def check_order(module: Module) -> None:
    """Check the order of definitions and uses in a module.

    In a region with several blocks any block may use what another one defines: which comes first at run time is not
    worked out. The body of a module has no order.

    Raises:
        MlirError: a value is used before it is defined, or where it cannot be seen.
    """
    for region in module.op.regions:
        _region(module, region, set(), ordered=False)


def _region(module: Module, region: Region, visible: set[Value], *, ordered: bool) -> None:
    """Check a region inside which `visible` is known."""
    seen = set(visible)
    for block in region.blocks:
        seen.update(block.arguments)
        if len(region.blocks) > 1 or not ordered:
            seen.update(value for op in block.ops for value in op.results)
    for block in region.blocks:
        for op in block.ops:
            for value in op.operands:
                if value not in seen:
                    _refuse(module, op, value)
            for inner in op.regions:
                _region(module, inner, seen, ordered=op.name != "builtin.module")
            seen.update(op.results)


def _refuse(module: Module, op: Op, value: Value) -> None:
    """Raise the error of a value that is not known where an op uses it."""
    line = value.owner.line if isinstance(value.owner, Op) else None
    hint = f"it is defined in line {line}" if line is not None else ""
    raise MlirError(f"%{value.hint} is used before it is defined, or outside its region", module.where(op), hint)
