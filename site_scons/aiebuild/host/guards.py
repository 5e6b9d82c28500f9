"""The zones around a buffer: bytes that nothing may write, so that a kernel that leaves its buffer is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE = 256
"""Bytes on either side, a multiple of the alignment: four of the widest vectors that a core stores."""

# No small number, no 0xFF, and not the same byte twice in a row: what a kernel writes by mistake is most likely none
# of these, or at least not all of them.
PATTERN = bytes(0x91 + place * 37 % 0x5D for place in range(SIZE))


class Guard:
    """Both zones of one buffer.

    Args:
        memory: bytes that hold the zones and the buffer between them.
        start: where the buffer begins in `memory`.
        count: its bytes.
        what: the buffer as people know it: `fifo @out, 1024 x ui8`.
    """

    __slots__ = ("_after", "_before", "what")

    def __init__(self, memory: NDArray[np.uint8], start: int, count: int, what: str) -> None:
        self._before = memory[start - SIZE : start].data
        self._after = memory[start + count : start + count + SIZE].data
        self._before[:] = self._after[:] = PATTERN
        self.what = what

    @property
    def intact(self) -> bool:
        """Whether nothing was written there."""
        return self._after.tobytes() == PATTERN and self._before.tobytes() == PATTERN

    def damage(self) -> str:
        """Return what was written: `4 bytes beyond the end`."""
        after = _changed(self._after.tobytes(), PATTERN)
        if after:
            return f"{_bytes(after)} beyond the end"
        # Counted from the buffer on, which is backwards here.
        before = _changed(self._before.tobytes()[::-1], PATTERN[::-1])
        return f"{_bytes(before)} before the start"


def _changed(found: bytes, wanted: bytes) -> list[int]:
    """Return the distances from the buffer of the bytes that changed."""
    return [place for place, (one, other) in enumerate(zip(found, wanted, strict=True)) if one != other]


def _bytes(changed: list[int]) -> str:
    """Return how much was written; the whole zone may be a part of more, and a gap may have been written or not."""
    count = changed[-1] + 1
    if count == SIZE:
        return f"at least {SIZE} bytes"
    gaps = "" if len(changed) == count else "up to "
    return f"{gaps}{count} byte{'' if count == 1 else 's'}"
