"""Depfiles: what was read, and what would have been found first."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from aiebuild import depfile
from aiebuild.step import Step
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.text(alphabet="abcXYZ019._-+/ #$:", min_size=1, max_size=12).filter(
    lambda name: name.strip() == name and ": " not in name and not name.endswith(":")
)


def escaped(name: str) -> str:
    """Return a name as GCC writes it into a depfile."""
    return name.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


@given(st.lists(NAMES, unique=True))
def test_names_come_back_whatever_is_in_them(names: list[str]) -> None:
    text = "out.o:" + "".join(f" \\\n {escaped(name)}" for name in names) + "\n"
    assert depfile.parse_make(text) == tuple(names)


def test_phony_rules_after_the_first_are_not_prerequisites() -> None:
    assert depfile.parse_make("a.o: a.cc b.h\n\nb.h:\n") == ("a.cc", "b.h")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_compilers_own_depfile_is_read(tmp_path: Path) -> None:
    (tmp_path / "my $inc").mkdir()
    (tmp_path / "my $inc" / "h#1.h").write_text("")
    (tmp_path / "a b.cc").write_text('#include "h#1.h"\n')
    command = ["g++", "-Imy $inc", "-c", "a b.cc", "-o", "a.o", "-MD", "-MF", "a.d"]
    subprocess.run(command, cwd=tmp_path, check=True)
    names = depfile.parse_make((tmp_path / "a.d").read_text())
    assert [name for name in names if not name.startswith("/")] == ["a b.cc", "my $inc/h#1.h"]


def compiling(*search: str, shipped: str = "") -> Step:
    """Return a step that searches some folders for headers, the last one a compiler's own where that is named."""
    folders = (shipped,) if shipped else ()
    return Step(
        "compile",
        (("cc", *(f"-I{folder}" for folder in folders)),),
        ("x.o",),
        search=(*search, *folders),
        shipped=folders,
    )


def test_headers_that_a_compiler_ships_are_not_looked_into(tmp_path: Path) -> None:
    shipped = tmp_path / "tools/include"
    for name in ("root/src/x.cc", "tools/include/sub/a.h", "mine/b.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('__has_include("new.h")')
    said = tmp_path / "root/x.d.make"
    said.write_text(f"x.o: src/x.cc {shipped}/sub/a.h {tmp_path}/mine/b.h\n")
    reads = depfile.digest_step(said, tmp_path / "root", compiling("inc", shipped=str(shipped)), own=frozenset())
    assert f"{tmp_path}/mine/new.h" in reads.absent
    assert f"{tmp_path}/mine/sub/a.h" in reads.absent
    assert not any(name.startswith(f"{shipped}/sub") for name in reads.absent)


def test_files_are_sorted_into_those_of_the_project_and_those_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    said = root / "x.d.make"
    said.write_text(f"x.o: src/x.cc src/../src/x.h {tmp_path}/out.h {root}/src/y.h\n")
    reads = depfile.digest_step(said, root, compiling("src"), own=frozenset({"src/x.cc"}))
    assert reads.files == ("src/x.h", "src/y.h")
    assert reads.external == (f"{tmp_path}/out.h",)


def test_places_before_the_found_ones_are_remembered_as_absent(tmp_path: Path) -> None:
    for name in ("src/x.cc", "inc/sub/h.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    said = tmp_path / "x.d.make"
    said.write_text("x.o: src/x.cc inc/sub/h.h\n")
    reads = depfile.digest_step(said, tmp_path, compiling("first", "inc"), own=frozenset({"src/x.cc"}))
    assert "first/sub/h.h" in reads.absent
    assert "src/sub/h.h" in reads.absent
    assert "inc/sub/h.h" not in reads.absent


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"files": 1}', '{"files": []}'])
def test_a_damaged_record_is_none(tmp_path: Path, damage: str) -> None:
    record = tmp_path / "x.reads.json"
    depfile.write(record, depfile.Reads(("a",), ("b",), ("c",)))
    assert depfile.read(record) == depfile.Reads(("a",), ("b",), ("c",))
    record.write_text(damage)
    assert depfile.read(record) is None
