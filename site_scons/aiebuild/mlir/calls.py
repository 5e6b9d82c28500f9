"""Checks of names and calls: symbols, calls, and the files that `link_with` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, Location, MlirError, nearest
from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import fabrics, where
from aiebuild.mlir.facts import first_calls, link_with
from aiebuild.mlir.lookup import Scopes
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.signatures import Signature, differences, read_signature, signature
from aiebuild.mlir.symbols import Use, is_function, symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Module, Op

_CALLS = {
    "func.call": ("callee", "func.func"),
    "func.constant": ("value", "func.func"),
    "llvm.call": ("callee", "llvm.func"),
    "llvm.invoke": ("callee", "llvm.func"),
    "async.call": ("callee", "async.func"),
    "tt.call": ("callee", "tt.func"),
}
"""Ops that name a function: the entry that does, and the kind of function that it must be."""


def check_symbols(scopes: Scopes) -> Iterator[Problem]:
    """Yield an error for each name that one symbol table defines twice.

    An `aie.device` without a name is `@main`, as in mlir-aie.
    """
    module = scopes.module
    for table in scopes.tables:
        first: dict[str, Op] = {}
        for op in table.body:
            name = symbol_name(op)
            if name is None:
                continue
            if name in first:
                yield Problem(
                    "E-SYM-DUP",
                    f"@{name} is defined twice",
                    where(module, op),
                    f"the first one is at {where(module, first[name])} ({first[name].name})",
                )
            first.setdefault(name, op)


def check_calls(scopes: Scopes) -> Iterator[CheckError]:
    """Yield an error for each call of what is not there, is no function, or has other types."""
    for op in scopes.module.walk():
        if op.name in _CALLS:
            yield from _check_call(scopes, op)


def is_call(use: Use) -> bool:
    """Tell whether `check_calls` looks at this reference."""
    return use.op.name in _CALLS and _CALLS[use.op.name][0] == use.entry


def check_link_files(
    module: Module,
    declared: Sequence[str] | None,
    recipe: Location | None,
    scopes: Scopes | None = None,
) -> Iterator[CheckError]:
    """Yield an error for each called declaration that no file defines, and each file that no recipe declares.

    Args:
        module: the design.
        declared: names of the files that the recipe links; None where there is no recipe to compare with.
        recipe: the line of the recipe, for the hint.
        scopes: the module's tables, with the other modules that hints may name.
    """
    for op in module.walk():
        file = link_with(op) if op.name in ("func.func", "aie.core") else None
        if file is not None and declared is not None and file not in declared:
            yield CheckError(
                f"link_with names {file!r}, which the recipe does not declare",
                where(module, op),
                _declared_hint(file, declared, recipe),
            )
    yield from _check_undefined(scopes or Scopes(module), declared)


def _check_undefined(scopes: Scopes, declared: Sequence[str] | None) -> Iterator[CheckError]:
    """Yield an error for each declaration that names no file, at the first call by a core."""
    reported: set[int] = set()
    for fabric in fabrics(scopes.module):
        for core in fabric.cores:
            for name, (op, call) in first_calls(fabric, core).items():
                if link_with(op) or link_with(core) or id(op) in reported:
                    continue
                reported.add(id(op))
                yield Problem(
                    "E-CALL-UNDEF",
                    f"@{name} is called, but nothing defines it: its declaration names no file",
                    where(scopes.module, call),
                    f"it is declared at {where(scopes.module, op)}; "
                    + (_misspelt(op) or scopes.elsewhere(name) or _how_to_name(declared)),
                )


def _misspelt(op: Op) -> str:
    """Return a hint, if the declaration has an attribute that is almost called `link_with`."""
    near = nearest("link_with", [name for name in op.attributes if "." not in name])
    return "" if near is None else f"it has `{near}`: did you mean link_with?"


def _how_to_name(declared: Sequence[str] | None) -> str:
    file = declared[0] if declared else "kernel.o"
    return f'name the object that defines it: attributes {{link_with = "{file}"}}'


def _declared_hint(file: str, declared: Sequence[str], recipe: Location | None) -> str:
    """Return what would be right in place of a file that is not declared."""
    place = f" (declared at {recipe})" if recipe else ""
    if not declared:
        return f"the recipe links nothing{place}: give Design a link_with=[...] with the object"
    near = nearest(file, declared)
    start = f"did you mean {near!r}? " if near else ""
    return f"{start}declared files: {', '.join(declared)}{place}"


def _check_call(scopes: Scopes, call: Op) -> Iterator[CheckError]:
    """Check one call."""
    entry, kind = _CALLS[call.name]
    text = call.get(entry)
    if text is None:
        return  # an indirect call: its callee is a value
    try:
        path = tuple(attributes.symbol(text).split("::"))
    except MlirError:
        path = (attributes.string(text),)
    use = Use(call, entry, path)
    callee = scopes.resolve(use)
    name = "::".join(path)
    if callee is None:
        yield undefined(scopes, use, "is called, but not declared")
    elif callee.name != kind and not (is_function(callee) and _is_foreign(callee)):
        yield Problem(
            "E-CALL-KIND",
            f"@{name} is not a function: it is an {callee.name}, defined at {where(scopes.module, callee)}"
            if not is_function(callee)
            else f"@{name} is a {callee.name}, which {call.name} cannot call: it calls {kind}",
            where(scopes.module, call),
            scopes.nearest(scopes.table_of(call), name) if not is_function(callee) else "",
        )
    else:
        yield from _check_types(scopes.module, call, callee, name)


def _is_foreign(callee: Op) -> bool:
    """Tell whether the function is of a dialect of which nothing is known here."""
    return callee.name not in {kind for _, kind in _CALLS.values()} | {"gpu.func"}


def undefined(scopes: Scopes, use: Use, what: str) -> Problem:
    """Return the error of a reference to what its symbol table does not have; it may be in another one."""
    module, table, name = scopes.module, scopes.table_of(use.op), "::".join(use.path)
    for other in scopes.tables:
        if other is table or scopes.look_up(other, use.path) is None:
            continue
        verb = "call" if is_call(use) else "reference"
        return Problem(
            "E-SYM-SCOPE",
            f"@{name} is defined in another symbol table, {_describe(other)}, which this {verb} does not see",
            where(module, use.op),
            _scope_hint(module, table, other, name),
        )
    hint = scopes.elsewhere(use.path[0]) or scopes.nearest(table, name, functions=is_call(use))
    return Problem(
        "E-CALL-UNDEF",
        f"@{name} {what}",
        where(module, use.op),
        hint or (f"declare it: func.func private @{name}(...)" if is_call(use) else ""),
    )


def _scope_hint(module: Module, table: Op, other: Op, name: str) -> str:
    """Return how a symbol of another table is reached from `table`."""
    if other.parent_op is table and symbol_name(other):
        return f"write @{symbol_name(other)}::@{name}, or move it to {_describe(table)}"
    return f"move it into {_describe(table)}" if table is not module.op else "move it to the module's level"


def _describe(table: Op) -> str:
    """Return a symbol table in words."""
    if table.parent is None:
        return "the module's"
    name = symbol_name(table)
    return f"that of {table.name} @{name}" if name else f"that of a {table.name} without a name"


def _check_types(module: Module, call: Op, callee: Op, name: str) -> Iterator[CheckError]:
    """Compare a call's types with the declaration's, position by position."""
    wanted = signature(callee)
    if wanted is None:
        return
    for difference in differences(name, wanted, *_given(call, wanted)):
        counted = " in the call, but " not in difference.message
        hint = f"declared at {where(module, callee)}"
        hint += f" as {wanted}" if counted else ""
        hint += f"; {difference.cast}" if difference.cast else ""
        yield Problem("E-CALL-TYPE", difference.message, where(module, call), hint)


def _given(call: Op, wanted: Signature) -> tuple[Sequence[str], Sequence[str]]:
    """Return the types that a call gives and takes; those of a `func.constant` are in the type of its result."""
    inputs, results = [value.type for value in call.operands], [value.type for value in call.results]
    if call.name == "func.constant":
        given = read_signature(results[0]) if results else None
        return (given.inputs, given.results) if given else (inputs, results)
    return inputs[: len(wanted.inputs)] if call.name == "llvm.invoke" else inputs, results
