from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from aiebuild import inspect, package
from aiebuild.inspect.__main__ import main
from aiebuild.inspect.reader import InspectError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packages import GOLDEN, LICENSE, host, npu

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a file of each kind, but for objects."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "manifest.json").write_text(npu().manifest.to_json())
    (folder / "package.zip").write_bytes(package.pack([npu(), host()], LICENSE, "zip"))
    return {
        "xclbin": GOLDEN / "inspect" / "one.xclbin",
        "insts": GOLDEN / "mlir" / "matmul.insts.bin",
        "manifest": folder / "manifest.json",
        "package": folder / "package.zip",
    }


def test_the_first_bytes_tell_what_a_file_is(files: dict[str, Path]) -> None:
    for kind, path in files.items():
        assert inspect.kind_of(path.read_bytes()) == kind


def test_a_file_is_shown_to_people(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path) for path in files.values()]) == 0
    shown = capsys.readouterr().out
    assert "one.xclbin: xclbin 2.13.0, UUID" in shown
    assert "matmul.insts.bin: instruction stream 0.1 for npu1 (aie2): 1 column, 6 rows" in shown
    assert "manifest.json: matmul 1.0.0 for npu1_1col, arch aie2" in shown
    assert "A        in     4096 i16, 8192 bytes  left matrix" in shown
    assert "package.zip: package with aie2, host" in shown


def test_a_file_is_shown_to_programs(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*(str(path) for path in files.values()), "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["kind"] for record in records] == list(files)
    assert records[0]["kernels"][0]["name"] == "MLIR_AIE"
    assert records[1]["operations"][3]["values"] == {"address": 0x1D204, "value": 0x80010000}
    assert records[2]["design"] == "matmul"
    assert set(records[3]["manifests"]) == {"aie2", "host"}


def test_one_file_is_one_object(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", str(files["insts"])]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "npu1"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no known kind of file begins with nothing: the file is empty, at byte 0"),
        (b"hello you", "no known kind of file begins with 68 65 6c 6c 6f 20 79 6f, at byte 0"),
        (b"{", "this is not JSON: Expecting property name"),
        (b"PK", "the file is cut off"),
        (b"\x1f\x8b", "the file is cut off"),
    ],
)
def test_what_cannot_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert main([str(path)]) == 1
    said = capsys.readouterr().err
    assert str(path) in said
    assert message in said


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InspectError, match="cannot be read: No such file"):
        inspect.text(tmp_path / "x")
    with pytest.raises(InspectError, match="cannot be read: this is a folder, not a file"):
        inspect.text(tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(content=st.one_of(st.binary(max_size=300), st.binary(max_size=64).map(lambda end: b"\0\1\3\6\1\1\0\0" + end)))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    main([str(path)])
