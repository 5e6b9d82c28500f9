"""What the translated text calls: the arithmetic that has no expression, and the errors of memory accesses.

Integers come and go in their signed reading unless a name says `u`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from aiebuild.host import elements

if TYPE_CHECKING:
    from collections.abc import Sequence


class Fault(Exception):  # noqa: N818 - it becomes a RunError where the core and the line are known
    """A core or the host did what is not allowed; the message says what."""


def _nonzero(divisor: int) -> None:
    if divisor == 0:
        raise Fault("division by zero")


def divsi(left: int, right: int, bits: int) -> int:
    """Divide, rounding towards zero."""
    _nonzero(right)
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        return -quotient
    if quotient >> (bits - 1):
        raise Fault(f"the quotient {left} / {right} does not fit {bits} bits")
    return quotient


def remsi(left: int, right: int, bits: int) -> int:
    """Return the remainder of `divsi`; it has the sign of the left side."""
    del bits
    _nonzero(right)
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def floordivsi(left: int, right: int, bits: int) -> int:
    """Divide, rounding down."""
    divsi(left, right, bits)
    return left // right


def ceildivsi(left: int, right: int, bits: int) -> int:
    """Divide, rounding up."""
    divsi(left, right, bits)
    return -(-left // right)


def divui(left: int, right: int) -> int:
    """Divide numbers that are not negative."""
    _nonzero(right)
    return left // right


def remui(left: int, right: int) -> int:
    """Return the remainder of numbers that are not negative."""
    _nonzero(right)
    return left % right


def ceildivui(left: int, right: int) -> int:
    """Divide numbers that are not negative, rounding up."""
    _nonzero(right)
    return -(-left // right)


def _amount(amount: int, bits: int) -> None:
    if amount >= bits:
        raise Fault(f"a shift by {amount} of a value of {bits} bits")


def signed(value: int, bits: int) -> int:
    """Return the signed reading of the lowest `bits` bits; 0 or 1 where there is one bit."""
    if bits == 1:
        return value & 1
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def shli(value: int, amount: int, bits: int) -> int:
    """Shift left."""
    _amount(amount, bits)
    return signed(value << amount, bits)


def shrsi(value: int, amount: int, bits: int) -> int:
    """Shift right, keeping the sign."""
    _amount(amount, bits)
    return value >> amount


def shrui(value: int, amount: int, bits: int) -> int:
    """Shift right, filling with zeros."""
    _amount(amount, bits)
    return signed((value & ((1 << bits) - 1)) >> amount, bits)


def _truncated(value: float, low: int, high: int) -> int:
    if not math.isfinite(value):
        raise Fault(f"{value} has no integer value")
    number = int(value)
    if not low <= number <= high:
        raise Fault(f"{value} does not fit the integers from {low} to {high}")
    return number


def fptosi(value: float, bits: int) -> int:
    """Truncate a floating-point value to a signed integer."""
    return _truncated(float(value), -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def fptoui(value: float, bits: int) -> int:
    """Truncate a floating-point value to an unsigned integer."""
    return _truncated(float(value), 0, (1 << bits) - 1)


def wide(value: int) -> Any:
    """Return an integer as NumPy's of 64 bits: its conversion to f32 rounds once, Python's would round twice."""
    return np.int64(value) if value < 1 << 63 else np.uint64(value)


def fma(left: Any, right: Any, added: Any, element: str) -> Any:
    """Multiply and add, rounding once where the type is narrower than f64."""
    return dtype(element).type(float(left) * float(right) + float(added))


def round_half_away(value: float) -> float:
    """Round to the nearest whole number, halves away from zero."""
    return math.copysign(math.floor(abs(value) + 0.5), value) if math.isfinite(value) else value


def dtype(element: str) -> np.dtype[Any]:
    """Return the NumPy type of an element type."""
    name = elements.numpy_name(element)
    if name != "bfloat16":
        return np.dtype(name)
    from aiebuild.host.bfloat import _bf16  # noqa: PLC0415 - only a design that has one pays for it

    found: np.dtype[Any] = np.dtype(_bf16)
    return found


def bitcast(value: Any, source: str, target: str) -> Any:
    """Read the bits of a value as another type of the same width."""
    found = np.array([value], dtype(source)).view(dtype(target))[0]
    return found if elements.is_float(target) else int(found)


def outside(index: Sequence[int], shape: Sequence[int]) -> NoReturn:
    """Raise the error of an access outside a buffer."""
    places, sizes = ", ".join(map(str, index)), "x".join(map(str, shape))
    raise Fault(f"an access outside a buffer: index [{places}] of a buffer of shape {sizes or 'rank 0'}")


def step_fault(step: int) -> NoReturn:
    """Raise the error of a loop that would never end."""
    raise Fault(f"the step of a loop must be positive, it is {step}")
