"""What a record says of folders: names that come and go, and what is put in the place of one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from aiebuild.record import Known, content
from aiebuild.stamps import digest, listings, stamps


def record(*folders: str) -> Known:
    """Return a record of some folders as they are now."""
    names = listings(folders)
    known = content("", files={}, folders=stamps(folders), names=names, absent=[], variables={}, answer={})
    return Known("", known)


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Known:
    """A record of a project's folder, of `inc` in it, which has a header, and of a folder elsewhere."""
    (tmp_path / "project/inc").mkdir(parents=True)
    (tmp_path / "project/inc/one.h").touch()
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    folders = ("inc", str(tmp_path / "project"), str(tmp_path / "bin"))
    for name in folders:
        os.utime(name, (1, 1))
    return record(*folders)


def come_and_go(name: str) -> None:
    Path(name).touch()
    Path(name).unlink()


def test_a_name_that_came_and_went_in_the_project_is_nothing(known: Known) -> None:
    come_and_go("inc/new.h")
    come_and_go("new.py")
    assert known.differences({}) == []


def test_a_folder_of_the_project_is_named_once_and_by_its_relative_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inc").mkdir()
    monkeypatch.chdir(tmp_path)
    known = record("", ".", str(tmp_path), "inc", str(tmp_path / "inc"))
    for name in ("new", "inc/new"):
        Path(name).touch()
    for of_the_folder in (known, Known("", known.record, str(tmp_path))):
        found = of_the_folder.differences({}, reasons=9)
        assert found == [("", "names in . changed"), ("", "names in inc changed")]


def test_a_replaced_file_is_nothing_to_its_folder(known: Known) -> None:
    Path("inc/one.h.new").touch()
    Path("inc/one.h.new").replace("inc/one.h")
    assert known.differences({}) == []


def test_outside_of_the_project_any_change_of_a_folder_counts(known: Known, tmp_path: Path) -> None:
    come_and_go("../bin/g++")
    assert known.differences({}) == [("", f"names in {tmp_path / 'bin'} changed")]


@pytest.mark.parametrize("change", ["a new name", "a name gone", "a folder", "a link", "no folder"])
def test_other_names_and_other_kinds_are_noticed(known: Known, change: str) -> None:
    header = Path("inc/one.h")
    if change == "a new name":
        Path("inc/new.h").touch()
    elif change == "no folder":
        Path("inc").rename("../inc")
    else:
        header.unlink()
    if change == "a folder":
        header.mkdir()
    if change == "a link":
        header.symlink_to("../elsewhere.h")
    assert ("", "names in inc changed") in known.differences({}, reasons=9)


def test_a_name_that_comes_between_the_listing_and_the_stamp_is_noticed(known: Known) -> None:
    names = listings(["inc"])
    Path("inc/late.h").touch()
    late = content("", files={}, folders=stamps(["inc"]), names=names, absent=[], variables={}, answer={})
    assert Known("", late).differences({}) == [("", "names in inc changed")]
    assert known.differences({}) != []


def test_names_that_are_no_text_have_a_digest(tmp_path: Path) -> None:
    empty = digest(str(tmp_path))
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.h")).touch()
    assert digest(str(tmp_path)) not in {empty, ""}
