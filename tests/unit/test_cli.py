from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from aiebuild import cli
from aiebuild.errors import OptionError

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
