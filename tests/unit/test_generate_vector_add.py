"""The shipped design whose MLIR is made by a Python script, from its contract to a run on the host."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiebuild import contract
from aiebuild.generate import mapping
from aiebuild.generate.__main__ import main as generate
from aiebuild.host.__main__ import main as host
from aiebuild.mlir.__main__ import main as mlir

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "designs/vector_add"
DESIGN = contract.load(ROOT / FOLDER / "design.yaml")
VARIANTS = (None, *DESIGN.variant_names)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def make(folder: Path, **options: Any) -> dict[str, Any]:
    """Make the MLIR of a configuration in a folder, check it, and return the parameters file's content."""
    parameters = DESIGN.settle(arch="host", **options).to_json()
    (folder / "P.json").write_text(json.dumps(parameters))
    (folder / "G.json").write_text(json.dumps(DESIGN.generator.to_json()))
    given = ["--parameters", f"{folder}/P.json", "--generator", f"{folder}/G.json", "--depfile", f"{folder}/x.d"]
    assert generate([f"{FOLDER}/vector_add.py", *given, "-o", f"{folder}/x.mlir"]) == 0
    outputs = ["-o", f"{folder}/x.generic.mlir", "--facts", f"{folder}/x.facts.json"]
    checks = ["--declared", "vector_add.o", "--device", parameters["device"]]
    assert mlir(["normalise", f"{folder}/x.mlir", *checks, *outputs]) == 0
    return parameters


@pytest.mark.parametrize("device", DESIGN.devices)
@pytest.mark.parametrize("variant", VARIANTS)
def test_its_mlir_breaks_no_rule_and_promises_what_the_recipe_does(
    variant: str | None, device: str, tmp_path: Path
) -> None:
    make(tmp_path, variant=variant, device=device)
    facts = json.loads((tmp_path / "x.facts.json").read_text())
    assert [function["name"] for function in facts["functions"]] == ["vector_add_i32"]
    recipe = (ROOT / FOLDER / "SConscript").read_text()
    assert '"vector_add_i32"' in recipe
    assert 'mlir="vector_add.py"' in recipe


def test_it_needs_nothing_but_its_own_file_and_writes_nothing_beside_it(tmp_path: Path) -> None:
    before = sorted((ROOT / FOLDER).iterdir())
    make(tmp_path)
    files = json.loads((tmp_path / "x.d").read_text())["files"]
    # An environment may lie in the project, as the README has it.
    own = [name for name in files if not (ROOT / name).is_relative_to(sys.prefix)]
    assert [name for name in own if not name.startswith("/")] == [f"{FOLDER}/vector_add.py"]
    assert sorted((ROOT / FOLDER).iterdir()) == before


def test_every_parameter_reaches_the_script() -> None:
    parameters = DESIGN.settle(arch="host").to_json()
    words = mapping.argv(parameters, DESIGN.generator)
    assert words == ("--device", "npu1_1col", "--length", "4096", "--line", "256")


def test_it_computes_the_sum_on_the_host(tmp_path: Path) -> None:
    make(tmp_path, variant="small")
    subprocess.run(["g++", "-O1", "-fPIC", "-c", ROOT / "kernels/vector_add.cc", "-o", tmp_path / "o.o"], check=True)
    cores, kernels = f"{tmp_path}/x.cores.py", f"{tmp_path}/x.kernels.zip"
    assert host(["translate", f"{tmp_path}/x.generic.mlir", "-o", cores]) == 0
    linked = ["--facts", f"{tmp_path}/x.facts.json", "--object", f"vector_add.o={tmp_path}/o.o", "--cxx", "g++"]
    assert host(["link", *linked, "-o", kernels]) == 0
    check = ["--check", f"{FOLDER}/check.py", "--parameters", f"{tmp_path}/P.json", "--arguments", "A,B,C"]
    assert host(["run", cores, "--kernels", kernels, *check, "-o", f"{tmp_path}/check.json"]) == 0
    assert json.loads((tmp_path / "check.json").read_text())["ok"]
