"""Reading and writing the generic form."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module, Op

GOLDEN = Path(__file__).parents[1] / "golden" / "mlir"
DESIGNS = ("deadlock", "layout", "locks", "matmul", "passthrough", "rtp", "scale4", "tasks")


def only(module: Module, name: str) -> Op:
    (op,) = [op for op in module.walk() if op.name == name]
    return op


def rewritten(text: str) -> str:
    """What the writer makes of a text, after checking that it makes the same of that again."""
    once = write(parse(text))
    assert write(parse(once)) == once
    return once


def refused(text: str) -> str:
    with pytest.raises(MlirError) as caught:
        parse(dedent(text).lstrip("\n"), "x.mlir")
    return str(caught.value).removeprefix("x.mlir:")


@pytest.mark.parametrize("design", DESIGNS)
def test_what_aie_opt_prints_is_read_and_written_alike(design: str) -> None:
    text = (GOLDEN / f"{design}.generic.mlir").read_text()
    once = rewritten(text)
    # Only names, comments, and the label of a first block of several differ from what aie-opt prints.
    assert sorted(shape(once)) == sorted(shape(text))


def shape(text: str) -> list[str]:
    """The lines of a text without labels, comments, names of values and indentation."""
    lines = (re.sub(r"%\w+(#\d+)?", "%", line.partition("  //")[0]).strip() for line in text.splitlines())
    return [line for line in lines if line and line != "^bb0:"]


@pytest.mark.parametrize("design", DESIGNS)
def test_every_op_knows_the_line_that_it_begins_in(design: str) -> None:
    text = (GOLDEN / f"{design}.generic.mlir").read_text()
    lines = text.splitlines()
    for op in parse(text).walk():
        assert op.line is not None
        assert op.column is not None
        rest = lines[op.line - 1][op.column - 1 :]
        assert f'"{op.name}"(' in rest
        assert rest[0] in '"%'


def test_several_results_are_one_name_with_numbers() -> None:
    text = '%0:2 = "a.b"() : () -> (i32, i64)\n"a.c"(%0#1, %0#0, %0) : (i64, i32, i32) -> ()\n'
    module = parse(text)
    pair, use = module.op.body
    assert [value.type for value in pair.results] == ["i32", "i64"]
    assert use.operands == [pair.results[1], pair.results[0], pair.results[0]]
    assert '"a.c"(%0#1, %0#0, %0#0)' in rewritten(text)


def test_results_may_have_a_name_each_or_none() -> None:
    module = parse('%a, %b:2 = "x"() : () -> (i1, i2, i3)\n"y"() : () -> i32\n"z"(%b#1) : (i3) -> ()')
    named, unnamed, use = module.op.body
    assert [value.hint for value in named.results] == ["a", "b", "b"]
    assert use.operands == [named.results[2]]
    assert len(unnamed.results) == 1


def test_properties_attributes_and_units_are_kept_as_text() -> None:
    op = parse('"x"() <{b = 2 : i32, "odd name" = "}", u}> {c = dense<[1, 2]> : tensor<2xi32>, v} : () -> ()').op.body[
        0
    ]
    assert op.properties == {"b": "2 : i32", "odd name": '"}"', "u": "unit"}
    assert op.attributes == {"c": "dense<[1, 2]> : tensor<2xi32>", "v": "unit"}
    assert op.get("u") == op.get("v") == "unit"


def test_entries_are_written_in_the_order_of_their_names() -> None:
    assert rewritten('"x"() <{b = 1, a}> {d, "c c" = 2} : () -> ()').splitlines()[1].strip() == (
        '"x"() <{a, b = 1}> {"c c" = 2, d} : () -> ()'
    )


@pytest.mark.parametrize(
    "value",
    [
        "affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>",
        "affine_set<(d0) : (d0 - 1 >= 0, d0 == 4)>",
        "#llvm.linkage<internal>",
        '#x.y<"a>b", [1, {c = 2}]>',
        "@a::@b",
        "(i32, !x<(i8) -> i8>) -> (memref<4xi32, affine_map<(d0) -> (d0)>>)",
        "dense_resource<blob1> : tensor<2xi64>",
        "array<i64: 1, 2>",
        "-1.500000e+00 : f32",
        '"a // b"',
        "loc(unknown)",
    ],
)
def test_any_attribute_is_kept_as_it_stands(value: str) -> None:
    op = parse(f'"x"() <{{a = {value}, b}}> {{c = {value}}} : () -> ()').op.body[0]
    assert op.properties == {"a": value, "b": "unit"}
    assert op.attributes == {"c": value}


@pytest.mark.parametrize(
    "type_",
    [
        "i32",
        "!llvm.ptr",
        "!aie.objectfifosubview<memref<4xi32>>",
        "memref<4xi32, affine_map<(d0) -> (d0)>, 1>",
        "tensor<?x4xf32, #x.enc<{a = 1}>>",
        '!x<"str>ing">',
        "tuple<i32, tuple<>>",
        "vector<[4]xf32>",
        "complex<f32>",
        "!quant.uniform<i8:f32, 0.5:128>",
    ],
)
def test_any_type_is_kept_as_it_stands(type_: str) -> None:
    op = parse(f'%0 = "x"() : () -> {type_}\n"y"(%0, %0) : ({type_}, {type_}) -> ({type_}, i1)').op.body[1]
    assert [value.type for value in op.operands] == [type_, type_]
    assert [value.type for value in op.results] == [type_, "i1"]


def test_a_function_is_a_type_as_well() -> None:
    text = '%0 = "x"() : () -> ((i32) -> (i32, i8))\n"y"(%0) : ((i32) -> (i32, i8)) -> ()\n'
    assert parse(text).op.body[0].results[0].type == "(i32) -> (i32, i8)"
    assert "-> ((i32) -> (i32, i8))" in rewritten(text)


def test_blanks_line_ends_and_comments_do_not_matter() -> None:
    spread = """
    // first
    %a  =  "x" ( ) <{ a  =  [ 1 ,
        2 ] // of a
      , b }> :  ( )  ->  i32   // an i32
    "y" ( %a ,  // used
       %a ) ( { // a region
       } , { ^bb1 ( %c : i32 , %d : i32 ) : } ) : ( i32 , i32 ) -> ( )
    """
    close = '%0 = "x"() <{a = [ 1 , 2 ], b}> : () -> i32\n"y"(%0, %0) ({}, {^a(%1: i32, %2: i32):}) : (i32, i32) -> ()'
    assert rewritten(spread) == rewritten(close)


def test_comments_may_stand_between_any_two_words() -> None:
    text = '%a , %b : 2 = "x" ( ) : ( ) -> ( i1 , i2 , i3 ) "y" ( %a , %b#1 ) { k = 1 , u } : ( i1 , i3 ) -> ( )'
    assert write(parse(text.replace(" ", ' // "( <{[ %z\r\n'))) == write(parse(text))


def test_blocks_branch_forward_and_backward_with_values() -> None:
    text = """
    "f"() ({
      %0 = "c"() : () -> i32
      "br"()[^late(%0 : i32), ^loop] : () -> ()
    ^loop:
      "br"()[^late(%0, %0 : i32, i32)] : () -> ()
    ^late(%x: i32, %y: i32 loc("a":1:2)):
      "br"(%x)[^loop] : (i32) -> ()
    }) : () -> ()
    """
    region = parse(text).op.body[0].regions[0]
    entry, loop, late = region.blocks
    assert [successor.block for successor in entry.ops[1].successors] == [late, loop]
    assert entry.ops[1].successors[0].operands == [entry.ops[0].results[0]]
    assert late.ops[0].operands == [late.arguments[0]]
    assert [block.parent for block in region.blocks] == [region] * 3
    assert "^bb2(%arg0: i32, %arg1: i32):" in rewritten(text)


def test_a_value_may_be_used_before_it_is_defined() -> None:
    text = """
    "u"(%a, %b#1) ({ "v"(%a) : (i32) -> () }) : (i32, i8) -> ()
    %a = "x"() : () -> i32
    %b:2 = "y"() : () -> (i1, i8)
    """
    use, first, second = parse(text).op.body
    assert use.operands == [first.results[0], second.results[1]]
    assert use.body[0].operands == [first.results[0]]
    assert first.results[0].owner is first
    assert rewritten(text)


def test_regions_hide_their_names_from_each_other() -> None:
    text = '"f"() ({ %a = "x"() : () -> i32 }) : () -> ()\n"g"() ({ %a = "x"() : () -> i64 }) : () -> ()'
    assert [op.results[0].type for op in parse(text).walk() if op.name == "x"] == ["i32", "i64"]


def test_aliases_are_replaced_by_what_they_stand_for() -> None:
    text = """
    #map = affine_map<(d0) -> (d0)>
    #map1 = affine_map<(d0) ->
       (d0 * 2)>
    !t = memref<4xi32, #map>
    #list = [#map, #map1, #arith.overflow<none>]
    %0 = "x"() <{m = #map, l = #list, s = "#map"}> : () -> !t
    "y"(%0) : (!t) -> ()
    """
    op = parse(text).op.body[0]
    one, two = "affine_map<(d0) -> (d0)>", "affine_map<(d0) -> (d0 * 2)>"
    assert op.properties == {"m": one, "l": f"[{one}, {two}, #arith.overflow<none>]", "s": '"#map"'}
    assert op.results[0].type == f"memref<4xi32, {one}>"


def test_locations_give_line_and_column_even_through_aliases() -> None:
    text = """
    "builtin.module"() ({
      "x"() : () -> () loc("d.mlir":7:3)
      "y"() : () -> () loc(#loc1)
      "z"() : () -> () loc(fused["n"("d.mlir":9:1), "d.mlir":10:2])
      "w"() : () -> () loc(unknown)
    }) : () -> () loc(#loc)
    #loc = loc("d.mlir":1:1)
    #loc1 = loc("d.mlir":8:4)
    """
    module = parse(text, "text.mlir")
    x, y, z, w = module.op.body
    assert [(op.line, op.column) for op in (module.op, x, y, z)] == [(1, 1), (7, 3), (8, 4), (9, 1)]
    assert y.location == '"d.mlir":8:4'
    assert str(module.where(y)) == "d.mlir:8:4"
    assert w.line == 6
    assert str(module.where(w)) == "text.mlir:6:7"


def test_an_alias_of_a_location_is_written_out_as_its_place_needs() -> None:
    text = """
    #here = loc("a.mlir":1:2)
    #both = loc(fused<"q">[#here, "b"])
    "x"() {attribute = #here, inside = loc("n"(#here))} : () -> () loc(#both)
    """
    (op,) = parse(dedent(text)).op.body
    assert op.attributes == {"attribute": 'loc("a.mlir":1:2)', "inside": 'loc("n"("a.mlir":1:2))'}
    assert op.location == 'fused<"q">["a.mlir":1:2, "b"]'


def test_a_string_in_the_resources_may_look_like_their_end() -> None:
    resources = '{-#\n  external_resources: { own: { key: "a#-}b" } }\n#-}'
    assert parse(f'"x"() : () -> ()\n{resources}\n').resources == resources


def test_locations_are_written_on_demand_and_read_back() -> None:
    text = '"x"() ({\n  "y"() : () -> ()\n}) : () -> ()\n'
    module = parse(text, 'a "b".mlir')
    assert "loc(" not in write(module)
    located = write(module, locations=True)
    assert 'loc("a \\22b\\22.mlir":2:3)' in located
    again = parse(located, "other.mlir")
    assert str(again.where(again.op.body[0].body[0])) == 'a "b".mlir:2:3'
    assert write(again, locations=True) == located


def test_resources_are_kept() -> None:
    text = '"x"() : () -> ()\n{-#\n  dialect_resources: { builtin: { blob1: "0x01" } }\n#-}\n'
    module = parse(text)
    assert module.resources.startswith("{-#")
    assert module.resources.endswith("#-}")
    assert module.resources in rewritten(text)


def test_ops_without_a_module_get_one() -> None:
    module = parse('"x"() : () -> ()\n"y"() : () -> ()')
    assert module.op.name == "builtin.module"
    assert [op.name for op in module.op.body] == ["x", "y"]
    assert all(op.parent_op is module.op for op in module.op.body)
    assert module.op.parent is None


def test_an_only_module_is_not_wrapped_again() -> None:
    module = parse('"builtin.module"() ({\n}) : () -> ()')
    assert module.op.parent is None
    assert module.op.body == []


def test_an_empty_region_is_not_a_region_with_an_empty_block() -> None:
    text = '"x"() ({\n}, {\n^bb0:\n}) : () -> ()'
    regions = parse(rewritten(text)).op.body[0].regions
    assert [len(region.blocks) for region in regions] == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"x"( : () -> ()', "1:6: error: expected operands such as `%a, %b` and `)`, found `:`"),
        ('"x"()', '1:6: error: expected `:` and the type of "x", found the end of the text'),
        ('"x"() : ()', "1:11: error: expected `->` and the types of the results, found the end of the text"),
        ('"x"() : () -> ', "1:15: error: expected a type, found the end of the text"),
        ('"x"() : (i32 -> ()', "1:9: error: expected `)` that closes `(`"),
        ('"x"() <{a = 1} : () -> ()', "1:16: error: expected `>` that closes the properties, found `:`"),
        ('"x"() {a = 1 b = 2} : () -> ()', "1:16: error: expected `,` or `}`, found `=`"),
        ('"x"() {a = } : () -> ()', "1:12: error: expected a value behind `=`, found `}`"),
        ('"x"() {a, a} : () -> ()', "1:11: error: `a` is given twice"),
        ('"x"() {a = [1, 2} : () -> ()', "1:17: error: expected `]`, found `}`"),
        ('"x"() {a = "b} : () -> ()', '1:12: error: expected a closing `"` on the same line'),
        ('"x"() {a = #b} : () -> ()', "1:12: error: alias `#b` is not defined before this"),
        ('"x"() {b} ({}) : () -> ()', '1:11: error: expected `:` and the type of "x", found `(`'),
        ('"x"() ({)}) : () -> ()', "1:9: error: expected an op in quotes, a block `^name:` or `}`, found `)`"),
        ('"x"() ({} : () -> ()', "1:11: error: expected `,` or `)` after a region, found `:`"),
        ('%a = "x"() : () -> ()', '1:1: error: "x" has 0 results, but 1 are named'),
        ('%a, %b:2 = "x"() : () -> (i1, i1)', '1:1: error: "x" has 2 results, but 3 are named'),
        ('%a = "x"() : () -> i1\n%a = "x"() : () -> i1', "2:1: error: %a is defined twice, first in line 1"),
        ('"x"(%a) : (i1) -> ()\n"y"(%a) : (i2) -> ()', "2:5: error: %a has type i1, but is used as i2"),
        ('"x"(%a) : (i1) -> ()\n%a = "y"() : () -> i2', "1:5: error: %a has type i2, but is used as i1"),
        ('"x"(%a) : () -> ()', '1:11: error: "x" has 1 operands, but its type names 0'),
        ('%a = "x"() : () -> i1\n"y"(%a#1) : (i1) -> ()', "2:5: error: %a has 1 results, so there is no %a#1"),
        ('"x"()[^bb1] : () -> ()\n"x"() ({"y"()[^b] : () -> ()\n^bb:}) : () -> ()', "2:15: error: block ^b is not"),
        ('"x"() ({^b:\n^b:}) : () -> ()', "2:1: error: block ^b is defined twice in this region"),
        ('"x"() ({^b(%a i32):}) : () -> ()', "1:12: error: expected a block argument such as `%a: i32`, found `%a`"),
        ('"x"() ({^b}) : () -> ()', "1:11: error: expected `:` behind block ^b, found `}`"),
        ('"x"()[^b] : () -> ()', "1:7: error: block ^b is not defined in this region"),
        ('"x"() : () -> (i32, %)', "1:9: error: expected a type, found `%`"),
        ('#a = affine_map(d0) -> (d0)>\n"x"() : () -> ()', "1:28: error: expected a line end behind what the alias"),
        (
            '"builtin.module"() ({^b(%a: i32):}) : () -> ()',
            "1:1: error: a builtin.module has one region with one block",
        ),
        ("#a = 1\n#a = 2", "2:1: error: alias `#a` is defined twice"),
        ('"x"() : () -> () }', "1:18: error: expected an op in quotes, such as"),
        ('"x"() : () -> ()\n{-# a', "2:1: error: expected `#-}` that closes `{-#`"),
        ("module {}", '1:1: error: expected an op in quotes, such as `"builtin.module"() (`, found `module`'),
    ],
)
def test_an_error_says_where_and_what_was_expected(text: str, message: str) -> None:
    assert refused(text).startswith(message)


def test_an_undefined_value_names_the_nearest() -> None:
    text = '%block = "x"() : () -> i1\n"y"(%blok) : (i1) -> ()'
    assert refused(text) == "2:5: error: use of undefined value %blok\n  did you mean %block?"


def test_a_value_of_another_region_is_named_as_such() -> None:
    text = '"x"() ({\n%v = "y"() : () -> i1\n}) : () -> ()\n"z"(%v) : (i1) -> ()'
    assert refused(text) == (
        "4:5: error: use of undefined value %v\n  %v of line 2 cannot be seen here: it is inside another region"
    )


def test_custom_syntax_is_told_apart() -> None:
    assert "`aie.tile` is custom syntax, which the normaliser reads" in refused("%t = aie.tile(0, 0)")


def test_deep_nesting_is_an_error_of_the_text() -> None:
    assert "nested too deeply" in refused('"x"() ({' * 5000)


def test_the_reader_imports_the_standard_library_only() -> None:
    package = Path(__file__).parents[2] / "site_scons"
    script = (
        f"import sys; sys.path.insert(0, {str(package)!r});"
        "import aiebuild.mlir.parse, aiebuild.mlir.write, aiebuild.mlir.normalise;"
        "outside = {'xdsl', 'numpy', 'jinja2', 'yaml', 'jsonschema', 'elftools', 'SCons'} & set(sys.modules);"
        "sys.exit(f'imported: {outside}' if outside else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
