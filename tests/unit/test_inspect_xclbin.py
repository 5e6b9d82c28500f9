from __future__ import annotations

import importlib
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aiebuild.inspect import xclbin
from aiebuild.inspect.reader import InspectError
from hypothesis import given
from hypothesis import strategies as st

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden" / "inspect"
SOURCE = TESTS / "native" / "xclbin_sample.cc"
HEADER = Path("/usr/include/xrt/xclbin.h")
GXX = shutil.which("g++")
ONE = (GOLDEN / "one.xclbin").read_bytes()
TWO = (GOLDEN / "two.xclbin").read_bytes()

needs_header = pytest.mark.skipif(
    GXX is None or not HEADER.exists(),
    reason=f"NOT CHECKED AGAINST XRT'S HEADER: needs g++ and {HEADER} (Debian: apt-get install libxrt-dev)",
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that writes samples by XRT's own structs."""
    program = tmp_path_factory.mktemp("native") / "xclbin_sample"
    assert GXX is not None
    subprocess.run([GXX, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    return program


def write(sample: Path, folder: Path, *words: str) -> bytes:
    """Return a sample: what differs from build to build, then the design's data, then kernels and their ids."""
    path = folder / "sample.xclbin"
    subprocess.run([sample, path, *words], check=True)
    return path.read_bytes()


@needs_header
def test_the_golden_samples_are_what_xrts_header_gives(sample: Path, tmp_path: Path) -> None:
    assert write(sample, tmp_path, "1", "1") == ONE
    assert write(sample, tmp_path, "1", "1", "add:0x901", "mul:0x902") == TWO


@needs_header
@pytest.mark.parametrize("seed", ["2", "77", "200"])
def test_two_builds_of_the_same_inputs_have_one_masked_digest(sample: Path, tmp_path: Path, seed: str) -> None:
    again = write(sample, tmp_path, seed, "1")
    assert again != ONE
    assert xclbin.masked(again, "x") == xclbin.masked(ONE, "x")


@needs_header
def test_another_design_has_another_masked_digest(sample: Path, tmp_path: Path) -> None:
    assert xclbin.masked(write(sample, tmp_path, "1", "2"), "x") != xclbin.masked(ONE, "x")


@needs_header
def test_kernels_with_one_id_and_one_name_are_a_problem(sample: Path, tmp_path: Path) -> None:
    found = xclbin.read(write(sample, tmp_path, "1", "1", "add:0x901", "mul:0x901", "add:0x903"), "x")
    assert found.problems == (
        "xclbin kernels 'add' and 'mul' have one id, 0x901",
        "two xclbin kernels have an instance 'add_0'",
    )


def test_the_header_and_the_sections() -> None:
    found = xclbin.read(ONE, "one.xclbin")
    assert (found.length, found.version, found.mode, found.signed) == (len(ONE), "2.13.0", "flat", False)
    assert (found.time_stamp, found.platform) == (1700000001, "")
    assert [section.kind_name for section in found.sections] == [
        "MEM_TOPOLOGY",
        "AIE_PARTITION",
        "EMBEDDED_METADATA",
        "IP_LAYOUT",
        "CONNECTIVITY",
    ]
    assert found.uuid == "95a0abb6-c1cc-d7e2-edf8-030e19242f3a"


def test_the_partition_its_pdi_and_its_groups() -> None:
    (found,) = xclbin.read(ONE, "x").partitions
    assert (found.name, found.column_width, found.start_columns) == ("QoS", 1, (1, 2, 3, 4))
    (pdi,) = found.pdis
    assert ONE[pdi.offset : pdi.offset + 2] == b"\xdd\0"
    (group,) = pdi.groups
    assert (group.name, group.type, group.pdi_id) == ("DPU", "primary", "0x1")
    assert (group.kernel_ids, group.pre_groups) == (("0x901",), (0xC1,))


def test_the_kernels_with_their_arguments_and_memories() -> None:
    found = xclbin.read(TWO, "x")
    assert [(kernel.name, kernel.id, kernel.instances) for kernel in found.kernels] == [
        ("add", "0x901", ("add_0",)),
        ("mul", "0x902", ("mul_0",)),
    ]
    arguments = found.kernels[1].arguments
    assert [(each.name, each.qualifier, each.offset, each.size, each.memory) for each in arguments] == [
        ("opcode", "scalar", 0x00, 8, ""),
        ("instr", "global", 0x08, 8, "SRAM"),
        ("ninstr", "scalar", 0x10, 4, ""),
        ("bo0", "global", 0x14, 8, "HOST"),
        ("bo1", "global", 0x1C, 8, "HOST"),
    ]
    assert [(it.name, it.type, it.id, it.subtype) for it in found.instances] == [
        ("add:add_0", "ps_kernel", "0x901", "dpu"),
        ("mul:mul_0", "ps_kernel", "0x902", "dpu"),
    ]
    assert found.problems == ()


def test_what_varies_is_zero_in_the_masked_bytes_and_nothing_else() -> None:
    found, masked = xclbin.read(ONE, "x"), xclbin.masked(ONE, "x")
    places = {place for span in found.varying for place in range(span.offset, span.offset + span.size)}
    assert all(masked[place] == 0 for place in places)
    assert all(masked[place] == ONE[place] for place in range(len(ONE)) if place not in places)
    assert {"time stamp", "UUID of the xclbin", "UUID of PDI 0"} <= {span.what for span in found.varying}


@pytest.fixture
def axlf(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module with which the stand-ins write xclbins."""
    monkeypatch.syspath_prepend(str(TESTS / "fake_tools"))
    return importlib.import_module("axlf")


def test_the_stand_ins_xclbin_is_well_formed(axlf: Any) -> None:
    made = axlf.wrap(b"content", {0x901: "MLIR_AIE", 0x902: "second"}, bytes(range(16)), 1700000000)
    found = xclbin.read(made, "x")
    assert found.uuid == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert [(kernel.name, kernel.id, len(kernel.arguments)) for kernel in found.kernels] == [
        ("MLIR_AIE", "0x901", 8),
        ("second", "0x902", 8),
    ]
    assert found.problems == ()
    assert axlf.unwrap(made) == (bytes(range(16)), b"content")


def test_the_stand_ins_xclbin_masks_to_its_content(axlf: Any) -> None:
    first, again = (axlf.wrap(b"content", {0x901: "K"}, bytes([mark] * 16), mark) for mark in (1, 2))
    assert first != again
    assert xclbin.masked(first, "x") == xclbin.masked(again, "x")
    other = axlf.wrap(b"CONTENT", {0x901: "K"}, bytes([1] * 16), 1)
    assert xclbin.masked(other, "x") != xclbin.masked(first, "x")


def changed(offset: int, layout: str, value: int) -> bytes:
    content = bytearray(ONE)
    struct.pack_into(layout, content, offset, value)
    return bytes(content)


PARTITION = 456 + 40
"""The header of the section AIE_PARTITION."""
START = 0x2E8
"""The section itself."""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"xclbin1\0" + ONE[8:], "this is not an xclbin: it does not begin with 'xclbin2', at byte 0 (0x0)"),
        (ONE[:100], "the file header needs 304 bytes and 100 are there, at byte 0 (0x0)"),
        (ONE[:400], "the xclbin header needs 152 bytes and 96 are there, at byte 304 (0x130)"),
        (ONE[:-1], f"the file is cut off: the header says {len(ONE)} bytes, it has {len(ONE) - 1}, at byte 304"),
        (ONE + b"x", f"the file has more bytes than it says: the header says {len(ONE)} bytes, it has {len(ONE) + 1}"),
        (changed(448, "<I", 70000), "the table of 70000 sections needs 2800000 bytes"),
        (changed(PARTITION + 24, "<Q", 99999), "section AIE_PARTITION needs 880 bytes and 0 are there, at byte 99999"),
        (changed(PARTITION + 32, "<Q", 100), "the AIE partition needs 184 bytes and 100 are there, at byte 744"),
        (
            changed(START + 4, "<I", 9999),
            "the partition's name is not a text that ends with a zero byte, at byte 10743",
        ),
        (changed(START + 120, "<I", 4000000), "the table of PDIs needs 384000000 bytes"),
        (changed(START + 44, "<I", 100000), "the start columns needs 8 bytes and 0 are there"),
        (ONE.replace(b"<core>", b"<cor >"), "the embedded metadata are not XML"),
        (ONE.replace(b'size="0x4"', b'size="0xZ"'), "the embedded metadata give argument 'ninstr' the size '0xZ'"),
        (ONE.replace(b"<project><pl", b"<!DOCTYPE x "), "the embedded metadata declare a document type"),
        (changed(0xA08 + 4 + 4, "<i", 9), "connection 0 names IP 9 and memory 1, at byte 2572 (0xa0c)"),
        (changed(0x290, "<i", -1), "the table of memories has the impossible count -1, at byte 664 (0x298)"),
    ],
)
def test_damage_is_said_with_its_byte(content: bytes, message: str) -> None:
    with pytest.raises(InspectError) as caught:
        xclbin.read(content, "x.xclbin")
    assert caught.value.message.startswith(message)
    assert "at byte" in caught.value.message


@given(st.data())
def test_nothing_but_our_error_comes_of_damage(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from([ONE, TWO])))
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=6)):
        content[place] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    assert ", at byte " in fault(bytes(content[:end]))


def fault(content: bytes) -> str:
    """Return the message about an xclbin; where it is good, one like it."""
    try:
        xclbin.masked(content, "x")
    except InspectError as error:
        return error.message
    return "nothing, at byte 0"
