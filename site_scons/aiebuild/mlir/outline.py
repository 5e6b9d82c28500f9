"""Outlining: parts of a function that the recipe names become functions of their own.

A part is a stage, an op with a `stage_name`, or all ops from one stage to another. The text of the algorithm is not
touched: what becomes a function is said outside of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.mlir.copying import adopt, copy_module
from aiebuild.mlir.effects import Written
from aiebuild.mlir.identity import NAMES_OF_STAGES, fingerprint
from aiebuild.mlir.outline_cut import Cut
from aiebuild.mlir.outline_find import Found, find
from aiebuild.mlir.problems import Problem, ProblemsError, refuse
from aiebuild.mlir.symbols import symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.ir import Block, Module, Op

Request = str | tuple[str, str]
"""A stage, or the first and the last stage of a range."""


@dataclass(frozen=True)
class Outlined:
    """A part that became a call.

    Attributes:
        request: what was asked for.
        function: the symbol that is called; that of an earlier one where both are equal.
        inputs: types of the arguments, in order.
        results: types of the results.
        is_new: whether the function was made for this part.
    """

    request: Request
    function: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True)
class OutlineResult:
    """The module with the new functions, one record for each request, and what deserves a look."""

    module: Module
    parts: tuple[Outlined, ...]
    warnings: tuple[Problem, ...] = ()


def outline(
    module: Module,
    func: str = "top",
    what: Sequence[Request] = (),
    *,
    intermediates: str = "args",
    dedupe: bool = True,
    name: str | None = None,
    views: str = "result",
) -> OutlineResult:
    """Return the module with parts of a function made into functions of their own.

    Args:
        module: in the generic form; it is not changed.
        func: the function, by its name or its path (`dev::top`).
        what: stages, or pairs of the first and the last one of a range. Names mean what they mean in the given
            module: a part may lie inside another one.
        intermediates: `args`: a buffer that is allocated before the part is passed to it; `local`: it moves into the
            function, if nothing else uses it.
        dedupe: equal parts become one function.
        name: the name of the function, where one part is asked for; `Stage_<first>[_<last>]` if None.
        views: `result`: a view of a buffer that is made in the part and used after it is returned where it cannot be
            made before; `error`: that is refused, for targets without such results.

    Raises:
        ProblemsError: something is wrong (codes `E-OUTLINE-...`); all requests are checked before anything is done.
    """
    problems = list(_option_problems(what, intermediates, name, views))
    copy = copy_module(module)
    found = find(copy, func, what, problems)
    refuse(problems)
    assert found is not None  # without it, there is a problem
    return _Outliner(copy, found, dedupe=dedupe, local=intermediates == "local", views=views, name=name).run()


def _option_problems(what: Sequence[Request], intermediates: str, name: str | None, views: str) -> list[Problem]:
    """Return what is wrong with the options."""
    problems = []
    if intermediates not in ("args", "local"):
        hint = "one of: args, local"
        problems.append(Problem("E-OUTLINE-OPTION", f"intermediates={intermediates!r} is not known", None, hint))
    if views not in ("result", "error"):
        problems.append(Problem("E-OUTLINE-OPTION", f"views={views!r} is not known", None, "one of: result, error"))
    if name is not None and len(what) != 1:
        message = f"name={name!r} is given for {len(what)} parts"
        problems.append(Problem("E-OUTLINE-NAME", message, None, "a name belongs to one part"))
    return problems


class _Outliner:
    """The work on one copy of a module."""

    def __init__(
        self, module: Module, found: Found, *, dedupe: bool, local: bool, views: str, name: str | None
    ) -> None:
        self._module, self._found = module, found
        self._dedupe, self._local, self._views = dedupe, local, views
        self._taken = set(symbols(found.table))
        self._written = Written(found.table)
        self._known: dict[str, str] = {}
        self._problems: list[Problem] = []
        self._warnings: list[Problem] = []
        self._name = name

    def run(self) -> OutlineResult:
        """Do all requests, inner ones first."""
        parts = self._found.parts
        names = self._names()
        made: dict[int, tuple[Outlined, Op | None]] = {}
        for number in sorted(range(len(parts)), key=lambda number: parts[number].size):
            made[number] = self._one(number, names[number])
        refuse(self._problems)
        block, before = self._place()
        for number in range(len(parts)):
            function = made[number][1]
            if function is not None:
                adopt(block, block.ops.index(before), function)
        return OutlineResult(self._module, tuple(made[n][0] for n in range(len(parts))), tuple(self._warnings))

    def _one(self, number: int, name: str) -> tuple[Outlined, Op | None]:
        """Cut one part out, put a call in its place, and return what came of it and the new function."""
        part = self._found.parts[number]
        cut = Cut(self._module, self._found.function, part, self._written, local=self._local, views=self._views)
        function = cut.function(name)
        self._problems += cut.problems
        self._warnings += cut.warnings
        inputs = tuple(value.type for value in cut.arguments)
        results = tuple(value.type for value in cut.results)
        text = fingerprint(function, NAMES_OF_STAGES)
        same = self._known.setdefault(text, name) if self._dedupe else name
        self._written.add(name, function)
        call = cut.replace(same, stage=part.first)
        for other in self._found.parts:
            other.replaced(part.ops, [*cut.hoisted, call])
        return Outlined(part.request, same, inputs, results, same == name), function if same == name else None

    def _place(self) -> tuple[Block, Op]:
        """Return the block of the table, and the op in it that is the function, or that holds it."""
        op = self._found.function
        while op.parent_op is not None and op.parent_op is not self._found.table:
            op = op.parent_op
        assert op.parent is not None  # it is inside the table
        return op.parent, op

    def _names(self) -> list[str]:
        """Return a free name for each part, in the order of the requests."""
        names = []
        for part in self._found.parts:
            wanted = self._name or "_".join(["Stage", *part.stages])
            name, count = wanted, 0
            while name in self._taken:
                if self._name is not None:
                    hint = "choose another one, or leave it out"
                    raise ProblemsError([Problem("E-OUTLINE-NAME", f"@{wanted} is taken", part.where, hint)])
                name, count = f"{wanted}_{count}", count + 1
            self._taken.add(name)
            names.append(name)
        return names
