"""Text for aiecc from a module in memory: it reads back as the same module."""

from __future__ import annotations

import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write
from aiebuild.mlir.write_custom import write_custom
from projects import GOLDEN

DESIGNS = sorted(path.name for path in (GOLDEN / "mlir").glob("*.mlir") if path.name.count(".") == 1)


@pytest.mark.parametrize("name", DESIGNS)
def test_it_reads_back_as_the_same_module(name: str) -> None:
    module = normalise((GOLDEN / "mlir" / name).read_text(encoding="utf-8"), name)
    text = write_custom(module)
    assert write(normalise(text, name)) == write(module)


@pytest.mark.parametrize("name", DESIGNS)
def test_no_number_stands_for_what_versions_number_differently(name: str) -> None:
    text = write_custom(normalise((GOLDEN / "mlir" / name).read_text(encoding="utf-8"), name))
    assert "aie.device(npu" in text
    for word in ("device =", "port =", "action =", "_bundle =", "channel_dir ="):
        assert word not in text


def test_a_function_with_a_body_is_written_with_its_arguments() -> None:
    text = """
    module {
      func.func private @f(%x: i32, %m: memref<4xi32>) -> (i32) {
        %y = arith.addi %x, %x : i32
        return %y : i32
      }
      func.func @g() {
        return
      }
    }
    """
    module = normalise(text, "x.mlir")
    written = write_custom(module)
    assert "func.func private @f(%arg0: i32, %arg1: memref<4xi32>) -> (i32) {" in written
    assert write(normalise(written, "x.mlir")) == write(module)


def test_what_functions_say_and_unusual_names_are_kept() -> None:
    text = """
    module {
      func.func @"a b"(%x: i32 {own.a}) attributes {own.b = "c"} { return }
      func.func private @branches() attributes {own.d} {
        cf.br ^next
      ^next:
        return
      }
      func.func @caller() {
        func.call @branches() : () -> ()
        return
      }
    }
    """
    module = normalise(text, "x.mlir")
    written = write_custom(module)
    assert "func.func private @branches() attributes {own.d} {" in written
    assert write(normalise(written, "x.mlir")) == write(module)


def test_an_op_that_lacks_a_property_is_named() -> None:
    module = parse('"aie.device"() ({}) : () -> ()', "x.mlir")
    with pytest.raises(MlirError, match=r"aie\.device.*it lacks 'device'"):
        write_custom(module)
