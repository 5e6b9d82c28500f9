"""Shapes without NumPy: what the translator and the planner need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a dense array of that shape, last dimension fastest."""
    strides = [1] * len(shape)
    for place in range(len(shape) - 2, -1, -1):
        strides[place] = strides[place + 1] * shape[place + 1]
    return tuple(strides)


def dropped_dimensions(sizes: Sequence[int | None], shape: Sequence[int | None]) -> tuple[int, ...]:
    """Return which dimensions of size 1 a subview of lower rank leaves out, given the sizes it takes.

    Where several dimensions of size 1 could be meant, it makes no difference which are left out.
    """
    missing = len(sizes) - len(shape)
    dropped: list[int] = []
    at = 0
    for place, size in enumerate(sizes):
        if at < len(shape) and shape[at] == size and (size != 1 or len(dropped) == missing):
            at += 1
        elif size == 1 and len(dropped) < missing:
            dropped.append(place)
        else:
            at += 1
    return tuple(dropped)
