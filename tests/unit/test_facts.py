from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import CheckError, Location
from aiebuild.mlir.facts import Core, Facts, Function, Sequence, facts
from aiebuild.mlir.parse import parse
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module

GOLDEN = Path(__file__).parents[1] / "golden" / "mlir"
DEVICES = {"device = 5 : i32": 'device = "npu1_1col"', "device = 9 : i32": 'device = "npu2_1col"'}


def golden(name: str, *changes: tuple[str, str]) -> Module:
    text = (GOLDEN / f"{name}.generic.mlir").read_text()
    for old, new in (*DEVICES.items(), *changes):
        assert old in text or old in DEVICES, old
        text = text.replace(old, new)
    return parse(text, f"{name}.mlir")


def test_the_facts_of_matmul() -> None:
    found = facts(golden("matmul"))
    assert found.device == "npu1_1col"
    assert [function.name for function in found.functions] == ["zero_i32", "matmul_i16_i32"]
    assert found.functions[0] == Function("zero_i32", ("memref<32x32xi32>",), (), "mm.o", Location("matmul.mlir", 3, 5))
    assert found.cores == (
        Core(0, 2, ("matmul_i16_i32", "zero_i32"), ("mm.o",), Location("matmul.mlir", 19, 5), 3328 + 16384),
    )
    arguments = ("memref<4096xi16>", "memref<4096xi16>", "memref<4096xi32>")
    assert found.sequences == (Sequence("sequence", arguments, Location("matmul.mlir", 50, 5)),)


def test_each_core_and_each_sequence_is_a_fact() -> None:
    assert [(core.column, core.row) for core in facts(golden("scale4")).cores] == [(0, r) for r in (2, 3, 4, 5)]
    assert [sequence.name for sequence in facts(golden("rtp")).sequences] == ["triple", "halves"]


def test_calls_through_functions_with_bodies_count_and_those_functions_are_not_external() -> None:
    text = """
    "aie.device"() <{device = "npu1_1col", sym_name = "main"}> ({
      "func.func"() <{function_type = () -> (), sym_name = "deep", sym_visibility = "private"}> ({
      }) {link_with = "deep.o"} : () -> ()
      "func.func"() <{function_type = () -> (), sym_name = "unused", sym_visibility = "private"}> ({
      }) {link_with = "unused.o"} : () -> ()
      "func.func"() <{function_type = () -> (), sym_name = "middle"}> ({
        "func.call"() <{callee = @middle}> : () -> ()
        "func.call"() <{callee = @deep}> : () -> ()
        "func.return"() : () -> ()
      }) : () -> ()
      %t = "aie.tile"() <{col = 0 : i32, row = 3 : i32}> : () -> index
      %c = "aie.core"(%t) <{stack_size = 1024 : i32}> ({
        "func.call"() <{callee = @middle}> : () -> ()
        "aie.end"() : () -> ()
      }) {link_with = "old.o"} : (index) -> index
      "aie.end"() : () -> ()
    }) : () -> ()
    """
    found = facts(parse(text, "x.mlir"))
    assert [function.name for function in found.functions] == ["deep", "unused"]
    assert found.cores[0].calls == ("deep",)
    assert found.cores[0].link_files == ("deep.o", "old.o")
    assert (found.cores[0].column, found.cores[0].row) == (0, 3)


def test_places_are_those_of_the_users_own_file() -> None:
    module = golden(
        "passthrough",
        ('{link_with = "passthrough.o"} : () -> ()', '{link_with = "passthrough.o"} : () -> () loc("io.mlir.j2":7:3)'),
    )
    assert facts(module).functions[0].where == Location("io.mlir.j2", 7, 3)


def test_a_device_written_as_a_number_is_refused() -> None:
    text = (GOLDEN / "matmul.generic.mlir").read_text()
    with pytest.raises(CheckError, match="the device is written as 5 : i32") as caught:
        facts(parse(text, "matmul.mlir"))
    assert 'device = "npu1_1col"' in caught.value.hint


@pytest.mark.parametrize(("text", "count"), [("", 0), ('"aie.device"() <{device = "npu1"}> ({}) : () -> ()\n' * 2, 2)])
def test_a_module_has_one_device(text: str, count: int) -> None:
    with pytest.raises(CheckError, match=f"the module has {count} devices, not one"):
        facts(parse(text, "x.mlir"))


NAMES = st.text(min_size=1, max_size=8)
PLACES = st.builds(Location, NAMES, st.none() | st.integers(1, 999), st.none() | st.integers(1, 99))
TEXTS = st.lists(NAMES, max_size=3).map(tuple)


@settings(deadline=None)  # a busy machine is no fault
@given(
    st.builds(
        Facts,
        NAMES,
        st.lists(st.builds(Function, NAMES, TEXTS, TEXTS, st.none() | NAMES, PLACES), max_size=2).map(tuple),
        st.lists(st.builds(Core, st.integers(0, 9), st.integers(0, 9), TEXTS, TEXTS, PLACES), max_size=2).map(tuple),
        st.lists(st.builds(Sequence, NAMES, TEXTS, PLACES), max_size=2).map(tuple),
    )
)
def test_facts_survive_json(found: Facts) -> None:
    assert Facts.from_json(found.to_json()) == found


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "device": "x"}'])
def test_what_is_not_the_json_of_facts_is_refused(text: str) -> None:
    with pytest.raises(CheckError, match=r"facts of format 99|facts of a module cannot be read"):
        Facts.from_json(text)
