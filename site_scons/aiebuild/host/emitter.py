"""Writing one function of the translated text: names, indentation, places, and the dispatch over ops.

A line that stands for an op ends in `#@ OP PLACE`: that is where messages about a running core take the user's line
from, so that nothing has to be tracked while it runs.
"""

from __future__ import annotations

import keyword
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.host import elements, ranges
from aiebuild.host.expressions import Operand, Result, Unsupported
from aiebuild.mlir import attributes
from aiebuild.mlir.ir import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.host.describe import Design
    from aiebuild.mlir.ir import Value

MARK = "#@"
_RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, "range", "bool", "abs", "float", "int", "None"))
_ACCESSED = {"memref.load": 0, "memref.store": 1}


class Unit:
    """What the functions of one translated text share."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.reader = design.reader
        self.sites: list[str] = []
        self.constants: dict[tuple[str, str], str] = {}
        self.blocking = _blocking(design)

    def site(self, op: Op, function: str) -> int:
        """Return the number of a call of a kernel; its text names the function and the line."""
        self.sites.append(f"{function} at {self.reader.where(op)}")
        return len(self.sites) - 1

    def constant(self, type_name: str, text: str) -> str:
        """Return the name of a floating-point constant."""
        return self.constants.setdefault((type_name, text), f"_c{len(self.constants)}")


def _blocking(design: Design) -> frozenset[str]:
    """Return the functions with bodies that may wait: those acquire something, or call one that does."""
    waits: set[str] = set()
    calls: dict[str, set[str]] = {}
    for name, function in design.functions.items():
        ops = list(function.walk())
        calls[name] = {attributes.symbol(op.get("callee") or "@?") for op in ops if op.name == "func.call"}
        if any(may_wait(op) for op in ops):
            waits.add(name)
    while more := {name for name, called in calls.items() if name not in waits and called & waits}:
        waits |= more
    return frozenset(waits)


def may_wait(op: Op) -> bool:
    """Return whether the op itself can make a core wait."""
    if op.name == "aie.use_lock":
        return attributes.integer(op.get("action") or "0") != 1
    return op.name == "aie.objectfifo.acquire"


class Function:
    """The text of one function while it is written."""

    def __init__(self, unit: Unit, op: Op) -> None:
        self.unit = unit
        self.reader = unit.reader
        self.root = op
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[Value, str] = {}
        self.ranges: dict[Value, ranges.Range] = {}
        self.used: set[str] = set(_RESERVED)
        self.flat = {
            inner.operands[_ACCESSED[inner.name]] for inner in op.walk() if inner.name in _ACCESSED and inner.operands
        }
        self.fetches: dict[str, str] = {}

    # Names

    def fresh(self, wanted: str) -> str:
        """Return a name that is not used in this function yet; names of values never start with `_`."""
        base = re.sub(r"\W", "_", wanted, flags=re.ASCII).strip("_") or "v"
        # `function_...` are the names of the text's own functions.
        base = f"v{base}" if base[0].isdigit() or base.startswith("function_") else base
        name, number = base, 1
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        return name

    def name(self, value: Value) -> str:
        """Give a value its name and return it."""
        self.names[value] = self.fresh(value.hint or "v")
        return self.names[value]

    def share(self, value: Value, name: str) -> None:
        """Let a value have the name of another one: a loop's result that of the value it carries."""
        self.names[value] = name

    def text(self, value: Value) -> str:
        """Return the text that stands for a value: its name, or its number."""
        found = self.names.get(value)
        if found is not None:
            return found
        if isinstance(value.owner, Op):
            raise self.reader.unsupported(value.owner)
        raise MlirError(f"the block argument `%{value.hint}` is not known on the host")

    def operand(self, value: Value) -> Operand:
        """Return a value as part of an expression."""
        bits = elements.width(value.type)
        interval = self.ranges.get(value, ranges.limits(bits) if bits else (0, 0))
        return Operand(self.text(value), value.type, interval)

    def fetched(self, expression: str, wanted: str) -> str:
        """Return the name of something that the function fetches once, at its start: a kernel, an end, a lock."""
        if expression not in self.fetches:
            self.fetches[expression] = f"_{self.fresh(wanted)}"
        return self.fetches[expression]

    # Lines

    def write(self, text: str, op: Op | None = None) -> None:
        """Write a line, marked with the op that it stands for."""
        mark = f"  {MARK} {op.name} {self.reader.where(op) or '?'}" if op is not None else ""
        self.lines.append(f"{'    ' * self.depth}{text}{mark}")

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Write lines one level deeper; an empty block gets its `pass`."""
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.write("pass")
        self.depth -= 1

    def assign(self, op: Op, result: Result) -> None:
        """Write the only result of an op."""
        value = op.results[0]
        self.write(f"{self.name(value)} = {result.text}", op)
        if elements.width(value.type):
            self.ranges[value] = result.range

    def assign_view(self, op: Op, text: str) -> None:
        """Write a result that is a memref."""
        value = op.results[0]
        self.write(f"{self.name(value)} = {text}", op)
        self.flatten(value)

    def flatten(self, value: Value) -> None:
        """Write the name by which the elements of a memref are reached, where any are."""
        if value in self.flat:
            self.write(f"_{self.names[value]}_flat = {self.names[value]}.flat")

    # Ops

    def body(self, ops: list[Op]) -> None:
        """Write a block."""
        for op in ops:
            self.op(op)

    def op(self, op: Op) -> None:
        """Write one op.

        Raises:
            MlirError: the host has no such op.
        """
        from aiebuild.host.dialects import find  # noqa: PLC0415 - the tables refer to this class

        emit = find(op.name)
        if emit is None:
            raise self.reader.unsupported(op)
        try:
            emit(self, op)
        except Unsupported:
            raise self.reader.unsupported(op) from None
