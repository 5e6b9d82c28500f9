"""Checks of all references of a module: what is not defined, not used, or goes round in a circle."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.mlir.attributes import string
from aiebuild.mlir.calls import is_call, undefined
from aiebuild.mlir.fabric import where
from aiebuild.mlir.facts import link_with
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.symbols import is_declaration, is_function, is_private, symbol_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from aiebuild.mlir.ir import Module, Op
    from aiebuild.mlir.lookup import Scopes

_RUNTIME = re.compile(
    r"print\w*|_mlir_\w+|llvm\..*|malloc|calloc|free|aligned_alloc|mem(cpy|set|move)|abort|exit|puts|printf|rtclock"
    r"|(sin|cos|tan|exp|exp2|log|log2|log10|pow|sqrt|tanh|erf|floor|ceil|fabs|fma|fmod|round|cbrt|atan2?)f?"
)
"""Names that MLIR's runner libraries, the C library or LLVM itself provide."""


def check_uses(scopes: Scopes) -> Iterator[Problem]:
    """Yield an error for each reference, other than of a call, to what is not defined where it is looked up."""
    for use, meaning in scopes.uses:
        if meaning is None and not is_call(use):
            yield undefined(scopes, use, f"is named by {use.op.name}, but nothing defines it")


def check_declarations(scopes: Scopes, *, final: bool, runtime: Collection[str]) -> Iterator[Problem]:
    """Yield a finding for each function that is used and declared, but that nothing will define.

    Args:
        scopes: of the module.
        final: nothing more will be linked: such a function is an error.
        runtime: names that are defined when the program runs, besides those that are known.
    """
    used = scopes.used
    for op in scopes.module.walk():
        name = symbol_name(op) if is_function(op) else None
        if name is None or not is_declaration(op) or op not in used or _is_provided(op, name, runtime):
            continue
        yield Problem(
            "E-DECL-UNDEF" if final else "W-DECL-UNDEF",
            f"@{name} is declared and used, but nothing defines it",
            where(scopes.module, op),
            scopes.elsewhere(name) or 'name the object that defines it (link_with = "kernel.o"), or link its module',
        )


def check_unused(scopes: Scopes) -> Iterator[Problem]:
    """Yield a warning for each private function or global that nothing refers to."""
    used = scopes.used
    for table in scopes.tables:
        for name, op in scopes.symbols(table).items():
            counts = is_function(op) or op.name.endswith(".global")
            if counts and is_private(op) and op not in used:
                yield Problem(
                    "W-UNUSED-PRIVATE",
                    f"@{name} is private, and nothing refers to it",
                    where(scopes.module, op),
                )


def check_recursion(scopes: Scopes, *, refused: bool) -> Iterator[Problem]:
    """Yield a finding for each group of functions that call each other in a circle; an error if it is refused."""
    for cycle in _cycles(_callees(scopes)):
        path = " -> ".join(f"@{symbol_name(op)}" for op in (*cycle, cycle[0]))
        yield Problem(
            "E-RECURSION" if refused else "I-RECURSION",
            f"recursion: {path}",
            where(scopes.module, cycle[0]),
            "the stack of a core is small: write a loop" if refused else "",
        )


def files_named(module: Module) -> tuple[str, ...]:
    """Return the files that ops name by `link_with` and `elf_file`, sorted: they are inputs of a build."""
    texts = (op.get(entry) for op in module.walk() for entry in ("link_with", "elf_file"))
    return tuple(sorted({string(text) for text in texts if text is not None and text.startswith('"')}))


def _is_provided(op: Op, name: str, runtime: Collection[str]) -> bool:
    """Tell whether something outside MLIR defines a declared function."""
    if link_with(op) or name in runtime or _RUNTIME.fullmatch(name):
        return True
    device = op.parent_op
    # Cores may name the file for all that they call: the older form, which is checked with the cores.
    return device is not None and device.name == "aie.device" and any(link_with(core) for core in device.body)


def _callees(scopes: Scopes) -> dict[Op, list[Op]]:
    """Return the functions that each function refers to, in the order of the text, each once."""
    found: dict[Op, dict[Op, None]] = {op: {} for op in scopes.module.walk() if is_function(op)}
    for use, meaning in scopes.uses:
        if meaning is None or meaning not in found:
            continue
        above: Op | None = use.op
        while above is not None:
            if above in found and above is not meaning.parent_op:
                found[above][meaning] = None
            above = above.parent_op
    return {op: list(callees) for op, callees in found.items()}


def _cycles(calls: dict[Op, list[Op]]) -> Iterator[list[Op]]:
    """Yield the shortest path round each group of functions that reach each other, in the order of the text."""
    groups = _groups(calls)
    order = {op: number for number, op in enumerate(calls)}
    for group in sorted(groups, key=lambda group: min(order[op] for op in group)):
        yield _path_back(calls, min(group, key=lambda op: order[op]), group)


def _groups(calls: dict[Op, list[Op]]) -> list[set[Op]]:
    """Return the strongly connected groups that hold a circle (Tarjan's algorithm, without recursion)."""
    low: dict[Op, int] = {}
    number: dict[Op, int] = {}
    stack: list[Op] = []
    unfinished: set[Op] = set()
    groups: list[set[Op]] = []
    for start, first in calls.items():
        waiting = [(start, iter(first))] if start not in number else []
        while waiting:
            op, callees = waiting[-1]
            if op not in number:
                number[op] = low[op] = len(number)
                stack.append(op)
                unfinished.add(op)
            callee = next(callees, None)
            if callee is None:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[op])
                if low[op] == number[op]:
                    groups.append(set(stack[stack.index(op) :]) if stack[-1] is not op else {op})
                    del stack[-len(groups[-1]) :]
                    unfinished -= groups[-1]
            elif callee not in number:
                waiting.append((callee, iter(calls[callee])))
            elif callee in unfinished:
                low[op] = min(low[op], number[callee])
    return [group for group in groups if len(group) > 1 or any(op in calls[op] for op in group)]


def _path_back(calls: dict[Op, list[Op]], start: Op, group: set[Op]) -> list[Op]:
    """Return the shortest way from an op of a group back to itself."""
    came: dict[Op, Op] = {}
    waiting = [start]
    for op in waiting:
        if start in calls[op]:
            path = [op]
            while path[-1] is not start:
                path.append(came[path[-1]])
            return path[::-1]
        for callee in calls[op]:
            if callee in group and callee not in came:
                came[callee] = op
                waiting.append(callee)
    return [start]
