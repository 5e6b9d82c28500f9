from __future__ import annotations

import os
from pathlib import Path

import pytest
from aiebuild.files import project_path, write_atomically


def test_text_is_written_as_utf8_with_its_newlines(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new" / "a.txt", "é\r\n")
    assert (tmp_path / "new" / "a.txt").read_bytes() == "é\r\n".encode()


def test_bytes_replace_what_was_there_and_leave_nothing_beside(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"old")
    write_atomically(tmp_path / "a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_write_that_fails_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_atomically(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_reader_keeps_the_old_content_until_it_opens_again(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "old")
    with (tmp_path / "a").open() as stream:
        write_atomically(tmp_path / "a", "new")
        assert stream.read() == "old"


def test_paths_below_the_current_folder_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    assert project_path(tmp_path / "in" / "x" / ".." / "a.txt") == "a.txt"
    assert project_path("./b/c") == "b/c"
    assert project_path("../a.txt") == os.fspath(tmp_path / "a.txt")


def test_a_device_is_written_to_and_never_replaced() -> None:
    device = Path("/dev/null")
    write_atomically(device, "lost")
    assert device.is_char_device()
