from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from aiebuild.answer_file import write_answer
from aiebuild.errors import OptionError

if TYPE_CHECKING:
    from pathlib import Path

ANSWER = json.dumps([{"design": "x"}], indent=1) + "\n"


@pytest.mark.parametrize("text", ["int x;\n", "{}", '{"version": "2.0.0"}\n', "[1, 2]", "\xff", "description: x\n"])
def test_a_file_of_the_users_is_never_overwritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(OptionError, match=r"json=.*x.json is a file that is no answer of aiebuild's"):
        write_answer(str(path), ANSWER)
    assert path.read_bytes() == text.encode("latin-1")


def test_an_answer_takes_the_place_of_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in (ANSWER, ANSWER.replace("x", "y")):
        write_answer(str(path), text)
        assert path.read_text() == text


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is a folder"):
        write_answer(str(tmp_path), ANSWER)
