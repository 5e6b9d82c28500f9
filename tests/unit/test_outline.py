from __future__ import annotations

from pathlib import Path
from typing import Any

import mlir_tools
import pytest
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.outline import outline
from aiebuild.mlir.parse import parse
from aiebuild.mlir.problems import ProblemsError
from aiebuild.mlir.symbols import symbol_name, symbols
from aiebuild.mlir.write import write

TWO_MM = Path(__file__).parents[1] / "golden" / "services" / "two_mm.mlir"
A, B, C, D = "memref<16x22xf32>", "memref<22x18xf32>", "memref<18x24xf32>", "memref<16x24xf32>"
AB = "memref<16x18xf32>"
ROW = "memref<4xf32>"


def two_mm() -> Any:
    return normalise(TWO_MM.read_text(), "two_mm.mlir")


def top(body: str, arguments: str = f"%m: {ROW}, %n: index, %x: f32", more: str = "") -> Any:
    text = f"func.func @top({arguments}) {{\n{body}\nreturn\n}}\n{more}"
    return normalise(text, "d.mlir")


def scale(target: str, name: str, source: str = "%m", by: str = "%x") -> str:
    """A stage that leaves a scaled copy of one row in another."""
    i, v, w = f"%i_{name}", f"%v_{name}", f"%w_{name}"
    return f"""affine.for {i} = 0 to 4 {{
      {v} = affine.load {source}[{i}] : {ROW}
      {w} = arith.mulf {v}, {by} : f32
      affine.store {w}, {target}[{i}] : {ROW}
    }} {{stage_name = "{name}"}}"""


def cut(module: Any, *what: Any, **options: Any) -> Any:
    """Outline, and let MLIR judge the result where it is installed."""
    before = write(module)
    result = outline(module, "top", what, **options)
    assert write(module) == before, "what is given is not changed"
    if mlir_tools.find("mlir-opt"):
        assert mlir_tools.verified(write(result.module)) == ""
    return result


def refused(module: Any, *what: Any, **options: Any) -> ProblemsError:
    with pytest.raises(ProblemsError) as caught:
        outline(module, options.pop("func", "top"), what, **options)
    return caught.value


def ops(module: Any, name: str) -> list[str]:
    return [op.name for op in symbols(module.op)[name].body]


# 2MM: the order of arguments


def test_two_stages_become_two_functions_with_two_calls() -> None:
    result = cut(two_mm(), "out_AB", "out_ABC")
    assert [part.function for part in result.parts] == ["Stage_out_AB", "Stage_out_ABC"]
    assert [part.inputs for part in result.parts] == [(A, B, AB), (AB, C, D)]
    functions = symbols(result.module.op)
    assert list(functions) == ["Stage_out_AB", "Stage_out_ABC", "top"]
    assert functions["Stage_out_AB"].properties["sym_visibility"] == '"private"'
    calls = [op for op in functions["top"].body if op.name == "func.call"]
    arguments = functions["top"].regions[0].blocks[0].arguments
    ab = calls[0].operands[2]
    assert calls[0].operands == [*arguments[:2], ab]
    assert calls[1].operands[:2] == [ab, arguments[2]]
    assert calls[0].attributes == {"stage_name": '"out_AB"'}
    assert calls[0].line == 5


def test_a_range_becomes_one_function() -> None:
    result = cut(two_mm(), ("out_AB", "out_ABC"))
    assert [(part.function, part.inputs) for part in result.parts] == [("Stage_out_AB_out_ABC", (A, B, AB, C, D))]


def test_what_stages_say_of_themselves_stays_on_them() -> None:
    result = cut(two_mm(), "out_AB")
    loop = next(op for op in symbols(result.module.op)["Stage_out_AB"].body if op.name == "affine.for")
    assert loop.attributes == {"stage_name": '"out_AB"', "loop_name": '"i"'}


@pytest.mark.parametrize(
    "what",
    [
        ["out_AB", "out_ABC"],
        [("out_AB", "out_ABC")],
        ["out_AB", "out_ABC", "E"],
        [("out_AB", "E"), "out_ABC"],
        [("out_AB", "E")],
    ],
)
def test_two_mm_computes_the_same_however_it_is_cut(what: list[Any]) -> None:
    from aiebuild.mlir.link import link  # noqa: PLC0415 - the other service

    def values(matrix: str, rows: int, columns: int, a: int, b: int) -> str:
        return f"""affine.for %i = 0 to {rows} {{ affine.for %j = 0 to {columns} {{
          %u = affine.apply affine_map<(d0, d1) -> ((d0 * {a} + d1 * {b}) mod 10)>(%i, %j)
          %w = arith.index_cast %u : index to i32
          %f = arith.sitofp %w : i32 to f32
          affine.store %f, {matrix}[%i, %j] : memref<{rows}x{columns}xf32> }} }}"""

    main = f"""
func.func private @printMemrefF32(memref<*xf32>) attributes {{llvm.emit_c_interface}}
func.func private @top({A}, {B}, {C}, {D}, {D})
func.func @main() {{
  %A = memref.alloc() : {A}
  %B = memref.alloc() : {B}
  %C = memref.alloc() : {C}
  %D = memref.alloc() : {D}
  %E = memref.alloc() : {D}
  {values("%A", 16, 22, 7, 3)}
  {values("%B", 22, 18, 5, 11)}
  {values("%C", 18, 24, 3, 13)}
  {values("%D", 16, 24, 17, 2)}
  call @top(%A, %B, %C, %D, %E) : ({A}, {B}, {C}, {D}, {D}) -> ()
  %shown = memref.cast %E : {D} to memref<*xf32>
  call @printMemrefF32(%shown) : (memref<*xf32>) -> ()
  return
}}"""
    program = parse(mlir_tools.generic(main))
    printed = mlir_tools.run(write(link(program, [cut(two_mm(), *what).module], None).module))
    assert "33280,   32779" in printed
    assert printed == mlir_tools.run(write(link(program, [two_mm()], None).module))


# Buffers


def test_a_buffer_that_is_made_in_a_range_and_used_after_it_stays_outside() -> None:
    body = f"""{scale("%m", "a")}
    %t = memref.alloc() : {ROW}
    {scale("%t", "b")}
    {scale("%m", "c", "%t")}
    memref.dealloc %t : {ROW}"""
    result = cut(top(body), ("a", "b"))
    assert ops(result.module, "top") == ["memref.alloc", "func.call", "affine.for", "memref.dealloc", "func.return"]
    assert result.parts[0].inputs == ("f32", ROW, ROW)


def test_a_buffer_that_only_the_range_uses_stays_inside() -> None:
    body = f"""{scale("%m", "a")}
    %t = memref.alloc() : {ROW}
    {scale("%t", "b")}
    memref.dealloc %t : {ROW}
    {scale("%m", "c")}"""
    result = cut(top(body), ("a", "c"))
    assert ops(result.module, "top") == ["func.call", "func.return"]
    assert "memref.alloc" in ops(result.module, "Stage_a_c")


@pytest.mark.parametrize(("option", "inputs"), [("args", ("f32", ROW, ROW)), ("local", (ROW, "f32"))])
def test_a_buffer_that_is_made_before_and_used_only_inside(option: str, inputs: tuple[str, ...]) -> None:
    body = f"""%t = memref.alloc() : {ROW}
    {scale("%t", "a")}
    {scale("%m", "b", "%t")}"""
    result = cut(top(body), ("a", "b"), intermediates=option)
    assert sorted(result.parts[0].inputs) == sorted(inputs)
    assert ("memref.alloc" in ops(result.module, "top")) == (option == "args")
    assert ("memref.alloc" in ops(result.module, "Stage_a_b")) == (option == "local")


def test_a_buffer_is_not_moved_where_anything_else_uses_it_or_into_a_loop() -> None:
    freed = f"""%t = memref.alloc() : {ROW}
    {scale("%t", "a")}
    memref.dealloc %t : {ROW}"""
    assert ROW in cut(top(freed), "a", intermediates="local").parts[0].inputs[1:]
    looped = f"""%t = memref.alloc() : {ROW}
    affine.for %k = 0 to 3 {{
      {scale("%t", "a", "%t")}
    }}"""
    assert cut(top(looped), "a", intermediates="local").parts[0].inputs == ("f32", ROW)


def test_a_size_that_is_computed_in_the_range_is_computed_before_it() -> None:
    body = f"""{scale("%m", "a")}
    %s = arith.addi %n, %n : index
    %t = memref.alloc(%s) : memref<?xf32>
    affine.for %i = 0 to %s {{
      affine.store %x, %t[%i] : memref<?xf32>
    }} {{stage_name = "b"}}
    memref.dealloc %t : memref<?xf32>"""
    result = cut(top(body), ("a", "b"))
    assert ops(result.module, "top") == ["arith.addi", "memref.alloc", "func.call", "memref.dealloc", "func.return"]


def test_a_buffer_of_a_size_that_is_read_in_the_range_is_a_result() -> None:
    body = f"""{scale("%m", "a")}
    %f = memref.load %m[%n] : {ROW}
    %j = arith.fptosi %f : f32 to i32
    %s = arith.index_cast %j : i32 to index
    %t = memref.alloc(%s) : memref<?xf32>
    {scale("%m", "b")}
    memref.dealloc %t : memref<?xf32>"""
    assert cut(top(body), ("a", "b")).parts[0].results == ("memref<?xf32>",)
    error = refused(top(body.replace("alloc(%s)", "alloca(%s)")), ("a", "b"))
    assert error.codes == ("E-OUTLINE-ALLOCA",)


VIEW = "memref<?xf32>"


def test_a_view_is_made_before_the_part_or_returned() -> None:
    body = f"""{scale("%m", "a")}
    %w = memref.cast %m : {ROW} to {VIEW}
    {scale("%m", "b")}
    %r = memref.load %w[%n] : {VIEW}"""
    result = cut(top(body), ("a", "b"))
    assert result.parts[0].results == ()
    assert ops(result.module, "top")[:2] == ["memref.cast", "func.call"]


def test_a_view_that_needs_what_the_part_computes_is_returned_or_refused() -> None:
    strided = "memref<2xf32, strided<[1], offset: ?>>"
    body = f"""{scale("%m", "a")}
    %f = memref.load %m[%n] : {ROW}
    %j = arith.fptosi %f : f32 to i32
    %s = arith.index_cast %j : i32 to index
    %w = memref.subview %m[%s] [2] [1] : {ROW} to {strided}
    {scale("%m", "b")}
    %r = memref.load %w[%n] : {strided}"""
    result = cut(top(body), ("a", "b"))
    assert result.parts[0].results == (strided,)
    assert [problem.code for problem in result.warnings] == ["W-OUTLINE-LAYOUT"]
    assert refused(top(body), ("a", "b"), views="error").codes == ("E-OUTLINE-VIEW",)


# Values


def test_constants_and_globals_are_made_again_inside() -> None:
    body = f"""%k = arith.constant 3.0 : f32
    %g = memref.get_global @table : {ROW}
    %f = func.constant @h : (f32) -> f32
    affine.for %i = 0 to 4 {{
      %v = affine.load %g[%i] : {ROW}
      %w = arith.mulf %v, %k : f32
      %u = func.call_indirect %f(%w) : (f32) -> f32
      affine.store %u, %m[%i] : {ROW}
    }} {{stage_name = "a"}}"""
    more = f"""memref.global "private" constant @table : {ROW} = dense<1.0>
    func.func private @h(%a: f32) -> f32 {{ return %a : f32 }}"""
    text = f"func.func @top(%m: {ROW}) {{\n{body}\nreturn\n}}\n{more}"
    result = cut(parse(mlir_tools.generic(text)), "a")
    assert result.parts[0].inputs == (ROW,)
    assert sorted(ops(result.module, "Stage_a")[:3]) == ["arith.constant", "func.constant", "memref.get_global"]


def test_values_that_are_made_inside_and_used_after_are_results_in_order() -> None:
    body = f"""{scale("%m", "a")}
    %f = arith.addf %x, %x : f32
    %j = arith.addi %n, %n : index
    {scale("%m", "b")}
    memref.store %f, %m[%j] : {ROW}"""
    result = cut(top(body), ("a", "b"))
    assert result.parts[0].results == ("f32", "index")
    call, store = [op for op in symbols(result.module.op)["top"].body if op.name != "func.return"]
    assert store.operands[0] is call.results[0]
    assert store.operands[2] is call.results[1]


def test_a_constant_of_the_part_that_is_used_after_it_stays_before() -> None:
    body = f"""{scale("%m", "a")}
    %k = arith.constant 2.0 : f32
    {scale("%m", "b", by="%k")}
    {scale("%m", "c", by="%k")}"""
    result = cut(top(body), ("a", "b"))
    assert result.parts[0].results == ()
    assert result.parts[0].inputs == ("f32", ROW)


def test_loop_variables_are_arguments_that_subscripts_may_use() -> None:
    body = """affine.for %k = 0 to 4 {
      %o = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
      affine.for %i = 0 to %n {
        %v = affine.load %m[%k] : memref<4xf32>
        affine.store %v, %m[%o - 1] : memref<4xf32>
      } {stage_name = "inner"}
      affine.store %x, %m[%o - 1] : memref<4xf32>
    } {op_name = "outer"}"""
    module = parse(mlir_tools.generic(f"func.func @top(%m: {ROW}, %n: index, %x: f32) {{\n{body}\nreturn\n}}"))
    inner = cut(module, "inner")
    assert inner.parts[0].inputs == ("index", "index", "index", ROW)
    both = cut(module, "outer", "inner")
    assert [part.function for part in both.parts] == ["Stage_outer", "Stage_inner"]
    assert "func.call" in [op.name for op in symbols(both.module.op)["Stage_outer"].walk()]


def test_what_an_unknown_op_does_counts_as_reading() -> None:
    body = f"""affine.for %i = 0 to 4 {{
      "own.op"(%m, %t) : ({ROW}, {ROW}) -> ()
      affine.store %x, %m[%i] : {ROW}
    }} {{stage_name = "a"}}"""
    text = mlir_tools.generic(
        f"func.func @top(%m: {ROW}, %t: {ROW}, %x: f32) {{\n{body}\nreturn\n}}", "--allow-unregistered-dialect"
    )
    result = outline(parse(text), "top", ["a"])
    call = next(op for op in symbols(result.module.op)["top"].body if op.name == "func.call")
    assert [value.index for value in call.operands] == [1, 2, 0]


# Names, duplicates, tables


def test_equal_parts_become_one_function_with_several_calls() -> None:
    body = f"""{scale("%m", "a")}
    {scale("%m", "b")}"""
    result = cut(top(body), "a", "b")
    assert [(part.function, part.is_new) for part in result.parts] == [("Stage_a", True), ("Stage_a", False)]
    assert [op.attributes["stage_name"] for op in result.module.walk() if op.name == "func.call"] == ['"a"', '"b"']
    apart = cut(top(body), "a", "b", dedupe=False)
    assert [part.function for part in apart.parts] == ["Stage_a", "Stage_b"]


def test_parts_that_use_different_globals_are_not_equal() -> None:
    def reading(name: str) -> str:
        return f"""scf.execute_region {{
          %g = memref.get_global @{name} : {ROW}
          memref.copy %g, %m : {ROW} to {ROW}
          scf.yield
        }} {{stage_name = "{name}"}}"""

    globals_ = "\n".join(f'memref.global "private" @{name} : {ROW} = dense<1.0>' for name in ("g", "h"))
    text = f"{globals_}\nfunc.func @top(%m: {ROW}) {{\n{reading('g')}\n{reading('h')}\nreturn\n}}"
    result = cut(parse(mlir_tools.generic(text)), "g", "h")
    assert [part.is_new for part in result.parts] == [True, True]


def test_a_taken_name_gets_a_number_and_an_explicit_one_is_refused() -> None:
    more = "func.func private @Stage_a()\nfunc.func private @Stage_a_0()"
    module = top(scale("%m", "a"), more=more)
    assert cut(module, "a").parts[0].function == "Stage_a_1"
    assert cut(module, "a", name="mine").parts[0].function == "mine"
    assert refused(module, "a", name="Stage_a").codes == ("E-OUTLINE-NAME",)
    assert "E-OUTLINE-NAME" in refused(module, "a", "a", name="x").codes


def test_the_function_goes_into_the_table_of_its_caller() -> None:
    module = parse("""
    "aie.device"() <{device = "npu1_1col", sym_name = "dev"}> ({
      "func.func"() <{function_type = () -> (), sym_name = "other"}> ({
        "func.return"() : () -> ()
      }) : () -> ()
      "func.func"() <{function_type = (memref<4xi32>) -> (), sym_name = "top"}> ({
      ^bb0(%m: memref<4xi32>):
        "own.op"(%m) {stage_name = "a"} : (memref<4xi32>) -> ()
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()""")
    result = outline(module, "dev::top", ["a"])
    (device,) = result.module.op.body
    assert [symbol_name(op) for op in device.body] == ["other", "Stage_a", "top"]


def test_a_function_inside_of_an_unknown_op_calls_one_beside_that_op() -> None:
    module = parse("""
    "own.before"() : () -> ()
    "own.wrapper"() ({
      "func.func"() <{function_type = () -> (), sym_name = "top"}> ({
        "own.op"() {stage_name = "a"} : () -> ()
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()""")
    result = outline(module, "top", ["a"])
    assert [symbol_name(op) or op.name for op in result.module.op.body] == ["own.before", "Stage_a", "own.wrapper"]


def test_a_stage_may_call_its_own_function() -> None:
    body = f"""affine.for %i = 0 to 4 {{
      func.call @top(%m, %n, %x) : ({ROW}, index, f32) -> ()
    }} {{stage_name = "a"}}"""
    assert cut(top(body), "a").parts[0].inputs == (ROW, "index", "f32")


def test_a_later_range_can_begin_at_a_call() -> None:
    once = cut(two_mm(), "out_AB").module
    again = cut(once, ("out_AB", "out_ABC"))
    assert again.parts[0].inputs == (A, B, AB, C, D)


# What is refused


def test_a_stage_that_is_not_there_lists_the_stages_or_says_where_it_went() -> None:
    error = refused(two_mm(), "out_AC")
    assert error.codes == ("E-OUTLINE-NOSTAGE",)
    assert error.hint == "did you mean 'out_ABC'?"
    fused = cut(two_mm(), ("out_AB", "out_ABC")).module
    assert refused(fused, "out_ABC").hint == "it was outlined into @Stage_out_AB_out_ABC"
    single = cut(two_mm(), "out_AB").module
    assert "'out_AB' was outlined into @Stage_out_AB already" in refused(single, "out_AB").message


def test_an_unknown_function_lists_the_functions() -> None:
    error = refused(two_mm(), "out_AB", func="tpo")
    assert error.codes == ("E-OUTLINE-NOFUNC",)
    assert error.hint == "did you mean 'top'?"


def test_two_stages_of_one_name_give_both_places() -> None:
    module = two_mm()
    loops = [op for op in module.walk() if op.attributes.get("stage_name")]
    loops[1].attributes["stage_name"] = '"out_AB"'
    error = refused(module, "out_AB")
    assert error.codes == ("E-OUTLINE-AMBIGUOUS",)
    assert error.hint == "at two_mm.mlir:5:3 and two_mm.mlir:19:3"


def test_a_range_in_reverse_says_the_right_order() -> None:
    error = refused(two_mm(), ("E", "out_AB"))
    assert error.codes == ("E-OUTLINE-ORDER",)
    assert error.hint == "write ('out_AB', 'E')"


def test_a_range_stays_in_one_block() -> None:
    nested = f"""affine.for %k = 0 to 4 {{
      {scale("%m", "inner")}
    }} {{stage_name = "outer"}}
    {scale("%m", "after")}"""
    assert refused(top(nested), ("inner", "after")).codes == ("E-OUTLINE-BLOCK",)
    blocks = parse("""
    "func.func"() <{function_type = () -> (), sym_name = "top"}> ({
      "own.a"() {stage_name = "a"} : () -> ()
      "cf.br"()[^bb1] : () -> ()
    ^bb1:
      "own.b"() {stage_name = "b"} : () -> ()
      "cf.br"()[^bb2] {stage_name = "c"} : () -> ()
    ^bb2:
      "func.return"() : () -> ()
    }) : () -> ()""")
    assert refused(blocks, ("a", "b")).codes == ("E-OUTLINE-CFG",)
    assert refused(blocks, ("b", "c")).codes == ("E-OUTLINE-CFG",)
    assert outline(blocks, "top", ["b"]).parts[0].function == "Stage_b"


def test_parts_that_overlap_are_refused_before_anything_changes() -> None:
    error = refused(two_mm(), ("out_AB", "out_ABC"), ("out_ABC", "E"))
    assert error.codes == ("E-OUTLINE-OVERLAP",)
    assert refused(two_mm(), "E", "E").codes == ("E-OUTLINE-OVERLAP",)


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert refused(two_mm(), "x", "y", ("E", "out_AB"), intermediates="some").codes == (
        "E-OUTLINE-OPTION",
        "E-OUTLINE-NOSTAGE",
        "E-OUTLINE-NOSTAGE",
        "E-OUTLINE-ORDER",
    )


@pytest.mark.parametrize("what", [("out_AB", "out_ABC", "E"), (("out_AB", "E"),)])
def test_inlining_gives_the_function_back(what: tuple[Any, ...]) -> None:
    flags = ("--inline", "--symbol-dce", "--canonicalize", "--cse")
    original = mlir_tools.opt(write(two_mm()), *flags).stdout
    again = mlir_tools.opt(write(cut(two_mm(), *what).module), *flags).stdout
    if isinstance(what[0], str):
        assert again == original
    # Of a range, a buffer that is used after it is made before it: one line stands elsewhere, and names follow.
    assert len(again.splitlines()) == len(original.splitlines())
