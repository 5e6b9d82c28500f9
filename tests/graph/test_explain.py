"""Why does it build? `scons explain` says it before, `last-run.json` after, in the user's words."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from aiebuild.manifest_request import Object, Product, Request, Tool
from aiebuild.scons import step_memory
from aiebuild.scons.step_memory import Remembered
from aiebuild.step import Step
from fast_path import NOTICED, OUTPUT, replace, restore, sources, status, whole_project

if TYPE_CHECKING:
    from pathlib import Path

    from projects import Project

COMPILE, LINK, RUN = "compile kernels/add.cc", "link one.kernels.zip", "run one (npu1_1col)"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[Path, bytes]]:
    """A project that the tests edit one after the other, and its sources."""
    project = whole_project(tmp_path_factory.mktemp("explain") / "project")
    return project, sources(project)


@pytest.fixture
def built(shared: tuple[Project, dict[Path, bytes]]) -> Project:
    """The shared project, as it was at first, and up to date."""
    project, kept = shared
    restore(project, kept)
    project.build("design=one")
    return project


def lines(project: Project) -> list[str]:
    """Return what `explain` says, without what the recipe prints."""
    said = project.build("explain", "design=one").out.splitlines()
    return [line.strip() for line in said if not line.startswith("the recipe")]


def last_run(project: Project) -> dict[str, Any]:
    """Return what tells of the last run."""
    said: dict[str, Any] = json.loads(project.read(f"{OUTPUT}/last-run.json"))
    return said


def test_nothing_to_do_is_said(built: Project) -> None:
    assert lines(built) == [f"one: nothing to do, {OUTPUT} is up to date"]


def test_a_changed_header_is_the_cause_and_the_chain_leads_to_the_artifact(built: Project) -> None:
    replace("alt/add.h", "VERSION 1", "VERSION 2")(built)
    first, why, chain, *after = lines(built)
    assert first == f"one: 2 steps would run, 2 more may, in {OUTPUT}"
    assert why == f"{COMPILE}: alt/add.h changed"
    header, made, *rest = chain.split(" -> ")
    assert header == "alt/add.h"
    assert made.startswith("objects/add-")
    assert rest == ["one.kernels.zip", "check.json"]
    facts = ["facts manifest.json: alt/add.h changed", "alt/add.h -> manifest.json"]
    assert after == [*facts, f"may run, after {COMPILE}: {LINK}", f"may run, after {LINK}: {RUN}"]


def test_nothing_is_run_and_nothing_forgotten(built: Project) -> None:
    replace("alt/add.h", "VERSION 1", "VERSION 3")(built)
    assert lines(built) == lines(built)
    assert COMPILE in built.build("design=one").steps


def test_a_flag_that_was_added_is_named(built: Project) -> None:
    replace("site_scons/shared.py", '"-O1", "-D', '"-O1", "-g", "-D')(built)
    said = lines(built)
    assert f"{COMPILE}: the flag -g was added" in said
    assert any(line.startswith(f"{LINK}: objects/add-") and "takes the place of objects/add-" in line for line in said)
    built.build("design=one")
    replace("site_scons/shared.py", '"-O1", "-D', '"-O1", "-g", "-D')(built)
    (line,) = (line for line in lines(built) if line.startswith(LINK))
    assert line.endswith(": the flag -g was removed")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("the last output deleted", f"{RUN}: the output check.json was deleted"),
        ("an output edited", "render designs/one/one.mlir.j2: the output one.mlir was changed by something else"),
        ("a header that hides another", f"{COMPILE}: a new file may be found first: inc/add.h"),
        ("data edited", f"{RUN}: designs/one/data.txt changed"),
        ("a macro edited", "render designs/one/one.mlir.j2: templates/note.mlir.j2 changed"),
        ("the compiler's bytes", f"{COMPILE}: this tool is another build: "),
        (
            "a kernel for this arch alone",
            "compile kernels/host/add.cc: the argument kernels/add.cc was removed; the argument kernels/host/add",
        ),
    ],
)
def test_each_kind_of_cause_has_its_words(built: Project, edit: str, said: str) -> None:
    NOTICED[edit](built)
    assert any(line.startswith(said) for line in lines(built)), lines(built)


def test_another_compiler_is_named_with_the_one_before(built: Project) -> None:
    before = built.variables["CXX"]
    NOTICED["another compiler"](built)
    assert any(f"the tool was {before} and is {built.variables['CXX']}" in line for line in lines(built))


def test_a_header_that_is_gone_is_named(built: Project) -> None:
    built.write("inc/extra.h", "#define EXTRA 1\n")
    built.write("alt/base.h", '#include "extra.h"\n' + built.read("alt/base.h"))
    built.build("design=one")
    (built.root / "inc/extra.h").unlink()
    assert any("inc/extra.h is gone" in line for line in lines(built))


def test_a_parameter_is_said_with_both_values(built: Project) -> None:
    contract = built.read("designs/one/design.yaml")
    built.write("designs/one/design.yaml", f"{contract}parameters:\n  M: {{type: int, default: 64, help: rows}}\n")
    assert "write one.parameters.json: parameter M is new, 64" in lines(built)
    built.build("design=one")
    replace("designs/one/design.yaml", "default: 64", "default: 128")(built)
    assert "write one.parameters.json: parameter M was 64 and is 128" in lines(built)


def test_what_a_manifest_says_of_a_build_is_told_in_words_too(built: Project) -> None:
    replace("site_scons/shared.py", "-O1", "-O3")(built)
    request = "write one.request.json: object add.o: "
    assert f"{request}the flag -O1 was removed; object add.o: the flag -O3 was added" in lines(built)


REQUEST = Request("one", "host", "npu1_1col", (Product("x", "insts"),), arguments={"X": "in", "Y": "out"})
OBJECTS = (Object("a.o", ("a.cc",), ("-DN=1",)), Object("b.o", ("b.cc",), ()))


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({}, {"variant": "small"}, ["value variant was none and is small"]),
        ({}, {"version": "1.0"}, ["value version was none and is 1.0"]),
        ({}, {"arguments": {"X": "in", "Y": "sum"}}, ["argument Y was out and is sum"]),
        ({}, {"arguments": {"Y": "out", "X": "in"}}, ["the arguments stand in another order"]),
        ({"inputs": ("a", "b")}, {"inputs": ("b", "c")}, ["the input a was removed", "the input c was added"]),
        ({}, {"outputs": (Product("y", "pdi"),)}, ["the output x was removed", "the output y was added"]),
        ({}, {"outputs": (Product("x", "insts", "main"),)}, ["output x: its sequence was none and is main"]),
        ({}, {"objects": OBJECTS}, ["the object a.o was added", "the object b.o was added"]),
        ({"objects": OBJECTS}, {"objects": OBJECTS[::-1]}, ["the objects stand in another order"]),
        (
            {"objects": OBJECTS},
            {"objects": (Object("a.o", ("c.cc",), ("-DN=2",)), OBJECTS[1])},
            [
                "object a.o: the flag -DN=1 became -DN=2",
                "object a.o: the source a.cc was removed",
                "object a.o: the source c.cc was added",
            ],
        ),
        (
            {"tools": (Tool("host", "g++ 11", digest="0"),)},
            {"tools": (Tool("host", "g++ 12", digest="1"),)},
            ["tool host: another build", "tool host: its version was g++ 11 and is g++ 12"],
        ),
    ],
)
def test_each_part_of_a_manifest_has_its_words(before: dict[str, Any], now: dict[str, Any], said: list[str]) -> None:
    texts = [dataclasses.replace(REQUEST, **changes).to_json() for changes in (before, now)]
    old, new = (step_memory.as_it_is(Step("write", (), ("one.request.json",), text=text)) for text in texts)
    assert step_memory.differences(old, new, {}) == said


def test_what_was_never_built_is_explained_without_a_build_folder(tmp_path: Path) -> None:
    project = whole_project(tmp_path / "project")
    said = lines(project)
    assert f"{COMPILE}: it was never built" in said
    assert not (project.root / "build").exists()


def test_programs_get_the_same_as_json(built: Project) -> None:
    (built.root / OUTPUT / "one.kernels.zip").unlink()
    command = "import sys; from aiebuild.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", command, "explain", "design=one", "--json"],
        cwd=built.root,
        env=built.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    ((link, run, _),) = (entry["steps"] for entry in json.loads(done.stdout))
    assert (link["sure"], run["sure"]) == (True, False)
    kernels, check = f"{OUTPUT}/one.kernels.zip", f"{OUTPUT}/check.json"
    text = f"the output {kernels} was deleted"
    assert link["why"] == [{"kind": "output_gone", "cause": kernels, "text": text, "chain": [kernels, check]}]
    assert run["after"] == [link["step"]]


def test_what_ran_is_told_with_its_cause_and_times(built: Project) -> None:
    replace("alt/add.h", "#define VERSION", "#define  VERSION")(built)
    replace("alt/base.h", "10", "11")(built)
    built.build("design=one")
    said = last_run(built)
    assert [step["step"].split()[0] for step in said["steps"]] == ["compile", "link", "run", "facts"]
    compiled, linked, ran, _ = said["steps"]
    assert {reason["text"] for reason in compiled["why"]} == {"alt/add.h changed", "alt/base.h changed"}
    assert ran["why"][0]["chain"] == [
        compiled["why"][0]["cause"],
        compiled["outputs"][0],
        linked["outputs"][0],
        f"{OUTPUT}/check.json",
    ]
    assert said["start"] <= compiled["start"] <= linked["start"] <= ran["start"]
    assert all(step["seconds"] > 0 and step["status"] == 0 for step in said["steps"])
    assert not said["failed"]


def test_a_build_that_fails_is_told_too(built: Project) -> None:
    built.write("kernels/add.cc", "#error on purpose\n")
    assert built.scons("design=one").status == 2
    said = last_run(built)
    assert said["failed"]
    assert [(step["status"], step["why"][0]["text"]) for step in said["steps"]] == [(1, "kernels/add.cc changed")]


def test_what_is_told_makes_nothing_stale(built: Project) -> None:
    before = last_run(built)
    assert status(built) == (True, [])
    built.write(f"{OUTPUT}/last-run.json", "{}\n")
    assert status(built) == (True, [])
    assert built.scons("-q", "design=one").status == 0
    built.write(f"{OUTPUT}/last-run.json", json.dumps(before))
    built.build("-c", "design=one")
    assert not (built.root / OUTPUT / "last-run.json").exists()


def test_a_lost_or_foreign_memory_of_steps_costs_words_alone(built: Project) -> None:
    for file in (built.root / "build/.aiebuild" / step_memory.FOLDER).iterdir():
        file.write_text("{}")
    assert built.build("design=one").steps == []
    NOTICED["the compiler's bytes"](built)
    assert any(line.endswith("its command changed; what it was is not known any more") for line in lines(built))
    # The next test finds everything built anew.
    built.build("-c", "design=one")


def signature(arguments: list[str], identity: str = "", values: list[str] | None = None) -> Remembered:
    """Return a step as it is remembered."""
    parts = [[arguments], ["x.o"], identity, None, values or [], [], []]
    return Remembered(json.dumps(parts, separators=(",", ":")), "/bin/c++", is_own=False, at=0)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (["-O2", "a.cc"], ["-O2", "-g", "a.cc"], ["the flag -g was added"]),
        (["-O2", "-g"], ["-O2"], ["the flag -g was removed"]),
        (["-DN=4"], ["-DN=5"], ["the flag -DN=4 became -DN=5"]),
        (["-DA", "-DB"], ["-DB", "-DA"], ["its arguments stand in another order"]),
        (["a.o"], ["b.o"], ["the argument a.o was removed", "the argument b.o was added"]),
        (["a.o"], ["a.o"], []),
    ],
)
def test_flags_are_compared_word_by_word(before: list[str], now: list[str], said: list[str]) -> None:
    assert step_memory.differences(signature(before), signature(now), {}) == said


def test_a_renamed_file_is_no_difference_of_the_flags() -> None:
    assert step_memory.differences(signature(["a-1.o"]), signature(["a-2.o"]), {"a-1.o": "a-2.o"}) == []


def test_a_value_and_a_tool_are_told_apart() -> None:
    said = step_memory.differences(signature([], "old", ["x"]), signature([], "new", ["y"]), {})
    assert said == ["this tool is another build: /bin/c++", "the value x was removed", "the value y was added"]
