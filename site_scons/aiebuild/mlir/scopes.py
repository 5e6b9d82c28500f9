"""Names of values and blocks while MLIR text is read: regions nest, and a name may be used before it is defined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.errors import did_you_mean, nearest
from aiebuild.mlir.ir import Block, Op, Value

if TYPE_CHECKING:
    from aiebuild.mlir.cursor import Cursor


@dataclass
class _Scope:
    """What one region defines, and what it uses that is not defined yet."""

    shadowed: dict[str, list[Value] | None] = field(default_factory=dict)
    awaited: dict[tuple[str, int], tuple[Value, int]] = field(default_factory=dict)
    blocks: dict[str, tuple[Block, int]] = field(default_factory=dict)


class Names:
    """What names mean at the place that reading has reached.

    A name of an outer region may be defined anew in an inner one: which ops are closed to outer names depends on the
    dialect, and in those it is allowed.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._values: dict[str, list[Value]] = {}
        self._lines: dict[str, int] = {}
        self._scopes = [_Scope()]

    def enter(self) -> None:
        """Begin a region."""
        self._scopes.append(_Scope())

    def leave(self) -> None:
        """End a region.

        Raises:
            MlirError: a block is used in it that it does not define.
        """
        scope = self._scopes.pop()
        self._check_blocks(scope)
        for name, outer in scope.shadowed.items():
            if outer is None:
                del self._values[name]
            else:
                self._values[name] = outer
        if self._scopes:
            self._scopes[-1].awaited.update(scope.awaited)

    def finish(self) -> None:
        """End the text.

        Raises:
            MlirError: a value or a block is used that is not defined.
        """
        self._check_blocks(self._scopes[0])
        awaited = self._scopes[0].awaited
        if awaited:
            (name, _), (_, position) = min(awaited.items(), key=lambda item: item[1][1])
            self._cursor.fail(position, f"use of undefined value %{name}", self._hint(name))

    def block(self, label: str, position: int) -> Block:
        """Return the block of this name in this region; one yet to come, if it was not seen."""
        return self._scopes[-1].blocks.setdefault(label, (Block(label=label), position))[0]

    def use(self, name: str, index: int, position: int, type_: str) -> Value:
        """Return the value of this name.

        Raises:
            MlirError: its type is another one, or it has fewer results.
        """
        known = self._values.get(name)
        if known is None:
            return self._await(name, index, position, type_)
        if index >= len(known):
            self._cursor.fail(position, f"%{name} has {len(known)} results, so there is no %{name}#{index}")
        self._agree(name, known[index].type, type_, position)
        return known[index]

    def define(self, name: str, position: int, types: list[str], owner: Op | Block, first: int) -> list[Value]:
        """Return the new values of this name; `first` is the number of the first one at its owner.

        Raises:
            MlirError: the name is taken in this region, or was used with another type.
        """
        scope = self._scopes[-1]
        if name in scope.shadowed:
            self._cursor.fail(position, f"%{name} is defined twice, first in line {self._lines[name]}")
        values = [self._new(scope, name, index, type_) for index, type_ in enumerate(types)]
        for index, value in enumerate(values):
            value.hint, value.owner, value.index = name, owner, first + index
        scope.shadowed[name] = self._values.get(name)
        self._values[name] = values
        self._lines[name] = self._cursor.line_column(position)[0]
        return values

    def _check_blocks(self, scope: _Scope) -> None:
        """Check that the blocks that are used in a region are there."""
        for label, (block, position) in scope.blocks.items():
            if block.parent is None:
                known = [name for name, (other, _) in scope.blocks.items() if other.parent is not None]
                self._cursor.fail(position, f"block ^{label} is not defined in this region", did_you_mean(label, known))

    def _new(self, scope: _Scope, name: str, index: int, type_: str) -> Value:
        """Return a new value, or the one that its uses wait for."""
        if not scope.awaited or (name, index) not in scope.awaited:
            return Value(type_)
        value, used_at = scope.awaited.pop((name, index))
        self._agree(name, type_, value.type, used_at)
        value.type = type_
        return value

    def _await(self, name: str, index: int, position: int, type_: str) -> Value:
        """Return the value that stands for one yet to be defined."""
        for scope in reversed(self._scopes):
            if (name, index) in scope.awaited:
                awaited = scope.awaited[name, index][0]
                self._agree(name, awaited.type, type_, position)
                return awaited
        value = Value(type_, name, None, index)
        self._scopes[-1].awaited[name, index] = (value, position)
        return value

    def _agree(self, name: str, defined: str, used: str, position: int) -> None:
        """Check that a value is used with the type that it has, blanks aside."""
        if defined != used and defined.replace(" ", "") != used.replace(" ", ""):
            self._cursor.fail(position, f"%{name} has type {defined}, but is used as {used}")

    def _hint(self, name: str) -> str:
        """Return what was most likely meant by a name that is not defined."""
        if name in self._lines:
            return f"%{name} of line {self._lines[name]} cannot be seen here: it is inside another region"
        near = nearest(name, self._lines)
        return f"did you mean %{near}?" if near else ""
