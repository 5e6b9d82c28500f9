"""The words of a compiler's command: what they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.compiler_words import defined, expanded, header_folders, named_files

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_come_in_the_order_in_which_they_are_searched() -> None:
    words = ("-isystem", "c", "-Ib", "-idirafter", "e", "-I", "b2", "--include-directory=b3", "-iquotea", "-isystemd")
    assert header_folders(words) == ("a", "b", "b2", "b3", "c", "d", "e")


def test_a_response_file_that_names_itself_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("-DA='1 2' @r @missing")
    assert expanded(("cc", "@r", "-c"), tmp_path) == (("cc", "-DA=1 2", "@r", "@missing", "-c"), ("r",))


def test_a_response_file_with_an_open_quote_still_has_words(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("-DA='1 -Ifolder")
    assert expanded(("@r",), tmp_path)[0] == ("-DA='1", "-Ifolder")


def test_files_are_those_that_are_read_and_there(tmp_path: Path) -> None:
    for name in ("a.cc", "a.o", "a.specs", "plugin.so"):
        (tmp_path / name).touch()
    words = ("cc", "-fplugin=plugin.so", "-specs=a.specs", "-DA=a.o", "-fx=gone", "-c", "a.cc", "-o", "a.o")
    assert named_files(words, tmp_path) == ("plugin.so", "a.specs", "a.cc")


def test_names_without_a_value_are_not_defined() -> None:
    assert defined(("-DA", "-DB=1", "-DC=a=b", "-O2")) == {"B": "1", "C": "a=b"}
