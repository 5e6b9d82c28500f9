"""What the build folder holds, and making it smaller."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from aiebuild import cache, cli, freshness
from aiebuild.errors import OptionError
from aiebuild.stamps import stamp

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "host/designs/x/npu1_1col", "host/designs/x/npu1_1col,n=2"
SHARED, ALONE, OLDEST = (f"host/objects/{name}" for name in ("a-0123456789ab", "b-0123456789ab", "libc-0123456789ab"))


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build folder: two configurations of `x`; one is remembered, with an object that is older than all else."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "build"
    sizes = {
        f"{OLDEST}.a": 1,
        f"{SHARED}.o": 100,
        f"{SHARED}.o.reads.json": 10,
        f"{OLD}/x.mlir": 1000,
        f"{OLD}/check.json": 500,
        f"{ALONE}.o": 300,
        f"{NEW}/x.kernels.zip": 2000,
        f"{NEW}/manifest.json.reads.json": 50,
        f"{NEW}/extra.xclbin": 7,
    }
    for moment, (name, size) in enumerate(sizes.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
        os.utime(path, (1000 + moment, 1000 + moment))
    (folder / OLD / "notes.txt").write_text("somebody's own")
    record = freshness.record_of([], "x", "host")
    files = {f"build/{name}": stamp(f"build/{name}") for name in (f"{SHARED}.o", f"{NEW}/extra.xclbin")}
    answer: dict[str, object] = {"output": f"build/{NEW}"}
    freshness.write(record, files=files, folders={}, names={}, absent=[], variables={}, answer=answer)
    return folder


def test_it_says_what_is_there_and_how_large_it_is(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["cache"], build.parent) == 0
    assert (
        capsys.readouterr().out
        == """\
build: 4.0 kB in 2 configurations and 3 objects
  host/designs/x/npu1_1col,n=2  2.1 kB
  host/designs/x/npu1_1col      1.5 kB
  2 objects of no build that is remembered: 301 bytes
"""
    )


def test_what_was_not_used_for_longest_goes_first(build: Path) -> None:
    taken = cache.prune(build, 2500, lambda _: None)
    # The oldest object of all is part of what is remembered, and stays.
    assert [entry.name for entry in taken] == [OLDEST, OLD]
    assert (build / f"{SHARED}.o").is_file()
    assert (build / NEW / "x.kernels.zip").is_file()
    assert [path.name for path in (build / OLD).iterdir()] == ["notes.txt"]
    assert cache.prune(build, 2500, lambda _: None) == []


def test_nothing_is_left_of_what_a_build_wrote_and_all_of_what_it_did_not(
    build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = build.parent / "outside"
    outside.mkdir()
    (outside / "x.mlir").write_text("mine")
    (build / "host/designs/x/link").symlink_to(outside)
    assert cli.run(["cache", "prune=0", "--json"], build.parent) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["entries"] == [{**said["entries"][0], "name": OLD, "size": 0}]
    assert len(said["removed"]) == 5
    left = sorted(path.name for path in build.rglob("*") if path.is_file() and ".aiebuild" not in path.parts)
    assert left == ["notes.txt"]
    assert (outside / "x.mlir").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prune=lots"], "prune=lots is not a size"),
        (["prune=-1"], "prune=-1 is not a size"),
        (["prune="], "prune has no value\n  .*: prune=500M"),
        (["prune"], "prune has no value"),
        (["design=x"], "'design=x' means nothing for cache"),
        (["build_dir=nowhere"], "nothing was built in nowhere yet"),
    ],
)
def test_a_wrong_word_is_an_error(build: Path, words: list[str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        cli.run(["cache", *words], build.parent)


def test_sizes_have_units() -> None:
    assert [cache.bytes_of(text) for text in ("0", "12", "1K", "1.5m", "2GB")] == [0, 12, 1000, 1_500_000, 2 * 10**9]
