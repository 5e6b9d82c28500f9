"""Intervals of integer values.

Where a result cannot leave its type, no wrapping is written; where an index cannot leave its buffer, no check is.
"""

from __future__ import annotations

Range = tuple[int, int]


def limits(bits: int) -> Range:
    """Return the values of an integer of that width, as they are kept here: signed, and 0 or 1 for `i1`."""
    if bits == 1:
        return (0, 1)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def within(inner: Range, outer: Range) -> bool:
    """Return whether all of one interval lies in the other."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def union(one: Range, other: Range) -> Range:
    """Return the smallest interval that holds both."""
    return (min(one[0], other[0]), max(one[1], other[1]))


def add(one: Range, other: Range) -> Range:
    """Return the interval of sums."""
    return (one[0] + other[0], one[1] + other[1])


def subtract(one: Range, other: Range) -> Range:
    """Return the interval of differences."""
    return (one[0] - other[1], one[1] - other[0])


def multiply(one: Range, other: Range) -> Range:
    """Return the interval of products."""
    corners = [left * right for left in one for right in other]
    return (min(corners), max(corners))


def remainder(one: Range, divisor: int) -> Range:
    """Return the interval of remainders of division by a positive number, rounded towards zero."""
    low = 0 if one[0] >= 0 else max(one[0], 1 - divisor)
    high = 0 if one[1] <= 0 else min(one[1], divisor - 1)
    return (low, high)


def divide(one: Range, divisor: int) -> Range:
    """Return the interval of quotients of numbers that are not negative."""
    return (one[0] // divisor, one[1] // divisor)


def loop(lower: Range, upper: Range) -> Range:
    """Return the interval of the counter of a loop: from the lower bound to one less than the upper one."""
    return (lower[0], max(lower[0], upper[1] - 1))
