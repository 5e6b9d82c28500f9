"""Reading the text of attributes and types."""

from __future__ import annotations

import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir import attributes
from aiebuild.mlir.attributes import MemRef
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4 : i32", 4),
        ("-1", -1),
        ("0x10 : index", 16),
        ("true", 1),
        ("false", 0),
        (" 007 : i8 ", 7),
        ("-0x1 : i64", -1),
        ("9223372036854775807 : index", 2**63 - 1),
    ],
)
def test_an_integer_is_read_with_or_without_its_type(text: str, value: int) -> None:
    assert attributes.integer(text) == value


@pytest.mark.parametrize("text", ["", "1.5 : f32", "@a", '"1"', "[1]", "1 2"])
def test_what_is_not_an_integer_is_refused(text: str) -> None:
    with pytest.raises(MlirError, match="expected an integer"):
        attributes.integer(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"in"', "in"),
        ('""', ""),
        (r'"a\0Ab"', "a\nb"),
        (r'"a\nb\t"', "a\nb\t"),
        (r'"\"q\" \\"', '"q" \\'),
        (r'"\C3\A4"', "ä"),
        ('"a" : i8', "a"),
    ],
)
def test_a_strings_escapes_are_resolved(text: str, value: str) -> None:
    assert attributes.string(text) == value


@given(st.text())
def test_a_quoted_string_reads_back(value: str) -> None:
    assert attributes.string(attributes.quote(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("@in", "in"), ('@"a b"', "a b"), ("@a::@b", "a::b"), ('@a::@"b c"::@d', "a::b c::d"), ("@a.b-c$1", "a.b-c$1")],
)
def test_a_symbol_is_read_without_its_marks(text: str, value: str) -> None:
    assert attributes.symbol(text) == value


@pytest.mark.parametrize("text", ["in", "@", "@a::b", "@a @b", '"@a"'])
def test_what_is_not_a_symbol_is_refused(text: str) -> None:
    with pytest.raises(MlirError, match="expected a reference"):
        attributes.symbol(text)


def test_an_array_is_split_at_its_own_commas_only() -> None:
    assert attributes.array('[a, [b, c], "d, ]", memref<4xi32, 1>, (i32, i32) -> i32]') == [
        "a",
        "[b, c]",
        '"d, ]"',
        "memref<4xi32, 1>",
        "(i32, i32) -> i32",
    ]
    assert attributes.array("[]") == []


def test_a_dictionary_gives_the_text_of_each_entry() -> None:
    assert attributes.dictionary('{a = 1 : i32, b, "c d" = [x, y], e = {f = "g = h"}}') == {
        "a": "1 : i32",
        "b": "unit",
        "c d": "[x, y]",
        "e": '{f = "g = h"}',
    }
    assert attributes.dictionary("{}") == {}


@pytest.mark.parametrize("text", ["array<i64: 2, -3>", "[2, -3]", "[2 : i64, -3 : i64]"])
def test_integers_are_read_from_each_form_of_a_list(text: str) -> None:
    assert attributes.integers(text) == [2, -3]


@pytest.mark.parametrize("text", ["array<i64>", "[]"])
def test_a_list_may_be_empty(text: str) -> None:
    assert attributes.integers(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("memref<32x32xi16>", MemRef((32, 32), "i16")),
        ("memref<i32>", MemRef((), "i32")),
        ("memref<?x4xbf16>", MemRef((None, 4), "bf16")),
        ("memref<4xi32, 1>", MemRef((4,), "i32", space="1")),
        ("memref<4xi32, 1 : i32>", MemRef((4,), "i32", space="1 : i32")),
        (
            "memref<8x16xi32, strided<[64, 1], offset: 5>, 1>",
            MemRef((8, 16), "i32", (64, 1), 5, "strided<[64, 1], offset: 5>", "1"),
        ),
        (
            "memref<8xi32, strided<[?], offset: ?>>",
            MemRef((8,), "i32", (None,), None, "strided<[?], offset: ?>"),
        ),
        ("memref<8xi32, strided<[2]>>", MemRef((8,), "i32", (2,), 0, "strided<[2]>")),
        (
            "memref<8x8xi8, affine_map<(d0, d1) -> (d1, d0)>>",
            MemRef((8, 8), "i8", layout="affine_map<(d0, d1) -> (d1, d0)>"),
        ),
        ("memref<2xvector<4xi32>>", MemRef((2,), "vector<4xi32>")),
        ("memref<4 x i32>", MemRef((4,), "i32")),
    ],
)
def test_a_memref_gives_shape_element_and_layout(text: str, value: MemRef) -> None:
    assert attributes.memref(text) == value


@pytest.mark.parametrize("text", ["memref<*xi32>", "memref<>", "memref<4x>", "tensor<4xi32>", "memref<4xi32", "i32"])
def test_what_is_not_a_ranked_memref_is_refused(text: str) -> None:
    with pytest.raises(MlirError):
        attributes.memref(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(i32, memref<4xi8>) -> (i32, i32)", (["i32", "memref<4xi8>"], ["i32", "i32"])),
        ("(i32) -> i32", (["i32"], ["i32"])),
        ("() -> ()", ([], [])),
        ("() -> (i32) -> i32", ([], ["(i32) -> i32"])),
        ("((i32) -> i32) -> ((i8) -> ())", (["(i32) -> i32"], ["(i8) -> ()"])),
    ],
)
def test_a_function_type_gives_inputs_and_results(text: str, value: tuple[list[str], list[str]]) -> None:
    assert attributes.function_type(text) == value


def test_access_patterns_give_size_and_stride() -> None:
    text = "#aie<bd_dim_layout_array[<size = 16, stride = 1>, <size = 8, stride = 16>]>"
    assert attributes.dimensions(text) == [(16, 1), (8, 16)]
    assert attributes.dimensions("#aie<bd_dim_layout_array[]>") == []


def test_access_patterns_are_given_for_each_consumer() -> None:
    text = "#aie<bd_dim_layout_array_array[[<size = 16, stride = 1>], []]>"
    assert attributes.dimensions_per_consumer(text) == [[(16, 1)], []]
    assert attributes.dimensions_per_consumer("#aie<bd_dim_layout_array_array[[]]>") == [[]]


@pytest.mark.parametrize("kind", ["objectfifo", "objectfifosubview"])
def test_the_element_of_a_fifo_is_its_memref(kind: str) -> None:
    assert attributes.fifo_element(f"!aie.{kind}<memref<4x4xi16>>") == MemRef((4, 4), "i16")


def test_another_type_has_no_element() -> None:
    with pytest.raises(MlirError, match="objectfifo"):
        attributes.fifo_element("!aie.other<memref<4xi16>>")
