"""Taking runtime sequences out of a module's own text."""

from __future__ import annotations

import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.sequence_text import find, only
from aiebuild.mlir.write import write
from projects import GOLDEN

DESIGNS = sorted(path for path in (GOLDEN / "mlir").glob("*.mlir") if path.name.count(".") == 1)


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_what_is_left_is_the_module_without_those_ops(path: object) -> None:
    text = (GOLDEN / "mlir" / str(path)).read_text(encoding="utf-8")
    names = [sequence.name for sequence in find(text)]
    whole = normalise(text, "x.mlir")
    for keep in (None, *names):
        left = only(text, keep, "x.mlir")
        assert left.count("\n") == text.count("\n")
        module = normalise(left, "x.mlir")
        expected = normalise(text, "x.mlir")
        for block in expected.op.body[0].regions[0].blocks:
            block.ops = [
                op for op in block.ops if op.name != "aie.runtime_sequence" or op.get("sym_name") == f'"{keep}"'
            ]
        assert write(module) == write(expected)
    assert write(whole) == write(normalise(text, "x.mlir"))


def test_every_sequence_is_found_by_its_name() -> None:
    text = (GOLDEN / "mlir" / "rtp.mlir").read_text(encoding="utf-8")
    assert [sequence.name for sequence in find(text)] == ["triple", "halves"]


def test_comments_and_strings_are_not_sequences() -> None:
    text = '// aie.runtime_sequence(%a: i32) {\nmodule attributes {a = "aie.runtime_sequence("} {\n}\n'
    assert find(text) == ()
    assert only(text, None, "x.mlir") == text


def test_an_unknown_sequence_names_the_nearest() -> None:
    text = (GOLDEN / "mlir" / "rtp.mlir").read_text(encoding="utf-8")
    with pytest.raises(MlirError, match="did you mean 'triple'"):
        only(text, "tripel", "x.mlir")
