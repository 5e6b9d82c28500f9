from __future__ import annotations

from pathlib import Path

import mlir_tools
import pytest
from aiebuild.mlir.link import link
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.outline import outline
from aiebuild.mlir.parse import parse
from aiebuild.mlir.problems import ProblemsError
from aiebuild.mlir.split import extract, split, without
from aiebuild.mlir.symbols import is_declaration, symbol_name, symbols
from aiebuild.mlir.write import write
from hypothesis import given
from hypothesis import strategies as st

TWO_MM = Path(__file__).parents[1] / "golden" / "services" / "two_mm.mlir"
TABLE = """\
"memref.global"() <{constant, initial_value = dense<1> : tensor<4xi32>, sym_name = "table", \
sym_visibility = "private", type = memref<4xi32>}> : () -> ()"""
MIXED = (
    f"""
"builtin.module"() ({{
  {TABLE}"""
    """
  "func.func"() <{function_type = () -> (), sym_name = "outside", sym_visibility = "private"}> ({
  }) {link_with = "k.o"} : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "top"}> ({
    %0 = "memref.get_global"() <{name = @table}> : () -> memref<4xi32>
    %1 = "memref.get_global"() <{name = @state}> : () -> memref<4xi32>
    "func.call"() <{callee = @helper}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "memref.global"() <{initial_value, sym_name = "state", sym_visibility = "private", type = memref<4xi32>}> : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "helper", sym_visibility = "private"}> ({
    %0 = "memref.get_global"() <{name = @table}> : () -> memref<4xi32>
    %1 = "memref.get_global"() <{name = @state}> : () -> memref<4xi32>
    "func.call"() <{callee = @outside}> : () -> ()
    "func.call"() <{callee = @top}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (), sym_name = "alone"}> ({
    "func.return"() : () -> ()
  }) {own.mark} : () -> ()
}) {own.version = 2 : i32} : () -> ()
"""
)
LLVM = """
llvm.mlir.global internal @count(0 : i32) : i32
llvm.func @main() -> i32 {
  %0 = llvm.call @step() : () -> i32
  llvm.return %0 : i32
}
llvm.func internal @step() -> i32 {
  %0 = llvm.mlir.addressof @count : !llvm.ptr
  %1 = llvm.load %0 : !llvm.ptr -> i32
  llvm.return %1 : i32
}
"""


def test_each_function_is_a_module_with_what_it_needs() -> None:
    pieces = {piece.name: piece.module for piece in split(parse(MIXED))}
    assert list(pieces) == ["", "top", "helper", "alone"]
    top = symbols(pieces["top"].op)
    assert set(top) == {"table", "top", "state", "helper"}
    assert not is_declaration(top["table"]), "a constant is copied"
    assert is_declaration(top["state"]), "what changes is there once"
    assert is_declaration(top["helper"])
    assert set(symbols(pieces["alone"].op)) == {"alone"}
    assert "initial_value" in symbols(pieces[""].op)["state"].properties


def test_what_other_pieces_need_is_not_hidden() -> None:
    pieces = {piece.name: piece.module for piece in split(parse(MIXED))}
    assert "sym_visibility" not in symbols(pieces["helper"].op)["helper"].properties
    assert symbols(pieces[""].op)["state"].properties["sym_visibility"] == '"public"'


@pytest.mark.parametrize("functions", [None, ["top"], ["alone", "helper"]])
def test_linking_the_pieces_gives_the_module_back(functions: list[str] | None) -> None:
    module = parse(MIXED)
    first, *others = [piece.module for piece in split(module, functions)]
    assert write(link(first, others).module) == write(module)


def test_pieces_survive_being_written_and_read() -> None:
    module = parse(MIXED)
    first, *others = [parse(write(piece.module)) for piece in split(module)]
    assert write(link(first, others[::-1]).module) == write(module)


def test_pieces_of_llvm_functions() -> None:
    module = parse(mlir_tools.generic(LLVM))
    first, *others = [piece.module for piece in split(module)]
    for piece in (first, *others):
        assert mlir_tools.verified(write(piece)) == ""
    assert write(link(first, others).module) == write(module)


def test_mlir_accepts_each_piece() -> None:
    outlined = outline(normalise(TWO_MM.read_text(), "two_mm.mlir"), "top", ["out_AB", "out_ABC"]).module
    for module in (outlined, parse(MIXED.replace("{own.mark}", "").replace("{own.version = 2 : i32}", ""))):
        for piece in split(module):
            assert mlir_tools.verified(write(piece.module)) == ""


@given(st.data())
def test_any_module_comes_back(data: st.DataObject) -> None:
    names = [f"f{number}" for number in range(data.draw(st.integers(1, 6)))]
    functions = []
    for name in names:
        calls = data.draw(st.lists(st.sampled_from(names), max_size=3))
        hidden = ', sym_visibility = "private"' if data.draw(st.booleans()) else ""
        body = "".join(f'"func.call"() <{{callee = @{callee}}}> : () -> ()\n' for callee in calls)
        header = f'"func.func"() <{{function_type = () -> (), sym_name = "{name}"{hidden}}}>'
        functions.append(header + " ({\n" + body + '"func.return"() : () -> ()\n}) : () -> ()')
        if data.draw(st.booleans()):
            functions.append('"own.other"() : () -> ()')
    module = parse("\n".join(functions))
    chosen = data.draw(st.none() | st.lists(st.sampled_from(names), unique=True, min_size=1))
    first, *others = [piece.module for piece in split(module, chosen)]
    assert write(link(first, others).module) == write(module)


def test_an_extracted_function_depends_on_nothing_else() -> None:
    """An edit of one stage changes the text of its piece, and of no other."""
    text = TWO_MM.read_text()
    pieces = []
    for source in (text, text.replace("arith.addf %abc, %d", "arith.subf %abc, %d")):
        outlined = outline(normalise(source, "two_mm.mlir"), "top", ["out_AB", "out_ABC", "E"]).module
        pieces.append([write(extract(outlined, f"Stage_{name}")) for name in ("out_AB", "out_ABC", "E")])
    assert [one == other for one, other in zip(*pieces, strict=True)] == [True, True, False]


def test_what_is_left_declares_what_was_taken() -> None:
    outlined = outline(normalise(TWO_MM.read_text(), "two_mm.mlir"), "top", ["out_AB", "out_ABC"]).module
    rest = without(outlined, ["Stage_out_AB", "Stage_out_ABC"])
    assert [(symbol_name(op), is_declaration(op)) for op in rest.op.body] == [
        ("Stage_out_AB", True),
        ("Stage_out_ABC", True),
        ("top", False),
    ]
    whole = link(rest, [extract(outlined, "Stage_out_AB"), extract(outlined, "Stage_out_ABC")], None).module
    for op in whole.op.body:
        op.attributes.pop("link.origin", None)
    assert write(whole) == write(outlined)


def test_a_function_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(ProblemsError) as caught:
        extract(parse(MIXED), "helpr")
    assert caught.value.codes == ("E-SPLIT-NOFUNC",)
    assert caught.value.hint == "did you mean 'helper'?"
    with pytest.raises(ProblemsError, match="only declared"):
        split(parse(MIXED), ["outside"])


MADE = """\
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "here"}> ({
    "func.return"() : () -> ()
  }) : () -> () loc("source.mlir":3:1)
  "func.func"() <{function_type = () -> (), sym_name = "declared", sym_visibility = "private"}> ({
  }) : () -> () loc("source.mlir":9:1)
}) : () -> () loc("source.mlir":1:1)
"""


def test_a_function_that_is_not_there_is_not_in_the_file_that_was_given() -> None:
    for take in (extract, lambda module, name: without(module, [name])):
        with pytest.raises(ProblemsError) as caught:
            take(parse(MADE, "given.mlir"), "far")
        assert str(caught.value) == "given.mlir: error: the function @far is not there [E-SPLIT-NOFUNC]\n  one of: here"
        with pytest.raises(ProblemsError) as caught:
            take(parse(MADE, "given.mlir"), "declared")
        assert str(caught.value).startswith("source.mlir:9:1: error: the function @declared is only declared")


def test_a_name_in_two_pieces_is_refused() -> None:
    pieces = [piece.module for piece in split(parse(MIXED))]
    with pytest.raises(ProblemsError) as caught:
        link(pieces[0], [*pieces[1:], pieces[1]])
    assert caught.value.codes == ("E-LINK-DUP",)


def test_a_module_with_nothing_in_it_is_one_piece() -> None:
    module = parse('"builtin.module"() ({\n}) {own.x} : () -> ()')
    (piece,) = split(module)
    assert write(link(piece.module, []).module) == write(module)


LOOSE = """
%0 = "own.first"() : () -> i32
"own.holder"() <{sym_name = "holder", sym_visibility = "private"}> ({
  "own.use"(%0) : (i32) -> ()
}) : () -> ()
"own.symbol"() <{function_type = () -> (), sym_name = "f"}> ({
  "own.use"(%0) : (i32) -> ()
}) : () -> ()
"""


def test_values_of_the_modules_level_stay_with_what_uses_them() -> None:
    module = parse(LOOSE, "x.mlir")
    (whole,) = split(module, [])
    assert write(link(whole.module, []).module) == write(module)
    with pytest.raises(ProblemsError) as caught:
        split(module)
    assert caught.value.codes == ("E-SPLIT-VALUE",)
    assert "x.mlir:6:1: error: own.symbol uses %0 of the module's level" in str(caught.value)
