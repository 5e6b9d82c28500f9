"""Types of arguments as NumPy says them, and as MLIR does."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from aiebuild.errors import MlirError, RecipeError
from aiebuild.host import elements

ARRAY = "np.ndarray[(16,), np.dtype[np.int32]]"


@dataclass(frozen=True)
class ArgumentType:
    """The type of an argument: an element type of MLIR, and an array's sizes, outermost first; None for a number."""

    element: str
    shape: tuple[int, ...] | None = None

    def __str__(self) -> str:
        """Return `memref<16xi32>`, or `i32`."""
        if self.shape is None:
            return self.element
        return f"memref<{'x'.join([*map(str, self.shape), self.element])}>"

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.shape or ())

    @property
    def bytes(self) -> int:
        """The bytes of an array."""
        return self.count * elements.size(self.element)


def argument_type(given: Any, function: str) -> ArgumentType:
    """Return the type that NumPy's typing or a scalar type stands for.

    Args:
        given: `np.ndarray[(16,), np.dtype[np.int32]]`, `np.int32`, or a `np.dtype`.
        function: whose argument it is, for messages.

    Raises:
        RecipeError: it is none of these, or of an element type that kernels cannot take.
    """
    shape, scalar = _split(given, function)
    return ArgumentType(element_of(scalar, function), shape)


def element_of(scalar: Any, what: str) -> str:
    """Return MLIR's name of a NumPy type.

    Raises:
        RecipeError: it is none that kernels can take.
    """
    import numpy as np  # noqa: PLC0415 - descriptions of functions are made without it

    try:
        name = elements.mlir_name(np.dtype(scalar).name)
        elements.size(name)
    except (TypeError, MlirError):
        hint = f"an array such as {ARRAY}, or a number such as np.int32"
        raise RecipeError(f"{what}: {scalar!r} is not a type that kernels take", hint=hint) from None
    return name


def _split(given: Any, function: str) -> tuple[tuple[int, ...] | None, Any]:
    """Return the shape of an array's type, None for a number, and the type of its elements."""
    # Not whether it is a class: Python 3.10 says so of `np.ndarray[...]` too.
    if not hasattr(given, "__args__"):
        return None, given
    parts = given.__args__
    sizes = (parts[0],) if isinstance(parts[0], int) else parts[0]
    element = getattr(parts[-1], "__args__", (parts[-1],))[0]
    if isinstance(sizes, tuple) and sizes and all(isinstance(size, int) and size > 0 for size in sizes):
        return sizes, element
    raise RecipeError(f"{function}: {given!r} does not say the sizes of an array", hint=f"for example {ARRAY}")
