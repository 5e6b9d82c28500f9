"""DMA programs written by hand: descriptors that take locks, move a piece of a buffer, and give locks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.host import stream
from aiebuild.host.scheduler import Waitable
from aiebuild.host.support import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from aiebuild.host.fifo import Lock, Trace
    from aiebuild.host.plan import Descriptor, DmaProgram
    from aiebuild.host.scheduler import Waits
    from aiebuild.host.views import View


class Finished(Waitable):
    """The end of a program: nothing follows."""

    def why(self) -> str:
        """Return that."""
        return "has come to its end"


class _Channel:
    """One running program."""

    def __init__(
        self, program: DmaProgram, buffers: Mapping[str, View], locks: Mapping[str, Lock], trace: Trace = None
    ) -> None:
        self.program = program
        self.locks = locks
        self.trace = trace
        self.arrays = [buffers[each.buffer].base for each in program.descriptors]
        self.places = [_places(each, array) for each, array in zip(program.descriptors, self.arrays, strict=True)]
        self.finished: Waits = Finished()
        self.blocked: Waits = self.finished
        self.at: int | None = 0
        self.taken = 0
        self.position = 0
        self.runs = 1

    @property
    def unit(self) -> int:
        """The bytes of an element."""
        return self.arrays[self.at or 0].itemsize

    def ready(self) -> int:
        """Return the bytes that are left of the descriptor, once its locks are taken."""
        if self.at is None:
            self.blocked = self.finished
            return 0
        descriptor = self.program.descriptors[self.at]
        while self.taken < len(descriptor.acquire):
            name, value, kind = descriptor.acquire[self.taken]
            if not self.locks[name].take(value, kind):
                self.blocked = self.locks[name]
                return 0
            self.taken += 1
        return (stream.length(self.places[self.at]) - self.position) * self.unit

    def _move(self, count: int) -> tuple[NDArray[Any], stream.Places]:
        at = self.at or 0
        found = stream.part(self.places[at], self.position, count)
        self.position += count
        return self.arrays[at], found

    def _advance(self) -> None:
        """Give the locks and go to the next descriptor, where all was moved."""
        at = self.at or 0
        if self.position < stream.length(self.places[at]):
            return
        descriptor = self.program.descriptors[at]
        if self.trace is not None:
            self.trace({"who": f"DMA {self.program.channel}", "event": "moved", "descriptor": at})
        for name, value, _ in descriptor.release:
            self.locks[name].give(value)
        self.position = self.taken = 0
        self.at = descriptor.following
        if self.at is None and self.program.runs is not None and self.runs < self.program.runs:
            self.runs += 1
            self.at = 0

    def why(self) -> str:
        """Return what is missing."""
        return self.blocked.why()


class ChannelSource(_Channel):
    """A program that reads memory."""

    def take(self, count: int) -> NDArray[np.uint8]:
        """Return the next bytes."""
        array, found = self._move(count // self.unit)
        data = array[found].view(np.uint8)
        self._advance()
        return data


class ChannelSink(_Channel):
    """A program that writes memory."""

    def put(self, data: NDArray[np.uint8]) -> None:
        """Store the next bytes."""
        array, found = self._move(len(data) // self.unit)
        array[found] = data.view(array.dtype)
        self._advance()


def _places(descriptor: Descriptor, array: NDArray[Any]) -> stream.Places:
    if not descriptor.dimensions:
        found: stream.Places = slice(descriptor.offset, descriptor.offset + descriptor.length)
    else:
        sizes = [size for size, _ in descriptor.dimensions]
        strides = [stride for _, stride in descriptor.dimensions]
        if math.prod(sizes) < descriptor.length:
            raise Fault(f"the length {descriptor.length} is more than the data layout visits ({descriptor.where})")
        found = stream.part(stream.places(descriptor.offset, sizes, strides), 0, descriptor.length)
    if stream.highest(found) >= len(array):
        raise Fault(
            f"a descriptor reaches element {stream.highest(found)} of `{descriptor.buffer}`, which has {len(array)} "
            f"({descriptor.where})"
        )
    return found
