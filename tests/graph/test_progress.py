"""What people see of a build: a status line on a terminal, plain lines elsewhere; where its time went."""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
import terminal
from projects import add_design, new_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from projects import Project
    from terminal import Shown

RECIPE = 'add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])\n'
DESIGN = RECIPE + 'env.Design(mlir="one.mlir.j2", link_with=[add], check="check.py")'
KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
OUTPUT = "build/host/designs/one/npu1_1col"
LAST = f"one: 9 steps run, built in {OUTPUT} (S s)"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with one design, which the tests build one after the other."""
    project = new_project(tmp_path_factory.mktemp("progress") / "project")
    project.write("kernels/add.cc", KERNEL)
    add_design(project, "one", DESIGN, {"add_one": "add.o"})
    return project


def on_a_terminal(
    project: Project, *words: str, columns: int = 100, variables: Mapping[str, str] | None = None
) -> Shown:
    """Run SCons on a terminal."""
    command = [sys.executable, "-m", "SCons", "-Q", *words]
    environment = {**project.environment, "TERM": "xterm", **(variables or {})}
    return terminal.run(command, project.root, environment, columns=columns)


def timeless(lines: list[str]) -> list[str]:
    """Return lines without the seconds in them."""
    return [re.sub(r"\d+\.\d+ s", "S s", line) for line in lines]


def test_a_terminal_has_one_line_and_a_pipe_a_line_for_each_step(project: Project) -> None:
    shutil.rmtree(project.root / "build", ignore_errors=True)
    shown = on_a_terminal(project, "-j2", columns=60, variables={"NO_COLOR": "1"})
    assert shown.status == 0, shown.raw
    result = "one: Y agrees with the reference, largest error 0 (32 i32)"
    # Where the machine is slow, the slowest steps are told as well.
    assert [line for line in timeless(shown.screen) if not line.startswith("slowest: ")] == [result, LAST]
    lines = [line for line in timeless(shown.drawn) if line.startswith("[")]
    assert "[0/9] S s  write one.parameters.json" in lines
    assert lines[-1].startswith("[8/9] S s  facts manifest.json")
    assert max(map(len, lines)) < 60
    assert "\033[3" not in shown.raw
    assert "\033[1" not in shown.raw
    project.build("-c")
    wide = on_a_terminal(project, "-j2", columns=200)
    assert any("compile kernels/add.cc" in line for line in wide.drawn)
    project.build("-c")
    piped = project.build("-j2")
    assert "\r" not in piped.out + piped.err
    assert "\033" not in piped.out + piped.err
    assert "slowest" not in piped.out
    assert len(piped.steps) == 8
    assert timeless(piped.out.splitlines())[-1] == LAST


def test_what_failed_stays_on_the_screen(project: Project) -> None:
    project.write("kernels/add.cc", "#error on purpose\n")
    shown = on_a_terminal(project, "-k")
    project.write("kernels/add.cc", KERNEL)
    assert shown.status == 2
    assert any("#error on purpose" in line for line in shown.screen)
    assert any("designs/one/SConscript:5: \033" not in line and "failed" in line for line in shown.screen)
    assert timeless(shown.screen)[-1].startswith("failed after S s: compile kernels/add.cc")
    assert "\033[1;31merror:" in shown.raw


@pytest.mark.parametrize(
    ("words", "variables", "lines"),
    [
        (("--no-progress",), {}, True),
        ((), {"TERM": "dumb"}, True),
        (("-n",), {}, False),
        (("-s",), {}, False),
        (("verbose=1", "-s"), {}, False),
    ],
)
def test_plain_lines_are_to_be_had_on_a_terminal(
    project: Project, words: tuple[str, ...], variables: dict[str, str], *, lines: bool
) -> None:
    (project.root / OUTPUT / "manifest.json").unlink(missing_ok=True)
    shown = on_a_terminal(project, *words, variables=variables)
    assert shown.status == 0, shown.raw
    assert not any(line.startswith("[") for line in shown.drawn)
    assert any(line.startswith("  facts ") for line in shown.screen) == lines


def test_a_null_build_says_its_line_alone(project: Project) -> None:
    project.build()
    assert len(on_a_terminal(project).screen) == 1
    assert "[" not in on_a_terminal(project, "timing=build/null.json").raw.replace("\033[", "")


def test_where_the_time_went_is_a_file_for_perfetto(project: Project) -> None:
    project.build()
    project.write("kernels/add.cc", KERNEL + 'extern "C" int more() { return 3; }\n')
    built = project.build("timing=build/timing.json")
    said = json.loads(project.read("build/timing.json"))
    slices = {event["name"]: event for event in said["traceEvents"] if event["ph"] == "X"}
    assert {"read the recipes", "compile kernels/add.cc", "link one.kernels.zip", "run one (npu1_1col)"} <= set(slices)
    assert slices["compile kernels/add.cc"]["args"]["why"] == ["kernels/add.cc changed"]
    assert slices["compile kernels/add.cc"]["args"]["asked for by"] == "designs/one/SConscript:5: CoreObject 'add'"
    starts = [event["ts"] for event in slices.values()]
    assert starts == sorted(starts)
    assert "slowest: " in built.out
    null = project.build("timing=build/timing.json")
    assert null.steps == []
    assert [e["name"] for e in json.loads(project.read("build/timing.json"))["traceEvents"] if e["ph"] == "X"] == [
        "read the recipes"
    ]
    refused = project.scons("timing=kernels/add.cc")
    assert refused.status == 2
    assert refused.err.startswith("error: timing=kernels/add.cc is a file that is no trace of a build")


def test_a_run_is_traced_on_request_without_another_result(project: Project) -> None:
    project.build()
    before = (project.root / OUTPUT / "check.json").stat().st_mtime_ns
    traced = project.build("trace=1")
    assert [step.split()[0] for step in traced.steps] == ["trace"]
    assert (project.root / OUTPUT / "check.json").stat().st_mtime_ns == before
    first = project.read(f"{OUTPUT}/trace.json")
    names = {event["name"] for event in json.loads(first)["traceEvents"]}
    assert {"add_one", "waits", "in (consume)", "out (produce)", "transfer of in", "sent out"} <= names
    for words in (("trace=1",), (), ("trace=1",)):
        assert "nothing to do" in project.build(*words).out
    (project.root / OUTPUT / "trace.json").unlink()
    assert [step.split()[0] for step in project.build("trace=1").steps] == ["trace"]
    assert project.read(f"{OUTPUT}/trace.json") == first
    project.write("designs/one/check.py", project.read("designs/one/check.py").replace("X + 1", "X + 2"))
    assert project.scons("trace=1", "-k").status == 2
    assert not (project.root / OUTPUT / "trace.json").exists()
    project.write("designs/one/check.py", project.read("designs/one/check.py").replace("X + 2", "X + 1"))
    project.build("trace=1")
    project.build("-c")
    assert not (project.root / OUTPUT / "trace.json").exists()


def test_trace_without_a_host_is_said(project: Project) -> None:
    said = project.build("-n", "arch=aie2", "trace=1").err
    assert "warning: trace=1 traces runs on the host, and this build has none" in said
