"""New designs from templates: what is written, and what is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from aiebuild import cli, contract, new, options
from aiebuild.errors import AieBuildError, OptionError

if TYPE_CHECKING:
    from pathlib import Path


def written(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_the_templates_are_the_choices_of_the_option() -> None:
    assert sorted(path.name for path in new.DATA.iterdir() if path.name != "project") == list(options.TEMPLATES)
    assert new.DEFAULT in options.TEMPLATES


@pytest.mark.parametrize("template", options.TEMPLATES)
def test_a_new_design_has_its_name_everywhere(template: str, tmp_path: Path) -> None:
    new.plan("blur_3", template, tmp_path).write(tmp_path)
    found = written(tmp_path)
    assert {"SConstruct", ".gitignore", "designs/blur_3/SConscript", "designs/blur_3/check.py"} <= set(found)
    assert [path for path, text in found.items() if re.search(r"NAME", path + text)] == []
    loaded = contract.load(tmp_path / "designs/blur_3/design.yaml", reserved=options.RESERVED)
    assert loaded.variant_names == ("small",)


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "SConstruct").write_text("# aiebuild, mine")
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/foo.cc").write_text("mine")
    before = written(tmp_path)
    with pytest.raises(OptionError) as caught:
        new.plan("foo", "elementwise", tmp_path)
    assert str(caught.value).startswith("kernels/foo.cc: error: this file is there already\n  nothing was written")
    assert written(tmp_path) == before
    new.plan("bar", "elementwise", tmp_path).write(tmp_path)
    after = written(tmp_path)
    assert {path: after[path] for path in before} == before
    assert ".gitignore" not in after


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "error: new needs a name\n  new design=NAME"),
        ("design=Bad-Name", "error: 'Bad-Name' cannot be the name of a design\n  .*such as bad_name"),
        ("design=../x", r"error: '\.\./x' cannot be the name"),
        ("design=" + "x" * 41, "error: 'x+' cannot be the name"),
        ("design=7up", "error: '7up' cannot be the name"),
        ("design=status", "error: 'status' cannot be the name of a design: the word has a meaning"),
        ("design=lambda", "error: 'lambda' cannot be the name of a design: the word has a meaning"),
        ("design=x template=pipline", "error: template=pipline is not a choice\n  did you mean 'pipeline'"),
        ("design=x temlate=python", "error: temlate= means nothing for a new design\n  did you mean 'template'"),
        ("design=x build", "error: new stands alone\n  build: in a command of its own"),
        ("design=x --jsn", "error: unknown option '--jsn'"),
    ],
)
def test_a_wrong_word_is_an_error_that_says_what_is_right(words: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AieBuildError) as caught:
        cli.run(["new", *words.split()], tmp_path)
    assert re.match(message, str(caught.value)), str(caught.value)
    assert written(tmp_path) == {}


def test_the_command_says_what_it_wrote_and_what_comes_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "SConstruct").write_text("Environment()\n")
    assert cli.run(["new", "design=a,b", "template=pipeline"], tmp_path) == 0
    said = capsys.readouterr()
    assert "a: a design from the template pipeline\n  designs/a/SConscript\n  designs/a/a.mlir.j2\n" in said.out
    assert "scons design=b builds and checks it" in said.out
    assert "warning: the SConstruct here does not use aiebuild" in said.err


def test_a_file_where_a_folder_belongs_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "kernels").write_text("mine")
    with pytest.raises(OptionError, match="kernels: error: this is a file, and the design would go below it"):
        new.plan("foo", "elementwise", tmp_path)
    assert written(tmp_path) == {"kernels": "mine"}
