"""Checks of runtime sequences: what they name and wait for, and whether transfers stay in their buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, did_you_mean
from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import S2MM, Fabric, bits, elements, number, reference, symbol
from aiebuild.mlir.transfers import MEMCPY, TASK_FOR, TASKS, End, ends, transfers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.mlir.ir import Op, Value
    from aiebuild.mlir.transfers import Transfer

_RAW = (8, 32)
"""Widths of elements that stand for plain bytes or words: a DMA does not look into them."""


def check_sequences(fabric: Fabric) -> Iterator[CheckError]:
    """Yield the errors of the runtime sequences of a device."""
    known = ends(fabric)
    for sequence in fabric.sequences:
        yield from _check_names(fabric, sequence, known)
        yield from _check_waits(fabric, sequence, known)
        yield from _check_tasks(fabric, sequence)
        for transfer in transfers(sequence):
            yield from _check_transfer(fabric, transfer, known)
        for op in sequence.walk():
            if op.name == "aiex.npu.rtp_write":
                yield from _check_parameter(fabric, op)


def _check_names(fabric: Fabric, sequence: Op, known: Mapping[str, End]) -> Iterator[CheckError]:
    """Yield an error for each name that is neither a FIFO with an end at a shim nor an allocated channel."""
    properties = {MEMCPY: "metadata", "aiex.npu.dma_wait": "symbol", TASK_FOR: "alloc"}
    for op in sequence.walk():
        if op.name not in properties:
            continue
        name = reference(op, properties[op.name])
        if name in known:
            continue
        fifo = fabric.fifos.get(name)
        if fifo is None:
            hint = did_you_mean(name, known)
            yield CheckError(f"there is no object FIFO @{name}", fabric.where(op), hint)
        else:
            yield CheckError(
                f"@{name} leads {fifo.path}: a runtime sequence reaches only ends at a shim tile (row 0)",
                fabric.where(op),
                f"one of: {', '.join(known)}" if known else "",
            )


def _check_waits(fabric: Fabric, sequence: Op, known: Mapping[str, End]) -> Iterator[CheckError]:
    """Yield an error for each wait that no earlier transfer would end.

    Transfers out of the array issue a token also where they do not say so (mlir-aie's `AIEDmaToNpu.cpp`).
    """
    started: set[str] = set()
    issued: set[str] = set()
    for op in sequence.walk():
        if op.name in (MEMCPY, TASK_FOR):
            name = reference(op, "metadata" if op.name == MEMCPY else "alloc")
            started.add(name)
            if number(op, "issue_token", 0) or (name in known and known[name].direction == S2MM):
                issued.add(name)
        elif op.name == "aiex.npu.dma_wait":
            name = reference(op, "symbol")
            if name in known and name not in issued:
                yield _endless_wait(fabric, op, name, started)


def _endless_wait(fabric: Fabric, op: Op, name: str, started: set[str]) -> CheckError:
    """Return the error of a wait for a token that nobody issues."""
    if name in started:
        return CheckError(
            f"dma_wait on @{name} would never end: no transfer of it before issues a token",
            fabric.where(op),
            "write issue_token = true on the last dma_memcpy_nd of it",
        )
    return CheckError(
        f"dma_wait on @{name} would never end: no transfer of it was started before",
        fabric.where(op),
        f"started before: {', '.join(sorted(started)) or 'nothing'}",
    )


def _check_tasks(fabric: Fabric, sequence: Op) -> Iterator[CheckError]:
    """Yield an error for each wait for a task that was not started, or that issues no token."""
    started: set[int] = set()
    for op in sequence.walk():
        task = _task(op.operands[0]) if op.operands else None
        if task is None:
            continue
        if op.name == "aiex.dma_start_task":
            started.add(id(task))
        elif op.name == "aiex.dma_await_task" and id(task) not in started:
            yield CheckError(
                f"the task that is awaited was not started before: it is configured at {fabric.where(task)}",
                fabric.where(op),
                "write aiex.dma_start_task before it",
            )
        elif op.name == "aiex.dma_await_task" and not number(task, "issue_token", 0):
            yield CheckError(
                f"the task that is awaited issues no token: it is configured at {fabric.where(task)}",
                fabric.where(op),
                "write {issue_token = true} on its configuration",
            )


def _task(value: Value) -> Op | None:
    """Return the configuration of the task that a value stands for."""
    owner = value.owner
    return owner if owner is not None and getattr(owner, "name", "") in TASKS else None  # type: ignore[return-value]  # a block has no name


def _check_transfer(fabric: Fabric, transfer: Transfer, known: Mapping[str, End]) -> Iterator[CheckError]:
    """Check a transfer's element type against the FIFO's, and its reach against its buffer."""
    end = known.get(transfer.end)
    if end is not None and end.element is not None:
        have, want = transfer.buffer.element, end.element.element
        if bits(have) not in (bits(want), *_RAW):
            yield CheckError(
                f"the buffer's elements are {have}, those of @{transfer.end} are {want}",
                fabric.where(transfer.op),
                f"declare the sequence's argument as a memref of {want}",
            )
    pattern, count = transfer.pattern, elements(transfer.buffer)
    if pattern is None or count is None or min(pattern.sizes, default=1) < 1:
        return
    lowest, highest = pattern.span
    if lowest < 0 or highest >= count:
        index = lowest if lowest < 0 else highest
        yield CheckError(
            f"the transfer reaches element {index:,} of a buffer of {count:,} (0 to {count - 1:,})",
            fabric.where(transfer.op),
            f"offset {pattern.offset}, sizes {list(pattern.sizes)}, strides {list(pattern.strides)}",
        )


def _check_parameter(fabric: Fabric, op: Op) -> Iterator[CheckError]:
    """Check that a run-time parameter is written into a buffer that is there, inside it."""
    name = reference(op, "buffer")
    buffers = {symbol(each): each for each in fabric.named("aie.buffer")}
    buffer = buffers.get(name)
    if buffer is None:
        names = [each for each in buffers if each is not None]
        yield CheckError(f"there is no aie.buffer @{name}", fabric.where(op), did_you_mean(name, names))
        return
    count = elements(attributes.memref(buffer.results[0].type))
    index = number(op, "index", 0)
    if count is not None and not 0 <= index < count:
        yield CheckError(f"index {index} is outside of @{name}, which has {count} elements", fabric.where(op))
