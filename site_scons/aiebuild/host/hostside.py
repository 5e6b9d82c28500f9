"""The host's side of a run: what the ops of a runtime sequence do.

A transfer is queued at once and moves while the array runs; only waiting makes the sequence wait. Rules follow the NPU:
transfers of one channel go one after the other; a transfer into the host's memory always issues a token when
`dma_memcpy_nd` asks for it, one out of it only with `issue_token`; a descriptor cannot be used again while in use.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from aiebuild.errors import did_you_mean
from aiebuild.host.stream import HostQueue, Transfer
from aiebuild.host.support import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from aiebuild.host.fifo import Lock
    from aiebuild.host.scheduler import Waits
    from aiebuild.host.views import View

    Target = str | tuple[tuple[int, int], str, int]
    Piece = tuple[View, int, int, tuple[int, ...], tuple[int, ...]]

_WORD = 4
_REPEATED = 4
DESCRIPTORS = 16


class HostTask:
    """A task of the sequence: transfers that one start queues."""

    def __init__(self, queue: HostQueue, transfer: Transfer, descriptors: int) -> None:
        self.queue = queue
        self.transfer = transfer
        self.descriptors = descriptors
        self.started = False
        self.freed = False


class HostSide:
    """What a translated runtime sequence calls."""

    def __init__(
        self,
        queues: Mapping[str, HostQueue],
        channels: Mapping[tuple[tuple[int, int], str, int], HostQueue],
        buffers: Mapping[str, View],
        locks: Mapping[str, Lock],
        trace: Callable[[dict[str, object]], None] | None = None,
    ) -> None:
        self.queues = queues
        self.channels = channels
        self.buffers = buffers
        self.locks = locks
        self.trace = trace
        self.tokens: dict[HostQueue, deque[Transfer]] = {}
        self.in_use: dict[tuple[tuple[int, int], int], Transfer] = {}
        self.configured: dict[tuple[int, int], int] = {}
        self.transfers: list[tuple[HostQueue, Transfer]] = []

    def buffer(self, name: str) -> View:
        """Return a buffer of the array."""
        return self.buffers[name]

    def _queue(self, name: str) -> HostQueue:
        found = self.queues.get(name)
        if found is None:
            raise Fault(f"the host has no end of a FIFO `{name}`; {did_you_mean(name, self.queues)}")
        return found

    def transfer(  # noqa: PLR0917 - only translated texts call it
        self,
        name: str,
        view: View,
        offsets: tuple[int, ...],
        sizes: tuple[int, ...],
        strides: tuple[int, ...],
        number: int,
        token: bool,
    ) -> None:
        """Queue the transfer of `aiex.npu.dma_memcpy_nd`; the outermost of the four dimensions is its repeat."""
        queue = self._queue(name)
        start = sum(offset * stride for offset, stride in zip(offsets, strides, strict=True))
        transfer = _transfer(queue, view, [(start, sizes, strides)])
        place = (queue.tile, number)
        earlier = self.in_use.get(place)
        if earlier is not None and not earlier.done:
            raise Fault(_still_in_use(queue, number, earlier))
        self.in_use[place] = transfer
        # The lowering gives every transfer into the host's memory a token, asked for or not.
        transfer.token = token or queue.direction == "S2MM"
        # The caller is the translated text, whose lines are marked with the user's.
        transfer.line = sys._getframe(1).f_lineno
        transfer.missing = f"aiex.npu.dma_wait {{symbol = @{name}}}"
        self._add(queue, transfer)

    def _add(self, queue: HostQueue, transfer: Transfer) -> None:
        if transfer.token:
            self.tokens.setdefault(queue, deque()).append(transfer)
        self.transfers.append((queue, transfer))
        queue.add(transfer)
        self._tell("transfer", queue, transfer)

    def _tell(self, event: str, queue: HostQueue, transfer: Transfer) -> None:
        if self.trace is not None:
            self.trace({"who": "host", "event": event, "fifo": queue.name, "transfer": transfer.number})

    def wait(self, name: str) -> Generator[Waits, None, None]:
        """Wait for the oldest token of a FIFO that was not waited for."""
        yield from self._wait(self._queue(name))

    def sync(self, column_row: tuple[int, int], direction: str, channel: int) -> Generator[Waits, None, None]:
        """Wait for a token of a channel."""
        queue = self.channels.get((column_row, direction, channel))
        if queue is None:
            raise Fault(
                f"channel {direction} {channel} of tile {column_row} is not known by number: wait for it by name"
            )
        yield from self._wait(queue)

    def _wait(self, queue: HostQueue) -> Generator[Waits, None, None]:
        tokens = self.tokens.get(queue)
        if not tokens:
            raise Fault(
                f"waits for a token of `{queue.name}`, and no transfer will give one: "
                "give one issue_token = true before this line"
            )
        yield from self._until(queue, tokens.popleft())

    def _until(self, queue: HostQueue, transfer: Transfer) -> Generator[Waits, None, None]:
        while not transfer.done:
            yield transfer
        queue.waited = max(queue.waited, transfer.number)
        self._tell("waited", queue, transfer)

    def rtp_write(self, name: str, index: int, value: int) -> None:
        """Write a 32-bit word of a buffer: a run-time parameter."""
        if name not in self.buffers:
            raise Fault(f"there is no buffer `{name}`; {did_you_mean(name, self.buffers)}")
        view = self.buffers[name]
        if not 0 <= (index + 1) * _WORD <= view.base.nbytes:
            raise Fault(f"word {index} is outside the buffer `{name}` of {view.base.nbytes} bytes")
        data = view.base.view(np.uint8)
        data[index * _WORD : (index + 1) * _WORD] = np.frombuffer(
            (value & 0xFFFFFFFF).to_bytes(_WORD, "little"), np.uint8
        )
        if self.trace is not None:
            self.trace({"who": "host", "event": "rtp_write", "buffer": name, "index": index, "value": value})

    def set_lock(self, name: str, value: int) -> None:
        """Give a lock a value."""
        lock = self.locks[name]
        lock.value = value
        lock.wake()

    def configure(self, target: Target, pieces: tuple[Piece, ...], runs: int, token: bool) -> HostTask:
        """Make the task of `aiex.dma_configure_task_for`: `runs` times the transfers, one after the other."""
        queue = self._queue(target) if isinstance(target, str) else self.channels.get(target)
        if queue is None:
            raise Fault(f"channel {target} is not known by number: use aiex.dma_configure_task_for")
        layouts = [_layout(piece) for piece in pieces] * runs
        transfer = _transfer(queue, pieces[0][0], layouts)
        if any(piece[0].base is not pieces[0][0].base for piece in pieces):
            raise Fault("a task over several arguments is not supported on the host")
        transfer.token = token
        count = self.configured.get(queue.tile, 0) + len(pieces)
        if count > DESCRIPTORS:
            raise Fault(
                f"shim tile {queue.tile} has {DESCRIPTORS} descriptors, {count} are in use: "
                "await or free a task before this line"
            )
        self.configured[queue.tile] = count
        return HostTask(queue, transfer, len(pieces))

    def start(self, task: HostTask) -> None:
        """Start a task."""
        if task.started:
            raise Fault("the task was started before")
        if task.freed:
            raise Fault("the task was freed before")
        task.started = True
        task.transfer.line = sys._getframe(1).f_lineno
        token = "" if task.transfer.token else ", with issue_token = true where it is configured"
        task.transfer.missing = f"aiex.dma_await_task for it{token}"
        if task.transfer.token:
            self.transfers.append((task.queue, task.transfer))
            task.queue.add(task.transfer)
            self._tell("transfer", task.queue, task.transfer)
        else:
            self._add(task.queue, task.transfer)

    def await_task(self, task: HostTask) -> Generator[Waits, None, None]:
        """Wait for a task, and free its descriptors."""
        if not task.started:
            raise Fault("the task was not started: it would be waited for for ever")
        if not task.transfer.token:
            raise Fault("the task gives no token: configure it with issue_token = true")
        yield from self._until(task.queue, task.transfer)
        self._release(task)

    def free(self, task: HostTask) -> None:
        """Free a task's descriptors without waiting: the sequence says that it knows the task is done."""
        self._release(task)

    def _release(self, task: HostTask) -> None:
        if not task.freed:
            task.freed = True
            self.configured[task.queue.tile] -= task.descriptors

    def unfinished(self) -> tuple[str, ...]:
        """Return a sentence about each transfer into the host's memory that did not move all of its elements."""
        return tuple(
            f"the transfer of `{queue.name}`, not waited for, moved {transfer.moved} of {transfer.total} elements"
            for queue, transfer in self.transfers
            if not transfer.done and queue.direction == "S2MM"
        )

    def early(self) -> list[tuple[HostQueue, Transfer]]:
        """Return the transfers into the host's memory that ended, though the sequence did not wait for that."""
        return [
            (queue, transfer)
            for queue, transfer in self.transfers
            if transfer.done and queue.direction == "S2MM" and transfer.number > queue.waited
        ]


def _still_in_use(queue: HostQueue, number: int, earlier: Transfer) -> str:
    ask = "" if earlier.token else "give that transfer issue_token = true, and "
    return (
        f"descriptor {number} of shim tile {queue.tile} is still in use by transfer {earlier.number} of "
        f"`{earlier.name}`: {ask}wait for it (aiex.npu.dma_wait {{symbol = @{earlier.name}}}) before this line"
    )


def _layout(piece: Piece) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return (offset, sizes, strides) of an `aie.dma_bd`: four dimensions have the repeat first, fewer have none."""
    _, offset, count, sizes, strides = piece
    if not sizes:
        return offset, (1, count), (0, 1)
    if len(sizes) >= _REPEATED:
        return offset, sizes, strides
    if math.prod(sizes) != count:
        raise Fault(f"the length {count} is not that of the data layout, which visits {math.prod(sizes)} elements")
    return offset, (1, *sizes), (0, *strides)


def _transfer(queue: HostQueue, view: View, layouts: list[tuple[int, tuple[int, ...], tuple[int, ...]]]) -> Transfer:
    for offset, sizes, strides in layouts:
        _check(view, offset, sizes, strides)
    if view.offset:
        layouts = [(view.offset + offset, sizes, strides) for offset, sizes, strides in layouts]
    return Transfer(queue.name, view.base, layouts)


def _check(view: View, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
    if any(size < 1 for size in sizes):
        raise Fault(f"the sizes {list(sizes)} must be positive")
    if any(stride < 0 for stride in strides):
        raise Fault(f"the strides {list(strides)} must not be negative")
    total = len(view.base) - view.offset
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if offset < 0 or last >= total:
        raise Fault(f"the transfer reaches element {last if offset >= 0 else offset} of an array of {total}")
