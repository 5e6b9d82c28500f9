from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from aiebuild import __version__, cli
from aiebuild.errors import OptionError
from projects import PACKAGE

if TYPE_CHECKING:
    from pathlib import Path


def test_a_project_that_takes_no_verbs_is_not_said_to_be_built(tmp_path: Path) -> None:
    (tmp_path / "SConstruct").write_text("from aiebuild.scons import aie\nenv = Environment(tools=[aie])\n")
    (tmp_path / "build").mkdir()
    with pytest.raises(OptionError, match="takes no verbs"):
        cli.run(["build"], tmp_path)


def test_list_writes_the_file_that_json_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "SConstruct").write_text(
        "from aiebuild.scons import start\nstart.main(ARGLIST, COMMAND_LINE_TARGETS)\n"
    )
    design = tmp_path / "designs" / "x"
    design.mkdir(parents=True)
    (design / "design.yaml").write_text("description: a design\ndevices: [npu1_1col]\n")
    assert cli.run(["list", "json=answer.json"], tmp_path) == 0
    assert json.loads((tmp_path / "answer.json").read_text())[0]["name"] == "x"
    with pytest.raises(OptionError, match="no answer of aiebuild's"):
        cli.run(["list", "json=SConstruct"], tmp_path)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the design `x`; it is the current folder."""
    monkeypatch.chdir(tmp_path)
    assert cli.run(["new", "x"], tmp_path) == 0
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--design=x build", "unknown option '--design=x'\n  without dashes: design=x"),
        ("build -design=x", "unknown option '-design=x'\n  without dashes: design=x"),
        ("status --arch=aie2", "unknown option '--arch=aie2'\n  without dashes: arch=aie2"),
        ("new --template=mlir y", "unknown option '--template=mlir'\n  without dashes: template=mlir"),
        ("new -n y", "unknown option '-n'\n  SCons's own options go with the command scons"),
        ("cache --prune=5M", "unknown option '--prune=5M'\n  without dashes: prune=5M"),
        ("list --jsn", "unknown option '--jsn'\n  did you mean '--json'?"),
        ("build --frob", "unknown option '--frob'\n  SCons's own options go with the command scons"),
        ("build design = x", "design has no value\n  design=VALUE, without blanks"),
        ("status x", "'x' means nothing for status"),
    ],
)
def test_words_that_are_spelt_as_elsewhere_get_what_would_be_right(project: Path, words: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        cli.run(words.split(), project)
    assert said in str(caught.value)


@pytest.mark.parametrize("words", ["--json list", "design=x --json describe", "--json cache", "--json doctor"])
def test_the_verb_may_stand_anywhere(project: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "build/.aiebuild").mkdir(parents=True)
    capsys.readouterr()
    assert cli.run(words.split(), project) == 0
    assert json.loads(capsys.readouterr().out)


def test_status_is_asked_in_any_order(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (project / "SConstruct").is_file()
    capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["aiebuild", "--json", "design=x", "status"])
    assert cli.main() == 1
    assert json.loads(capsys.readouterr().out)[0]["design"] == "x"


@pytest.mark.parametrize("words", ["build --help", "-h list", "help build", "--help"])
def test_help_is_given_wherever_it_is_asked_for(tmp_path: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(words.split(), tmp_path) == 0
    assert capsys.readouterr().out.startswith("aiebuild VERB")


@pytest.mark.parametrize("folder", ["designs", "designs/x", "kernels"])
def test_within_a_project_its_folder_is_named(project: Path, folder: str) -> None:
    way = "/".join([".."] * len(folder.split("/")))
    with pytest.raises(OptionError, match=f"there is no SConstruct here\n  the project is in {way}: cd {way}$"):
        cli.run(["build"], project / folder)
    with pytest.raises(OptionError, match=f"this folder is within the project in {way}\n  cd {way};"):
        cli.run(["new", "y"], project / folder)
    beside = project / "other"
    beside.mkdir()
    assert cli.run(["new", "y"], beside) == 0


@pytest.mark.parametrize("words", ["new mine", "new design=mine", "design=mine new", "template=python new mine"])
def test_an_empty_folder_is_begun_with_new(tmp_path: Path, words: str) -> None:
    assert cli.run(words.split(), tmp_path) == 0
    assert (tmp_path / "designs/mine/design.yaml").is_file()
    assert (tmp_path / "SConstruct").is_file()


def test_the_command_is_a_module_too() -> None:
    words = [sys.executable, "-m", "aiebuild", "--version"]
    environment = {"PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"aiebuild {__version__}\n"
