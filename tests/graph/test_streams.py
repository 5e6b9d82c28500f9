"""Nothing fails where what is said cannot be read, or not be written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from projects import add_design

if TYPE_CHECKING:
    from projects import Project

AIEBUILD = "import sys; from aiebuild.cli import main; sys.exit(main())"


KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
RECIPE = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])
env.Design(mlir="one.mlir.j2", link_with=[add], check="check.py")"""


@pytest.fixture
def one(project: Project) -> Project:
    """A project with the design `one`, whose steps say nothing on standard error."""
    project.write("kernels/add.cc", KERNEL)
    add_design(project, "one", RECIPE, {"add_one": "add.o"})
    return project


@pytest.mark.skipif(os.name == "nt", reason="needs pipes as POSIX has them")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nothing_fails_where_nobody_reads_what_is_said(one: Project, unbuffered: str) -> None:
    scons = [sys.executable, "-m", "SCons", "-Q"]
    aiebuild = [sys.executable, "-c", AIEBUILD]
    environment = one.environment | {"PYTHONUNBUFFERED": unbuffered}
    for command, status in (
        ([*scons, "design=one"], 0),
        ([*scons, "design=one"], 0),
        ([*scons, "list"], 0),
        ([*scons, "-n", "design=one", "mode=debug"], 0),
        ([*aiebuild, "describe"], 141),
        ([*aiebuild, "status", "design=one"], 141),
        ([*aiebuild, "build", "design=one"], 141),
        ([*aiebuild, "--help"], 141),
    ):
        reads, writes = os.pipe()
        os.close(reads)
        done = subprocess.run(
            command, cwd=one.root, env=environment, stdout=writes, stderr=subprocess.PIPE, check=False
        )
        os.close(writes)
        assert (done.returncode, done.stderr) == (status, b""), command
    assert one.scons("-q", "design=one").status == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_said_and_the_build_goes_on(one: Project) -> None:
    for program, words, status, said in (
        ("SCons", ["-Q", "design=one"], 0, "warning: what is said here cannot be written: No space left on device\n"),
        ("aiebuild.cli", ["list"], 2, "error: the answer cannot be written: No space left on device\n"),
    ):
        start = "import sys, SCons.Script; SCons.Script.main()" if program == "SCons" else AIEBUILD
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-c", start, *words],
                cwd=one.root,
                env=one.environment,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (done.returncode, done.stderr) == (status, said)
    assert one.scons("-q", "design=one").status == 0


@pytest.mark.parametrize("command", [["-m", "SCons", "-Q"], ["-c", AIEBUILD]])
def test_what_a_terminal_has_no_character_for_is_said_with_escapes(one: Project, command: list[str]) -> None:
    contract = one.read("designs/one/design.yaml")
    text = "description: a \N{RIGHTWARDS ARROW} b"
    one.write("designs/one/design.yaml", re.sub("description: .*", text, contract))
    environment = one.environment | {"PYTHONIOENCODING": "latin-1"}
    words = [sys.executable, *command, "list"]
    done = subprocess.run(words, cwd=one.root, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"a \\u2192 b" in done.stdout
