"""Checks of names and calls: symbols, `func.call`, and the files that `link_with` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, Location, did_you_mean, nearest
from aiebuild.mlir import attributes
from aiebuild.mlir.fabric import fabrics, reference, symbol, where
from aiebuild.mlir.facts import external_calls, link_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Module, Op

_TABLES = ("builtin.module", "aie.device")
"""The ops that are symbol tables: a name is looked up in the nearest one, and nowhere else."""


def check_symbols(module: Module) -> Iterator[CheckError]:
    """Yield an error for each name that one symbol table defines twice.

    An `aie.device` without a name is `@main`, as in mlir-aie.
    """
    for table in _tables(module):
        first: dict[str, Op] = {}
        for op in table.body:
            name = symbol(op) or ("main" if op.name == "aie.device" else None)
            if name is None:
                continue
            if name in first:
                yield CheckError(
                    f"@{name} is defined twice",
                    where(module, op),
                    f"the first one is at {where(module, first[name])} ({first[name].name})",
                )
            first.setdefault(name, op)


def check_calls(module: Module) -> Iterator[CheckError]:
    """Yield an error for each `func.call` of what is not there, is no function, or has other types."""
    for call in module.walk():
        if call.name == "func.call":
            yield from _check_call(module, call)


def check_link_files(module: Module, declared: Sequence[str] | None, recipe: Location | None) -> Iterator[CheckError]:
    """Yield an error for each called declaration that no file defines, and each file that no recipe declares.

    Args:
        module: the design.
        declared: names of the files that the recipe links; None where there is no recipe to compare with.
        recipe: the line of the recipe, for the hint.
    """
    for op in module.walk():
        file = link_with(op) if op.name in ("func.func", "aie.core") else None
        if file is not None and declared is not None and file not in declared:
            yield CheckError(
                f"link_with names {file!r}, which the recipe does not declare",
                where(module, op),
                _declared_hint(file, declared, recipe),
            )
    yield from _check_undefined(module, declared)


def _check_undefined(module: Module, declared: Sequence[str] | None) -> Iterator[CheckError]:
    """Yield an error for each declaration that a core calls and that names no file."""
    reported: set[int] = set()
    for fabric in fabrics(module):
        for core in fabric.cores:
            for name, op in external_calls(fabric, core).items():
                if link_with(op) or link_with(core) or id(op) in reported:
                    continue
                reported.add(id(op))
                file = declared[0] if declared else "kernel.o"
                yield CheckError(
                    f"@{name} is called, but nothing defines it: its declaration names no file",
                    where(module, op),
                    f'name the object that defines it: attributes {{link_with = "{file}"}}',
                )


def _declared_hint(file: str, declared: Sequence[str], recipe: Location | None) -> str:
    """Return what would be right in place of a file that is not declared."""
    place = f" (declared at {recipe})" if recipe else ""
    if not declared:
        return f"the recipe links nothing{place}: give Design a link_with=[...] with the object"
    near = nearest(file, declared)
    start = f"did you mean {near!r}? " if near else ""
    return f"{start}declared files: {', '.join(declared)}{place}"


def _tables(module: Module) -> Iterator[Op]:
    """Yield the symbol tables, outer ones first."""
    yield module.op
    yield from (op for op in module.walk() if op.name in _TABLES)


def _table_of(op: Op, module: Module) -> Op:
    """Return the nearest symbol table around an op."""
    above = op.parent_op
    while above is not None and above.name not in _TABLES:
        above = above.parent_op
    return above or module.op


def _symbols(table: Op) -> dict[str, Op]:
    """Return the names that a table defines."""
    found: dict[str, Op] = {}
    for op in table.body:
        name = symbol(op)
        if name is not None:
            found.setdefault(name, op)
    return found


def _look_up(table: Op, path: str) -> Op | None:
    """Return the op that `a` or `a::b` names in a table."""
    first, _, rest = path.partition("::")
    found = _symbols(table).get(first)
    return found if found is None or not rest else _look_up(found, rest)


def _check_call(module: Module, call: Op) -> Iterator[CheckError]:
    """Check one call."""
    name = reference(call, "callee")
    table = _table_of(call, module)
    callee = _look_up(table, name)
    if callee is None:
        yield _undefined(module, call, table, name)
    elif callee.name != "func.func":
        yield CheckError(
            f"@{name} is not a function: it is an {callee.name}, defined at {where(module, callee)}",
            where(module, call),
            _functions_hint(table, name),
        )
    else:
        yield from _check_types(module, call, callee, name)


def _undefined(module: Module, call: Op, table: Op, name: str) -> CheckError:
    """Return the error of a call of what its symbol table does not have; it may be in another one."""
    for other in _tables(module):
        if other is table or _look_up(other, name) is None:
            continue
        return CheckError(
            f"@{name} is defined in another symbol table, {_describe(other)}, which this call does not see",
            where(module, call),
            _scope_hint(module, table, other, name),
        )
    return CheckError(
        f"@{name} is called, but not declared",
        where(module, call),
        _functions_hint(table, name) or f"declare it: func.func private @{name}(...)",
    )


def _scope_hint(module: Module, table: Op, other: Op, name: str) -> str:
    """Return how a function of another symbol table is reached from `table`."""
    if other.parent_op is table and symbol(other):
        return f"write @{symbol(other)}::@{name}, or move it to {_describe(table)}"
    return f"move it into {_describe(table)}" if table is not module.op else "move it to the module's level"


def _describe(table: Op) -> str:
    """Return a symbol table in words."""
    if table.name != "aie.device":
        return "the module's"
    return f"that of aie.device @{symbol(table) or 'main'}"


def _functions_hint(table: Op, name: str) -> str:
    """Return the nearest function of a table, or all of them."""
    return did_you_mean(name, [key for key, op in _symbols(table).items() if op.name == "func.func"])


def _check_types(module: Module, call: Op, callee: Op, name: str) -> Iterator[CheckError]:
    """Compare a call's types with the declaration's, position by position."""
    inputs, results = attributes.function_type(callee.get("function_type") or "")
    declared = where(module, callee)
    for what, wanted, given in (
        ("argument", inputs, [value.type for value in call.operands]),
        ("result", results, [value.type for value in call.results]),
    ):
        if len(wanted) != len(given):
            yield CheckError(
                f"@{name} has {_count(len(wanted), what)}, the call {len(given)}",
                where(module, call),
                f"declared at {declared} as {callee.get('function_type')}",
            )
            continue
        for position, (want, have) in enumerate(zip(wanted, given, strict=True)):
            if _squeeze(want) != _squeeze(have):
                yield CheckError(
                    f"{what} {position} of @{name} is {have} in the call, but {want} in its declaration",
                    where(module, call),
                    f"declared at {declared}{_cast_hint(want, have)}",
                )


def _squeeze(type_: str) -> str:
    """Return a type's text without spaces, which mean nothing in one."""
    return "".join(type_.split())


def _count(count: int, what: str) -> str:
    """Return `1 argument`, `2 arguments`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _cast_hint(want: str, have: str) -> str:
    """Name the op that turns one type into the other, where there is one."""
    if not (want.startswith("memref<") and have.startswith("memref<")):
        return ""
    wanted, given = attributes.memref(want), attributes.memref(have)
    if wanted.element != given.element:
        return ""
    if len(wanted.shape) < len(given.shape):
        return "; memref.collapse_shape joins dimensions"
    if len(wanted.shape) > len(given.shape):
        return "; memref.expand_shape divides a dimension"
    return "; memref.cast forgets or restores sizes" if None in (*wanted.shape, *given.shape) else ""
