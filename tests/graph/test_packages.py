"""The verbs `package` and `install`: rows U13 and U14, and that nothing unchecked is deployed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from aiebuild import verify
from aiebuild.inspect import xclbin
from aiebuild.npu import stable_uuid
from installations import install
from projects import CHECK, PACKAGE, Project, add_design

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
RECIPE = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])
env.Design(mlir="x.mlir.j2", link_with=[add], check="check.py")"""
CONTRACT = """\
description: a design of the tests
version: 2.1.0
devices: [npu1_1col, npu2_1col]
parameters:
  some: {type: int, default: {aie2: 4, aie2p: 8, host: 1}}
  other: {type: int, default: 5}
variants:
  less: {other: 2}
"""


@pytest.fixture
def npu(project: Project, tmp_path: Path) -> Project:
    """A project with one design, a licence, and stand-ins for the NPU's tools."""
    project.write("kernels/add.cc", KERNEL)
    project.write("LICENSE", "Do what you like.\n")
    add_design(project, "x", RECIPE, {"add_one": "add.o"}, contract=CONTRACT)
    project.write("designs/x/check.py", "from helper import ONE\n" + CHECK.replace("X + 1", "X + ONE"))
    project.write("designs/x/helper.py", "ONE = 1\n")
    project.variables |= install(tmp_path / "tools", "C2").variables
    return project


def files_of(path: Path) -> dict[str, bytes]:
    """Return the files of a package that is good, by path."""
    return dict(verify.verify(path).files)


def test_u14_two_clones_give_the_same_package(npu: Project, tmp_path: Path) -> None:
    """Whoever makes it, when, and where."""
    npu.write(
        "designs/x/SConscript", npu.read("designs/x/SConscript").replace("env.Design(", "env.Design(stable_uuid=True, ")
    )
    other = npu.copy(tmp_path / "another folder")
    other.variables |= {"USER": "somebody", "TZ": "Asia/Tokyo", "HOME": str(tmp_path)}
    npu.build("package", "design=x", "arch=aie2,host", "other=2", "mode=debug")
    before = os.umask(0o077)
    try:
        other.build("package", "design=x", "arch=aie2,host", "other=2", "mode=debug", "-j2")
    finally:
        os.umask(before)
    name = "dist/x-2.1.0-aie2+host-debug-less.tar.gz"
    first, second = files_of(npu.root / name), files_of(other.root / name)
    assert first.keys() == second.keys()
    # U15: the UUID of the xclbin follows from its content. Real ones have another UUID in their partition.
    uuids = [xclbin.read(files["aie2/x.xclbin"], "x.xclbin").uuid for files in (first, second)]
    assert uuids[0] == uuids[1] == str(stable_uuid.of(first["aie2/x.xclbin"], "x.xclbin"))
    assert {path for path in first if first[path] != second[path]} == set()
    for project in (npu, other):
        project.build("package", "design=x", "other=2", "mode=debug")
    name = "dist/x-2.1.0-host-debug-less.tar.gz"
    assert (npu.root / name).read_bytes() == (other.root / name).read_bytes()


def test_u13_a_package_is_of_a_build_that_was_checked(npu: Project) -> None:
    made = npu.build("package", "design=x", "arch=aie2,aie2p", "format=zip")
    name = "dist/x-2.1.0-aie2+aie2p.zip"
    assert f"packaged as {name}" in made.out
    # The runs have the parameters of the builds, not the host's own defaults.
    for device, some in (("npu1_1col", 4), ("npu2_1col", 8)):
        assert (npu.root / f"build/host/designs/x/{device},some={some}/check.json").is_file()
    found = verify.verify(npu.root / name)
    for arch, device in (("aie2", "npu1_1col"), ("aie2p", "npu2_1col")):
        check = found.manifests[arch].check
        assert check is not None
        assert (check.arch, check.device, check.ok) == ("host", device, True)
    assert (
        f"nothing to do, {name} is up to date" in npu.build("package", "design=x", "arch=aie2,aie2p", "format=zip").out
    )

    # Another design, which SCons does not come to once this one has failed, keeps its package.
    npu.write("kernels/other.cc", KERNEL)
    add_design(npu, "y", RECIPE.replace("add.cc", "other.cc").replace("x.mlir", "y.mlir"), {"add_one": "add.o"})
    npu.build("package", "design=y", "format=zip")
    kept = npu.root / "dist/y-0.0.0-host.zip"
    npu.write("kernels/add.cc", KERNEL.replace("+ 1", "+ 2"))
    failed = npu.scons("package", "design=x,y", "arch=host", "format=zip")
    assert failed.status != 0
    assert kept.is_file()
    kept.unlink()
    failed = npu.scons("package", "design=x", "arch=aie2,aie2p", "format=zip")
    assert failed.status != 0
    assert f"{name} is removed: it is of an earlier state of the design" in failed.err
    assert not list((npu.root / "dist").iterdir())

    npu.write("kernels/add.cc", "// again\n" + KERNEL)
    again = npu.build("package", "arch=aie2,aie2p", "format=zip")
    assert f"package {name}" in again.steps
    (npu.root / name).write_bytes(b"changed")
    assert npu.build("package", "arch=aie2,aie2p", "format=zip").steps == [f"package {name}"]


def test_u13_what_cannot_be_trusted_is_an_error_that_says_why(npu: Project) -> None:
    (npu.root / "LICENSE").unlink()
    failed = npu.scons("package", "arch=aie2")
    assert failed.status == 2
    assert "error: there is no licence to put into the package\n  write LICENSE in the project's folder" in failed.err
    npu.write("designs/x/LICENSE", "Its own.\n")
    npu.write("designs/x/SConscript", npu.read("designs/x/SConscript").replace(', check="check.py"', ""))
    failed = npu.scons("package", "arch=aie2")
    assert failed.status == 2
    assert "designs/x/SConscript:6: error: x cannot be packaged: it has no check" in failed.err
    assert not (npu.root / "dist").exists()


def test_a_package_for_the_host_is_run_by_aiebuild_as_its_readme_says(npu: Project, tmp_path: Path) -> None:
    npu.build("install", f"prefix={tmp_path / 'there'}")
    folder = tmp_path / "there" / "x-2.1.0-host"
    (command,) = re.findall(r"^python (-m aiebuild.host run .*)$", (folder / "README.md").read_text(), re.MULTILINE)
    environment = {"PYTHONPATH": str(PACKAGE), "PATH": os.environ["PATH"]}
    words = [sys.executable, *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "Y agrees with the reference" in done.stdout, done.stderr


def test_installing_writes_what_differs_and_loses_nothing(npu: Project, tmp_path: Path) -> None:
    place = tmp_path / "there"
    words = ("install", "arch=aie2", "toolchain=peano", f"prefix={place}")
    assert "10 files, 10 written" not in npu.build(*words).out
    folder = place / "x-2.1.0-aie2"
    assert (folder / "aie2" / "x.xclbin").read_bytes() == (
        npu.root / "build/aie2/designs/x/npu1_1col/x.xclbin"
    ).read_bytes()
    (folder / "mine").write_text("mine")
    (folder / "load.py").unlink()
    assert ", 1 written" in npu.build(*words).out
    assert (folder / "mine").read_text() == "mine"
    assert not (npu.root / "dist").exists()
    failed = npu.scons("install")
    assert failed.status == 2
    assert "error: install needs a folder\n  scons install design=NAME prefix=DIR" in failed.err
    failed = npu.scons("install", "prefix=LICENSE/sub/sub")
    assert failed.status == 2
    assert "error: prefix=LICENSE/sub/sub cannot be a folder: LICENSE is a file\n" in failed.err
    assert failed.steps == []
