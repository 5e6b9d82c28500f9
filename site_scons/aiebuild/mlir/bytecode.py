"""MLIR bytecode: recognised and named, never read: it is no interchange format between versions of MLIR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.problems import stop

if TYPE_CHECKING:
    from aiebuild.errors import Location

MAGIC = b"ML\xefR"
"""The first bytes (mlir/lib/Bytecode/Encoding.h)."""


def refuse_bytecode(data: bytes, where: Location) -> None:
    """Raise an error that names the producer, if these bytes are MLIR bytecode.

    Raises:
        ProblemsError: they are.
    """
    if data.startswith(MAGIC):
        stop(
            "E-BYTECODE",
            f"this is MLIR bytecode, written by {producer(data)}",
            where,
            "print it as text with a tool of that version: mlir-opt --mlir-print-op-generic --mlir-print-local-scope",
        )


def producer(data: bytes) -> str:
    """Return what the head of bytecode says of its producer: behind the magic and the version, up to a NUL."""
    # The version is a variable-length integer: the number of trailing zeros of its first byte tells its length.
    first = data[4] if len(data) > 4 else 1
    length = 9 if first == 0 else (first & -first).bit_length()
    text, nul, _ = data[4 + length :].partition(b"\0")
    return text.decode("utf-8", "replace") if nul and text else "a tool that does not say its name"
