"""Many files with their stamps: as they were packed, and compared, by one process or two."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiebuild.stamps import Table, pack, stamp, stamps
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = st.integers(-(2**63), 2**63 - 1)
STAMPS = st.tuples(NUMBERS, NUMBERS, NUMBERS, st.integers(0, 2**64 - 1)).map(list)


@given(st.dictionaries(st.text(min_size=1) | st.from_regex(r"/?(a|b|c/|//){1,4}", fullmatch=True), STAMPS))
def test_what_is_packed_is_unpacked(files: dict[str, list[int]]) -> None:
    table = Table(json.loads(json.dumps(pack(files))))
    assert dict(table.items()) == files
    assert sorted(table.names()) == sorted(files)


@pytest.mark.parametrize("damage", ["names", "columns", "a name too many", "half of a number"])
def test_a_damaged_table_is_none(damage: str) -> None:
    packed = pack({"a/b": [1, 2, 3, 4], "a/c": [1, 2, 3, 4]})
    if damage == "a name too many":
        packed["names"]["a/"].append("d")
    elif damage == "half of a number":
        packed["columns"][0] = packed["columns"][0][:8]
    else:
        del packed[damage]
    with pytest.raises((KeyError, ValueError)):
        Table(packed)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files of a project, in folders of one and of several, and one that is elsewhere."""
    monkeypatch.chdir(tmp_path)
    names = ["SConstruct", *(f"kernels/{number}.cc" for number in range(9)), "kernels/host/x.cc", "inc/a/b/c.h"]
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(name)
    return [*names, sys.executable]


@pytest.mark.parametrize("from_elsewhere", [False, True])
def test_files_that_are_as_they_were_are_the_same(
    files: list[str], monkeypatch: pytest.MonkeyPatch, from_elsewhere: bool
) -> None:
    packed, root = pack(stamps(files)), str(Path.cwd())
    if from_elsewhere:
        monkeypatch.chdir("/")
    assert Table(packed, root if from_elsewhere else "").is_same()
    monkeypatch.chdir(root)
    for name in files[:-1]:
        text = Path(name).read_text()
        Path(name).unlink()
        assert not Table(packed, root).is_same()
        Path(name).write_text(text)
        assert not Table(packed, root).is_same()
        packed = pack(stamps(files))


@pytest.mark.parametrize("column", range(4))
def test_each_number_of_a_stamp_counts(files: list[str], column: int) -> None:
    known = stamps(files)
    known["kernels/4.cc"][column] += 1
    assert not Table(pack(known)).is_same()
    known = stamps(files)
    known["SConstruct"][column] += 1
    assert not Table(pack(known)).is_same()


FORKED = """\
import os, pathlib
from aiebuild.stamps import MANY, Table, pack, stamps
names = [f"{number}.cc" for number in range(MANY + 100)]
for name in names:
    pathlib.Path(name).touch()
table = Table(pack(stamps(names)), forks=True)
forks, fork = [], os.fork
os.fork = lambda: forks.append(1) or fork()
assert table.is_same()
for name in (names[0], names[1500], names[2500], names[-1]):
    os.rename(name, "aside")
    assert not table.is_same(), name
    os.rename("aside", name)
    table = Table(pack(stamps(names)), forks=True)
assert table.is_same()
def refuse():
    raise BlockingIOError("no more processes")
os.fork = refuse
print(len(forks), Table(pack(stamps(names))).is_same(), Table(pack(stamps(names)), forks=True).is_same())
"""


def test_two_processes_look_at_many_files_where_that_is_allowed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "site_scons")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("6 True True\n", "")


def test_a_stamp_of_nothing_is_empty(tmp_path: Path) -> None:
    assert stamp(str(tmp_path / "none")) == []
