"""Splitting: one module for each function, with what it needs, so that each can be compiled apart.

`link(pieces[0], pieces[1:])` gives the module back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import Location, did_you_mean
from aiebuild.mlir.copying import Copier, captured, copy_module
from aiebuild.mlir.identity import key_of
from aiebuild.mlir.ir import Block, Module, Op, Region
from aiebuild.mlir.link_pieces import mark_module, mark_op
from aiebuild.mlir.problems import stop
from aiebuild.mlir.symbols import (
    is_declaration,
    is_function,
    is_private,
    make_private,
    scoped_uses,
    set_visibility,
    symbol_name,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_GLOBALS = {"memref.global": "initial_value", "llvm.mlir.global": "value"}


@dataclass(frozen=True)
class Piece:
    """A part of a module; `name` is its function's, empty for the piece with all the rest."""

    name: str
    module: Module


def split(module: Module, functions: Sequence[str] | None = None) -> tuple[Piece, ...]:
    """Return one module for each function, and one with the rest.

    A function that others call becomes public in its piece, and is declared where it is called. Constant globals come
    along with each function that uses them; others stay with the rest and are declared.

    Args:
        module: in the generic form; it is not changed.
        functions: which functions get a piece, in this order; all with a body, if None. The others are in the rest.

    Returns:
        The rest first, if there is any, then the pieces of the functions. Marks in them let `link` put them together.

    Raises:
        ProblemsError: a function is not there, or has no body (E-SPLIT-NOFUNC).
    """
    whole = _Whole(module)
    chosen = whole.functions if functions is None else tuple(whole.checked(name) for name in functions)
    if not module.op.body:
        return (Piece("", whole.empty()),)
    rest = [op for op in module.op.body if op not in chosen]
    pieces = [Piece(symbol_name(op) or "", whole.piece([op], marked=True)) for op in chosen]
    if rest and (any(not is_declaration(op) for op in rest) or not pieces):
        pieces.insert(0, Piece("", whole.piece(rest, marked=True)))
    elif rest and pieces:
        pieces[0] = Piece(pieces[0].name, whole.piece([*rest, chosen[0]], marked=True))
    return tuple(pieces)


def extract(module: Module, name: str) -> Module:
    """Return the piece of one function, without marks: it depends on that function and on what it refers to alone.

    Raises:
        ProblemsError: the function is not there, or has no body (E-SPLIT-NOFUNC).
    """
    whole = _Whole(module)
    return whole.piece([whole.checked(name)], marked=False)


def without(module: Module, names: Collection[str]) -> Module:
    """Return the module with declarations in place of these functions: what is left when they are compiled apart.

    Raises:
        ProblemsError: a function is not there, or has no body (E-SPLIT-NOFUNC).
    """
    whole = _Whole(module)
    gone = {whole.checked(name) for name in names}
    return whole.piece([op for op in module.op.body if op not in gone], marked=False, keep_visibility=True)


class _Whole:
    """A module that pieces are made of."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._key = key_of(module)
        self._position = {op: number for number, op in enumerate(module.op.body)}
        self._named = {name: op for op in module.op.body if (name := symbol_name(op)) is not None}
        self.functions = tuple(op for op in module.op.body if is_function(op) and not is_declaration(op))
        self._needs = self._references()

    def empty(self) -> Module:
        """Return the piece of a module that has nothing in it."""
        copy = copy_module(self._module)
        mark_module(copy.op, self._key)
        return copy

    def checked(self, name: str) -> Op:
        """Return the function of that name."""
        op = self._named.get(name)
        if op in self.functions and op is not None:
            return op
        known = [symbol_name(each) or "" for each in self.functions]
        hint = did_you_mean(name, known) or "the module has no functions with a body"
        if op is not None and is_function(op):
            stop("E-SPLIT-NOFUNC", f"the function @{name} is only declared", self._module.where(op), hint)
        # The file that was given: what the module was made from is elsewhere, and may well have the function.
        return stop("E-SPLIT-NOFUNC", f"the function @{name} is not there", Location(self._module.file), hint)

    def piece(self, ops: Sequence[Op], *, marked: bool, keep_visibility: bool = False) -> Module:
        """Return a module with copies of these ops and with what they need."""
        own = set(ops)
        needed = {self._named[name]: None for op in ops for name in self._needs[op] if name in self._named}
        others = self._with_needs_of_constants(own, needed)
        for op, value in captured([*own, *(op for op in others if _is_shared(op))]):
            message = f"{op.name} uses %{value.hint} of the module's level, so it cannot be compiled apart from it"
            stop("E-SPLIT-VALUE", message, self._module.where(op), "make the value where it is used")
        made = []
        whole = sorted((op for op in (*own, *others) if op in own or _is_shared(op)), key=self._position.__getitem__)
        copies = dict(zip(whole, Copier().ops(whole), strict=True))
        for op in sorted([*own, *others], key=self._position.__getitem__):
            copy = copies[op] if op in copies else self._declared(op)
            if marked:
                mark_op(copy, self._position[op], op)
            if op in own and is_private(op) and self._is_used_elsewhere(op, own) and not keep_visibility:
                _publish(copy)
            made.append(copy)
        return self._around(made, marked=marked)

    def _with_needs_of_constants(self, own: set[Op], needed: Mapping[Op, None]) -> list[Op]:
        """Return what is needed beside `own`, and what the constants among it refer to."""
        found: dict[Op, None] = {}
        waiting = list(needed)
        for op in waiting:
            if op in own or op in found:
                continue
            found[op] = None
            if _is_shared(op):
                waiting += [self._named[name] for name in self._needs[op] if name in self._named]
        return list(found)

    def _references(self) -> dict[Op, tuple[str, ...]]:
        """Return the names that each op at the module's level refers to."""
        found: dict[Op, dict[str, None]] = {op: {} for op in self._module.op.body}
        for use in scoped_uses(self._module.op):
            above = use.op
            while above not in found and above.parent_op is not None:
                above = above.parent_op
            found[above][use.path[0]] = None
        return {op: tuple(names) for op, names in found.items()}

    def _is_used_elsewhere(self, op: Op, own: set[Op]) -> bool:
        """Tell whether an op outside of a piece refers to one in it."""
        name = symbol_name(op)
        return (
            not is_declaration(op)
            and not _is_shared(op)
            and any(name in names for other, names in self._needs.items() if other not in own)
        )

    def _declared(self, op: Op) -> Op:
        """Return a declaration of a function or a global; a copy of what cannot be declared."""
        if not is_function(op) and op.name not in _GLOBALS:
            return Copier().op(op)
        copy = _without_regions(op)
        if op.name.startswith("llvm."):
            copy.properties["linkage"] = "#llvm.linkage<external>"
        elif op.name in ("func.func", "memref.global"):
            make_private(copy)
        copy.properties.pop(_GLOBALS.get(op.name, ""), None)
        return copy

    def _around(self, ops: Iterable[Op], *, marked: bool) -> Module:
        """Return a module like the whole one with these ops in it."""
        theirs = self._module.op
        op = Op(theirs.name, properties=dict(theirs.properties), attributes=dict(theirs.attributes))
        op.location, op.line, op.column = theirs.location, theirs.line, theirs.column
        block = Block()
        op.regions = [Region([block], op)]
        block.parent = op.regions[0]
        for each in ops:
            each.parent = block
            block.ops.append(each)
        if marked:
            mark_module(op, self._key)
        used = marked or any("dense_resource<" in text for each in op.walk() for text in _texts(each))
        return Module(op, self._module.resources if used else "", self._module.file)


def _is_shared(op: Op) -> bool:
    """Tell whether each piece that uses this may have a copy of its own: it never changes, and nothing exports it."""
    return op.name in _GLOBALS and is_private(op) and op.get("constant") is not None


def _publish(op: Op) -> None:
    """Let other pieces refer to an op that was private."""
    if op.name in ("llvm.func", "llvm.mlir.global"):
        op.properties["linkage"] = "#llvm.linkage<external>"
    set_visibility(op, None if op.name != "memref.global" else '"public"')


def _without_regions(op: Op) -> Op:
    """Return a copy of an op with empty regions."""
    copy = Op(op.name, properties=dict(op.properties), attributes=dict(op.attributes), location=op.location)
    copy.line, copy.column = op.line, op.column
    copy.regions = [Region(parent=copy) for _ in op.regions]
    return copy


def _texts(op: Op) -> Iterator[str]:
    """Yield the texts of an op's entries."""
    yield from op.properties.values()
    yield from op.attributes.values()
