"""Which function writes which op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.host import emit_aie, emit_arith, emit_memref, emit_scf, emit_sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.host.emitter import Function
    from aiebuild.mlir.ir import Op


def find(name: str) -> Callable[[Function, Op], None] | None:
    """Return what writes an op of that name; None where nothing does."""
    for table in (emit_arith.OPS, emit_memref.OPS, emit_scf.OPS, emit_aie.OPS, emit_sequence.OPS):
        if name in table:
            return table[name]
    return None
