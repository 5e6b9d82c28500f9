"""Concurrency, atomicity and speed: rows C4, C5, C8 and C11 of the behaviours that a build must show."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from projects import PACKAGE, add_design, new_project

if TYPE_CHECKING:
    from pathlib import Path

    from projects import HandMade, Project

KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
RECIPE = """\
add = env.CoreObject("add", source="#kernels/{name}.cc", functions=["add_one"])
env.Design(mlir="{name}.mlir.j2", link_with=[add], check="check.py")"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project of `several`, built once."""
    project = with_designs(new_project(tmp_path_factory.mktemp("made") / "project"))
    project.build()
    return project


@pytest.fixture
def built(made: Project, tmp_path: Path) -> Project:
    """The project of `several` with all built, for tests of what comes after that."""
    return made.copy_built(tmp_path / "project")


@pytest.fixture
def several(project: Project) -> Project:
    """A project of three designs: two share a kernel, one has its own."""
    return with_designs(project)


def with_designs(project: Project) -> Project:
    """Add the three designs."""
    project.write("kernels/one.cc", KERNEL)
    project.write("kernels/two.cc", KERNEL + "int other;\n")
    for name, kernel in (("one", "one"), ("same", "one"), ("two", "two")):
        recipe = RECIPE.format(name=kernel).replace(f"{kernel}.mlir", f"{name}.mlir")
        add_design(project, name, recipe, {"add_one": "add.o"})
    return project


def test_c4_clean_removes_only_what_this_build_makes(built: Project) -> None:
    built.build()
    foreign = built.write("build/host/designs/notes.txt", "mine\n")
    built.build("-c", "design=two")
    assert foreign.is_file()
    assert (built.root / "build/host/designs/one/npu1_1col/check.json").is_file()
    assert not (built.root / "build/host/designs/two/npu1_1col/check.json").exists()
    assert built.build("design=one").steps == []


def test_the_clean_verb_is_scons_own_clean(built: Project) -> None:
    built.build()
    built.build("clean")
    assert [path for path in (built.root / "build/host").rglob("*") if path.is_file()] == []


def test_c5_designs_built_in_parallel_do_not_disturb_each_other(project: Project) -> None:
    project.write("kernels/one.cc", KERNEL)
    for number in range(5):
        recipe = RECIPE.format(name="one").replace("one.mlir", f"d{number}.mlir")
        add_design(project, f"d{number}", recipe, {"add_one": "add.o"})
    built = project.build("-j4")
    assert len([step for step in built.steps if step.startswith("run ")]) == 5
    assert built.compiled == ["kernels/one.cc"]
    assert project.build("-j4").steps == []


MEETING = """\
#!{python} -I
import subprocess, sys, time
from pathlib import Path
argv = sys.argv[1:]
if "-c" in argv:
    here = Path({folder!r})
    name = argv[argv.index("-c") + 1].rpartition("/")[2]
    (here / name).touch()
    for _ in range(400):
        if len(list(here.iterdir())) == 2:
            break
        time.sleep(0.05)
    else:
        sys.exit("the other compiler did not start")
sys.exit(subprocess.run(["g++", *argv]).returncode)
"""


def test_c8_kernels_compile_at_the_same_time(hand_made: HandMade, tmp_path: Path) -> None:
    """Two compilers wait for each other: only a parallel build can finish."""
    folder = tmp_path / "meeting"
    folder.mkdir()
    compiler = hand_made.write("meeting-g++", MEETING.format(python=sys.executable, folder=str(folder)))
    compiler.chmod(0o755)
    hand_made.variables["CXX"] = str(compiler)
    assert hand_made.build("-j2").compiled == ["src/a.cc", "src/b.cc"]


def test_c11_one_changed_input_rebuilds_its_own_chain_only(built: Project) -> None:
    built.build()
    built.write("kernels/two.cc", KERNEL.replace("+ 1", "+ 1 + 0") + "int another;\n")
    again = built.build()
    assert again.compiled == ["kernels/two.cc"]
    assert [step for step in again.steps if step.startswith("run ")] == ["run two (npu1_1col)"]


def test_c11_an_edit_of_one_template_renders_that_one_only(built: Project) -> None:
    built.build()
    built.write("designs/one/one.mlir.j2", built.read("designs/one/one.mlir.j2") + "\n")
    again = built.build()
    assert [step for step in again.steps if step.startswith("render ")] == ["render designs/one/one.mlir.j2"]
    assert not [step for step in again.steps if "two" in step or "same" in step]


def test_design_reads_that_recipe_only(several: Project) -> None:
    several.write("designs/two/SConscript", "this is not Python\n")
    assert several.build("design=one").status == 0
    assert several.scons("design=two").status == 2


def test_two_builds_in_one_folder_wait_for_each_other(several: Project) -> None:
    command = [sys.executable, "-m", "SCons", "-Q"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    runs = [
        subprocess.Popen(command, cwd=several.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(2)
    ]
    said = [run.communicate(timeout=300)[0].decode() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert sum("run     two" in text for text in said) == 1
    assert several.build().steps == []


def test_a_check_result_has_no_times_in_it(built: Project) -> None:
    built.build("design=one")
    path = built.root / "build/host/designs/one/npu1_1col/check.json"
    first = path.read_bytes()
    path.unlink()
    built.build("design=one")
    assert path.read_bytes() == first
    assert json.loads(first)["ok"] is True


AIEBUILD = "import sys; from aiebuild.cli import main; sys.exit(main())"
SLOW_COMPILER = """\
#!/bin/sh
case "$*" in *kernels/one.cc*) echo $$ > started; exec sleep 100;; esac
exec {compiler} "$@"
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_a_signal_to_scons_alone_ends_the_steps_that_run(several: Project, jobs: str) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++") or ""
    several.write("cxx", SLOW_COMPILER.format(compiler=compiler)).chmod(0o755)
    several.variables["CXX"] = str(several.root / "cxx")
    build = several.start(jobs, "design=one")
    try:
        started = several.root / "started"
        deadline = time.monotonic() + 60
        while not (started.is_file() and started.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        build.terminate()
        assert build.wait(timeout=60) != 0
    finally:
        os.killpg(build.pid, signal.SIGKILL) if build.poll() is None else None
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_signal_to_aiebuild_alone_is_one_to_scons(several: Project) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++") or ""
    several.write("cxx", SLOW_COMPILER.format(compiler=compiler)).chmod(0o755)
    environment = several.environment | {"CXX": str(several.root / "cxx")}
    words = [sys.executable, "-c", AIEBUILD, "build", "design=one"]
    build = subprocess.Popen(words, cwd=several.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        started = several.root / "started"
        deadline = time.monotonic() + 60
        while not (started.is_file() and started.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        build.terminate()
        said = build.communicate(timeout=60)[0].decode()
    finally:
        build.kill()
    assert build.returncode == 2
    assert "interrupted after " in said.splitlines()[-1]
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


INTERRUPTED_COMPILER = """\
#!{python}
import os, signal, subprocess, sys, time
if not any("kernels/one.cc" in word for word in sys.argv):
    sys.exit(subprocess.call(["{compiler}", *sys.argv[1:]]))
{before}
open("started", "w").write(str(os.getpid()))
time.sleep(100)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
@pytest.mark.parametrize("before", ["", "signal.signal(signal.SIGINT, lambda *_: sys.exit('KeyboardInterrupt: 1'))"])
def test_a_step_that_ctrl_c_ends_says_nothing(several: Project, jobs: str, before: str) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    text = INTERRUPTED_COMPILER.format(compiler=compiler, python=sys.executable, before=before)
    several.write("cxx", text).chmod(0o755)
    several.variables["CXX"] = str(several.root / "cxx")
    build = several.start(jobs, "design=one", output=subprocess.PIPE)
    try:
        started = several.root / "started"
        deadline = time.monotonic() + 60
        while not (started.is_file() and started.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(build.pid, signal.SIGINT)
        said = build.communicate(timeout=60)[0].decode()
    finally:
        os.killpg(build.pid, signal.SIGKILL) if build.poll() is None else None
    assert build.returncode == 2
    assert "KeyboardInterrupt" not in said
    assert "error: " not in said
    assert "interrupted after " in said.splitlines()[-1]
