from __future__ import annotations

import re
from typing import TYPE_CHECKING

import mlir_tools
import numpy as np
import pytest
import stablehlo_interpreter
from aiebuild.errors import OptionError
from aiebuild.mlir.attributes import symbol
from aiebuild.mlir.bytecode import MAGIC, producer
from aiebuild.mlir.identity import key_of
from aiebuild.mlir.link import link
from aiebuild.mlir.module import Builder
from aiebuild.mlir.parse import parse
from aiebuild.mlir.problems import ProblemsError
from aiebuild.mlir.rename import Renamer
from aiebuild.mlir.symbols import reference_text, set_symbol_name, symbol_name, symbols
from aiebuild.mlir.write import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.ir import Module

VECTOR = "tensor<3xf32>"
EMPTY = '"builtin.module"() ({\n}) : () -> ()\n'


def module(*ops: str, attributes: str = "", file: str = "code.mlir", resources: str = "") -> Module:
    shown = f" {{{attributes}}}" if attributes else ""
    return parse(f'"builtin.module"() ({{\n{chr(10).join(ops)}\n}}){shown} : () -> ()\n{resources}', file)


def func(name: str, body: str = "", *, type_: str = "() -> ()", private: bool = False, attributes: str = "") -> str:
    """A function; one without a body is a declaration."""
    visibility = ', sym_visibility = "private"' if private or not body else ""
    shown = f" {{{attributes}}}" if attributes else ""
    inside = f"\n  {body}\n" if body else ""
    return (
        f'"func.func"() <{{function_type = {type_}, sym_name = "{name}"{visibility}}}> ({{{inside}}}){shown} : () -> ()'
    )


def calling(*names: str) -> str:
    return "\n".join(
        [*(f'"func.call"() <{{callee = @{name}}}> : () -> ()' for name in names), '"func.return"() : () -> ()']
    )


def binary(op: str, name: str = "main", type_: str = VECTOR) -> str:
    body = f"""^bb0(%a: {type_}, %b: {type_}):
    %0 = "stablehlo.{op}"(%a, %b) : ({type_}, {type_}) -> {type_}
    "func.return"(%0) : ({type_}) -> ()"""
    return func(name, body, type_=f"({type_}, {type_}) -> {type_}")


def names_in(linked: Module) -> list[str]:
    return [symbol_name(op) or "" for op in linked.op.body]


def problems(main: Module, codes: Sequence[Module], entry: str | None = None, **options: str | bool) -> ProblemsError:
    before = write(main)
    with pytest.raises(ProblemsError) as caught:
        link(main, codes, entry, **options)  # type: ignore[arg-type]  # options of different types
    assert write(main) == before, "nothing is changed when something is wrong"
    return caught.value


def call_all(type_: str, count: int, *codes: tuple[str, str]) -> tuple[Builder, str]:
    """Build `@top` that calls codes one after the other, each with the last result and the last argument."""
    builder = Builder()
    values = builder.function("top", [type_] * count, [type_])
    value = values[0]
    for code, entry in codes:
        (value,) = builder.call(code, value, values[-1], entry=entry)
    builder.returns(value)
    return builder, write(builder.module)


# The reference cases; the StableHLO ones are run by an interpreter of the tests' own for elementwise ops


def test_an_addition_of_vectors_returns_a_tuple_with_one_result() -> None:
    code = write(module(binary("add")))
    builder, text = call_all(VECTOR, 2, (code, "main"))
    (result,) = stablehlo_interpreter.run(
        parse(text), "top", [np.array([1, 2, 50], np.float32), np.array([-4, 0.001, 2], np.float32)]
    )
    np.testing.assert_allclose(result, [-3, 2.001, 52], rtol=1e-6)
    assert len(builder.module.op.body) == 2


def test_an_addition_of_scalars() -> None:
    _, text = call_all("tensor<f32>", 2, (write(module(binary("add", type_="tensor<f32>"))), "main"))
    (result,) = stablehlo_interpreter.run(parse(text), "top", [np.float32(2), np.float32(2)])
    assert result == 4.0


@pytest.mark.parametrize("type_", [VECTOR, "tensor<f32>"])
def test_dummy_arguments_are_hidden_from_optimisers(type_: str) -> None:
    builder = Builder()
    builder.function("top", [], [type_])
    results = builder.call(module(binary("add", type_=type_)), dummy_arguments=True)
    builder.returns(*results)
    text = write(builder.module)
    assert "stablehlo.optimization_barrier" in text
    (result,) = stablehlo_interpreter.run(parse(text), "top", [])
    np.testing.assert_array_equal(result, np.zeros_like(result))


def test_the_same_code_called_three_times_is_there_once() -> None:
    code = write(module(binary("add", "my_add")))
    _, text = call_all(VECTOR, 2, *[(code, "my_add")] * 3)
    assert text.count("stablehlo.add") == 1
    assert text.count("func.call") == 3
    (result,) = stablehlo_interpreter.run(
        parse(text), "top", [np.array([1, 2, 3], np.float32), np.array([1, 1, 1], np.float32)]
    )
    np.testing.assert_array_equal(result, [4, 5, 6])


def test_blanks_comments_and_names_of_values_make_no_other_code() -> None:
    code = write(module(binary("add")))
    other = code.replace("%arg0", "%left").replace(", ", ",  ").replace("({", "({ // a comment", 1)
    _, text = call_all(VECTOR, 2, (code, "main"), (other, "main"))
    assert text.count("stablehlo.add") == 1


def test_a_helper_that_is_defined_after_the_entry_comes_along() -> None:
    body = f"""^bb0(%a: {VECTOR}, %b: {VECTOR}):
    %0 = "func.call"(%a, %b) <{{callee = @add}}> : ({VECTOR}, {VECTOR}) -> {VECTOR}
    "func.return"(%0) : ({VECTOR}) -> ()"""
    code = module(func("main", body, type_=f"({VECTOR}, {VECTOR}) -> {VECTOR}"), binary("add", "add"))
    _, text = call_all(VECTOR, 2, (write(code), "main"))
    (result,) = stablehlo_interpreter.run(parse(text), "top", [np.array([1, 2, 3], np.float32)] * 2)
    np.testing.assert_array_equal(result, [2, 4, 6])


def test_two_codes_that_both_define_only_main() -> None:
    add, multiply = write(module(binary("add"))), write(module(binary("multiply")))
    _, text = call_all(VECTOR, 2, (add, "main"), (multiply, "main"))
    (result,) = stablehlo_interpreter.run(
        parse(text), "top", [np.array([1, 2, 50], np.float32), np.array([-4, 0.001, 2], np.float32)]
    )
    np.testing.assert_allclose(result, [12, 0.002001, 104], rtol=1e-5)


def test_a_printed_module_with_names_attributes_and_places_can_be_called() -> None:
    alias = "arg_attrs = [{tf.aliasing_output = 0 : i32}]"
    log = """^bb0(%a: tensor<64xf64>):
    %0 = "stablehlo.log"(%a) : (tensor<64xf64>) -> tensor<64xf64> loc(#loc1)
    "func.return"(%0) : (tensor<64xf64>) -> () loc("x.py":3:4)"""
    text = f"""#loc1 = loc("log"("x.py":2:1))
"builtin.module"() <{{sym_name = "reactant_log"}}> ({{
{func("main", log, type_="(tensor<64xf64>) -> tensor<64xf64>", attributes=alias)}
}}) {{mhlo.num_partitions = 1 : i64, mhlo.num_replicas = 1 : i64}} : () -> () loc(#loc1)
"""
    builder = Builder()
    arguments = builder.function("top", ["tensor<64xf64>"], ["tensor<64xf64>"])
    builder.returns(*builder.call(text, *arguments))
    numbers = np.arange(1, 65, dtype=np.float64)
    (result,) = stablehlo_interpreter.run(parse(write(builder.module)), "top", [numbers])
    np.testing.assert_allclose(result, np.log(numbers))
    assert builder.module.op.attributes["mhlo.num_partitions"] == "1 : i64"


def test_a_kernel_in_nested_modules_is_named_by_its_path() -> None:
    inner = (
        func("add_kernel", calling(), private=False).replace("func.func", "tt.func").replace("func.return", "tt.return")
    )
    nested = f""""enzymexla_tt_ext.module"() <{{sym_name = "triton_module"}}> ({{
      "builtin.module"() <{{sym_name = "triton_module_inner"}}> ({{
        {inner}
      }}) : () -> ()
    }}) : () -> ()"""
    call = '"enzymexla.triton_call"() <{fn = @triton_module::@triton_module_inner::@add_kernel}> : () -> ()\n'
    linked = link(module(), [module(nested, func("main", call + calling()))])
    key = linked.results[0].entry.removeprefix("main_")
    text = write(linked.module)
    assert f"fn = @triton_module_{key}::@triton_module_inner::@add_kernel" in text
    assert f'sym_name = "triton_module_{key}"' in text
    assert 'sym_name = "add_kernel"' in text


@pytest.mark.parametrize("count", [0, 1, 2])
def test_results_are_always_a_tuple(count: int) -> None:
    types = ["i32"] * count
    arguments = ", ".join(f"%a{n}: i32" for n in range(count))
    used = ", ".join(f"%a{n}" for n in range(count))
    body = f'^bb0({arguments}):\n"func.return"({used}) : ({", ".join(types)}) -> ()' if count else calling()
    builder = Builder()
    values = builder.function("top", types)
    code = module(func("main", body, type_=f"({', '.join(types)}) -> ({', '.join(types)})"))
    results = builder.call(code, *values)
    assert isinstance(results, tuple)
    assert [value.type for value in results] == types


# Names, visibility, references


def test_every_defined_symbol_is_renamed_whether_it_collides_or_not() -> None:
    linked = link(parse(EMPTY), [code := module(func("main", calling("helper")), func("helper", calling()))])
    key = key_of(code)
    assert names_in(linked.module) == [f"main_{key}", f"helper_{key}"]
    assert linked.results[0].names == {"main": f"main_{key}", "helper": f"helper_{key}"}
    assert linked.results[0].emitted


def test_names_depend_neither_on_the_order_nor_on_the_neighbours() -> None:
    one, two = module(func("main", calling())), module(func("main", calling("x")), func("x", calling()))
    forward, backward = link(parse(EMPTY), [one, two]), link(parse(EMPTY), [two, one])
    alone = link(module(func("main", calling())), [one])
    assert set(names_in(forward.module)) == set(names_in(backward.module))
    assert forward.results[0].entry == alone.results[0].entry


def test_linking_again_adds_nothing() -> None:
    code = module(func("main", calling("helper")), func("helper", calling()), '"own.setup"() : () -> ()')
    once = link(parse(EMPTY), [code])
    twice = link(once.module, [code])
    assert write(twice.module) == write(once.module)
    assert not twice.results[0].emitted
    assert twice.results[0].entry == once.results[0].entry
    assert link(parse(EMPTY), [code, code]).results[1].entry == once.results[0].entry


def test_what_is_linked_becomes_private() -> None:
    external = "linkage = #llvm.linkage<external>"
    glob = (
        f'"llvm.mlir.global"() <{{global_type = i32, {external}, sym_name = "g", value = 1 : i32}}> ({{\n}}) : () -> ()'
    )
    type_ = "function_type = !llvm.func<void ()>"
    llvm = f'"llvm.func"() <{{{type_}, {external}, sym_name = "l"}}> ({{\n"llvm.return"() : () -> ()\n}}) : () -> ()'
    device = '"aie.device"() <{device = "npu1_1col", sym_name = "d"}> ({\n}) : () -> ()'
    linked = link(parse(EMPTY), [module(func("main", calling()), glob, llvm, device)]).module
    main, glob_, llvm_, device_ = linked.op.body
    assert main.properties["sym_visibility"] == '"private"'
    assert glob_.properties["linkage"] == llvm_.properties["linkage"] == "#llvm.linkage<internal>"
    assert "sym_visibility" not in {**glob_.properties, **llvm_.properties}
    assert device_.attributes["sym_visibility"] == '"private"'


def test_references_are_renamed_wherever_they_stand_but_not_in_strings() -> None:
    op = (
        '"own.op"() <{a = [@f, {b = @f::@g}], c = #own.attr<@f>, d = "@f"}> {e = @f, text = "call @f(x)", g = @"f"}'
        " : () -> !own.type<@f>\n"
    )
    linked = link(parse(EMPTY), [code := module(func("main", "%0 = " + op + calling()), func("f", calling()))])
    new = f"@f_{key_of(code)}"
    text = write(linked.module)
    assert f'a = [{new}, {{b = {new}::@g}}], c = #own.attr<{new}>, d = "@f"' in text
    assert f'e = {new}, g = {new}, text = "call @f(x)"' in text
    assert f"!own.type<{new}>" in text


def test_names_in_nested_tables_are_theirs() -> None:
    nested = f'"builtin.module"() ({{\n{func("main", calling("f"))}\n{func("f", calling())}\n}}) : () -> ()'
    linked = link(parse(EMPTY), [module(func("main", calling("f")), func("f", calling()), nested)]).module
    inner = linked.op.body[2]
    assert [symbol_name(op) for op in inner.body] == ["main", "f"]
    assert "callee = @f}" in write(linked)


def test_what_leaves_a_device_for_the_module_follows() -> None:
    """`aiex.configure` and `npu.load_pdi` name devices of the module; `aiex.run` a sequence of the configured one."""
    device = """"aie.device"() <{device = "npu1_1col"%s}> ({
      "aie.runtime_sequence"() <{sym_name = "first"}> ({
        "aiex.configure"() <{symbol = @main}> ({
          "aiex.run"() <{runtime_sequence_symbol = @main}> : () -> ()
        }) : () -> ()
        "aiex.npu.load_pdi"() <{device_ref = @main}> : () -> ()
      }) : () -> ()
    }) : () -> ()"""
    code = module(device % "", device % ', sym_name = "other"')
    linked = link(parse(EMPTY), [code], "main")
    new = f"main_{key_of(code)}"
    assert linked.results[0].entry == new
    text = write(linked.module)
    assert text.count(f"symbol = @{new}}}") == text.count(f"device_ref = @{new}") == 2
    assert text.count("runtime_sequence_symbol = @main}") == 2


def test_two_unnamed_devices_can_live_together() -> None:
    device = '"aie.device"() <{device = "npu1_1col"}> ({\n}) : () -> ()'
    linked = link(module(device), [module(device, '"own.op"() : () -> ()')], "main").module
    assert len(set(symbols(linked.op))) == 2


def test_an_unknown_table_is_seen_through_and_that_is_said_where_it_matters() -> None:
    table = f'"own.table"() ({{\n{func("f", calling())}\n{func("g", calling("f"))}\n}}) : () -> ()'
    linked = link(parse(EMPTY), [module(func("main", calling()), table, func("f", calling()))])
    assert [problem.code for problem in linked.warnings] == ["W-LINK-UNKNOWN-TABLE"]
    assert link(parse(EMPTY), [module(func("main", calling()), table)]).warnings == ()


def test_renames_are_those_of_mlir() -> None:
    text = """module {
  func.func private @f() attributes {sym.new_name = "replaced"}
  module @inner { func.func private @f() }
  func.func @user() attributes {a = [@f, {b = {c = @f}}], d = @f::@g, s = "@f"} {
    func.call @f() : () -> ()
    return
  }
}"""
    expected = mlir_tools.generic(text, "--test-symbol-rauw")
    ours = parse(mlir_tools.generic(text))
    renamer = Renamer({"f": "replaced"})
    for op in ours.op.body:
        renamer.op(op)
        if symbol_name(op) == "f":
            set_symbol_name(op, "replaced")
            del op.attributes["sym.new_name"]
    assert write(ours) == write(parse(expected.replace('{sym.new_name = "replaced"} ', "")))


def test_a_name_that_needs_quotes_keeps_them() -> None:
    code = module(func("main", calling('"odd name"')), func("odd name", calling()))
    linked = link(parse(EMPTY), [code])
    assert f'callee = @"odd name_{key_of(code)}"' in write(linked.module)
    assert symbol(reference_text("odd name")) == "odd name"


# Declarations


def test_declarations_keep_their_names_and_survive_once() -> None:
    declared = func("k", attributes='link_with = "k.o"')
    linked = link(module(func("k")), [module(func("main", calling("k")), declared)]).module
    assert names_in(linked)[0] == "k"
    assert len([name for name in names_in(linked) if name == "k"]) == 1
    assert linked.op.body[0].attributes["link_with"] == '"k.o"'


def test_a_declaration_is_filled_in_place() -> None:
    main = module(func("helper"), func("top", calling("helper")))
    code = module(func("deep", calling(), private=True), func("helper", calling("deep")))
    linked = link(main, [code], None).module
    assert names_in(linked) == ["helper", "top", f"deep_{key_of(code)}"]
    assert linked.op.body[0].properties["sym_visibility"] == '"private"'
    assert linked.op.body[0].body


def test_a_declaration_of_the_code_means_the_definition_in_main() -> None:
    linked = link(module(func("back", calling())), [module(func("main", calling("back")), func("back"))]).module
    assert names_in(linked)[0] == "back"
    assert len(linked.op.body) == 2
    assert "callee = @back}" in write(linked)


def test_codes_use_each_other_in_any_order() -> None:
    user, owner = module(func("main", calling("g")), func("g")), module(func("g", calling()))
    for codes in ([user, owner], [owner, user]):
        linked = link(parse(EMPTY), codes, None).module
        assert f"callee = @g_{key_of(owner)}}}" in write(linked)
        assert "g" not in names_in(linked)


def test_an_import_reaches_a_call_wherever_it_stands() -> None:
    """A call in a core of a device finds the function, though nothing declares it there."""
    device = """"aie.device"() <{device = "npu1_1col"}> ({
      %t = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
      "aie.core"(%t) ({
        "func.call"() <{callee = @helper}> : () -> ()
        "aie.end"() : () -> ()
      }) : (index) -> ()
      "aie.end"() : () -> ()
    }) : () -> ()"""
    code = module(func("helper", calling("deep")), func("deep", calling(), private=True), func("unused", calling()))
    linked = link(module(device), [code], None, needed_only=True).module
    (only,) = linked.op.body
    assert [symbol_name(op) for op in only.body] == [None, None, "helper", f"deep_{key_of(code)}", None]
    assert only.body[-1].name == "aie.end"


def test_only_what_is_needed_comes_along() -> None:
    code = module(func("main", calling("a")), func("a", calling()), func("b", calling()))
    linked = link(parse(EMPTY), [code], needed_only=True)
    assert len(linked.module.op.body) == 2
    more = link(linked.module, [code], "b", needed_only=True)
    assert len(more.module.op.body) == 3
    assert more.results[0].emitted


def test_a_value_of_the_modules_level_comes_along_or_is_missed_by_name() -> None:
    code = parse('%0 = "own.first"() : () -> i32\n' + func("main", '"own.use"(%0) : (i32) -> ()'), "c.mlir")
    assert len(link(parse(EMPTY), [code]).module.op.body) == 2
    declaring = parse('"func.func"() <{function_type = () -> (), sym_name = "main"}> ({}) : () -> ()')
    with pytest.raises(ProblemsError) as caught:
        link(declaring, [code], None, needed_only=True)
    assert caught.value.codes == ("E-LINK-VALUE",)
    assert "func.func uses %0 of the module's level" in str(caught.value)


# Other ways to name


def test_keep_renames_private_symbols_and_only_where_they_collide() -> None:
    main = module(func("top", calling("x")), func("x", calling(), private=True))
    code = module(func("f", calling("x", "y")), func("x", calling(), private=True), func("y", calling(), private=True))
    linked = link(main, [code], "f", names="keep").module
    assert names_in(linked) == ["top", "x", "f", f"x_{key_of(code)}", "y"]


def test_with_keep_a_private_symbol_of_main_gives_way_to_a_public_one() -> None:
    main = module(func("top", calling("x")), func("x", calling(), private=True))
    linked = link(main, [module(func("x", calling()))], "x", names="keep").module
    assert names_in(linked) == ["top", f"x_{key_of(main)}", "x"]
    assert f"callee = @x_{key_of(main)}}}" in write(linked)


def test_with_keep_two_public_definitions_clash_unless_they_are_merged() -> None:
    main, code = module(func("f", calling()), file="main.mlir"), module(func("f", calling()), func("g", calling()))
    error = problems(main, [code], names="keep")
    assert error.codes == ("E-LINK-DUP",)
    assert "main.mlir" in error.message
    assert "code.mlir" in error.message
    assert names_in(link(main, [code], None, names="keep", merge_identical=True).module) == ["f", "g"]
    other = module(func("f", calling("f")))
    assert problems(main, [other], names="keep", merge_identical=True).codes == ("E-LINK-DUP",)


def test_a_namespace_is_put_before_public_names() -> None:
    code = module(func("main", calling("x")), func("x", calling(), private=True))
    assert names_in(link(parse(EMPTY), [code], names="namespace:lib").module) == ["lib.main", "x"]


def test_an_unknown_way_to_name_lists_the_known_ones() -> None:
    with pytest.raises(OptionError) as caught:
        link(parse(EMPTY), [], None, names="hsah")
    assert "hash, keep" in caught.value.hint


# What is refused


def test_a_missing_entry_lists_the_symbols() -> None:
    error = problems(parse(EMPTY), [module(func("add", calling()))], "main")
    assert error.codes == ("E-LINK-ENTRY",)
    assert "add" in error.hint


def test_a_code_that_defines_a_name_twice_is_refused() -> None:
    device = '"aie.device"() <{device = "npu1_1col"}> ({\n}) : () -> ()'
    assert problems(parse(EMPTY), [module(func("main", calling()), device)]).codes == ("E-SYM-DUP",)


def test_an_entry_without_a_body_is_refused() -> None:
    assert problems(parse(EMPTY), [module(func("main"))], "main").codes == ("E-LINK-ENTRY-DECL",)


def test_an_entry_that_cannot_be_called_is_refused() -> None:
    glob = '"memref.global"() <{initial_value, sym_name = "main", type = memref<4xi32>}> : () -> ()'
    assert problems(parse(EMPTY), [module(glob)], "main").codes == ("E-LINK-ENTRY",)


def test_types_of_a_call_are_exactly_those_of_the_entry() -> None:
    builder = Builder()
    a, b = builder.function("top", ["tensor<?xf32>", VECTOR])
    before = write(builder.module)
    with pytest.raises(ProblemsError) as caught:
        builder.call(module(binary("add")), b, a)
    assert caught.value.message == f"argument 1 of @main: expected {VECTOR}, got tensor<?xf32>"
    assert "tensor.cast" in caught.value.hint
    with pytest.raises(ProblemsError, match="takes 2 arguments, but 1"):
        builder.call(module(binary("add")), a)
    assert write(builder.module) == before


def test_declarations_of_another_type_are_refused_with_both() -> None:
    error = problems(module(func("f", type_="(i32) -> ()")), [module(func("f", calling()))])
    assert error.codes == ("E-LINK-TYPE",)
    assert "() -> ()" in error.message
    assert "(i32) -> ()" in error.message


def test_declarations_that_say_different_things_are_refused() -> None:
    main = module(func("k", attributes='link_with = "a.o"'))
    code = module(func("k", attributes='link_with = "b.o"'), func("main", calling("k")))
    assert problems(main, [code]).codes == ("E-LINK-DECL",)


def test_module_attributes_are_joined_and_must_not_contradict() -> None:
    main = module(attributes='llvm.data_layout = "e", own.x = 1 : i32')
    code = module(attributes="gpu.container_module, own.x = 1 : i32, transform.with_named_sequence")
    joined = link(main, [code], None).module.op.attributes
    assert set(joined) == {"llvm.data_layout", "own.x", "gpu.container_module", "transform.with_named_sequence"}
    error = problems(main, [module(attributes='llvm.data_layout = "E"')])
    assert error.codes == ("E-LINK-MODATTR",)


def test_ops_whose_number_matters_are_refused_on_both_sides() -> None:
    flags = '"llvm.module_flags"() <{flags = []}> : () -> ()'
    assert problems(module(flags, file="main.mlir"), [module(flags, func("main", calling()))]).codes == (
        "E-LINK-STATEFUL",
    )
    assert link(module(), [module(flags)], None).module.op.body[0].name == "llvm.module_flags"


def test_all_that_is_wrong_is_said_at_once() -> None:
    main = module(func("f", type_="(i32) -> ()"), func("g", type_="(i32) -> ()"))
    assert problems(main, [module(func("f", calling()), func("g", calling()))]).codes == ("E-LINK-TYPE",) * 2


# Attributes, resources, bytecode


def test_attributes_of_arguments_are_kept_or_stripped() -> None:
    body = '^bb0(%a: i32):\n"func.return"() : () -> ()'
    text = func("main", body, type_="(i32) -> ()").replace(
        "sym_name", "arg_attrs = [{tf.aliasing_output = 0 : i32}], sym_name"
    )
    assert "tf.aliasing_output" in write(link(parse(EMPTY), [module(text)]).module)
    assert "tf.aliasing_output" not in write(link(parse(EMPTY), [module(text)], strip_arg_attrs=True).module)


def test_resources_are_joined_and_blobs_renamed_where_they_collide() -> None:
    def with_blob(data: str) -> Module:
        op = '"own.op"() {v = dense_resource<blob> : tensor<1xi32>, s = "dense_resource<blob>"} : () -> ()\n'
        return module(
            func("main", op + calling()), resources=f'{{-# dialect_resources: {{builtin: {{blob: "{data}"}}}} #-}}'
        )

    one, two = with_blob("0x0400000001000000"), with_blob("0x0400000002000000")
    linked = link(one, [two]).module
    new = f"blob_{key_of(two)}"
    text = write(linked)
    assert f"v = dense_resource<{new}>" in text
    assert 's = "dense_resource<blob>"' in text
    assert re.search(rf'blob: "0x0400000001000000",\s+{new}: "0x0400000002000000"', text)
    assert mlir_tools.find("mlir-opt") is None or mlir_tools.opt(text, "--allow-unregistered-dialect").returncode == 0
    assert "blob_" not in write(link(one, [with_blob("0x0400000001000000")]).module)


def test_resources_that_cannot_be_renamed_must_be_equal() -> None:
    def with_resource(value: str) -> Module:
        return module(func("main", calling()), resources=f"{{-# external_resources: {{own: {{key: {value}}}}} #-}}")

    assert "key: true" in link(with_resource("true"), [with_resource("true")]).module.resources
    assert problems(with_resource("true"), [with_resource("false")]).codes == ("E-LINK-RESOURCE",)


def test_bytecode_names_its_producer() -> None:
    assert producer(MAGIC + b"\x0dMLIR22.1.8\0rest") == "MLIR22.1.8"
    assert "does not say" in producer(MAGIC)


@pytest.mark.parametrize("way", ["hash", "keep", "namespace:x"])
def test_mlir_accepts_what_was_linked(way: str) -> None:
    entries = (
        'initial_value = dense<1> : tensor<4xi32>, sym_name = "g", sym_visibility = "private", type = memref<4xi32>'
    )
    glob = f'"memref.global"() <{{constant, {entries}}}> : () -> ()'
    use = '%0 = "memref.get_global"() <{name = @g}> : () -> memref<4xi32>\n'
    main = module(func("helper"), func("outside"), glob, func("top", use + calling("helper")))
    code = module(
        glob.replace("dense<1>", "dense<2>"),
        func("helper", use + calling("outside", "other")),
        func("outside"),
        func("other", calling()),
    )
    assert mlir_tools.verified(write(link(main, [code], "helper", names=way).module)) == ""
