"""`aiebuild watch`: what is saved is built, as `scons` would, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from edits import UNSHRUNK, Edits
from fast_path import OUTPUT, artifacts, scons_agrees, status, whole_project
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from projects import Project

SECONDS = 240
COMMAND = "import sys; from aiebuild.cli import main; sys.exit(main())"
CLOCK = """\
import pathlib, time
by_the_clock = time.time_ns
time.time_ns = lambda: by_the_clock() + int(float(pathlib.Path("{clock}").read_text()) * 1e9)
time.time = lambda: time.time_ns() / 1e9
"""
MANY = 3
"""Builds after one edit: the clock was set while the first one ran, and what changed then is nothing known."""

WAITS = ("watching", "the project could not be read")


class Watching:
    """A running `aiebuild watch`, and the lines that it has said."""

    def __init__(self, project: Project, *words: str, before: str = "") -> None:
        self.project = project
        self.variables = dict(project.variables)
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + COMMAND, "watch", *(words or ("design=one",))],
            cwd=project.root,
            env=project.environment | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def wait(self, after: int = 0) -> list[str]:
        """Return what was said after so many lines, once it waits for a change."""
        for _ in range(SECONDS * 20):
            said = self.lines[after:]
            if said and said[-1].startswith(WAITS):
                return said
            assert self.process.poll() is None, self.lines
            time.sleep(0.05)
        raise AssertionError(self.lines)

    def after(self, name: str, text: str) -> list[str]:
        """Write a file, and return what is said of it."""
        known = len(self.lines)
        self.project.write(name, text)
        return self.wait(known)

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal, and return the exit status."""
        self.process.send_signal(number)
        status = self.process.wait(SECONDS)
        self._reader.join()
        return status

    def builds(self, after: int = 0) -> int:
        """Return how many builds have ended after so many lines."""
        return sum(line.startswith(("one: ", "failed after")) and "agrees" not in line for line in self.lines[after:])


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Watching]:
    watching = Watching(whole_project(tmp_path / "project"))
    watching.wait()
    yield watching
    watching.process.kill()
    watching.process.wait()


def compiled(said: list[str]) -> list[str]:
    return [line.split()[1] for line in said if line.startswith("  compile ")]


def test_what_is_saved_is_built_and_ctrl_c_ends_it_well(watching: Watching) -> None:
    project = watching.project
    assert compiled(watching.lines) == ["kernels/add.cc"]
    assert status(project)[0]

    said = watching.after("alt/add.h", "#define VERSION 2\n")
    assert said[0] == "alt/add.h changed"
    assert compiled(said) == ["kernels/add.cc"]

    aside = project.write("alt/.add.h.swp", "#define VERSION 3\n")
    known = len(watching.lines)
    aside.replace(project.root / "alt/add.h")
    assert compiled(watching.wait(known)) == ["kernels/add.cc"]

    said = watching.after("inc/add.h", "#define VERSION 4\n")
    assert "names in inc changed" in said[0]
    assert compiled(said) == ["kernels/add.cc"]

    said = watching.after("designs/one/check.py", project.read("designs/one/check.py").replace("X + 1", "X + 2"))
    assert any("failed after" in line for line in said)
    said = watching.after("designs/one/check.py", project.read("designs/one/check.py").replace("X + 2", "X + 1"))
    assert not any("failed" in line for line in said)
    assert status(project)[0]

    known = len(watching.lines)
    (project.root / OUTPUT / "one.kernels.zip").unlink()
    assert f"{OUTPUT}/one.kernels.zip is gone" in watching.wait(known)[0]
    assert (project.root / OUTPUT / "one.kernels.zip").is_file()

    known = len(watching.lines)
    project.write("docs/index.md", "nobody reads it\n")
    time.sleep(1.5)
    assert watching.lines[known:] == []
    assert watching.end() == 0


def test_what_recipes_are_made_of_is_read_again(watching: Watching) -> None:
    project = watching.project
    good = project.read("designs/one/SConscript")
    said = watching.after(
        "designs/one/SConscript", good.replace('["#inc", "#alt"]', '["#alt"]').replace("#inc", "#alt")
    )
    assert said[0] == "designs/one/SConscript changed: reading the project again"
    assert compiled(said) == ["kernels/add.cc"]

    said = watching.after("designs/one/SConscript", "this is no Python")
    assert said[-1].startswith("the project could not be read")
    assert any(line.startswith("designs/one/SConscript:1:") for line in said)
    start = project.read("SConstruct")
    assert watching.after("SConstruct", "neither is this")[-1].startswith("the project could not be read")
    project.write("SConstruct", start)
    said = watching.after("designs/one/SConscript", good)
    watching.wait(len(watching.lines) - 1)
    for _ in range(SECONDS * 2):
        if status(project)[0]:
            break
        time.sleep(0.5)
    assert status(project)[0]
    assert scons_agrees(project)

    assert watching.after("site_scons/shared.py", 'FLAGS = ["-O2"]\n')[0].startswith("site_scons/shared.py changed")
    assert status(project)[0]
    assert watching.end(signal.SIGTERM) == 128 + signal.SIGTERM


@pytest.mark.parametrize("gone", ["SConstruct", "designs/one", "designs", "."])
def test_what_is_missing_for_a_while_is_waited_for(watching: Watching, gone: str) -> None:
    project = watching.project
    aside = project.root.parent / "aside"
    known = len(watching.lines)
    (project.root / gone).rename(aside)
    for _ in range(SECONDS * 20):
        if watching.lines[known:]:
            break
        time.sleep(0.05)
    if gone != ".":
        assert watching.wait(known)[-1].startswith("the project could not be read")
        # Whoever looks for it once more finds it missing still.
        project.write("notes.txt", "something else changes meanwhile\n")
        watching.wait(len(watching.lines))
    assert watching.process.poll() is None

    known = len(watching.lines)
    aside.rename(project.root / gone)
    assert watching.wait(known)[-1] == "watching one; Ctrl-C ends it"
    assert compiled(watching.after("alt/add.h", "#define VERSION 2\n")) == ["kernels/add.cc"]
    assert watching.end() == 0


def test_an_edit_made_while_it_builds_is_not_lost(watching: Watching) -> None:
    project = watching.project
    project.write("meddle", "echo '#define BASE 30' > alt/base.h")
    known = len(watching.lines)
    project.write("alt/add.h", "#define VERSION 2\n")
    for _ in range(SECONDS * 20):
        if sum(line.startswith("one: ") for line in watching.lines[known:]) == 2:
            break
        time.sleep(0.05)
    said = watching.wait(known)
    assert compiled(said) == ["kernels/add.cc", "kernels/add.cc"]
    assert status(project)[0]
    assert scons_agrees(project)


def test_a_build_that_fails_and_writes_beside_its_sources_is_not_run_for_ever(watching: Watching) -> None:
    known = len(watching.lines)
    check = watching.project.read("designs/one/check.py")
    writes = 'Path("designs/one/log.txt").write_text(str(__import__("time").time_ns()))\nraise ValueError("no")\n'
    watching.after("designs/one/check.py", check + writes)
    time.sleep(1)
    watching.wait(known)
    # Once more for a file that may be an input, and once because the design's folder is one that the recipe lists.
    assert sum("failed after" in line for line in watching.lines[known:]) <= 3


@pytest.fixture
def other(watching: Watching) -> Iterator[Watching]:
    """Another process that watches the same design of the same project."""
    other = Watching(watching.project)
    other.wait()
    yield other
    other.process.kill()
    other.process.wait()


def settled(*all_of_them: Watching) -> None:
    """Wait until none of several has anything to do for a while."""
    for _ in range(SECONDS):
        known = [len(each.lines) for each in all_of_them]
        time.sleep(2)
        if known == [len(each.lines) for each in all_of_them] and all(
            each.lines[-1].startswith(WAITS) for each in all_of_them
        ):
            return
    raise AssertionError([each.lines for each in all_of_them])


def test_two_follow_a_save_and_one_of_them_builds_it(watching: Watching, other: Watching) -> None:
    project, both = watching.project, (watching, other)
    assert compiled(other.lines) == []
    for version in (2, 3, 4):
        known = [len(each.lines) for each in both]
        project.write("alt/add.h", f"#define VERSION {version}\n")
        said = [line for each, lines in zip(both, known, strict=True) for line in each.wait(lines)]
        settled(*both)
        assert compiled(said) == ["kernels/add.cc"]
        assert sum("waiting for" in line for line in said) <= 1
        assert [each.builds(lines) for each, lines in zip(both, known, strict=True)] == [1, 1]
        assert status(project)[0]
        assert scons_agrees(project)
    assert [each.end() for each in both] == [0, 0]


def test_two_configurations_are_watched_side_by_side(watching: Watching) -> None:
    project = watching.project
    debug = Watching(project, "design=one", "mode=debug")
    try:
        debug.wait()
        project.write("alt/add.h", "#define VERSION 2\n")
        settled(watching, debug)
        project.write("site_scons/shared.py", 'FLAGS = ["-O2"]\n')
        settled(watching, debug)
        assert status(project, "design=one")[0]
        assert status(project, "design=one", "mode=debug")[0]
        assert scons_agrees(project)
        assert debug.end() == 0
    finally:
        debug.process.kill()


def test_two_do_not_start_each_other_for_ever_by_what_a_failing_build_writes(
    watching: Watching, other: Watching
) -> None:
    project = watching.project
    check = project.read("designs/one/check.py")
    writes = 'Path("designs/one/log.txt").write_text(str(__import__("time").time_ns()))\nraise ValueError("no")\n'
    known = [len(each.lines) for each in (watching, other)]
    project.write("designs/one/check.py", check + writes)
    settled(watching, other)
    assert all(each.builds(lines) >= 2 for each, lines in zip((watching, other), known, strict=True))
    project.write("designs/one/check.py", check)
    settled(watching, other)
    assert status(project)[0]


@pytest.mark.parametrize("when", [1, 4_000_000_000])
def test_the_times_of_files_may_lie_in_the_past_or_in_the_future(watching: Watching, when: int) -> None:
    project = watching.project
    for version in (2, 3):
        known = len(watching.lines)
        aside = project.write("alt/.aside", f"#define VERSION {version}\n")
        os.utime(aside, (when, when))
        aside.replace(project.root / "alt/add.h")
        assert compiled(watching.wait(known)) == ["kernels/add.cc"]
        assert status(project)[0]
    for name in ("designs/one/SConscript", "SConstruct", "site_scons/shared.py"):
        known = len(watching.lines)
        os.utime(project.root / name, (when, when))
        assert watching.wait(known)[0] == f"{name} changed: reading the project again"
    settled(watching)
    assert scons_agrees(project)


@pytest.mark.parametrize("steps", [(3600, 0), (-3600, 0), (0, -3600), (0, 3600)])
def test_the_clock_may_be_set(tmp_path: Path, steps: tuple[int, int]) -> None:
    project = whole_project(tmp_path / "project")
    clock = tmp_path / "clock"
    clock.write_text(str(steps[0]))
    watching = Watching(project, before=CLOCK.format(clock=clock))
    try:
        watching.wait()
        clock.write_text(str(steps[1]))
        assert "kernels/add.cc" in follows(watching, "alt/add.h", "#define VERSION 2\n")
        # Here the compiler itself sets it.
        project.write("meddle", f"echo {steps[0]} > {clock}")
        assert "kernels/add.cc" in follows(watching, "alt/add.h", "#define VERSION 3\n")
        recipe = project.read("designs/one/SConscript")
        assert follows(watching, "designs/one/SConscript", recipe.replace('["#inc", "#alt"]', '["#alt"]'))
        clock.write_text("0")
        assert "kernels/add.cc" in follows(watching, "alt/add.h", "#define VERSION 4\n")
        assert status(project)[0]
        assert scons_agrees(project)
        assert watching.end() == 0
    finally:
        watching.process.kill()


def follows(watching: Watching, name: str, text: str) -> list[str]:
    """Write a file, and return what was compiled; the results are those of a clean build, after few builds."""
    project, known = watching.project, len(watching.lines)
    project.write(name, text)
    settled(watching)
    assert watching.builds(known) <= MANY
    clean = project.copy(project.root.parent / f"clean-{known}")
    clean.build("design=one")
    assert artifacts(project) == artifacts(clean)
    return compiled(watching.lines[known:])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_while_recipes_are_read(tmp_path: Path, number: int) -> None:
    project = whole_project(tmp_path / "project")
    recipe = project.read("designs/one/SConscript")
    project.write("designs/one/SConscript", f'{recipe}\nimport time\nopen("reads", "w")\ntime.sleep(100)\n')
    watching = Watching(project)
    try:
        for _ in range(SECONDS * 20):
            if (project.root / "designs/one/reads").exists():
                break
            time.sleep(0.05)
        assert watching.end(number) == (0 if number == signal.SIGINT else 128 + number)
    finally:
        watching.process.kill()
    assert watching.lines == ["the recipe of one is read"]


def test_it_can_be_ended_while_another_program_takes_its_place(watching: Watching) -> None:
    known = len(watching.lines)
    watching.project.write("designs/one/SConscript", watching.project.read("designs/one/SConscript") + "\n")
    for _ in range(SECONDS * 200):
        if watching.lines[known:]:
            break
        time.sleep(0.005)
    assert watching.end() == 0
    assert "Traceback" not in "".join(watching.lines)


def test_nothing_is_watched_once_ctrl_c_has_ended_a_build(watching: Watching) -> None:
    project = watching.project
    check = project.read("designs/one/check.py")
    known = len(watching.lines)
    project.write("designs/one/check.py", f"{check}\nimport time\ntime.sleep(100)\n")
    for _ in range(SECONDS * 20):
        if any(line.startswith("  run ") for line in watching.lines[known:]):
            break
        time.sleep(0.05)
    assert watching.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert watching.lines[-1].startswith("interrupted after ")


def test_a_recipe_that_runs_a_program_is_read_for_each_build(tmp_path: Path) -> None:
    project = whole_project(tmp_path / "project")
    project.write("flavour", "1")
    asks = 'import subprocess\nsaid = subprocess.run(["cat", "../../flavour"], capture_output=True, text=True).stdout\n'
    recipe = project.read("designs/one/SConscript").replace("flags=shared.FLAGS", 'flags=["-O1", f"-DFLAVOUR={said}"]')
    project.write("designs/one/SConscript", recipe.replace("import shared\n", asks))
    watching = Watching(project)
    try:
        assert compiled(watching.wait()) == ["kernels/add.cc"]
        assert sum("nothing to do" in line for line in watching.lines) == 0
        said = watching.after("flavour", "2")
        assert said[0] == "flavour changed: reading the project again"
        assert compiled(said) == ["kernels/add.cc"]
        assert scons_agrees(project)
        assert compiled(watching.after("alt/add.h", "#define VERSION 2\n")) == ["kernels/add.cc"]
        assert scons_agrees(project)
        known = len(watching.lines)
        time.sleep(1.5)
        assert watching.lines[known:] == []
    finally:
        watching.process.kill()
        watching.process.wait()


def test_watch_goes_with_build_alone_and_with_designs_that_exist(tmp_path: Path) -> None:
    project = whole_project(tmp_path / "project")
    for words, hint in (
        (("watch", "list"), "list does not go with watch"),
        (("watch", "design=tow"), "unknown design 'tow'"),
        (("watch", "design=one", "build_dri=x", "--frob"), "unknown option '--frob'"),
    ):
        done = project.python("-c", COMMAND, *words)
        assert done.status == 2
        assert hint in done.err
    assert "watch goes with the command aiebuild" in project.scons("watch", "design=one").err


def test_a_kernel_for_one_arch_that_goes_gives_way_to_the_one_for_all(watching: Watching) -> None:
    kernel = watching.project.read("kernels/add.cc")
    assert compiled(watching.after("kernels/host/add.cc", kernel + "int mine;\n")) == ["kernels/host/add.cc"]
    known = len(watching.lines)
    (watching.project.root / "kernels/host/add.cc").unlink()
    said = watching.wait(known)
    assert said[0] == "kernels/host/add.cc is gone: reading the project again"
    assert not any("failed" in line for line in said)
    assert status(watching.project)[0]
    known = len(watching.lines)
    (watching.project.root / "kernels/add.cc").unlink()
    watching.wait(known)
    assert not status(watching.project)[0]
    watching.after("kernels/add.cc", kernel)
    assert status(watching.project)[0]


class WatchedEdits(Edits):
    """The same edits, built by a process that watches."""

    def __init__(self) -> None:
        super().__init__()
        self.watching = Watching(self.project)
        self.said = 0

    def teardown(self) -> None:
        self.watching.process.kill()
        self.watching.process.wait()
        super().teardown()

    def build(self) -> bool:
        """Wait until everything is up to date, or the process that watches waits for another edit."""
        if self.watching.variables != self.project.variables:
            # Nobody can change the environment of a process that runs.
            self.watching.end()
            self.watching = Watching(self.project)
            self.said = 0
        for _ in range(SECONDS * 2):
            if status(self.project)[0]:
                self.said = len(self.watching.lines)
                return True
            said = self.watching.lines[self.said :]
            if any("failed after" in line for line in said) and said[-1].startswith(WAITS):
                self.said += len(said)
                return False
            time.sleep(0.25)
        raise AssertionError(self.watching.lines)


TestWatchedEdits = WatchedEdits.TestCase
TestWatchedEdits.settings = settings(
    max_examples=2,
    stateful_step_count=6,
    phases=UNSHRUNK,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
