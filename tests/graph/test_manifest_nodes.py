"""The manifest beside the artifacts: rows U3, U14 and U23."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from installations import install
from projects import Project, add_design

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
RECIPE = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"], flags=["-O3", "-fno-math-errno"])
env.Design(mlir="x.mlir.j2", link_with=[add], check="check.py")"""


@pytest.fixture
def npu(project: Project, tmp_path: Path) -> Project:
    """A project with one design and stand-ins for the NPU's tools."""
    project.write("kernels/add.cc", KERNEL)
    add_design(project, "x", RECIPE, {"add_one": "add.o"})
    project.variables |= install(tmp_path / "tools", "C2").variables
    return project


def manifest(project: Project, arch: str) -> dict[str, Any]:
    """Return the manifest of the design for an arch."""
    record: dict[str, Any] = json.loads(project.read(f"build/{arch}/designs/x/npu1_1col/manifest.json"))
    return record


@pytest.mark.parametrize("arch", ["host", "aie2"])
def test_u3_it_lists_every_artifact_with_digest_and_size(npu: Project, arch: str) -> None:
    npu.build(f"arch={arch}")
    wanted = {"host": {"cores", "kernels", "parameters", "check"}, "aie2": {"xclbin", "insts"}}[arch]
    outputs = manifest(npu, arch)["outputs"]
    assert {item["kind"] for item in outputs} == wanted
    for item in outputs:
        content = (npu.root / f"build/{arch}/designs/x/npu1_1col" / item["path"]).read_bytes()
        assert item["size"] == len(content)
        assert item["masked"] or item["sha256"] == hashlib.sha256(content).hexdigest()


def test_u23_it_names_the_tools_with_versions_dialect_and_digests(npu: Project) -> None:
    npu.build("arch=aie2")
    tools = {tool["name"]: tool for tool in manifest(npu, "aie2")["tools"]}
    assert tools["aiecc"]["dialect"] == "C2"
    assert len(tools["aiecc"]["digest"]) == len(tools["peano"]["digest"]) == 64
    assert "clang version 21.0.0" in tools["peano"]["version"]


def test_u14_it_has_the_inputs_and_the_ordered_flags(npu: Project) -> None:
    npu.build("arch=aie2")
    record = manifest(npu, "aie2")
    inputs = {item["path"]: item["sha256"] for item in record["inputs"]}
    assert inputs["kernels/add.cc"] == hashlib.sha256(KERNEL.encode()).hexdigest()
    (obj,) = record["objects"]
    assert [flag for flag in obj["flags"] if flag in {"-O3", "-fno-math-errno"}] == ["-O3", "-fno-math-errno"]


def test_u14_two_builds_of_the_same_inputs_in_two_folders_give_the_same_bytes(npu: Project, tmp_path: Path) -> None:
    """An xclbin has a random UUID: its digest leaves that out."""
    npu.build("arch=aie2,host")
    other = npu.copy(tmp_path / "another folder")
    other.build("arch=aie2,host")
    for arch in ("aie2", "host"):
        name = f"build/{arch}/designs/x/npu1_1col/manifest.json"
        assert npu.read(name) == other.read(name)
    name = "build/aie2/designs/x/npu1_1col/x.xclbin"
    assert (npu.root / name).read_bytes() != (other.root / name).read_bytes()


def test_an_edit_of_an_input_that_changes_no_output_writes_it_anew(npu: Project) -> None:
    npu.build("arch=aie2")
    before = manifest(npu, "aie2")
    npu.write("kernels/add.cc", "// why\n" + KERNEL)
    npu.build("arch=aie2")
    after = manifest(npu, "aie2")
    assert before["inputs"] != after["inputs"]
    assert before["outputs"] == after["outputs"]
    assert "nothing to do" in npu.build("arch=aie2").out


def test_u14_what_steps_find_out_while_they_run_is_an_input(npu: Project) -> None:
    """A header is no source of a step: only the compiler says that it was read."""
    npu.write("kernels/some.h", "#define SOME 1\n")
    npu.write("kernels/add.cc", '#include "some.h"\n' + KERNEL.replace("+ 1", "+ SOME"))
    npu.build("arch=aie2,host")
    before = {arch: manifest(npu, arch) for arch in ("aie2", "host")}
    npu.write("kernels/some.h", "// why\n#define SOME 1\n")
    npu.build("arch=aie2,host")
    for arch, record in before.items():
        now = {item["path"]: item["sha256"] for item in manifest(npu, arch)["inputs"]}
        assert now["kernels/some.h"] != {item["path"]: item["sha256"] for item in record["inputs"]}["kernels/some.h"]
        assert not [path for path in now if path.startswith("build/")]


def test_a_variant_is_named_whichever_way_it_was_asked_for(npu: Project) -> None:
    contract = npu.read("designs/x/design.yaml")
    parameters = "parameters:\n  n: {type: int, default: 1}\nderive:\n  m: {is: n + 1}\nvariants:\n  three: {n: 3}\n"
    npu.write("designs/x/design.yaml", contract + parameters)
    npu.build("variant=three")
    name = "build/host/designs/x/npu1_1col,n=3/manifest.json"
    asked_by_name = npu.read(name)
    assert "nothing to do" in npu.build("n=3", "design=x").out
    record = json.loads(asked_by_name)
    assert (record["variant"], record["configuration"]) == ("three", "three")
    assert (record["parameters"], record["derived"]) == ({"n": 3}, {"m": 4})
    assert npu.read(name) == asked_by_name
