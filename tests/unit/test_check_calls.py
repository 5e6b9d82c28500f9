from __future__ import annotations

from aiebuild.errors import Location
from aiebuild.mlir.check import check_module, check_names
from aiebuild.mlir.parse import parse
from aiebuild.mlir.references import files_named

FUNC = '"func.func"() <{{function_type = {type}, sym_name = "{name}"{more}}}> ({{{body}}}){attributes} : () -> ()'
RETURN = '"func.return"() : () -> ()'


def func(
    name: str, body: str | None = "", *, type_: str = "() -> ()", private: bool = False, attributes: str = ""
) -> str:
    more = ', sym_visibility = "private"' if private or body is None else ""
    inside = "" if body is None else f"\n{body}\n{RETURN}\n"
    shown = f" {{{attributes}}}" if attributes else ""
    return FUNC.format(type=type_, name=name, more=more, body=inside, attributes=shown)


def call(name: str, type_: str = "() -> ()") -> str:
    return f'"func.call"() <{{callee = @{name}}}> : {type_}'


def found(*ops: str, **options: object) -> list[tuple[str, str]]:
    problems = check_names(parse("\n".join(ops), "x.mlir"), **options)  # type: ignore[arg-type]  # passed on as they are
    return [(problem.code, problem.message) for problem in problems]


def codes(*ops: str, **options: object) -> list[str]:
    return [code for code, _ in found(*ops, **options)]


def test_three_undefined_calls_are_three_errors_with_their_lines() -> None:
    module = parse("\n".join([func("top", "\n".join(call(name) for name in "abc"))]), "x.mlir")
    problems = check_names(module)
    assert [problem.code for problem in problems] == ["E-CALL-UNDEF"] * 3
    assert [problem.where for problem in problems] == [Location("x.mlir", line, 1) for line in (2, 3, 4)]


def test_the_module_that_has_the_definition_is_named() -> None:
    """A helper is defined in a module of its own, and never got into the design's."""
    helpers = parse(func("helper"), "helpers.mlir")
    (problem,) = check_names(parse(func("top", call("helper")), "x.mlir"), [helpers])
    assert str(problem) == (
        "x.mlir:2:1: error: @helper is called, but not declared [E-CALL-UNDEF]\n"
        "  @helper is defined in module helpers.mlir (helpers.mlir:1:1), which is not linked here: import it"
    )


def test_a_design_is_told_the_same_whether_it_declares_the_helper_or_not() -> None:
    helpers = parse(func("helper"), "helpers.mlir")
    for declared in ("", func("helper", None)):
        design = f""""aie.device"() <{{device = "npu1_1col"}}> ({{
          {declared}
          %t = "aie.tile"() <{{col = 0 : i32, row = 2 : i32}}> : () -> index
          "aie.core"(%t) ({{
            {call("helper")}
            "aie.end"() : () -> ()
          }}) : (index) -> ()
        }}) : () -> ()"""
        (error,) = check_module(parse(design, "d.mlir"), others=[helpers])
        assert "is defined in module helpers.mlir" in error.hint


def test_wrong_types_are_told_with_both_signatures() -> None:
    declared = func("f", None, type_="(i32) -> f32")
    ((code, message),) = [each for each in found(declared, func("top", call("f"))) if each[0].startswith("E")][:1]
    assert code == "E-CALL-TYPE"
    assert message == "@f has 1 argument, the call 0"
    problems = check_names(parse("\n".join([declared, func("top", call("f"))]), "x.mlir"))
    assert any("declared at x.mlir:1:1 as (i32) -> f32" in problem.hint for problem in problems)


def test_two_definitions_of_one_name() -> None:
    assert codes(func("f"), func("f")) == ["E-SYM-DUP"]


def test_a_name_of_another_table_says_how_it_is_reached() -> None:
    nested = f'"builtin.module"() <{{sym_name = "inner"}}> ({{\n{func("k")}\n}}) : () -> ()'
    module = parse(f"{nested}\n{func('top', call('k'))}", "x.mlir")
    (problem,) = check_names(module)
    assert problem.code == "E-SYM-SCOPE"
    assert problem.hint == "write @inner::@k, or move it to the module's"
    assert codes(nested, func("top", call("inner::@k"))) == []


def test_what_is_called_must_be_a_function_of_the_right_kind() -> None:
    glob = '"memref.global"() <{initial_value, sym_name = "g", type = memref<4xi32>}> : () -> ()'
    llvm = '"llvm.func"() <{function_type = !llvm.func<void ()>, sym_name = "l"}> ({\n}) : () -> ()'
    assert codes(glob, func("top", call("g"))) == ["E-CALL-KIND"]
    assert ("E-CALL-KIND", "@l is a llvm.func, which func.call cannot call: it calls func.func") in found(
        llvm, func("top", call("l"))
    )


def test_calls_in_the_llvm_dialect_are_checked_too() -> None:
    printf = '"llvm.func"() <{function_type = !llvm.func<i32 (ptr, ...)>, sym_name = "printf"}> ({\n}) : () -> ()'
    use = """"llvm.func"() <{function_type = !llvm.func<void (ptr, f32)>, sym_name = "top"}> ({
    ^bb0(%p: !llvm.ptr, %x: f32):
      %0 = "llvm.call"(%p, %x) <{callee = @printf}> : (!llvm.ptr, f32) -> i32
      "llvm.return"() : () -> ()
    }) : () -> ()"""
    assert codes(printf, use) == []
    assert codes(printf, use.replace("-> i32", "-> i64")) == ["E-CALL-TYPE"]


def test_references_of_all_ops_are_looked_up_registered_or_not() -> None:
    unknown = '"own.op"() {a = [@there, {b = @gone}], s = "@no"} : () -> ()'
    ops = unknown + '\n%0 = "memref.get_global"() <{name = @lost}> : () -> memref<4xi32>'
    assert found(func("there"), func("top", ops)) == [
        ("E-CALL-UNDEF", "@gone is named by own.op, but nothing defines it"),
        ("E-CALL-UNDEF", "@lost is named by memref.get_global, but nothing defines it"),
    ]


def test_a_sequence_is_looked_up_in_the_device_that_is_configured() -> None:
    def devices(sequence: str) -> str:
        return f""""aie.device"() <{{device = "npu1_1col", sym_name = "one"}}> ({{
          "aie.runtime_sequence"() <{{sym_name = "run"}}> ({{
          }}) : () -> ()
        }}) : () -> ()
        "aie.device"() <{{device = "npu1_1col", sym_name = "two"}}> ({{
          "aie.runtime_sequence"() <{{sym_name = "main"}}> ({{
            "aiex.configure"() <{{symbol = @one}}> ({{
              "aiex.run"() <{{runtime_sequence_symbol = @{sequence}}}> : () -> ()
            }}) : () -> ()
          }}) : () -> ()
        }}) : () -> ()"""

    assert codes(devices("run")) == []
    assert codes(devices("main")) == ["E-CALL-UNDEF"]


def test_a_declaration_that_nothing_defines() -> None:
    ops = (func("f", None), func("top", call("f")))
    assert codes(*ops) == ["W-DECL-UNDEF"]
    assert codes(*ops, final=True) == ["E-DECL-UNDEF"]
    assert codes(*ops, final=True, runtime=["f"]) == []
    assert codes(func("f", None, attributes='link_with = "f.o"'), func("top", call("f")), final=True) == []
    assert codes(func("printMemrefF32", None), func("top", call("printMemrefF32")), final=True) == []


def test_what_is_private_and_not_used() -> None:
    assert codes(func("f", private=True), func("top")) == ["W-UNUSED-PRIVATE"]
    indirect = '%0 = "func.constant"() <{value = @f}> : () -> (() -> ())'
    assert codes(func("f", private=True), func("top", indirect)) == []


def test_recursion_is_a_remark_with_the_circle_or_an_error() -> None:
    ops = (func("a", call("b")), func("b", call("c")), func("c", call("a")), func("d", call("a")))
    assert found(*ops) == [("I-RECURSION", "recursion: @a -> @b -> @c -> @a")]
    assert codes(*ops, no_recursion=True) == ["E-RECURSION"]
    assert codes(func("s", call("s"))) == ["I-RECURSION"]
    assert codes(func("x", call("y")), func("y")) == []


def test_two_circles_are_two_remarks() -> None:
    ops = (func("a", call("b")), func("b", call("a") + "\n" + call("c")), func("c", call("d")), func("d", call("c")))
    assert found(*ops) == [
        ("I-RECURSION", "recursion: @a -> @b -> @a"),
        ("I-RECURSION", "recursion: @c -> @d -> @c"),
    ]


def test_files_that_ops_name_are_inputs() -> None:
    ops = [func("f", None, attributes='link_with = "b.o"'), '"own.core"() {elf_file = "a.elf"} : () -> ()']
    assert files_named(parse("\n".join(ops))) == ("a.elf", "b.o")
