"""Integer ops wrap as in MLIR, float ops round to their type; what is undefined there is an error that names the op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from aiebuild.errors import MlirError
from aiebuild.host import ranges
from aiebuild.host.simulate import Program
from aiebuild.host.support import Fault
from aiebuild.host.translate import translate
from aiebuild.mlir.parse import parse
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTHS = (8, 16, 32, 64)


def function(body: str, inputs: str, result: str) -> Callable[..., Any]:
    """Return the translation of `func.func @f` with arguments `%a`, `%b`, ... of the given types."""
    names = [f"%{chr(ord('a') + place)}: {kind}" for place, kind in enumerate(inputs.split(", "))]
    text = f"""
    "builtin.module"() ({{
      "aie.device"() <{{device = "npu1_1col"}}> ({{
        "func.func"() <{{function_type = ({inputs}) -> {result}, sym_name = "f"}}> ({{
        ^bb0({", ".join(names)}):
          {body}
          "func.return"(%r) : ({result}) -> ()
        }}) : () -> ()
      }}) : () -> ()
    }}) : () -> ()"""
    found = Program(translate(parse(text, "f.mlir"))).functions["function_f"]
    return lambda *values: found(None, *values)


def binary(name: str, kind: str, more: str = "") -> Callable[..., Any]:
    return function(f'%r = "arith.{name}"(%a, %b){more} : ({kind}, {kind}) -> {kind}', f"{kind}, {kind}", kind)


def test_affine_is_lowered_before_it_is_translated() -> None:
    body = """
    %c = "affine.apply"(%a, %b) <{map = affine_map<(d0)[s0] -> ((d0 + s0) floordiv 2)>}> : (index, index) -> index
    %r = "affine.for"(%c) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>,
      step = 1 : index, upperBoundMap = affine_map<() -> (4)>}> ({
    ^bb0(%i: index, %sum: index):
      %next = "affine.apply"(%sum, %i) <{map = affine_map<(d0, d1) -> (d0 + d1)>}> : (index, index) -> index
      "affine.yield"(%next) : (index) -> ()
    }) : (index) -> index
    """
    assert function(body, "index, index", "index")(7, 4) == 11 // 2 + 6


def wrapped(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


INTEGERS: dict[str, Callable[[int, int, int], int]] = {
    "addi": lambda a, b, _: a + b,
    "subi": lambda a, b, _: a - b,
    "muli": lambda a, b, _: a * b,
    "andi": lambda a, b, _: a & b,
    "ori": lambda a, b, _: a | b,
    "xori": lambda a, b, _: a ^ b,
    "maxsi": lambda a, b, _: max(a, b),
    "minsi": lambda a, b, _: min(a, b),
    "maxui": lambda a, b, bits: max(a % (1 << bits), b % (1 << bits)),
    "minui": lambda a, b, bits: min(a % (1 << bits), b % (1 << bits)),
}
COMPILED = {(name, bits): binary(name, f"i{bits}") for name in INTEGERS for bits in WIDTHS}


def signed(bits: int) -> st.SearchStrategy[int]:
    """Values of a signed integer, its limits more often than chance has them."""
    limit = 1 << (bits - 1)
    return st.one_of(st.sampled_from([-limit, -1, 0, 1, limit - 1]), st.integers(-limit, limit - 1))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[int, int, int]:
    bits = draw(st.sampled_from(WIDTHS))
    return bits, draw(signed(bits)), draw(signed(bits))


@given(st.sampled_from(sorted(INTEGERS)), pairs())
def test_integer_ops_wrap_to_their_width(name: str, values: tuple[int, int, int]) -> None:
    bits, a, b = values
    assert COMPILED[name, bits](a, b) == wrapped(INTEGERS[name](a, b, bits), bits)


@given(pairs())
def test_sums_and_products_are_those_of_numpy(values: tuple[int, int, int]) -> None:
    bits, a, b = values
    dtype = np.dtype(f"int{bits}")
    left, right = np.array([a], dtype), np.array([b], dtype)
    assert COMPILED["addi", bits](a, b) == int((left + right)[0])
    assert COMPILED["subi", bits](a, b) == int((left - right)[0])
    assert COMPILED["muli", bits](a, b) == int((left * right)[0])


DIVISIONS = {
    (name, bits): binary(name, f"i{bits}")
    for name in ("divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui")
    for bits in WIDTHS
}


@given(pairs())
def test_division_rounds_as_its_name_says(values: tuple[int, int, int]) -> None:
    bits, a, b = values
    lowest = -(1 << (bits - 1))
    if b == 0 or (a == lowest and b == -1):
        with pytest.raises(Fault):
            DIVISIONS["divsi", bits](a, b)
        return
    towards_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    assert DIVISIONS["divsi", bits](a, b) == towards_zero
    assert DIVISIONS["remsi", bits](a, b) == a - towards_zero * b
    assert DIVISIONS["floordivsi", bits](a, b) == a // b
    assert DIVISIONS["ceildivsi", bits](a, b) == -(-a // b)
    one, other = a % (1 << bits), b % (1 << bits)
    assert DIVISIONS["divui", bits](a, b) == wrapped(one // other, bits)
    assert DIVISIONS["remui", bits](a, b) == wrapped(one % other, bits)
    assert DIVISIONS["ceildivui", bits](a, b) == wrapped(-(-one // other), bits)


@given(signed(32), st.sampled_from([1, 3, 4, 32, 1000]))
def test_division_by_a_constant_agrees_with_the_general_one(a: int, b: int) -> None:
    for name in ("divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"):
        text = f'%c = "arith.constant"() <{{value = {b} : i32}}> : () -> i32\n'
        text += f'%r = "arith.{name}"(%a, %c) : (i32, i32) -> i32'
        assert function(text, "i32", "i32")(a) == DIVISIONS[name, 32](a, b)
        # The same of a value that is known not to be negative.
        small = '%m = "arith.constant"() <{value = 5000 : i32}> : () -> i32\n'
        small += '%p = "arith.remui"(%a, %m) : (i32, i32) -> i32\n'
        assert function(small + text.replace("(%a, %c)", "(%p, %c)"), "i32", "i32")(a) == DIVISIONS[name, 32](
            DIVISIONS["remui", 32](a, 5000), b
        )


SHIFTS = {(name, bits): binary(name, f"i{bits}") for name in ("shli", "shrsi", "shrui") for bits in WIDTHS}


@given(pairs(), st.integers(0, 63))
def test_shifts_keep_the_width(values: tuple[int, int, int], amount: int) -> None:
    bits, a, _ = values
    amount %= bits
    assert SHIFTS["shli", bits](a, amount) == wrapped(a << amount, bits)
    assert SHIFTS["shrsi", bits](a, amount) == a >> amount
    assert SHIFTS["shrui", bits](a, amount) == wrapped((a % (1 << bits)) >> amount, bits)


@pytest.mark.parametrize("name", ["shli", "shrsi", "shrui"])
@pytest.mark.parametrize("amount", [32, -1])
def test_a_shift_by_the_width_or_more_is_an_error(name: str, amount: int) -> None:
    with pytest.raises(Fault, match="a shift by"):
        SHIFTS[name, 32](1, amount)


PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
TESTS = {
    (number, bits): function(
        f'%r = "arith.cmpi"(%a, %b) <{{predicate = {number} : i64}}> : (i{bits}, i{bits}) -> i1',
        f"i{bits}, i{bits}",
        "i1",
    )
    for number in range(10)
    for bits in (8, 64)
}


@given(st.sampled_from([8, 64]), st.data())
def test_comparisons_read_their_operands_as_their_names_say(bits: int, data: st.DataObject) -> None:
    a, b = data.draw(signed(bits)), data.draw(signed(bits))
    dtype = {8: np.uint8, 64: np.uint64}[bits]
    one, other = (int(np.array([value]).astype(dtype)[0]) for value in (a, b))
    expected = [a == b, a != b, a < b, a <= b, a > b, a >= b, one < other, one <= other, one > other, one >= other]
    for number, name in enumerate(PREDICATES):
        assert TESTS[number, bits](a, b) == expected[number], name


@given(signed(32))
def test_extensions_and_truncations(a: int) -> None:
    def convert(name: str, source: str, target: str) -> Callable[..., Any]:
        return function(f'%r = "arith.{name}"(%a) : ({source}) -> {target}', source, target)

    narrow = wrapped(a, 8)
    assert convert("trunci", "i32", "i8")(a) == narrow
    assert convert("extsi", "i8", "i32")(narrow) == narrow
    assert convert("extui", "i8", "i32")(narrow) == narrow % 256
    assert convert("index_castui", "i32", "index")(a) == a % (1 << 32)
    assert convert("index_cast", "index", "i32")(a + (5 << 32)) == a
    assert convert("trunci", "i32", "i1")(a) == a % 2


def test_a_set_bit_is_minus_one_when_it_is_read_as_signed() -> None:
    assert function('%r = "arith.extsi"(%a) : (i1) -> i32', "i1", "i32")(True) == -1
    assert function('%r = "arith.extui"(%a) : (i1) -> i32', "i1", "i32")(True) == 1
    assert function('%r = "arith.maxsi"(%a, %b) : (i1, i1) -> i1', "i1, i1", "i1")(1, 0) == 0
    true = '%t = "arith.constant"() <{value = true}> : () -> i1\n'
    assert function(true + '%r = "arith.xori"(%a, %t) : (i1, i1) -> i1', "i1", "i1")(1) == 0


FLOATS = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


@pytest.mark.parametrize("kind", sorted(FLOATS))
@given(a=st.floats(-1e4, 1e4), b=st.floats(-1e4, 1e4))
def test_float_ops_round_to_their_type(kind: str, a: float, b: float) -> None:
    dtype = FLOATS[kind]
    left, right = dtype(a), dtype(b)
    for name, sign in (("addf", "__add__"), ("mulf", "__mul__"), ("subf", "__sub__")):
        with np.errstate(over="ignore", invalid="ignore"):
            got = binary(name, kind)(left, right)
            expected = getattr(left, sign)(right)
        assert type(got) is dtype
        assert got == expected or (np.isnan(got) and np.isnan(expected))


def test_float_division_by_zero_is_infinite() -> None:
    with np.errstate(all="ignore"):
        assert np.isposinf(binary("divf", "f32")(np.float32(1), np.float32(0)))


@pytest.mark.parametrize(
    ("number", "one_two", "nan"),
    [
        *((number, False, False) for number in (0, 1, 2)),
        *((number, True, False) for number in (4, 6, 7)),
        *((number, False, True) for number in (8, 9, 14)),
        *((number, True, True) for number in (11, 13, 15)),
    ],
)
def test_float_comparisons_with_what_is_no_number(number: int, one_two: bool, nan: bool) -> None:
    test = function(f'%r = "arith.cmpf"(%a, %b) <{{predicate = {number} : i64}}> : (f32, f32) -> i1', "f32, f32", "i1")
    assert test(np.float32(1), np.float32(2)) is one_two
    assert test(np.float32("nan"), np.float32(2)) is nan


def test_conversions_between_integers_and_floats() -> None:
    def convert(name: str, source: str, target: str) -> Callable[..., Any]:
        return function(f'%r = "arith.{name}"(%a) : ({source}) -> {target}', source, target)

    assert convert("sitofp", "i32", "f32")(16777217) == np.float32(16777216)
    assert convert("uitofp", "i8", "f32")(-1) == np.float32(255)
    assert convert("fptosi", "f32", "i32")(np.float32(-2.75)) == -2
    assert convert("fptoui", "f32", "i8")(np.float32(255.5)) == -1
    assert convert("truncf", "f32", "bf16")(np.float32(1.005)) == ml_dtypes.bfloat16(1.0078125)
    assert convert("bitcast", "f32", "i32")(np.float32(1)) == 0x3F800000
    assert convert("bitcast", "i32", "f32")(0x3F800000) == 1.0
    with pytest.raises(Fault, match="does not fit"):
        convert("fptosi", "f32", "i8")(np.float32(128))
    with pytest.raises(Fault, match="no integer value"):
        convert("fptosi", "f32", "i8")(np.float32("nan"))


def test_constants_of_every_kind() -> None:
    def constant(text: str, kind: str) -> Any:
        return function(f'%r = "arith.constant"() <{{value = {text} : {kind}}}> : () -> {kind}', "i32", kind)(0)

    assert constant("-1", "i8") == -1
    assert constant("255", "i8") == -1
    assert constant("1.500000e+00", "f32") == 1.5
    assert np.isnan(constant("0x7FC00000", "f32"))
    assert np.isneginf(constant("0xFF80", "bf16"))


def test_math_functions_keep_the_type() -> None:
    def apply(name: str, value: Any, kind: str = "f32") -> Any:
        return function(f'%r = "math.{name}"(%a) : ({kind}) -> {kind}', kind, kind)(value)

    assert apply("exp", np.float32(1)) == np.exp(np.float32(1))
    assert apply("tanh", np.float32(0.5)) == np.tanh(np.float32(0.5))
    assert apply("rsqrt", np.float32(4)) == np.float32(0.5)
    assert apply("erf", np.float32(1)) == np.float32(0.8427007929497149)
    assert type(apply("sqrt", ml_dtypes.bfloat16(2), "bf16")) is ml_dtypes.bfloat16
    assert apply("absi", -5, "i32") == 5


def test_vectors_are_refused_with_op_and_line() -> None:
    body = '%r = "arith.addi"(%a, %b) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>'
    with pytest.raises(MlirError, match=r"f\.mlir:6:11: error: op `arith\.addi` is not supported on the host"):
        function(body, "vector<4xi32>, vector<4xi32>", "vector<4xi32>")


@st.composite
def intervals(draw: st.DrawFn) -> tuple[ranges.Range, int]:
    low, high = sorted((draw(st.integers(-100, 100)), draw(st.integers(-100, 100))))
    return (low, high), draw(st.integers(low, high))


@given(intervals(), intervals(), st.integers(1, 9))
def test_intervals_hold_every_result(one: tuple[ranges.Range, int], other: tuple[ranges.Range, int], c: int) -> None:
    (left, a), (right, b) = one, other

    def inside(value: int, interval: ranges.Range) -> bool:
        return interval[0] <= value <= interval[1]

    assert inside(a + b, ranges.add(left, right))
    assert inside(a - b, ranges.subtract(left, right))
    assert inside(a * b, ranges.multiply(left, right))
    assert inside(a, ranges.union(left, right))
    assert inside(abs(a) % c * (1 if a >= 0 else -1), ranges.remainder(left, c))
