"""Inline kernels: LLVM IR in text is merged into a core, objects are linked; the declaration says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import CheckError
from aiebuild.mlir.attributes import string

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module, Op

MODE = "link_with_mode"
MERGE = "merge"


def check_merge(module: Module) -> list[CheckError]:
    """Return the declarations whose `link_with_mode` does not fit the file that they name.

    aiecc takes LLVM IR in text only where the mode is `merge`, and merges nothing else (mlir-aie at 3ca0193ce).
    """
    errors = (_check(module, op) for op in module.walk() if op.name == "func.func" and op.get("link_with") is not None)
    return [error for error in errors if error is not None]


def _check(module: Module, op: Op) -> CheckError | None:
    file = string(op.get("link_with") or '""')
    mode = op.get(MODE)
    merges = mode is not None and string(mode) == MERGE
    if file.endswith(".ll") and not merges:
        message = f"{file} is LLVM IR, which is merged into the core and not linked"
        return CheckError(message, module.where(op), f'write: attributes {{link_with = "{file}", {MODE} = "{MERGE}"}}')
    if merges and not file.endswith((".ll", ".bc")):
        message = f"{file} cannot be merged: that takes LLVM IR"
        return CheckError(message, module.where(op), f"leave out {MODE}, or make the kernel inline=True in the recipe")
    return None
