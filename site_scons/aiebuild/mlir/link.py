"""Linking: the functions and globals of modules become part of another one, without clashes and without duplicates.

All is checked before anything is changed. Names are made of the content that they come from, so they depend neither
on the order of linking nor on what else is linked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import did_you_mean
from aiebuild.mlir.calls import check_symbols
from aiebuild.mlir.copying import Copier, adopt, copy_module
from aiebuild.mlir.link_attributes import check_attributes, join_attributes, strip_argument_attributes
from aiebuild.mlir.link_names import Naming, origin_text
from aiebuild.mlir.link_pieces import are_pieces, join_pieces
from aiebuild.mlir.link_plan import Plan, make_plan
from aiebuild.mlir.link_source import Import, Source
from aiebuild.mlir.lookup import Scopes
from aiebuild.mlir.problems import Problem, refuse
from aiebuild.mlir.rename import Renamer
from aiebuild.mlir.resources import join_resources, rename_blobs
from aiebuild.mlir.signatures import cast_hint, same_type, signature
from aiebuild.mlir.symbols import (
    is_declaration,
    make_private,
    set_symbol_name,
    set_visibility,
    symbol_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiebuild.errors import Location
    from aiebuild.mlir.ir import Module, Op


@dataclass(frozen=True)
class LinkResult:
    """What linking one code came to.

    Attributes:
        entry: the symbol by which its entry is called now; empty where none was asked for.
        inputs: types of the entry's arguments; those of a device are none.
        results: types of its results, always a tuple: also of one and of none.
        names: the old name to the new one, for each symbol that the code defines and that is part of the module.
        emitted: whether anything was added; False where all of it was there already.
    """

    entry: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    names: Mapping[str, str]
    emitted: bool


@dataclass(frozen=True)
class Linked:
    """A module with others linked into it, one result for each of them, and what deserves a look."""

    module: Module
    results: tuple[LinkResult, ...]
    warnings: tuple[Problem, ...] = ()


def link(
    main: Module,
    codes: Sequence[Module],
    entry: str | None = "main",
    *,
    names: str = "hash",
    needed_only: bool = False,
    merge_identical: bool = False,
    strip_arg_attrs: bool = False,
) -> Linked:
    """Return `main` with other modules linked into a copy of it.

    Args:
        main: the module that is linked into.
        codes: what is linked, in the generic form.
        entry: the symbol of each code that is to be called; None for libraries.
        names: `hash`: what a code defines is called `<old>_<key of the code>`; `keep`: private symbols are renamed, and
            only where they collide; `namespace:NS`: public ones become `NS.<old>`, private ones as with `keep`.
        needed_only: leave out what neither the entry nor the main module needs.
        merge_identical: with `keep`, two public definitions of one name are one where they are equal.
        strip_arg_attrs: leave out attributes of arguments and results, such as `tf.aliasing_output`.

    Raises:
        ProblemsError: something is wrong (codes `E-LINK-...`); all that is, at once.
    """
    if are_pieces([main, *codes]):
        return _joined(main, codes)
    copy = copy_module(main)
    results, warnings = link_into(
        copy,
        codes,
        entry,
        names=names,
        needed_only=needed_only,
        merge_identical=merge_identical,
        strip_arg_attrs=strip_arg_attrs,
    )
    return Linked(copy, results, warnings)


def link_into(
    main: Module,
    codes: Sequence[Module],
    entry: str | None = "main",
    *,
    table: Op | None = None,
    types: Sequence[str] | None = None,
    where: Location | None = None,
    names: str = "hash",
    needed_only: bool = False,
    merge_identical: bool = False,
    strip_arg_attrs: bool = False,
) -> tuple[tuple[LinkResult, ...], tuple[Problem, ...]]:
    """Link into `main` itself, which is not changed if anything is wrong; see `link`.

    Args:
        main: is changed.
        codes: see `link`.
        entry: see `link`.
        table: the symbol table of `main` that all of the code is put into; the module's, if none is given.
        types: those of the values that the entry will be called with; None where that is not known.
        where: the place of that call, for messages.
        names: see `link`.
        needed_only: see `link`.
        merge_identical: see `link`.
        strip_arg_attrs: see `link`.

    Raises:
        ProblemsError: see `link`.
    """
    naming = Naming.read(names, merge_identical=merge_identical)
    sources = _sources(codes)
    doubles = [problem for code in codes for problem in check_symbols(Scopes(code))]
    refuse([*doubles, *check_attributes(main, sources), *_entry_problems(sources, entry, types, where)])
    plan = make_plan(main, sources, naming, entry, table=table, needed_only=needed_only)
    refuse(plan.problems)
    main.resources = _join_resources(main, sources)
    for renamed, name, new in plan.renamed_in_main:
        _rename_in_main(renamed, name, new)
    for op, entry_name, text in plan.completed:
        op.attributes.setdefault(entry_name, text)
    for source in sources:
        join_attributes(main, source)
    for each in plan.imports:
        _emit(each, strip=strip_arg_attrs)
    return tuple(_result(plan, source, entry) for source in sources), tuple(plan.warnings)


def _sources(codes: Sequence[Module]) -> list[Source]:
    """Return the codes with their keys; one that is given twice is there twice, with the same key."""
    return [Source.of(code) for code in codes]


def _entry_problems(
    sources: Sequence[Source], entry: str | None, types: Sequence[str] | None, where: Location | None
) -> Iterator[Problem]:
    """Yield what is wrong with the entries."""
    if entry is None:
        return
    for source in sources:
        op = source.symbols.get(entry)
        place = source.module.where(source.module.op)
        if op is None:
            hint = did_you_mean(entry, source.symbols) or "it defines nothing"
            yield Problem("E-LINK-ENTRY", f"{source.label} has no entry @{entry}", place, hint)
        elif op.name != "aie.device" and signature(op) is None:
            message = f"the entry @{entry} is an {op.name}, which cannot be called"
            yield Problem("E-LINK-ENTRY", message, source.module.where(op), "an entry has a function_type")
        elif is_declaration(op):
            message = f"the entry @{entry} is only declared"
            yield Problem("E-LINK-ENTRY-DECL", message, source.module.where(op), "an entry needs a body")
        elif types is not None:
            yield from _type_problems(source, entry, op, types, where)


def _type_problems(
    source: Source, entry: str, op: Op, types: Sequence[str], where: Location | None
) -> Iterator[Problem]:
    """Yield where the types that the entry is called with are not its own."""
    wanted = signature(op)
    inputs = wanted.inputs if wanted else ()
    declared = f"@{entry} is defined at {source.module.where(op)}"
    if len(inputs) != len(types):
        message = f"@{entry} takes {len(inputs)} arguments, but {len(types)} are given"
        yield Problem("E-LINK-TYPE", message, where, f"{declared} as {wanted}")
        return
    for position, (want, have) in enumerate(zip(inputs, types, strict=True)):
        if not same_type(want, have):
            cast = cast_hint(want, have)
            message = f"argument {position} of @{entry}: expected {want}, got {have}"
            yield Problem("E-LINK-TYPE", message, where, f"{declared}; {cast}" if cast else declared)


def _emit(each: Import, *, strip: bool) -> None:
    """Add what one code brings to one table."""
    if not each.ops:
        return
    copier, renamer = Copier(), Renamer(each.names)
    block = each.block
    for op, made in zip(each.ops, copier.ops(list(each.ops)), strict=True):
        renamer.op(made)
        rename_blobs(made, each.source.blobs)
        if strip:
            strip_argument_attributes(made)
        old = symbol_name(op)
        declaration = each.fills.get(op)
        if old is not None and not is_declaration(op):
            _hide(made, each.names.get(old, old), declaration)
        if old is None or not is_declaration(op):
            made.attributes["link.origin"] = origin_text(each.source.key, old or "")
        if declaration is not None:
            at = block.ops.index(declaration)
            block.ops[at] = made
            made.parent = block
        else:
            adopt(block, each.end, made)


def _hide(made: Op, name: str, declaration: Op | None) -> None:
    """Name a copied symbol; hide it, or give it the visibility of the declaration that it stands for."""
    set_symbol_name(made, name)
    if declaration is None or declaration.name.startswith("llvm."):
        if declaration is None:
            make_private(made)
        return
    set_visibility(made, declaration.get("sym_visibility"))
    for entry, text in declaration.attributes.items():
        made.attributes.setdefault(entry, text)


def _join_resources(main: Module, sources: Sequence[Source]) -> str:
    """Return the resources of all modules; say in each source which of its own were renamed."""
    resources = main.resources
    for source in sources:
        if any(source.key == other.key for other in sources[: sources.index(source)]):
            continue
        resources, renamed = join_resources(resources, source.module.resources, source.key, source.label)
        source.blobs.update(renamed)
    return resources


def _rename_in_main(table: Op, old: str, new: str) -> None:
    """Give a private symbol of a table of the main module another name."""
    renamer = Renamer({old: new})
    for op in table.body:
        renamer.op(op)
        if symbol_name(op) == old:
            set_symbol_name(op, new)


def _result(plan: Plan, source: Source, entry: str | None) -> LinkResult:
    """Return what linking one code came to."""
    names = plan.names_of(source)
    if entry is None:
        return LinkResult("", (), (), names, plan.emitted(source))
    found = signature(source.symbols[entry])
    types = (found.inputs, found.results) if found else ((), ())
    return LinkResult(names.get(entry, entry), *types, names, plan.emitted(source))


def _joined(main: Module, codes: Sequence[Module]) -> Linked:
    """Return the module that the pieces were made of."""
    module = join_pieces([main, *codes])
    results = tuple(
        LinkResult("", (), (), {name: name for name in Source.of(code).defined}, emitted=True) for code in codes
    )
    return Linked(module, results)
