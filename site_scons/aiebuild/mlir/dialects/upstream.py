"""MLIR's own dialects: ops that xDSL cannot read in custom syntax, and what `mlir-opt` prints that xDSL does not.

Which entries are inherent, and their defaults, are those of LLVM 22's ODS.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Dialect, Region

from aiebuild.mlir.attributes import quote
from aiebuild.mlir.dialects.syntax import Built, Syntax, define
from aiebuild.mlir.dialects.text import attribute_text

if TYPE_CHECKING:
    from collections.abc import Callable

_OVERFLOW = {"overflowFlags": "#arith.overflow<none>"}
_FAST = {"fastmath": "#arith.fastmath<none>"}
_DEFAULTS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("arith.addi", "arith.muli", "arith.shli", "arith.subi", "arith.trunci"), _OVERFLOW),
    **{
        f"arith.{name}": _FAST
        for name in (
            *("addf", "cmpf", "divf", "maximumf", "maxnumf", "minimumf", "minnumf"),
            *("mulf", "negf", "remf", "subf"),
        )
    },
    "vector.reduction": _FAST,
}
# The ops of `math` that work on integers have no `fastmath`.
_INTEGER_MATH = ("math.absi", "math.ctlz", "math.ctpop", "math.cttz", "math.ipowi")
# Entries that xDSL keeps as attributes, and MLIR as properties.
_INHERENT: dict[str, frozenset[str]] = {
    name: frozenset(entries.split())
    for name, entries in {
        "affine.for": "lowerBoundMap upperBoundMap step operandSegmentSizes",
        "affine.apply": "map",
        "affine.load": "map",
        "affine.min": "map",
        "affine.store": "map",
        "arith.constant": "value",
        "builtin.module": "sym_name sym_visibility",
        "cf.assert": "msg",
        "cf.cond_br": "branch_weights operandSegmentSizes",
        "cf.switch": "case_values case_operand_segments operandSegmentSizes",
        "func.call": "callee arg_attrs res_attrs no_inline",
        "func.func": "function_type sym_name sym_visibility arg_attrs res_attrs no_inline",
        "memref.alloc": "alignment operandSegmentSizes",
        "memref.alloca": "alignment operandSegmentSizes",
        "memref.collapse_shape": "reassociation",
        "memref.expand_shape": "reassociation static_output_shape",
        "memref.get_global": "name",
        "memref.load": "nontemporal alignment",
        "memref.store": "nontemporal alignment",
        "scf.for": "unsignedCmp",
        "scf.index_switch": "cases",
        "scf.parallel": "operandSegmentSizes",
    }.items()
}
_SYMBOL_MAP = re.compile(r"affine_map<\(\)\[([^\]]*)\] -> \((.*)\)>")
_SYMBOL = re.compile(r"\bs(\d+)\b")
_SUBSCRIPTED = ("affine.load", "affine.store")


def complete(name: str, properties: dict[str, str], attributes: dict[str, str]) -> None:
    """Bring the entries of an op that xDSL read to what `mlir-opt` prints: inherent ones, and their defaults."""
    inherent = _INHERENT.get(name)
    for entry in [entry for entry in attributes if inherent and entry in inherent]:
        properties[entry] = attributes.pop(entry)
    defaults = _DEFAULTS.get(name)
    if defaults is None and name.startswith("math.") and name not in _INTEGER_MATH:
        defaults = _FAST
    for entry, text in (defaults or {}).items():
        properties.setdefault(entry, text)
    if name in _SUBSCRIPTED and "map" in properties:
        properties["map"] = _with_dimensions(properties["map"])


def extended(theirs: Dialect) -> Dialect:
    """Return a dialect of xDSL's with readers of the ops that it reads in generic form only."""
    readers = _MORE.get(theirs.name)
    if readers is None:
        return theirs
    ours = define(readers)
    replaced = {op.name for op in ours}
    operations = [op for op in theirs.operations if op.name not in replaced]
    return Dialect(theirs.name, [*operations, *ours], list(theirs.attributes))


def index() -> Dialect:
    """Return the `index` dialect, which xDSL does not have."""
    return Dialect("index", define(_INDEX), [])


def _with_dimensions(text: str) -> str:
    """Return the map of an access with dimensions: xDSL makes symbols of the subscripts, which MLIR refuses."""
    match = _SYMBOL_MAP.fullmatch(text)
    if match is None:
        return text
    symbols, results = (_SYMBOL.sub(r"d\1", part) for part in match.groups())
    return f"affine_map<({symbols}) -> ({results})>"


def _affine_if(s: Syntax) -> Built:
    """Read `#set(%i)[%n] -> (f32) { ops } else { ops }`."""
    position = s.parser.pos
    built = Built(properties={"condition": s.attribute()})
    if not built.properties["condition"].startswith("affine_set<"):
        s.fail("expected a condition such as `affine_set<(d0) : (d0 >= 0)>`", position)
    names = s.names("(", ")")
    names += s.names("[", "]") if s.ahead == "[" else []
    built.operands = [s.resolve(name, IndexType()) for name in names]
    if s.has("->"):
        built.results = s.types("(", ")") if s.ahead == "(" else [s.parser.parse_type()]
    built.regions = [_yielding(s.region()), _yielding(s.region()) if s.has("else") else Region()]
    return s.entries(built, {})


def _yielding(region: Region) -> Region:
    """Return a region that ends with the `affine.yield` that the text may leave out."""
    from xdsl.dialects.affine import YieldOp  # noqa: PLC0415 - only text that uses affine pays for its import

    block = region.blocks[-1]
    if block.last_op is None or block.last_op.name != YieldOp.name:
        block.add_op(YieldOp.create())
    return region


def _cast(s: Syntax) -> Built:
    """Read `%a : memref<4xi32> to memref<?xi32>`."""
    name = s.name()
    built = s.entries(Built(), {})
    s.mark(":")
    built.operands = [s.resolve(name, s.parser.parse_type())]
    s.mark("to")
    built.results = [s.parser.parse_type()]
    return built


def _copy(s: Syntax) -> Built:
    """Read `%a, %b : memref<4xi32> to memref<4xi32>`."""
    source = s.name()
    s.mark(",")
    target = s.name()
    built = s.entries(Built(), {})
    s.mark(":")
    built.operands = [s.resolve(source, s.parser.parse_type())]
    s.mark("to")
    built.operands.append(s.resolve(target, s.parser.parse_type()))
    return built


def _global(s: Syntax) -> Built:
    """Read `"private" constant @name : memref<4xi32> = dense<0> {alignment = 16 : i64}`."""
    built = Built()
    visibility = s.parser.parse_optional_str_literal()
    if visibility is not None:
        built.properties["sym_visibility"] = quote(visibility)
    if s.has("constant"):
        built.properties["constant"] = "unit"
    built.properties["sym_name"] = s.symbol_name()
    s.mark(":")
    type_ = s.parser.parse_type()
    built.properties["type"] = attribute_text(type_)
    if s.has("="):
        built.properties["initial_value"] = "unit" if s.has("uninitialized") else s.elements(type_)
    return s.entries(built, {"alignment": "i64"})


def _rank(s: Syntax) -> Built:
    """Read `%a : memref<4xi32>`."""
    return s.entries(Built(operands=[s.typed_value()], results=[IndexType()]), {})


def _index_constant(s: Syntax) -> Built:
    """Read `4`."""
    return s.entries(Built(results=[IndexType()], properties={"value": s.integer("index")}), {})


def _index_binary(s: Syntax) -> Built:
    """Read `%a, %b`."""
    first = s.value()
    s.mark(",")
    return s.entries(Built(operands=[first, s.value()], results=[IndexType()]), {})


def _index_cast(s: Syntax) -> Built:
    """Read `%a : index to i32`."""
    return _cast(s)


def _index_compare(s: Syntax) -> Built:
    """Read `slt(%a, %b)`."""
    position = s.parser.pos
    predicate = s.word("a comparison such as `slt`")
    if predicate not in _COMPARISONS:
        s.fail(f"`{predicate}` is not a comparison: one of {', '.join(_COMPARISONS)}", position)
    s.mark("(")
    first = s.value()
    s.mark(",")
    second = s.value()
    s.mark(")")
    properties = {"pred": f"#index<cmp_predicate {predicate}>"}
    return s.entries(Built(operands=[first, second], results=[IntegerType(1)], properties=properties), {})


_COMPARISONS = ("eq", "ne", "sge", "sgt", "sle", "slt", "uge", "ugt", "ule", "ult")
_AFFINE: dict[str, Callable[[Syntax], Built]] = {"affine.if": _affine_if}
_MEMREF: dict[str, Callable[[Syntax], Built]] = {
    "memref.cast": _cast,
    "memref.copy": _copy,
    "memref.global": _global,
    "memref.memory_space_cast": _cast,
    "memref.rank": _rank,
}
_INDEX: dict[str, Callable[[Syntax], Built]] = {
    **{
        f"index.{name}": _index_binary
        for name in (
            *("add", "and", "ceildivs", "ceildivu", "divs", "divu", "floordivs", "maxs", "maxu", "mins", "minu"),
            *("mul", "or", "rems", "remu", "shl", "shrs", "shru", "sub", "xor"),
        )
    },
    "index.casts": _index_cast,
    "index.castu": _index_cast,
    "index.cmp": _index_compare,
    "index.constant": _index_constant,
}
_MORE = {"affine": _AFFINE, "memref": _MEMREF}
