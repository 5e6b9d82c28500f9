"""What `list` and `describe` tell of a design."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from aiebuild import answers, contract, freshness, options
from aiebuild.answers import Asked
from aiebuild.errors import ContractError

if TYPE_CHECKING:
    from pathlib import Path

    from aiebuild.contract import Contract

CONTRACT = """\
description: Z = X + Y
version: 1.2.0
devices: [npu2_1col]
parameters:
  n: {type: int, default: 16, min: 4, max: 64, multiple_of: 4, help: elements}
  rate: {type: float, default: {host: 0.5, aie2p: 1.0}, min: 0}
  kind: {type: choice, choices: [i8, i16], default: i8, help: element type}
derive:
  m: {is: n // 4}
require:
  - {that: n % 8 == 0, message: n must be even}
variants:
  big: {n: 64, kind: i16}
arguments: {X: left, Z: sum}
"""
RECIPE = """\
Import("env", "p")

one = env.CoreObject("one", source="#kernels/{arch}/one.cc", functions=[f"one_{p.kind}"], host_source="#kernels/h.cc")
many = env.CoreArchive("many", sources=["a.cc", "b.cc"], functions=["a", "b"])
text = env.CoreObject("text", text="int t;", functions=["t"])
made = env.Design(mlir="d.mlir.j2", link_with=[one, many, text], check="check.py")
env.Depends(made.xclbin, env.Install("there", made.insts["main"]))
"""
PEOPLE = """\
d 1.2.0: Z = X + Y
  archs: host, aie2p
  devices: npu2_1col
  parameters:
    n=int [16]                         elements (4 to 64, a multiple of 4)
    rate=float [host: 0.5, aie2p: 1.0] (0 or more)
    kind=i8|i16 [i8]                   element type
  derived:
    m  16
  rules:
    n % 8 == 0  n must be even
  variants:
    big  n=64 kind=i16
  arguments:
    X  left  in, 4x2 i8, 8 bytes
    Z  sum
  kernels:
    one.o      kernels/{arch}/one.cc  one_i16
    libmany.a  a.cc b.cc              a, b
    text.o     (text)                 t
  commands:
    scons design=d                     build, run and compare on this machine
    scons design=d variant=big         with the parameters of big
    scons design=d n=64                with another n
    scons -n design=d arch=aie2p       show the commands for the NPU
    scons design=d arch=aie2p          build for the NPU
    scons package design=d arch=aie2p  one file for other machines"""


@pytest.fixture
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Contract:
    """A design whose variant `big` is built, in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "designs" / "d"
    folder.mkdir(parents=True)
    (folder / "design.yaml").write_text(CONTRACT)
    (folder / "SConscript").write_text(RECIPE)
    built = tmp_path / "build/host/designs/d/npu2_1col,kind=i16,n=64"
    built.mkdir(parents=True)
    argument = {"name": "X", "direction": "in", "element": "i8", "shape": [4, 2], "bytes": 8, "meaning": "old"}
    (built / "manifest.json").write_text(json.dumps({"sequences": [{"name": "main", "arguments": [argument]}]}))
    return contract.load(folder / "design.yaml", reserved=options.RESERVED)


def folded(text: str) -> list[list[str]]:
    """Return the words of each line: how wide the columns are is not what is tested."""
    return [line.split() for line in text.splitlines()]


def test_a_design_is_described_to_people(design: Contract) -> None:
    assert folded(answers.describe(design, Asked(variant="big"))) == folded(PEOPLE)


def test_it_is_described_in_the_configuration_that_is_asked_for(design: Contract) -> None:
    record = answers.as_record(design, Asked(given={"n": "32"}))
    assert record["derived"] == {"m": 8}
    assert record["designs"][0]["kernels"][0]["functions"] == ["one_i8"]
    assert [argument["element"] for argument in record["arguments"]] == ["", ""]
    with pytest.raises(ContractError, match="n=6 is not a multiple of 4"):
        answers.as_record(design, Asked(given={"n": "6"}))


def test_a_recipe_that_cannot_be_read_leaves_the_rest(design: Contract, tmp_path: Path) -> None:
    for recipe, why in (("x = (", "SyntaxError: '(' was never closed"), ("env.CoreObject('a')", "CoreObject 'a'")):
        (tmp_path / "designs/d/SConscript").write_text(recipe)
        said = answers.describe(design)
        assert "kernels: not known (designs/d/SConscript: " in said
        assert why in said
        assert "n=int [16]" in said
    assert "package" not in said


def test_a_list_says_what_is_built(design: Contract, tmp_path: Path) -> None:
    assert answers.answer(["list"], [design]) == "d  host, aie2p  Z = X + Y"
    (record,) = json.loads(answers.as_json(["list"], [design]))
    assert record["states"] == {"host": "not built", "aie2p": "not built"}
    assert "designs" not in record
    path = tmp_path / "build/.aiebuild/fresh"
    path.mkdir(parents=True)
    for arch in ("host", "aie2p"):
        (tmp_path / freshness.record_of([], "d", arch).path).write_text("damaged")
    assert answers.states(design, Asked()) == {"host": "stale", "aie2p": "stale"}
