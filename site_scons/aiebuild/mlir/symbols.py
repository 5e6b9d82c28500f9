"""Symbols: which ops are tables of them, which names an op refers to, and where those are looked up.

The rules are those of MLIR's `SymbolTable` ("Symbols and Symbol Tables") and, for `aie` and `aiex`, of mlir-aie's
own look-ups, which leave the nearest table in the places that `_MODULE_SCOPE` names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.mlir.attributes import quote, string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.mlir.ir import Module, Op

TABLES = frozenset(
    {
        "builtin.module",
        "aie.device",
        "gpu.module",
        "spirv.module",
        "emitc.class",
        "ml_program.subgraph",
        "shape.function_library",
        "enzymexla_tt_ext.module",
        "hal.executable",
        "hal.executable.variant",
        "vm.module",
        "llvm.comdat",
    }
)
"""Ops that are symbol tables: a name inside one is looked up in it, and nowhere else."""
_MODULE_SCOPE = {
    "aiex.configure": "symbol",
    "aie.configure": "symbol",
    "aiex.npu.load_pdi": "device_ref",
    "aie.scratchpad_parameter": "parameter",
    "aiex.scratchpad_parameter": "parameter",
}
"""Ops inside a device whose named entry is looked up in the module around it."""
_RUN = ("aiex.run", "aie.run")
_RUN_ENTRY = "runtime_sequence_symbol"
_UNNAMED_DEVICE = "main"
"""The name of an `aie.device` that has none (AIEDialect.cpp)."""
_NAME = r'(?:[A-Za-z_$.][\w$.\-]*|"(?:[^"\\\n]|\\.)*")'
REFERENCE = re.compile(rf'"(?:[^"\\\n]|\\.)*"|@({_NAME})((?:\s*::\s*@{_NAME})*)')
"""A reference with its path; a string is taken as a whole, so that an `@` in it is no reference."""
_PART = re.compile(rf"@({_NAME})")
_PLAIN = re.compile(r"[A-Za-z_][\w$.]*")
_FUNCTIONS = ("func.func", "llvm.func", "gpu.func", "tt.func", "ml_program.func", "async.func", "emitc.func")
_VALUE_OF_GLOBAL = {"memref.global": "initial_value", "llvm.mlir.global": "value", "ml_program.global": "value"}
_LLVM = ("llvm.func", "llvm.mlir.global", "llvm.mlir.alias")
_HAVE_VISIBILITY = ("func.func", "memref.global", "builtin.module", "ml_program.func", "ml_program.global")


@dataclass(frozen=True)
class Use:
    """A reference to a symbol: `path` is `("a", "b")` for `@a::@b`; `entry` names the property that holds it.

    `entry` is empty where it stands in the type of a value.
    """

    op: Op
    entry: str
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The path as it is written, without the first `@`: `a::@b`."""
        return "::@".join(self.path)


def symbol_name(op: Op) -> str | None:
    """Return the name that an op defines; an `aie.device` without one is `main`."""
    text = op.get("sym_name")
    if text is None:
        return _UNNAMED_DEVICE if op.name == "aie.device" else None
    return string(text) if text.startswith('"') else None


def set_symbol_name(op: Op, name: str) -> None:
    """Give the op another name."""
    entries = op.attributes if "sym_name" in op.attributes and "sym_name" not in op.properties else op.properties
    entries["sym_name"] = quote(name)


def reference_text(*path: str) -> str:
    """Return `@a::@b`, names in quotes where they need them."""
    return "::".join(f"@{name}" if _PLAIN.fullmatch(name) else f"@{quote(name)}" for name in path)


def is_table(op: Op) -> bool:
    """Tell whether names inside the op are looked up in it."""
    return op.name in TABLES


def table_of(op: Op, module: Module) -> Op:
    """Return the nearest table around an op; the module, if there is none."""
    above = op.parent_op
    while above is not None and not is_table(above):
        above = above.parent_op
    return above or module.op


def tables(module: Module) -> Iterator[Op]:
    """Yield the symbol tables, outer ones first."""
    yield module.op
    yield from (op for op in module.walk() if op.name in TABLES)


def symbols(table: Op) -> dict[str, Op]:
    """Return the names that an op's regions define; of two equal ones the first."""
    found: dict[str, Op] = {}
    for region in table.regions:
        for op in region.ops:
            name = symbol_name(op)
            if name is not None:
                found.setdefault(name, op)
    return found


def is_function(op: Op) -> bool:
    """Tell whether the op can be called."""
    return "function_type" in op.properties or "function_type" in op.attributes or op.name in _FUNCTIONS


def is_declaration(op: Op) -> bool:
    """Tell whether the op names something that is defined elsewhere: a function without a body, a global without value.

    A `memref.global` that is uninitialised has a value: the unit.
    """
    if op.name in _VALUE_OF_GLOBAL:
        return _VALUE_OF_GLOBAL[op.name] not in (*op.properties, *op.attributes) and not op.body
    return is_function(op) and not any(region.blocks for region in op.regions)


def is_private(op: Op) -> bool:
    """Tell whether nothing outside the op's table may refer to it."""
    if op.name in _LLVM:
        return any(word in (op.get("linkage") or "") for word in ("<internal>", "<private>"))
    return op.get("sym_visibility") == '"private"'


def make_private(op: Op) -> None:
    """Hide an op from outside its table: by its visibility, or by its linkage in the `llvm` dialect.

    `sym_visibility` alone does not keep LLVM from exporting a symbol, so there the linkage is set.
    """
    if op.name not in _LLVM:
        _set(op, "sym_visibility", '"private"', declared=op.name in _HAVE_VISIBILITY)
    elif not is_declaration(op):
        _set(op, "linkage", "#llvm.linkage<internal>", declared=True)


def set_visibility(op: Op, visibility: str | None) -> None:
    """Give the op the visibility, the text of the attribute; None for the one that it has without."""
    if visibility is None:
        op.properties.pop("sym_visibility", None)
        op.attributes.pop("sym_visibility", None)
    else:
        _set(op, "sym_visibility", visibility, declared=op.name in _HAVE_VISIBILITY)


def _set(op: Op, name: str, text: str, *, declared: bool) -> None:
    """Put an entry where it stands already, else where ops of this kind have it."""
    if name in op.attributes or (not declared and name not in op.properties):
        op.attributes[name] = text
    else:
        op.properties[name] = text


def paths(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the references in the text of an attribute or type, those in strings left out."""
    for match in REFERENCE.finditer(text):
        if match.group(1) is not None:
            yield tuple(plain_name(part) for part in _PART.findall(match.group()))


def uses_of(op: Op) -> Iterator[Use]:
    """Yield the references of one op, without those nested in it."""
    for entries in (op.properties, op.attributes):
        for entry, text in entries.items():
            if "@" in text:
                yield from (Use(op, entry, path) for path in paths(text))
    for type_ in value_types(op):
        if "@" in type_:
            yield from (Use(op, "", path) for path in paths(type_))


def value_types(op: Op) -> Iterator[str]:
    """Yield the types of the op's results and of the arguments of its blocks."""
    for value in op.results:
        yield value.type
    for region in op.regions:
        for block in region.blocks:
            for value in block.arguments:
                yield value.type


def in_module_scope(op: Op, entry: str) -> bool:
    """Tell whether this entry of the op is looked up in the module, although the op is inside a device."""
    return _MODULE_SCOPE.get(op.name) == entry


def in_configured_device(op: Op, entry: str) -> bool:
    """Tell whether this entry is looked up in the device that the `aiex.configure` around the op names."""
    return op.name in _RUN and entry == _RUN_ENTRY


def scoped_uses(scope: Op) -> Iterator[Use]:
    """Yield the references that are looked up in this table: its own ops', without those of nested tables.

    What a nested table's own entries refer to counts unless the nested table defines that name. References that leave
    a nested device for the module are yielded for the module.
    """
    for op in scope.body:
        yield from _scoped(op, nested=False)


def _scoped(op: Op, *, nested: bool) -> Iterator[Use]:
    """Yield the references of an op, and of what is in it, that belong to the table that is looked at."""
    inner = is_table(op)
    own = symbols(op) if inner else {}
    for use in uses_of(op):
        if in_configured_device(op, use.entry):
            continue
        if (not nested and use.path[0] not in own) or in_module_scope(op, use.entry):
            yield use
    for region in op.regions:
        for block in region.blocks:
            for child in block.ops:
                yield from _scoped(child, nested=nested or inner)


def plain_name(name: str) -> str:
    """Return the name that a part of a reference is, with or without quotes."""
    return string(name) if name.startswith('"') else name
