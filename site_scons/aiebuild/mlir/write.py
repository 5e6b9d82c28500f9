"""Writing a module as canonical generic text: values numbered in the order of the text, names of entries sorted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.errors import Location
from aiebuild.mlir.locations import location_text

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Block, Module, Op, Region, Successor, Value

_BARE_NAME = re.compile(r"[A-Za-z_][\w$.]*")


def write(module: Module, *, locations: bool = False) -> str:
    """Return the module as generic text, with a line end after it.

    Two modules that differ only in the names of values and blocks, in the order of entries, in blanks or in comments
    give the same text; reading that text and writing it again gives it again.

    Args:
        module: what is written.
        locations: whether each op whose line is known ends with `loc("file":line:column)`.
    """
    writer = _Writer(module.file if locations else None)
    writer.number(module.op)
    writer.op(module.op, "")
    if module.resources:
        writer.lines += ["", module.resources.strip()]
    return "\n".join(writer.lines) + "\n"


class _Writer:
    """The lines so far, and the names that values and blocks have."""

    def __init__(self, file: str | None) -> None:
        self.lines: list[str] = []
        self._file = file
        self._names: dict[Value, str] = {}
        self._labels: dict[Block, str] = {}
        self._targets: set[Block] = set()
        self._results = 0
        self._arguments = 0

    def number(self, op: Op) -> None:
        """Name all values and blocks in and below an op, before any is written: uses may come before definitions."""
        if op.results:
            self._number_results(op)
        self._targets.update(successor.block for successor in op.successors)
        for region in op.regions:
            for number, block in enumerate(region.blocks):
                self._labels[block] = f"^bb{number}"
                for value in block.arguments:
                    self._names[value] = f"%arg{self._arguments}"
                    self._arguments += 1
                for inner in block.ops:
                    self.number(inner)

    def _number_results(self, op: Op) -> None:
        """Name the results of an op: `%3`, or `%3#0`, `%3#1` where it has several."""
        name = f"%{self._results}"
        self._results += 1
        if len(op.results) == 1:
            self._names[op.results[0]] = name
            return
        for index, value in enumerate(op.results):
            self._names[value] = f"{name}#{index}"

    def op(self, op: Op, indent: str) -> None:
        """Write an op and what is nested in it."""
        operands = ", ".join([self._names[value] for value in op.operands])
        start = f'{indent}{self._bound(op)}"{op.name}"({operands})'
        if op.successors:
            start += f"[{', '.join(self._successor(each) for each in op.successors)}]"
        if op.properties:
            start += f" <{{{_entries(op.properties)}}}>"
        end = f" {{{_entries(op.attributes)}}}" if op.attributes else ""
        end += f" : {_signature(op)}{self._location(op)}"
        if op.regions:
            self._regions(op, start, indent)
            self.lines.append(f"{indent}}}){end}")
        else:
            self.lines.append(start + end)

    def _regions(self, op: Op, start: str, indent: str) -> None:
        """Write the regions of an op without the end of the last one."""
        opening = f"{start} ({{"
        for region in op.regions:
            self.lines.append(opening)
            self._region(region, indent)
            opening = f"{indent}}}, {{"

    def _region(self, region: Region, indent: str) -> None:
        """Write the blocks of a region."""
        for block in region.blocks:
            if block.arguments or not block.ops or len(region.blocks) > 1 or block in self._targets:
                self.lines.append(f"{indent}{self._label(block)}:")
            for op in block.ops:
                self.op(op, indent + "  ")

    def _label(self, block: Block) -> str:
        """Return `^bb0(%arg0: i32)`."""
        if not block.arguments:
            return self._labels[block]
        arguments = ", ".join(f"{self._names[value]}: {value.type}" for value in block.arguments)
        return f"{self._labels[block]}({arguments})"

    def _bound(self, op: Op) -> str:
        """Return `%0 = `, `%0:2 = `, or nothing where there are no results."""
        if not op.results:
            return ""
        name = self._names[op.results[0]].partition("#")[0]
        return f"{name} = " if len(op.results) == 1 else f"{name}:{len(op.results)} = "

    def _successor(self, successor: Successor) -> str:
        """Return `^bb1` or `^bb1(%0, %1 : i32, i32)`."""
        label = self._labels[successor.block]
        if not successor.operands:
            return label
        names = ", ".join(self._names[value] for value in successor.operands)
        return f"{label}({names} : {', '.join(value.type for value in successor.operands)})"

    def _location(self, op: Op) -> str:
        """Return ` loc("file":line:column)`, or nothing where it is not known or not asked for."""
        if self._file is None:
            return ""
        if op.location is not None:
            return f" loc({op.location})"
        return "" if op.line is None else f" loc({location_text(Location(self._file, op.line, op.column))})"


def _entries(entries: dict[str, str]) -> str:
    """Return the entries of a dictionary, sorted by name."""
    return ", ".join([_entry(name, text) for name, text in sorted(entries.items())])


def _entry(name: str, text: str) -> str:
    """Return `name = text`, or the name alone for a unit."""
    shown = name if _BARE_NAME.fullmatch(name) else f'"{name}"'
    return shown if text == "unit" else f"{shown} = {text}"


def _signature(op: Op) -> str:
    """Return `(i32) -> i32`, results in parentheses unless there is exactly one that is not a function."""
    inputs = ", ".join([value.type for value in op.operands])
    if len(op.results) == 1 and not op.results[0].type.startswith("("):
        return f"({inputs}) -> {op.results[0].type}"
    return f"({inputs}) -> ({', '.join([value.type for value in op.results])})"
