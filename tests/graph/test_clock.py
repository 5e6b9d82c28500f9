"""Inputs that change while they are built, or whose times lie in the future: nobody knows which state was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fast_path import scons_agrees, status, whole_project

if TYPE_CHECKING:
    from pathlib import Path

    from projects import Built, Project

AN_HOUR_AGO = """\
import sys, time
by_the_clock = time.time_ns
time.time_ns = lambda: by_the_clock() - 3_600_000_000_000
time.time = lambda: time.time_ns() / 1e9
import SCons.Script
sys.argv = ["scons", "-Q", *sys.argv[1:]]
SCons.Script.main()
"""
UNSETTLED = "inputs changed while they were built, or have times in the future (alt/add.h and "


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = whole_project(tmp_path / "project")
    project.write("LICENSE", "MIT\n")
    return project


def an_hour_ago(project: Project, *words: str) -> Built:
    """Run SCons with a clock that is an hour behind the one that gives files their times."""
    return project.python("-c", AN_HOUR_AGO, *words)


def test_inputs_with_times_in_the_future_are_built_and_once_more_when_it_has_come(project: Project) -> None:
    built = an_hour_ago(project, "design=one")
    assert (built.status, built.compiled) == (0, ["kernels/add.cc"])
    assert f"warning: {UNSETTLED}" in built.err
    assert not status(project)[0]
    built = project.build("design=one")
    assert built.compiled == ["kernels/add.cc"]
    assert UNSETTLED not in built.err
    assert status(project)[0]
    assert scons_agrees(project)


@pytest.mark.parametrize("words", [("package",), ("install", "prefix=there")])
def test_nothing_is_handed_out_of_inputs_that_may_have_changed_meanwhile(
    project: Project, words: tuple[str, ...]
) -> None:
    built = an_hour_ago(project, *words, "design=one")
    assert built.status == 2
    assert f"cannot run: {UNSETTLED}" in built.err
    assert not list(project.root.glob("dist/*"))
    assert not list(project.root.glob("there/*"))
    project.build(*words, "design=one")


def test_a_module_of_the_check_that_changes_while_it_runs_is_read_by_the_next_build(project: Project) -> None:
    check = project.read("designs/one/check.py")
    edits = 'import time\n\ntime.sleep(0.1)\nPath("designs/one/helper.py").write_text("VALUE = 7\\n")\n'
    project.write("designs/one/check.py", check + edits)
    built = project.build("design=one")
    assert "changed while they were built, or have times in the future (designs/one/helper.py)" in built.err
    assert not status(project)[0]
    assert not scons_agrees(project)
    project.write("designs/one/check.py", check)
    assert project.build("design=one").kinds == {"run"}
    assert status(project)[0]
