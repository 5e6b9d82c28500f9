"""The mark that `split` puts on its pieces, and joining them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.attributes import integer, quote
from aiebuild.mlir.copying import Copier, body_of, copy_module
from aiebuild.mlir.ir import Module
from aiebuild.mlir.problems import stop
from aiebuild.mlir.symbols import is_declaration, set_visibility, symbol_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.ir import Op

_KEY = "link.split"
_PLACE = "link.position"
_KEPT = {"link.visibility": "sym_visibility", "link.linkage": "linkage"}
"""What `split` changes of an op: the mark that keeps it, and the entry."""


def mark_module(op: Op, key: str) -> None:
    """Say of a module that it is a piece of the one with this key."""
    op.attributes[_KEY] = quote(key)


def mark_op(copy: Op, position: int, op: Op) -> None:
    """Say in the copy of an op where it stood in the module, and which visibility it had there."""
    copy.attributes[_PLACE] = f"{position} : i64"
    for mark, entry in _KEPT.items():
        text = op.get(entry)
        if text is not None or entry == "sym_visibility":
            copy.attributes[mark] = text or "unit"


def are_pieces(modules: Sequence[Module]) -> bool:
    """Tell whether these are pieces of one module."""
    keys = {module.op.attributes.get(_KEY) for module in modules}
    return len(keys) == 1 and None not in keys


def join_pieces(pieces: Sequence[Module]) -> Module:
    """Return the module that pieces were made of: all that they define, in the old order.

    Raises:
        ProblemsError: a name is defined in two pieces, and not equally.
    """
    main = copy_module(Module(pieces[0].op, pieces[0].resources, pieces[0].file))
    found: dict[int, Op] = {}
    for piece in pieces:
        copies = Copier().ops(piece.op.body)
        for op in copies:
            _collect(found, op, piece)
    del main.op.attributes[_KEY]
    if not found:
        return main
    block = body_of(main.op)
    block.ops = [_restored(op) for _, op in sorted(found.items())]
    for op in block.ops:
        op.parent = block
    return main


def _collect(found: dict[int, Op], op: Op, piece: Module) -> None:
    """Keep an op, unless a definition of it is there already."""
    place = integer(op.attributes[_PLACE]) if _PLACE in op.attributes else len(found) + 1_000_000
    known = found.get(place)
    if known is None or is_declaration(known):
        found[place] = op
        return
    shared = op.get("constant") is not None
    if not is_declaration(op) and not shared:
        message = f"@{symbol_name(op)} is defined in two pieces"
        stop("E-LINK-DUP", message, piece.where(op), "link each piece once")


def _restored(op: Op) -> Op:
    """Return an op without the marks, with the visibility that it had."""
    op.attributes.pop(_PLACE, None)
    for mark, entry in _KEPT.items():
        text = op.attributes.pop(mark, None)
        if text is not None and entry == "linkage":
            op.properties["linkage"] = text
        elif text is not None:
            _restore_visibility(op, None if text == "unit" else text)
    return op


def _restore_visibility(op: Op, text: str | None) -> None:
    """Put a visibility where the name stands, as in the module that was split."""
    if op.get("sym_visibility") == text:
        return
    set_visibility(op, None)
    if text is not None:
        entries = op.properties if "sym_name" in op.properties else op.attributes
        entries["sym_visibility"] = text
