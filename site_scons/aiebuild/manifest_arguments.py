"""The arguments of a design's runtime sequences, as its module says them: type, shape, size, and direction.

An argument is written where the sequence moves data from the array into it, and read where it moves data out of it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.manifest import Argument, Sequence
from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import MM2S, S2MM, bits, fabrics, symbol
from aiebuild.mlir.transfers import MEMCPY, TASK_FOR, TASKS, ends, transfers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.mlir.fabric import Fabric
    from aiebuild.mlir.ir import Module, Op, Value
    from aiebuild.mlir.transfers import End, Transfer

_KNOWN_OPS = frozenset({MEMCPY, *TASKS, "aie.dma_bd"})
"""Ops that say which way they move an argument's data."""
_VIEWS = ("memref.", "builtin.unrealized_conversion_cast")
"""Ops whose result is a part of their first operand."""


def sequences(module: Module, names: Mapping[str, str], insts: Mapping[str, str] | None = None) -> tuple[Sequence, ...]:
    """Return the runtime sequences of a module with their arguments.

    Args:
        module: the checked module, in the form of `aiebuild.mlir.normalise`.
        names: names and meanings of the arguments in their order, from the contract; missing ones are called
            `arg0`, `arg1`, ….
        insts: the file of each sequence's instruction stream, by the sequence's name.

    Raises:
        MlirError: an argument is not a memref of known shape.
    """
    given = list(names.items())
    return tuple(
        Sequence(symbol(op) or "", (insts or {}).get(symbol(op) or "", ""), _arguments(fabric, op, given))
        for fabric in fabrics(module)
        for op in fabric.sequences
    )


def _arguments(fabric: Fabric, sequence: Op, names: list[tuple[str, str]]) -> tuple[Argument, ...]:
    blocks = sequence.regions[0].blocks if sequence.regions else []
    values = blocks[0].arguments if blocks else []
    directions = _directions(fabric, sequence, values)
    found = []
    for index, value in enumerate(values):
        name, meaning = names[index] if index < len(names) else (f"arg{index}", "")
        element, shape, size = _measure(fabric, sequence, value)
        found.append(Argument(name, directions[index], element, shape, size, meaning))
    return tuple(found)


def _measure(fabric: Fabric, sequence: Op, value: Value) -> tuple[str, tuple[int, ...], int]:
    """Return element type, shape and bytes of an argument; a number is an array without dimensions."""
    if not value.type.startswith("memref"):
        width = bits(value.type)
        if width is None:
            raise MlirError(f"an argument of type {value.type} has no known size", fabric.where(sequence))
        return value.type, (), (width + 7) // 8
    memref = attributes.memref(value.type)
    width = bits(memref.element)
    shape = tuple(size for size in memref.shape if size is not None)
    if width is None or len(shape) != len(memref.shape):
        hint = "a memref with a number for each dimension"
        raise MlirError(f"an argument of type {value.type} has no known size", fabric.where(sequence), hint)
    return memref.element, shape, (prod(shape) * width + 7) // 8


def _directions(fabric: Fabric, sequence: Op, values: list[Value]) -> list[str]:
    """Return `in`, `out`, `inout`, or nothing where the sequence does not say it, for each argument."""
    places = {id(value): index for index, value in enumerate(values)}
    moved: dict[int, set[int | None]] = {index: set() for index in range(len(values))}
    known = ends(fabric)
    for transfer in transfers(sequence):
        index = _source(transfer.op.operands[0], places)
        if index is not None:
            moved[index].add(_direction(transfer, known))
    for index in _unknown_uses(sequence, places):
        moved[index].add(None)
    return [_word(each) for each in moved.values()]


def _word(directions: set[int | None]) -> str:
    if None in directions:
        return ""
    return {frozenset({MM2S}): "in", frozenset({S2MM}): "out", frozenset({MM2S, S2MM}): "inout"}.get(
        frozenset(each for each in directions if each is not None), ""
    )


def _direction(transfer: Transfer, known: Mapping[str, End]) -> int | None:
    """Return which way a transfer goes: by its end, or by the channel of the task that it belongs to."""
    if transfer.end in known:
        return known[transfer.end].direction
    task = transfer.op.parent_op
    while task is not None and task.name not in TASKS:
        task = task.parent_op
    if task is None or task.name == TASK_FOR:
        return None
    text = task.get("direction")
    return attributes.integer(text) if text is not None else None


def _source(value: Value, places: Mapping[int, int]) -> int | None:
    """Return the argument that a value is, or is a view of; None for another one."""
    while id(value) not in places:
        owner = value.owner
        name = getattr(owner, "name", "")
        operands = getattr(owner, "operands", [])
        if not name.startswith(_VIEWS) or not operands:
            return None
        value = operands[0]
    return places[id(value)]


def _unknown_uses(sequence: Op, places: Mapping[int, int]) -> Iterator[int]:
    """Yield the arguments that are used by ops of which it is not known whether they read or write."""
    for op in sequence.walk():
        if op.name in _KNOWN_OPS or op.name.startswith(_VIEWS):
            continue
        for operand in op.operands:
            index = _source(operand, places)
            if index is not None:
                yield index
