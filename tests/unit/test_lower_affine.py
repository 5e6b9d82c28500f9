"""Lowering `affine`: the same numbers as the maps say, the same as MLIR's own tools, at the same lines."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import mlir_tools
import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir.affine_map import contains, evaluate, read_map, read_set
from aiebuild.mlir.attributes import integer
from aiebuild.mlir.lower_affine import lower_affine
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.mlir.ir import Module, Op, Value

# Maps


@pytest.mark.parametrize(
    ("text", "operands", "expected"),
    [
        ("affine_map<() -> (7)>", (), [7]),
        ("affine_map<(d0, d1) -> (d1, d0)>", (3, 5), [5, 3]),
        ("affine_map<(d0)[s0] -> (d0 + s0 * 2 - 1)>", (3, 5), [12]),
        ("affine_map<(d0) -> (d0 - 1 - 2)>", (10,), [7]),
        ("affine_map<(d0) -> (d0 - (1 - 2))>", (10,), [11]),
        ("affine_map<(d0) -> (-d0 + 4)>", (10,), [-6]),
        ("affine_map<(d0) -> (d0 * -3)>", (10,), [-30]),
        ("affine_map<(d0) -> (d0 floordiv 4, d0 ceildiv 4, d0 mod 4)>", (-7,), [-2, -1, 1]),
        ("affine_map<(d0) -> (d0 mod 7 floordiv 2 * 3)>", (13,), [9]),
        ("affine_map<(i, j)[n] -> (i * n + j)>", (2, 3, 10), [23]),
        ("affine_map<()[s0] -> (s0)>", (4,), [4]),
    ],
)
def test_a_map_means_what_the_language_says(text: str, operands: tuple[int, ...], expected: list[int]) -> None:
    found = read_map(text)
    assert found.inputs == len(operands)
    assert [evaluate(result, operands) for result in found.results] == expected


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("affine_set<(d0)[s0] : (d0 - s0 - 1 >= 0)>", (5, 4), (4, 4)),
        ("affine_set<(d0) : (d0 mod 2 == 0, d0 >= 0)>", (4,), (-4,)),
        ("affine_set<(d0) : (d0 == 3)>", (3,), (4,)),
        ("affine_set<(d0, d1) : (d0 <= d1)>", (3, 3), (4, 3)),
        ("affine_set<(d0) : (d0 >= 3)>", (3,), (2,)),
    ],
)
def test_a_set_has_the_points_that_meet_all_constraints(
    text: str, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    assert contains(read_set(text), inside)
    assert not contains(read_set(text), outside)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("affine_map<(d0) -> (d1)>", "expected one of d0, or a number, found `d1`"),
        ("affine_map<(d0) -> (d0 +)>", "found `d0 +`"),
        ("affine_map<(d0) -> ((d0)>", "expected"),
        ("affine_map<(d0) -> (d0 d0)>", "expected an affine expression"),
        ("affine_map<(d0) -> (d0 / 2)>", "expected an affine expression"),
        ("affine_map<d0 -> (d0)>", "expected dimensions"),
        ("affine_set<(d0) -> (d0)>", "expected `affine_map<...>`"),
    ],
)
def test_a_text_that_is_no_map_is_refused(text: str, message: str) -> None:
    with pytest.raises(MlirError) as caught:
        read_map(text)
    assert message in caught.value.message


# Arithmetic that stands for maps


def expressions(inputs: list[str]) -> st.SearchStrategy[str]:
    leaves = st.sampled_from(inputs) | st.integers(-20, 20).map(str)
    positive = st.integers(1, 9).map(str)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(lambda parts: "({} {} {})".format(*parts)),
            st.tuples(inner, st.integers(-5, 5)).map(lambda parts: "({} * {})".format(*parts)),
            st.tuples(inner, st.sampled_from(["floordiv", "ceildiv", "mod"]), positive).map(
                lambda parts: "({} {} {})".format(*parts)
            ),
        ),
        max_leaves=8,
    )


def truncated(left: int, right: int) -> int:
    return abs(left) // right * (1 if left >= 0 else -1)


COMPARE: list[Callable[[int, int], bool]] = [
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip
ARITH: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divsi": truncated,
    "arith.remsi": lambda left, right: left - truncated(left, right) * right,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.andi": operator.and_,
}


def computed(op: Op, values: dict[Value, int]) -> int:
    operands = [values[operand] for operand in op.operands]
    if op.name == "arith.constant":
        return integer(op.properties["value"])
    if op.name == "arith.cmpi":
        return COMPARE[integer(op.properties["predicate"])](*operands)
    if op.name == "arith.select":
        return operands[1] if operands[0] else operands[2]
    return ARITH[op.name](*operands)


def interpreted(ops: list[Op], values: dict[Value, int]) -> list[int]:
    """Return what reaches the op that ends the block; only ops with one result are known."""
    for op in ops[:-1]:
        values[op.results[0]] = computed(op, values)
    return [values[operand] for operand in ops[-1].operands]


def function(*lines: str, arguments: str = "%a: index, %b: index, %n: index") -> Module:
    body = "\n  ".join(lines)
    head = '"func.func"() <{function_type = () -> (), sym_name = "f"}>'
    return parse(f"{head} ({{\n^bb0({arguments}):\n  {body}\n}}) : () -> ()", "f.mlir")


def results(module: Module, *arguments: int) -> list[int]:
    block = lower_affine(module).op.body[0].regions[0].blocks[0]
    return interpreted(block.ops, dict(zip(block.arguments, arguments, strict=True)))


NUMBERS = st.integers(-100, 100)


@given(expressions(["d0", "d1", "s0"]), NUMBERS, NUMBERS, NUMBERS)
def test_the_arithmetic_of_a_map_gives_its_value(text: str, a: int, b: int, n: int) -> None:
    whole = f"affine_map<(d0, d1)[s0] -> ({text})>"
    module = function(
        f'%x = "affine.apply"(%a, %b, %n) <{{map = {whole}}}> : (index, index, index) -> index',
        '"func.return"(%x) : (index) -> ()',
    )
    assert results(module, a, b, n) == [evaluate(read_map(whole).results[0], (a, b, n))]


@given(st.lists(expressions(["d0", "d1"]), min_size=1, max_size=4), NUMBERS, NUMBERS, st.sampled_from(["min", "max"]))
def test_min_and_max_choose_among_all_results_of_a_map(texts: list[str], a: int, b: int, which: str) -> None:
    whole = f"affine_map<(d0, d1) -> ({', '.join(texts)})>"
    module = function(
        f'%x = "affine.{which}"(%a, %b) <{{map = {whole}}}> : (index, index) -> index',
        '"func.return"(%x) : (index) -> ()',
    )
    values = [evaluate(result, (a, b)) for result in read_map(whole).results]
    assert results(module, a, b, 0) == [min(values) if which == "min" else max(values)]


@given(st.lists(st.tuples(expressions(["d0", "s0"]), st.sampled_from([">=", "=="])), min_size=1, max_size=3), NUMBERS)
def test_a_condition_holds_where_all_constraints_do(parts: list[tuple[str, str]], a: int) -> None:
    whole = f"affine_set<(d0)[s0] : ({', '.join(f'{text} {sign} 0' for text, sign in parts)})>"
    branches = '({\n"affine.yield"() : () -> ()\n}, {\n})'
    module = function(f'"affine.if"(%a, %n) <{{condition = {whole}}}> {branches} : (index, index) -> ()')
    block = lower_affine(module).op.body[0].regions[0].blocks[0]
    assert block.ops[-1].name == "scf.if"
    for n in (-7, 0, 3):
        values = dict(zip(block.arguments, (a, 0, n), strict=True))
        assert bool(interpreted(block.ops, values)[0]) == contains(read_set(whole), (a, n))


@given(expressions(["d0", "d1"]), st.integers(0, 5), st.integers(0, 40), st.integers(0, 40))
def test_what_is_known_of_counters_makes_no_difference(text: str, first: int, i: int, j: int) -> None:
    """Divisions of what is not negative need no case for negative numbers; the numbers must stay."""
    whole = f"affine_map<(d0, d1) -> ({text})>"
    start, end = f"affine_map<() -> ({first})>", "affine_map<() -> (50)>"
    loop = (
        f"lowerBoundMap = {start}, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = {end}"
    )
    module = function(
        f'"affine.for"() <{{{loop}}}> ({{\n^bb1(%i: index):\n"affine.for"() <{{{loop}}}> ({{\n^bb2(%j: index):',
        f'%x = "affine.apply"(%i, %j) <{{map = {whole}}}> : (index, index) -> index',
        '"own.use"(%x) : (index) -> ()',
        '"affine.yield"() : () -> ()\n}) : () -> ()\n"affine.yield"() : () -> ()\n}) : () -> ()',
    )
    lowered = lower_affine(module)
    outer, inner = (op.regions[0].blocks[0] for op in lowered.walk() if op.name == "scf.for")
    values = {outer.arguments[0]: first + i, inner.arguments[0]: first + j}
    used = inner.ops[: next(index for index, op in enumerate(inner.ops) if op.name == "own.use") + 1]
    for op in lowered.walk():
        if op.name == "arith.constant":
            values[op.results[0]] = computed(op, values)
    assert interpreted(used, values) == [evaluate(read_map(whole).results[0], (first + i, first + j))]


# Whole programs

PROGRAM = """
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
func.func @work(%A: memref<8x12xi32>, %n: index) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 12 {
      %x = affine.apply affine_map<(d0, d1) -> (d0 * 12 + d1 - 20)>(%i, %j)
      %v = arith.index_cast %x : index to i32
      affine.store %v, %A[%i, (%j + 5) mod 12] : memref<8x12xi32>
    }
  }
  affine.for %i = max affine_map<(d0) -> (d0 - 6, 1)>(%n) to min affine_map<(d0)[s0] -> (d0 + 3, s0)>(%n)[%n] step 2 {
    %sum = affine.for %j = 0 to affine_map<(d0) -> (d0 ceildiv 2 + 4)>(%i) iter_args(%s = %zero) -> (i32) {
      %v = affine.load %A[(%i * 3 + %j) floordiv 5, (%j + 11 * %i) mod 12] : memref<8x12xi32>
      %t = arith.addi %s, %v : i32
      affine.yield %t : i32
    }
    affine.store %sum, %A[%i, 0] : memref<8x12xi32>
    BRANCH
  }
  PARALLEL
  return
}
func.func @main() {
  %A = memref.alloc() : memref<8x12xi32>
  %c7 = arith.constant 7 : index
  %c3 = arith.constant 3 : index
  func.call @work(%A, %c7) : (memref<8x12xi32>, index) -> ()
  %U = memref.cast %A : memref<8x12xi32> to memref<*xi32>
  func.call @printMemrefI32(%U) : (memref<*xi32>) -> ()
  func.call @work(%A, %c3) : (memref<8x12xi32>, index) -> ()
  func.call @printMemrefI32(%U) : (memref<*xi32>) -> ()
  return
}
"""
BRANCH = """
    affine.if affine_set<(d0)[s0] : (d0 mod 3 == 0, s0 - d0 - 1 >= 0)>(%i)[%n] {
      affine.store %one, %A[%i, 1] : memref<8x12xi32>
    } else {
      affine.store %sum, %A[-%i + 7, 2] : memref<8x12xi32>
    }
"""
PARALLEL = """
  affine.parallel (%i, %j) = (1, max(%n - 6, 2)) to (8, min(%n, 6)) step (3, 1) {
    %v = affine.load %A[%i, %j] : memref<8x12xi32>
    %w = arith.addi %v, %one : i32
    affine.store %w, %A[%i - 1, %j + 6] : memref<8x12xi32>
  }
"""


LOOPS = PROGRAM.replace("PARALLEL", "").replace("BRANCH", "")
"""What the built-in reader knows."""


@pytest.mark.parametrize(("branch", "parallel"), [("", ""), (BRANCH, ""), ("", PARALLEL), (BRANCH, PARALLEL)])
def test_a_program_prints_what_it_did_before(branch: str, parallel: str) -> None:
    mlir_tools.require("mlir-opt", "mlir-runner")
    text = mlir_tools.generic(PROGRAM.replace("PARALLEL", parallel).replace("BRANCH", branch))
    lowered = write(lower_affine(parse(text)))
    assert "affine." not in lowered.replace("affine_map<", "")
    before = mlir_tools.run(text)
    assert len(set(before.split())) > 30, "a program that prints little proves nothing"
    assert mlir_tools.run(lowered) == before


def test_a_mutant_is_noticed() -> None:
    """The same comparison, with a remainder that may be negative."""
    mlir_tools.require("mlir-opt", "mlir-runner")
    text = LOOPS.replace("(%j + 11 * %i) mod 12", "(%j + 10 * %i) mod 12")
    before = mlir_tools.run(mlir_tools.generic(LOOPS))
    assert mlir_tools.run(write(lower_affine(parse(mlir_tools.generic(text))))) != before


def test_what_the_built_in_reader_gives_is_lowered_and_verifies() -> None:
    module = normalise(LOOPS, "program.mlir")
    lowered = lower_affine(module)
    assert not any(op.name.startswith("affine.") for op in lowered.walk())
    assert mlir_tools.verified(write(lowered)) == ""


# What stays, and what is refused


def test_ops_keep_lines_and_attributes() -> None:
    text = LOOPS.replace("    }\n  }\n  affine.for", '    } {stage_name = "s"}\n  }\n  affine.for')
    module = normalise(text, "program.mlir")
    lowered = lower_affine(module)
    assert all(op.location for op in lowered.walk() if op.parent_op is not lowered.op)
    loops = [op for op in lowered.walk() if op.name == "scf.for"]
    assert [op.line for op in loops] == [op.line for op in module.walk() if op.name == "affine.for"]
    assert [op.attributes for op in loops if op.attributes] == [{"stage_name": '"s"'}]
    remainder = next(op for op in lowered.walk() if op.name == "arith.remsi")
    assert (remainder.line, remainder.location) == (10, '"program.mlir":10:7')


def test_the_module_that_is_given_is_not_changed() -> None:
    module = normalise(LOOPS, "program.mlir")
    before = write(module)
    lower_affine(module)
    assert write(module) == before


def test_an_apply_of_an_apply_is_replaced_to_the_end() -> None:
    same = "<{map = affine_map<(d0) -> (d0)>}> : (index) -> index"
    module = function(
        f'%x = "affine.apply"(%a) {same}',
        f'%y = "affine.apply"(%x) {same}',
        '"func.return"(%y) : (index) -> ()',
    )
    assert results(module, 42, 0, 0) == [42]


BOUNDS = ", ".join(
    f"{which}BoundsGroups = dense<1> : tensor<1xi32>, {which}BoundsMap = affine_map<() -> ({number})>"
    for which, number in (("lower", 0), ("upper", 4))
)
REDUCTION = (
    f'%x = "affine.parallel"() <{{{BOUNDS}, reductions = [1], steps = [1]}}> '
    '({\n^bb1(%i: index):\n"affine.yield"(%i) : (index) -> ()\n}) : () -> index'
)
REFUSED: list[tuple[str, str]] = [
    (
        '%x = "affine.apply"(%a, %n) <{map = affine_map<(d0)[s0] -> (d0 mod s0)>}> : (index, index) -> index',
        "mod needs a positive constant",
    ),
    (
        '%x = "affine.apply"(%a) <{map = affine_map<(d0) -> (d0 floordiv 0)>}> : (index) -> index',
        "floordiv needs a positive constant",
    ),
    ('%x = "affine.apply"(%a) <{map = affine_map<(d0, d1) -> (d0)>}> : (index) -> index', "takes 2 operands, but 1"),
    ('%x = "affine.apply"(%a) : (index) -> index', "affine.apply has no map"),
    (
        '%x:2 = "affine.delinearize_index"(%a) <{static_basis = array<i64: 4, 8>}> : (index) -> (index, index)',
        "affine.delinearize_index is not supported without MLIR's own tools",
    ),
    (REDUCTION, "affine.parallel with reductions"),
    ('"affine.for"() : () -> ()', "affine.for has no body"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_what_cannot_be_lowered_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(MlirError) as caught:
        lower_affine(function('%c = "arith.constant"() <{value = 1 : index}> : () -> index', line))
    assert message in caught.value.message
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == ("f.mlir", 4)


def test_a_misspelt_op_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(MlirError) as caught:
        lower_affine(function('"affine.stor"(%a) : (index) -> ()'))
    assert "did you mean 'affine.store'?" in str(caught.value)


def test_hints_to_the_cache_are_left_out() -> None:
    entries: dict[str, Any] = {"isDataCache": "true", "isWrite": "false", "localityHint": "3 : i32"}
    text = ", ".join(f"{name} = {value}" for name, value in entries.items())
    module = function(
        f'"affine.prefetch"(%m, %a) <{{{text}, map = affine_map<(d0) -> (d0)>}}> : (memref<4xf32>, index) -> ()',
        arguments="%m: memref<4xf32>, %a: index",
    )
    assert lower_affine(module).op.body[0].body == []
