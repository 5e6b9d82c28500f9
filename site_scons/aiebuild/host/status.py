"""Which call of a kernel goes on, or was the last one: numbers in a file that outlive a crash of the process."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

_LAYOUT = struct.Struct("<iii")
_RUNS = struct.Struct("<i")
SIZE = _LAYOUT.size
_NONE = -1


class Call(NamedTuple):
    """A call: whether it still goes on, the number of its core and that of its place in the text."""

    runs: bool
    core: int
    site: int


class Status:
    """The numbers, in memory that may be a file's."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        _LAYOUT.pack_into(memory, 0, 0, _NONE, _NONE)

    def enter(self, core: int, site: int) -> None:
        """Say that a call begins."""
        _LAYOUT.pack_into(self.memory, 0, 1, core, site)

    def leave(self) -> None:
        """Say that no call goes on; the last one stays known."""
        _RUNS.pack_into(self.memory, 0, 0)

    def last(self) -> Call | None:
        """Return the last call; None where there was none."""
        return read(bytes(self.memory[:SIZE]))


def read(data: bytes) -> Call | None:
    """Return the call that goes on, or was the last one; None where there was none."""
    runs, core, site = _LAYOUT.unpack(data[:SIZE])
    return None if core == _NONE else Call(bool(runs), core, site)


def empty() -> bytes:
    """Return what stands for no call at all."""
    return _LAYOUT.pack(0, _NONE, _NONE)
