"""A module as text that aiecc of any version reads.

Ops whose generic form has numbers that versions number differently are written in custom form, with names (devices,
ports, actions, bundles, directions); all others stay generic.
Any MLIR parser takes generic ops inside custom ones. The forms are those of `tests/golden/mlir`.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir.attributes import dictionary, function_type, integer, string, symbol
from aiebuild.mlir.scan import closing
from aiebuild.mlir.symbols import reference_text
from aiebuild.mlir.write import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.mlir.ir import Module

PORTS = ("Produce", "Consume")
ACTIONS = ("Acquire", "Release", "AcquireGreaterEqual")
DIRECTIONS = ("S2MM", "MM2S")
DMA = 1
"""The number of the bundle `DMA` (mlir-aie's `WireBundle`), the only one that our designs use."""

_OP = re.compile(r'(?P<indent> *)(?P<results>(?:%[\w:, %]+ = )?)"(?P<name>[\w.]+)"\((?P<operands>[^)]*)\)(?P<rest>.*)')


_OF_FUNCTIONS = frozenset({"function_type", "sym_name", "sym_visibility"})
"""What the custom text of a function says without dictionaries of arguments and results."""


def write_custom(module: Module) -> str:
    """Return the module as text for aiecc.

    Raises:
        MlirError: an op has a number that stands for something whose name is not known here, or lacks a property.
    """
    lines = write(module).split("\n")
    done: list[str] = []
    closers: list[tuple[str, str]] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        closed = _closed(line, closers)
        if closed is not None:
            done.append(closed)
        else:
            try:
                taken, text = _line(lines, position, closers)
            except (KeyError, IndexError) as error:
                raise MlirError(f"{line.strip()[:100]}: it lacks {error}, or has an unknown number") from None
            done.append(text)
            position += taken
        position += 1
    return "\n".join(done)


def _closed(line: str, closers: list[tuple[str, str]]) -> str | None:
    """Return the end of an open custom op, where this line is it."""
    if closers and line.startswith(f"{closers[-1][0]}}})"):
        return closers.pop()[1]
    return None


def _line(lines: list[str], position: int, closers: list[tuple[str, str]]) -> tuple[int, str]:
    """Return how many further lines an op took, and its text; an op with a region notes how it ends."""
    line = lines[position]
    match = _OP.fullmatch(line)
    if match is None:
        return 0, line
    name, indent = match["name"], match["indent"]
    entries, rest = _entries(match["rest"])
    operands = [word.strip() for word in match["operands"].split(",") if word.strip()]
    if name in _SIMPLE:
        return 0, f"{indent}{match['results']}{_SIMPLE[name](operands, entries, rest)}"
    if name == "func.func" and rest.endswith("({") and lines[position + 1].startswith(f"{indent}}})"):
        return 1, f"{indent}{_declaration(entries, lines[position + 1])}"
    if name == "func.func" and rest.endswith("({"):
        return _definition(lines, position, indent, entries, closers)
    if name == "aie.device":
        closers.append((indent, f"{indent}}}"))
        label = string(entries.get("sym_name", '"main"'))
        shown = "" if label == "main" else f" @{label}"
        return 0, f"{indent}aie.device({string(entries['device'])}){shown} {{"
    if name == "aie.core":
        said = ", ".join(f"{key} = {value}" for key, value in entries.items())
        closers.append((indent, f"{indent}}}{f' {{{said}}}' if said else ''}"))
        return 0, f"{indent}{match['results']}aie.core({operands[0]}) {{"
    if name == "aie.runtime_sequence":
        return _sequence(lines, position, indent, entries, closers)
    return 0, line


def _entries(rest: str) -> tuple[dict[str, str], str]:
    """Return the properties of an op and what follows them; successors stay with what follows."""
    start = rest.find("<{")
    if start < 0 or "({" in rest[:start]:
        return {}, rest
    end = closing(rest, start + 1)
    return dictionary(rest[start + 1 : end]), rest[:start] + rest[end + 1 :]


def _sequence(
    lines: list[str], position: int, indent: str, entries: dict[str, str], closers: list[tuple[str, str]]
) -> tuple[int, str]:
    name = string(entries.get("sym_name", '"sequence"'))
    shown = "" if name == "sequence" else f" @{name}"
    closers.append((indent, f"{indent}}}"))
    header = lines[position + 1].strip()
    if not header.startswith("^bb"):
        return 0, f"{indent}aie.runtime_sequence{shown}() {{"
    return 1, f"{indent}aie.runtime_sequence{shown}{header[header.index('(') : -1]} {{"


def _definition(
    lines: list[str], position: int, indent: str, entries: dict[str, str], closers: list[tuple[str, str]]
) -> tuple[int, str]:
    """Write the beginning of a function with a body; one with more than custom text has stays generic."""
    end = next(line for line in islice(lines, position + 1, None) if line.startswith(f"{indent}}})"))
    if entries.keys() - _OF_FUNCTIONS:
        return 0, lines[position]
    header = lines[position + 1].strip()
    taken = 1 if header.startswith("^bb") else 0
    arguments = header[header.index("(") : -1] if taken and "(" in header else "()"
    closers.append((indent, f"{indent}}}"))
    return taken, f"{indent}{_head(entries, arguments)}{_attributes(end)} {{"


def _declaration(entries: dict[str, str], end: str) -> str:
    inputs, _ = function_type(entries["function_type"])
    arguments = ", ".join(inputs)
    return f"{_head(entries, f'({arguments})')}{_attributes(end)}"


def _head(entries: dict[str, str], arguments: str) -> str:
    """Return a function's name and types."""
    _, results = function_type(entries["function_type"])
    given = f" -> ({', '.join(results)})" if results else ""
    visibility = "private " if entries.get("sym_visibility") == '"private"' else ""
    return f"func.func {visibility}{reference_text(string(entries['sym_name']))}{arguments}{given}"


def _attributes(end: str) -> str:
    """Return what the last line of a function says of it."""
    start = end.find("{")
    said = end[start : closing(end, start)] if start >= 0 else ""
    return f" attributes {said}" if said else ""


def _type_of_result(rest: str) -> str:
    return rest.rpartition(" -> ")[2]


def _acquire(_operands: list[str], entries: dict[str, str], rest: str) -> str:
    port = PORTS[integer(entries["port"])]
    fifo, size = symbol(entries["objFifo_name"]), integer(entries["size"])
    return f"aie.objectfifo.acquire @{fifo}({port}, {size}) : {_type_of_result(rest)}"


def _release(_operands: list[str], entries: dict[str, str], _rest: str) -> str:
    port = PORTS[integer(entries["port"])]
    return f"aie.objectfifo.release @{symbol(entries['objFifo_name'])}({port}, {integer(entries['size'])})"


def _use_lock(operands: list[str], entries: dict[str, str], _rest: str) -> str:
    return f"aie.use_lock({operands[0]}, {ACTIONS[integer(entries['action'])]}, {integer(entries['value'])})"


def _flow(operands: list[str], entries: dict[str, str], _rest: str) -> str:
    for end in ("source", "dest"):
        if integer(entries[f"{end}_bundle"]) != DMA:
            raise MlirError(f"aie.flow: the bundle {entries[f'{end}_bundle']} has no name here", hint="DMA is known")
    ends = [
        f"{operand}, DMA : {integer(entries[f'{end}_channel'])}"
        for operand, end in zip(operands, ("source", "dest"), strict=True)
    ]
    return f"aie.flow({', '.join(ends)})"


def _allocation(operands: list[str], entries: dict[str, str], _rest: str) -> str:
    direction, channel = DIRECTIONS[integer(entries["channel_dir"])], integer(entries["channel_index"])
    return f"aie.shim_dma_allocation @{string(entries['sym_name'])}({operands[0]}, {direction}, {channel})"


def _dma_start(_operands: list[str], entries: dict[str, str], rest: str) -> str:
    blocks = rest[rest.index("[") + 1 : rest.index("]")]
    direction, channel = DIRECTIONS[integer(entries["channel_dir"])], integer(entries["channel_index"])
    repeat = integer(entries.get("repeat_count", "0"))
    count = f", repeat_count = {repeat}" if repeat else ""
    return f"aie.dma_start({direction}, {channel}, {blocks}{count})"


def _call(operands: list[str], entries: dict[str, str], rest: str) -> str:
    return f"func.call {entries['callee']}({', '.join(operands)}){rest}"


_SIMPLE: dict[str, Callable[[list[str], dict[str, str], str], str]] = {
    "aie.objectfifo.acquire": _acquire,
    "aie.objectfifo.release": _release,
    "aie.use_lock": _use_lock,
    "aie.flow": _flow,
    "aie.shim_dma_allocation": _allocation,
    "aie.dma_start": _dma_start,
    "func.call": _call,
}
