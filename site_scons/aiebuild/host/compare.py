"""Comparing what a run left with the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aiebuild.errors import RunError
from aiebuild.host import elements

Array = NDArray[Any]


@dataclass(frozen=True)
class Tolerance:
    """How far a value may be off: at the most `atol + rtol * |expected|`. Integers are compared exactly."""

    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """One output and its reference; `wrong` elements differ by more than is allowed."""

    name: str
    shape: tuple[int, ...]
    element: str
    max_error: int | float
    wrong: int
    first: str = ""

    @property
    def ok(self) -> bool:
        """Whether they agree."""
        return self.wrong == 0

    def to_json(self) -> dict[str, object]:
        """Return what `check.json` says of it."""
        error = self.max_error if np.isfinite(self.max_error) else str(self.max_error)
        count = int(np.prod(self.shape, dtype=np.int64))
        return {"name": self.name, "max_error": error, "ok": self.ok, "elements": count, "dtype": self.element}

    def __str__(self) -> str:
        """Return `C agrees with the reference, largest error 0 (512x512 i32)`."""
        shape = "x".join(str(size) for size in self.shape) or "1"
        return f"{self.name} agrees with the reference, largest error {_short(self.max_error)} ({shape} {self.element})"


def compare(name: str, got: Array, expected: Array, tolerance: Tolerance) -> Comparison:
    """Compare an argument, flat as the run left it, with a reference of any shape and the same type.

    Values that are not numbers agree with each other, and so do equal infinities.
    """
    left, right = got.reshape(expected.shape), expected
    element = elements.mlir_name(expected.dtype.name)
    if expected.dtype.kind in "iub":
        wrong = left != right
        largest: int | float = _largest_integer(left[wrong], right[wrong])
    else:
        wrong, largest = _compare_floats(left, right, tolerance)
    count = int(np.count_nonzero(wrong))
    first = _first(left, right, wrong) if count else ""
    return Comparison(name, expected.shape, element, largest, count, first)


def _largest_integer(left: Array, right: Array) -> int:
    if not left.size:
        return 0
    # Python's integers: a difference of two 64-bit ones may need 65 bits.
    return int(max(abs(int(one) - int(other)) for one, other in zip(left.flat, right.flat, strict=True)))


def _compare_floats(left: Array, right: Array, tolerance: Tolerance) -> tuple[Array, float]:
    with np.errstate(all="ignore"):
        one, other = left.astype(np.float64), right.astype(np.float64)
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        error = np.where(same, 0.0, np.abs(one - other))
        allowed = tolerance.atol + tolerance.rtol * np.abs(other)
        near = same | (np.isfinite(other) & (error <= allowed))
    return ~near, float(np.max(np.where(np.isnan(error), np.inf, error), initial=0.0))


def _first(left: Array, right: Array, wrong: Array) -> str:
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    index = ", ".join(str(number) for number in place)
    return f"first at [{index}]: got {_value(left[place])}, expected {_value(right[place])}"


def _value(value: Any) -> str:
    if value.dtype.kind in "iub":
        return str(int(value))
    return repr(float(value)) if value.dtype == np.float64 else f"{float(value):.9g}"


def _short(error: float) -> str:
    return str(error) if isinstance(error, int) else f"{error:.3g}"


def failure(design: str, sequence: str, comparison: Comparison) -> RunError:
    """Return the error of an output that differs."""
    total = int(np.prod(comparison.shape, dtype=np.int64))
    of_sequence = f" after the sequence {sequence!r}" if sequence else ""
    return RunError(
        f"{design}: {comparison.name} differs from the reference{of_sequence} in {comparison.wrong} of {total} "
        f"elements, {comparison.first}; the largest error is {_short(comparison.max_error)} ({comparison.element})"
    )
