"""Renaming symbols: the roots of references, wherever a table's names are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.symbols import (
    REFERENCE,
    in_configured_device,
    in_module_scope,
    is_table,
    paths,
    plain_name,
    reference_text,
    symbols,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from aiebuild.mlir.ir import Op


class Renamer:
    """Replaces the roots of references; each text is looked at once."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = {old: new for old, new in names.items() if old != new}
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return the text of an attribute or type with the roots of its references replaced."""
        if "@" not in text:
            return text
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = REFERENCE.sub(self._replace, text)
        return known

    def op(self, op: Op) -> None:
        """Rename what is looked up in the table that the op is in: in the op and in what is nested in it."""
        if self._names:
            self._op(op, nested=False)

    def _op(self, op: Op, *, nested: bool) -> None:
        """Rename in one op; inside a nested table only what leaves it."""
        inner = is_table(op)
        own = frozenset(symbols(op)) if inner else frozenset()
        for entries in (op.properties, op.attributes):
            for entry, text in entries.items():
                if "@" in text and self._applies(op, entry, text, nested, own):
                    entries[entry] = self.text(text)
        if not nested:
            self._types(op)
        for region in op.regions:
            for block in region.blocks:
                for child in block.ops:
                    self._op(child, nested=nested or inner)

    def _applies(self, op: Op, entry: str, text: str, nested: bool, own: frozenset[str]) -> bool:
        """Tell whether an entry is looked up in the table in which names change."""
        if in_configured_device(op, entry):
            return False
        if in_module_scope(op, entry):
            return True
        return not nested and not (own and any(path[0] in own for path in paths(text)))

    def _types(self, op: Op) -> None:
        """Rename in the types of results and block arguments."""
        for value in op.results:
            if "@" in value.type:
                value.type = self.text(value.type)
        for region in op.regions:
            for block in region.blocks:
                for value in block.arguments:
                    if "@" in value.type:
                        value.type = self.text(value.type)

    def _replace(self, match: re.Match[str]) -> str:
        """Return a reference with its root replaced."""
        if match.group(1) is None:
            return match.group()
        new = self._names.get(plain_name(match.group(1)))
        return match.group() if new is None else reference_text(new) + match.group(2)
