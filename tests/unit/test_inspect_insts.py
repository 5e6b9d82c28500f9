from __future__ import annotations

import struct
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild import inspect
from aiebuild.inspect import insts
from aiebuild.inspect.reader import InspectError
from aiebuild.inspect.registers import shim_descriptor
from aiebuild.mlir.fabric import bits, fabrics
from aiebuild.mlir.parse import parse
from aiebuild.mlir.transfers import ends, transfers
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.inspect.insts import Operation, Stream
    from aiebuild.mlir.ir import Op
    from aiebuild.mlir.transfers import End

GOLDEN = Path(__file__).parents[1] / "golden"
STREAMS = sorted((GOLDEN / "mlir").glob("*.insts.bin"))
QUEUES = {0x1D204: (0, 0), 0x1D20C: (0, 1), 0x1D214: (1, 0), 0x1D21C: (1, 1)}


def read(path: Path) -> Stream:
    return insts.read(path.read_bytes(), path.name)


def encode(operation: Operation) -> list[int]:
    """Write an operation of version 0.1 anew, from its values only; the layout is written out here once more."""
    value = operation.values
    if operation.name == "write":
        return [0, 0, value["address"] & 0xFFFFFFFF, value["address"] >> 32, value["value"], 24]
    if operation.name == "blockwrite":
        return [1, value["tile"], value["address"], 16 + 4 * len(operation.data), *operation.data]
    if operation.name == "maskwrite":
        return [3, 0, value["address"] & 0xFFFFFFFF, value["address"] >> 32, value["value"], value["mask"], 28]
    if operation.name == "sync":
        place = value["direction"] | value["row"] << 8 | value["column"] << 16
        return [0x80, 16, place, value["rows"] << 8 | value["columns"] << 16 | value["channel"] << 24]
    assert operation.name == "patch_address"
    plus = [value["offset"] & 0xFFFFFFFF, value["offset"] >> 32]
    where = [value["address"] & 0xFFFFFFFF, value["address"] >> 32]
    return [0x81, 48, 0, 0, value["action"], 0, *where, value["argument"], 0, *plus]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
def test_every_word_of_a_real_stream_is_accounted_for(path: Path) -> None:
    found = read(path)
    said = [found.rows << 24 | found.generation << 16 | 0x0100, found.mem_rows << 8 | found.columns]
    said += [len(found.operations), found.size]
    for operation in found.operations:
        assert operation.offset == 4 * len(said)
        said += encode(operation)
    assert struct.pack(f"<{len(said)}I", *said) == path.read_bytes()


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
def test_every_word_stands_in_the_listing(path: Path) -> None:
    lines = inspect.text(path).splitlines()
    shown = [word for line in lines if line.startswith(" " * 11) for word in line.split()]
    assert [int(word, 16) for word in shown] == [word for (word,) in struct.iter_unpack("<I", path.read_bytes())]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
def test_a_real_stream_says_what_its_sequence_says(path: Path) -> None:
    """Each transfer of the MLIR is a descriptor of that length, an argument with that offset, and a queue's task."""
    name, _, sequence_name = path.name.removesuffix(".insts.bin").partition(".")
    text = (GOLDEN / "mlir" / f"{name}.generic.mlir").read_text()
    device = "npu2_1col" if "device = 9 : i32" in text else "npu1_1col"
    (fabric,) = fabrics(
        parse(
            text.replace("device = 5 : i32", 'device = "npu1_1col"').replace(
                "device = 9 : i32", 'device = "npu2_1col"'
            ),
            name,
        )
    )
    sequences = [op for op in fabric.sequences if sequence_name in (op.get("sym_name") or "")]
    found = read(path)
    assert found.arch == ("aie2p" if device == "npu2_1col" else "aie2")
    assert list(moved(found)) == list(planned(sequences[0], ends(fabric)))


def moved(found: Stream) -> Iterator[tuple[int, int, int, int]]:
    """Yield words, argument, its offset in bytes, and direction of each task, in the order of the queues."""
    lengths: dict[int, int] = {}
    patches: dict[int, tuple[int, int]] = {}
    for operation in found.operations:
        value = operation.values
        if operation.name == "blockwrite":
            lengths[(value["address"] - 0x1D000) // 0x20] = shim_descriptor(operation.data)["length"]
        elif operation.name == "patch_address":
            patches[(value["address"] - 0x1D004) // 0x20] = value["argument"], value["offset"]
        elif operation.name == "write" and value["address"] in QUEUES:
            descriptor = value["value"] & 0xF
            yield (lengths[descriptor], *patches[descriptor], QUEUES[value["address"]][0])


def planned(sequence: Op, known: Mapping[str, End]) -> Iterator[tuple[int, int, int, int]]:
    arguments = sequence.regions[0].blocks[0].arguments
    for transfer in transfers(sequence):
        width = bits(transfer.buffer.element)
        assert width is not None
        assert transfer.pattern is not None
        count = transfer.length or prod(transfer.pattern.sizes[-3:])
        index = next(index for index, value in enumerate(arguments) if value is transfer.op.operands[0])
        end = known[transfer.end]
        yield count * width // 32, index, transfer.pattern.offset * width // 8, end.direction


def test_the_listing_is_that_of_the_golden_file() -> None:
    golden = (GOLDEN / "inspect" / "matmul.insts.txt").read_text()
    shown = inspect.text(GOLDEN / "mlir" / "matmul.insts.bin")
    assert shown.partition(": ")[2] == golden


def short(*words: int, count: int = 1) -> bytes:
    """Return a stream of version 1.0."""
    total = 16 + 4 * len(words)
    return struct.pack(f"<4I{len(words)}I", 0x06040001, 0x0101, count, total, *words)


def test_the_short_form_is_read_too() -> None:
    words = [0, 0x0001D204, 0x80000001, 1, 0x02200500, 20, 7, 8, 3, 0x1D200, 0xF00, 0x1F00]
    words += [0x81, 24, 0x1D004, 2, 64, 0, 0x80, 16, 0x00010000, 0x00010100, 0x00050008, 9, 0x10, 0, 6 | 2 << 8]
    found = insts.read(short(*words, count=7), "x")
    assert (found.version, found.device) == ("1.0", "npu2")
    meanings = [operation.meaning for operation in found.operations]
    assert meanings == [
        "shim (0, 0) S2MM 0 queue = descriptor 1, once, with a token at its end",
        "core (1, 2) data memory 0x500: 2 words",
        "shim (0, 0) S2MM 0 control: controller id 15",
        "shim (0, 0) descriptor 0 word 1 = address of argument 2 + 64",
        "wait for a token of (1, 0) S2MM 0",
        "id 5, size 9, address 0x10",
        "level 2",
    ]
    assert sum(len(operation.words) for operation in found.operations) == len(words)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0\1\3\6", "the header needs 16 bytes and 4 are there, at byte 0 (0x0)"),
        (b"\0\2\3\6" + bytes(12), "this is no instruction stream of version 0.1 or 1.0 (it would be 0.2), at byte 0"),
        (short(0, 0, 0) + b"\0\0\0\0", "the header says 28 bytes, the file has 32, at byte 12 (0xc)"),
        (short(0, 0, 0, count=2), "the header says 2 operations, there are 1, at byte 8 (0x8)"),
        (short(99), "no operation has the code 99, at byte 16 (0x10)"),
        (short(0, 0), "a write needs 3 words and 2 are left, at byte 16 (0x10)"),
        (short(1, 0, 8, 0), "a blockwrite cannot have 8 bytes, at byte 24 (0x18)"),
        (short(1, 0, 64, 0), "a blockwrite of 64 bytes ends after the file, at byte 24 (0x18)"),
        (struct.pack("<4I", 0x06040001, 0x0101, 0, 17) + b"x", "the file ends within a word, at byte 16 (0x10)"),
    ],
)
def test_damage_is_said_with_its_byte(content: bytes, message: str) -> None:
    with pytest.raises(InspectError) as caught:
        insts.read(content, "x.insts.bin")
    assert caught.value.message.startswith(message)
    assert str(caught.value).startswith("x.insts.bin: error: ")


@given(st.sampled_from(STREAMS), st.data())
def test_nothing_but_our_error_comes_of_damage(path: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))
    assert ", at byte " in fault(bytes(content[:end]))


def fault(content: bytes) -> str:
    """Return the message about a stream; where it is good and all of it was read, one like it."""
    try:
        found = insts.read(content, "x")
    except InspectError as error:
        return error.message
    read = sum(len(operation.words) for operation in found.operations)
    return "nothing, at byte 0" if read == len(content) // 4 - 4 else "words are missing"
