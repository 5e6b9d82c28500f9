"""Finding what is to be outlined: the function, its stages, and what is wrong with the requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import did_you_mean
from aiebuild.mlir import attributes
from aiebuild.mlir.effects import BOUND, is_terminator
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.symbols import is_declaration, symbol_name, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.errors import Location
    from aiebuild.mlir.ir import Module, Op

STAGE_NAMES = ("stage_name", "op_name")
"""The entries that make an op a stage."""


@dataclass(eq=False)
class Part:
    """Ops of one block, one behind the other, that become one function."""

    request: str | tuple[str, str]
    ops: list[Op]
    size: int
    where: Location

    @property
    def stages(self) -> tuple[str, ...]:
        """The names that were asked for."""
        return (self.request,) if isinstance(self.request, str) else tuple(dict.fromkeys(self.request))

    @property
    def first(self) -> str:
        """The name of the first stage."""
        return self.stages[0]

    def replaced(self, old: list[Op], new: list[Op]) -> None:
        """Take in that some ops, all of them of this part, gave way to others."""
        if self.ops is old or old[0] not in self.ops:
            return
        at = self.ops.index(old[0])
        self.ops[at : at + len(old)] = new


@dataclass(frozen=True)
class Found:
    """The function that parts are cut out of, the table that it is in, and the parts."""

    table: Op
    function: Op
    parts: tuple[Part, ...]


def find(module: Module, func: str, what: Sequence[str | tuple[str, str]], problems: list[Problem]) -> Found | None:
    """Return what is asked for; add to `problems` all that is wrong with it."""
    function = _function(module, func, problems)
    if function is None:
        return None
    search = _Search(module, function, func, problems)
    parts = [part for request in what if (part := search.part(request)) is not None]
    problems += _overlaps(module, parts)
    return Found(table_of(function, module), function, tuple(parts))


def stage_name(op: Op) -> str | None:
    """Return the name of the stage that an op is."""
    for entry in STAGE_NAMES:
        text = op.get(entry)
        if text is not None and text.startswith('"'):
            return attributes.string(text)
    return None


def _function(module: Module, func: str, problems: list[Problem]) -> Op | None:
    """Return the function of that name, wherever it is."""
    known = {path: op for op in module.walk() if op.name == "func.func" for path in _paths(op)}
    matching = [op for op in module.walk() if op.name == "func.func" and func in _paths(op)]
    where = module.where(module.op)
    if not matching:
        names = [symbol_name(op) or "" for op in known.values()]
        hint = did_you_mean(func, set(names)) or "the module has no functions"
        problems.append(Problem("E-OUTLINE-NOFUNC", f"there is no function @{func}", where, hint))
    elif len(matching) > 1:
        places = " and ".join(str(module.where(op)) for op in matching)
        message = f"there are {len(matching)} functions @{func}"
        problems.append(Problem("E-OUTLINE-AMBIGUOUS", message, where, f"at {places}: write table::{func}"))
    elif is_declaration(matching[0]):
        message = f"@{func} is only declared"
        problems.append(Problem("E-OUTLINE-NOFUNC", message, module.where(matching[0]), "link its definition first"))
    else:
        return matching[0]
    return None


def _paths(function: Op) -> tuple[str, ...]:
    """Return the name of a function, and its paths through the tables around it."""
    paths = [symbol_name(function) or ""]
    above = function.parent_op
    while above is not None:
        name = symbol_name(above)
        if name:
            paths.append(f"{name}::{paths[-1]}")
        above = above.parent_op
    return tuple(paths)


class _Search:
    """Looking for stages in one function."""

    def __init__(self, module: Module, function: Op, func: str, problems: list[Problem]) -> None:
        self._module, self._function, self._func, self._problems = module, function, func, problems
        self._stages: dict[str, list[Op]] = {}
        for op in function.walk():
            name = stage_name(op) if op is not function else None
            if name is not None:
                self._stages.setdefault(name, []).append(op)

    def part(self, request: str | tuple[str, str]) -> Part | None:
        """Return the part that a request means."""
        ends = [self._stage(name) for name in ((request,) if isinstance(request, str) else request)]
        if None in ends:
            return None
        first, last = ends[0], ends[-1]
        assert first is not None  # checked above
        assert last is not None  # the same
        ops = self._range(first, last)
        if ops is None:
            return None
        if (outlined := self._outlined(first)) and first is last:
            message = f"{stage_name(first)!r} was outlined into @{outlined} already"
            self._refuse("NOSTAGE", message, first, self._others(""))
            return None
        size = sum(1 for op in ops for _ in op.walk())
        return Part(request, ops, size, self._module.where(first))

    def _stage(self, name: str) -> Op | None:
        """Return the one stage of that name."""
        found = self._stages.get(name, [])
        if len(found) == 1:
            return found[0]
        if not found:
            self._refuse("NOSTAGE", f"@{self._func} has no stage {name!r}", self._function, self._elsewhere(name))
        else:
            places = " and ".join(str(self._module.where(op)) for op in found)
            self._refuse("AMBIGUOUS", f"@{self._func} has {len(found)} stages {name!r}", found[1], f"at {places}")
        return None

    def _outlined(self, op: Op) -> str:
        """Return the function that a stage became, if the op is a call of it; empty otherwise."""
        callee = (op.get("callee") or "").removeprefix("@").strip('"') if op.name == "func.call" else ""
        function = next((each for each in table_of(op, self._module).body if symbol_name(each) == callee), None)
        name = stage_name(op)
        return callee if function and any(stage_name(each) == name for each in function.walk()) else ""

    def _elsewhere(self, name: str) -> str:
        """Say in which other function a stage is, else which stages there are."""
        for op in self._module.walk():
            if stage_name(op) == name and (function := _function_of(op)) is not self._function and function is not None:
                return f"it was outlined into @{symbol_name(function)}"
        return self._others(name)

    def _others(self, name: str) -> str:
        return did_you_mean(name, self._stages) or "mark ops with stage_name"

    def _range(self, first: Op, last: Op) -> list[Op] | None:
        """Return the ops from one to the other."""
        block, other = first.parent, last.parent
        names = f"{stage_name(first)!r} and {stage_name(last)!r}"
        if block is None or other is None or block is not other:
            same = block is not None and other is not None and block.parent is other.parent
            message = f"{names} are in different {'blocks' if same else 'regions'}"
            self._refuse("CFG" if same else "BLOCK", message, last, "a range stays in one block")
            return None
        start, end = block.ops.index(first), block.ops.index(last)
        if start > end:
            hint = f"write ({stage_name(last)!r}, {stage_name(first)!r})"
            self._refuse("ORDER", f"{stage_name(last)!r} comes before {stage_name(first)!r}", first, hint)
            return None
        ops = block.ops[start : end + 1]
        if any(is_terminator(op) or op.successors or op.name in BOUND for op in ops):
            self._refuse("CFG", f"the part {names} holds what belongs to the op around it", ops[-1], "end before it")
            return None
        return ops

    def _refuse(self, code: str, message: str, op: Op, hint: str) -> None:
        self._problems.append(Problem(f"E-OUTLINE-{code}", message, self._module.where(op), hint))


def _function_of(op: Op) -> Op | None:
    """Return the function that an op is in."""
    above = op.parent_op
    while above is not None and above.name != "func.func":
        above = above.parent_op
    return above


def _overlaps(module: Module, parts: Sequence[Part]) -> Iterator[Problem]:
    """Yield an error for each two parts that share an op, neither being inside the other."""
    contents = [{op for each in part.ops for op in each.walk()} for part in parts]
    for number, part in enumerate(parts):
        for other in range(number):
            shared = contents[number] & contents[other]
            inside = contents[number] < contents[other] or contents[other] < contents[number]
            if shared and not inside:
                message = f"{_shown(parts[other])} and {_shown(part)} overlap"
                place = module.where(next((op for op in part.ops if op in shared), part.ops[0]))
                hint = "let one contain the other, or let them be apart"
                yield Problem("E-OUTLINE-OVERLAP", message, place, hint)


def _shown(part: Part) -> str:
    """Return a request in words."""
    if isinstance(part.request, str):
        return repr(part.request)
    return f"the range from {part.request[0]!r} to {part.request[1]!r}"
