"""StableHLO functions of other modules are called, and the module that comes of it is executed.

A small interpreter of the tests' own runs it always; where IREE is installed (the extra `iree`), IREE compiles and runs
the same text, as an independent judge.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiebuild
import numpy as np
import pytest
import stablehlo_interpreter
import stablehlo_iree
from aiebuild.errors import MlirError
from aiebuild.mlir.module import Builder
from aiebuild.mlir.native import NativeTool
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VECTOR, SCALAR, MANY = "tensor<3xf32>", "tensor<f32>", "tensor<64xf32>"
X, Y = np.array([1, 2, 50], np.float32), np.array([-4, 0.001, 2], np.float32)


def binary(op: str, type_: str = VECTOR, name: str = "main") -> str:
    return f"""
    "func.func"() <{{function_type = ({type_}, {type_}) -> {type_}, sym_name = "{name}"}}> ({{
    ^bb0(%a: {type_}, %b: {type_}):
      %0 = "stablehlo.{op}"(%a, %b) : ({type_}, {type_}) -> {type_}
      "func.return"(%0) : ({type_}) -> ()
    }}) : () -> ()"""


HELPER = f"""
"func.func"() <{{function_type = ({VECTOR}, {VECTOR}) -> {VECTOR}, sym_name = "main"}}> ({{
^bb0(%a: {VECTOR}, %b: {VECTOR}):
  %0 = "func.call"(%a, %b) <{{callee = @add}}> : ({VECTOR}, {VECTOR}) -> {VECTOR}
  "func.return"(%0) : ({VECTOR}) -> ()
}}) : () -> ()
{binary("add", name="add")}"""
LOG = f"""
#where = loc("log"("x.py":2:1))
"builtin.module"() <{{sym_name = "reactant_log"}}> ({{
  "func.func"() <{{arg_attrs = [{{tf.aliasing_output = 0 : i32}}], function_type = ({MANY}) -> {MANY},
    sym_name = "main"}}> ({{
  ^bb0(%a: {MANY} loc("v"(#where))):
    %0 = "stablehlo.log"(%a) : ({MANY}) -> {MANY} loc(#where)
    "func.return"(%0) : ({MANY}) -> () loc("x.py":3:4)
  }}) : () -> () loc(#where)
}}) {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} : () -> () loc(#where)
"""
SUM = """
"builtin.module"() <{sym_name = "jit_sum"}> ({
  "func.func"() <{function_type = (tensor<3xi32>) -> tensor<i32>, res_attrs = [{jax.result_info = "result"}],
    sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%values: tensor<3xi32>):
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %sum = "stablehlo.reduce"(%values, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%left: tensor<i32>, %right: tensor<i32>):
      %both = "stablehlo.add"(%left, %right) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%both) : (tensor<i32>) -> ()
    }) : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    "func.return"(%sum) : (tensor<i32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
"""
PRODUCT = """
"func.func"() <{function_type = (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>, sym_name = "main"}> ({
^bb0(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>):
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  "func.return"(%0) : (tensor<2x4xf32>) -> ()
}) : () -> ()
"""
BOTH = f"""
"func.func"() <{{function_type = ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR}), sym_name = "main"}}> ({{
^bb0(%a: {VECTOR}, %b: {VECTOR}):
  %0 = "stablehlo.subtract"(%a, %b) : ({VECTOR}, {VECTOR}) -> {VECTOR}
  "func.return"(%0, %a) : ({VECTOR}, {VECTOR}) -> ()
}}) : () -> ()
"""


@dataclass(frozen=True)
class Case:
    """What is called, one code after the other, with which arguments, and what comes of it.

    Each code gets the results of the one before in place of the first arguments.
    """

    codes: Sequence[str]
    inputs: Sequence[str]
    results: Sequence[str]
    arguments: Sequence[Any]
    expected: Sequence[Any]
    entry: str = "main"


A, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
NUMBERS = np.arange(1, 65, dtype=np.float32)
CASES = {
    "vectors": Case([binary("add")], [VECTOR] * 2, [VECTOR], [X, Y], [[-3, 2.001, 52]]),
    "scalars": Case([binary("add", SCALAR)], [SCALAR] * 2, [SCALAR], [np.float32(2)] * 2, [4.0]),
    "repeated": Case([binary("add", name="my_add")] * 3, [VECTOR] * 2, [VECTOR], [X, Y], [X + 3 * Y], "my_add"),
    "helper": Case([HELPER], [VECTOR] * 2, [VECTOR], [np.array([1, 2, 3], np.float32)] * 2, [[2, 4, 6]]),
    "two_mains": Case([binary("add"), binary("multiply")], [VECTOR] * 2, [VECTOR], [X, Y], [[12, 0.002001, 104]]),
    "printed": Case([write(parse(LOG))], [MANY], [MANY], [NUMBERS], [np.log(NUMBERS)]),
    "printed_with_places": Case([write(parse(LOG), locations=True)], [MANY], [MANY], [NUMBERS], [np.log(NUMBERS)]),
    "as_it_was_written": Case([LOG], [MANY], [MANY], [NUMBERS], [np.log(NUMBERS)]),
    "a_sum_of_jax": Case([SUM], ["tensor<3xi32>"], ["tensor<i32>"], [np.array([1, 2, 3], np.int32)], [6]),
    "two_results": Case([BOTH], [VECTOR] * 2, [VECTOR] * 2, [X, Y], [X - Y, X]),
    "matrices": Case([PRODUCT], ["tensor<2x3xf32>", "tensor<3x4xf32>"], ["tensor<2x4xf32>"], [A, B], [A @ B]),
}


def calls(builder: Builder, name: str, case: Case) -> None:
    """Add a function that makes a case's calls."""
    values = builder.function(name, case.inputs, case.results)
    for code in case.codes:
        results = builder.call(code, *values, entry=case.entry)
        values = (*results, *values[len(results) :])
    builder.returns(*results)


@cache
def everything() -> str:
    """All cases in one module: they do not get into each other's way."""
    builder = Builder()
    for name, case in CASES.items():
        calls(builder, name, case)
    return write(builder.module)


def agrees(run: Callable[[str, Sequence[Any]], Sequence[Any]], name: str) -> None:
    case = CASES[name]
    results = run(name, case.arguments)
    assert isinstance(results, tuple)
    assert len(results) == len(case.expected)
    for result, expected in zip(results, case.expected, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_a_function_of_another_module_computes_what_it_did_there(name: str) -> None:
    agrees(lambda name, arguments: stablehlo_interpreter.run(parse(everything()), name, arguments), name)


def test_iree_computes_the_same() -> None:
    run = stablehlo_iree.compiled(everything())
    for name in CASES:
        agrees(run, name)


CUSTOM = """
module @jit_sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xi32>) -> (tensor<i32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %sum = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    return %sum : tensor<i32>
  }
}
"""


def test_custom_syntax_of_stablehlo_is_read_by_iree_or_the_error_says_so() -> None:
    with pytest.raises(MlirError, match=r"jax\.mlir:4:5: error: .*`stablehlo\.constant`") as caught:
        normalise(CUSTOM, "jax.mlir")
    assert "install `iree-opt` (the Python package iree-base-compiler)" in str(caught.value)
    tool = NativeTool((stablehlo_iree.iree_opt(),), frozenset({"stablehlo"}))
    builder = Builder(native=(tool,))
    values = builder.function("top", ["tensor<3xi32>"], ["tensor<i32>"])
    builder.returns(*builder.call(CUSTOM, *values))
    (result,) = stablehlo_interpreter.run(parse(write(builder.module)), "top", [np.array([1, 2, 3], np.int32)])
    assert result == 6


def test_equal_codes_of_different_callers_are_there_once() -> None:
    assert everything().count('"stablehlo.log"') == 1, "places and aliases make no other code"
    assert everything().count('"stablehlo.reduce"') == 1


SCRIPT = """
import sys
import numpy as np
import stablehlo_interpreter
from aiebuild.mlir.module import Builder
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write

builder = Builder()
values = builder.function("top", {inputs!r}, {results!r})
builder.returns(*builder.call(open(sys.argv[1]).read(), *values))
(result,) = stablehlo_interpreter.run(parse(write(builder.module)), "top", list(np.load(sys.argv[2]).values()))
np.save(sys.argv[3], result)
"""


def test_a_script_that_calls_an_exported_module_computes_the_same(tmp_path: Path) -> None:
    case = CASES["matrices"]
    module, arguments, result = tmp_path / "m.mlir", tmp_path / "a.npz", tmp_path / "r.npy"
    module.write_text(write(parse(case.codes[0])))
    np.savez(arguments, *case.arguments)
    script = SCRIPT.format(inputs=case.inputs, results=case.results)
    folders = [str(Path(aiebuild.__file__).parents[1]), str(Path(stablehlo_interpreter.__file__).parent)]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {folders!r}\n{script}"]
    command += map(str, (module, arguments, result))
    subprocess.run(command, check=True, timeout=60)
    np.testing.assert_array_equal(np.load(result), A @ B)
