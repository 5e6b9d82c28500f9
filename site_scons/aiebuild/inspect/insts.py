"""Reading an instruction stream (`.insts.bin`): its header, and each operation with all of its words.

The form is aie-rt's transaction (`xaie_txn.h`: `XAie_TxnHeader`, `XAie_TxnOpcode`, and the structs of each operation),
as mlir-aie writes it (`AIETargetNPU.cpp`). Version 0.1 has the long operations (a 64-bit address and a size in each),
version 1.0 the short ones (`..._opt`). All words are 32 bits wide and little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.inspect.reader import Data
from aiebuild.inspect.registers import Registers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONG, SHORT = (0, 1), (1, 0)
"""The two versions: major, minor."""
_HEADER_WORDS = 4
_GENERATIONS = {2: ("", "aie2"), 3: ("npu1", "aie2"), 4: ("npu2", "aie2p")}
"""`XAIE_DEV_GEN_…` of aie-rt, as `AIETargetNPU.cpp` uses them: the devices' name, and the arch of their cores."""


@dataclass(frozen=True)
class Form:
    """How an operation is laid out.

    Args:
        name: what the listing calls it.
        words: the least number of words, which is the exact one where `size` is None.
        size: the index of the word that says how many bytes the operation has.
        fields: the index of the word of each value; the low half first where a value has two words.
        wide: the fields with two words.
        data: the index at which a list of words begins.
    """

    name: str
    words: int
    size: int | None = None
    fields: Mapping[str, int] | None = None
    wide: tuple[str, ...] = ()
    data: int | None = None


_MASKED_LONG = {"address": 2, "value": 4, "mask": 5}
_MASKED_SHORT = {"address": 1, "value": 2, "mask": 3}
_TCT = Form("sync", 4, 1, {"place": 2, "extent": 3})
_COMMON: Mapping[int, Form] = {
    5: Form("noop", 1),
    6: Form("preempt", 1),
    8: Form("load_pdi", 4, None, {"size": 1, "address": 2}, ("address",)),
    9: Form("load_pm_start", 2, None, {"id": 1}),
    10: Form("create_scratchpad", 4, None, {"size": 1, "address": 2}, ("address",)),
    11: Form("update_state_table", 2, None, {"argument": 1}),
    12: Form("update_register", 3, None, {"argument": 1, "address": 2}),
    13: Form("update_scratchpad", 1),
    0x80: _TCT,
    0x82: Form("read_registers", 3, 1, {"count": 2}, (), 3),
    0x83: Form("record_timer", 3, 1, {"id": 2}),
    0x84: Form("merge_sync", 3, 1, {"tokens": 2}),
}
"""Operations that both versions write alike."""
_FORMS: Mapping[tuple[int, int], Mapping[int, Form]] = {
    LONG: {
        **_COMMON,
        0: Form("write", 6, 5, {"address": 2, "value": 4}, ("address",)),
        1: Form("blockwrite", 4, 3, {"tile": 1, "address": 2}, (), 4),
        2: Form("blockset", 5, 3, {"tile": 1, "address": 2, "value": 4}),
        3: Form("maskwrite", 7, 6, _MASKED_LONG, ("address",)),
        4: Form("maskpoll", 7, 6, _MASKED_LONG, ("address",)),
        7: Form("maskpoll_busy", 7, 6, _MASKED_LONG, ("address",)),
        0x81: Form(
            "patch_address", 12, 1, {"action": 4, "address": 6, "argument": 8, "offset": 10}, ("address", "offset")
        ),
    },
    SHORT: {
        **_COMMON,
        0: Form("write", 3, None, {"address": 1, "value": 2}),
        1: Form("blockwrite", 3, 2, {"address": 1}, (), 3),
        2: Form("blockset", 4, 2, {"address": 1, "value": 3}),
        3: Form("maskwrite", 4, None, _MASKED_SHORT),
        4: Form("maskpoll", 4, None, _MASKED_SHORT),
        7: Form("maskpoll_busy", 4, None, _MASKED_SHORT),
        0x81: Form("patch_address", 6, 1, {"address": 2, "argument": 3, "offset": 4}, ("offset",)),
    },
}


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        offset: of its first byte in the file.
        opcode: the number of aie-rt's `XAie_TxnOpcode`.
        name: what the listing calls it.
        values: what its words say, by name; addresses are those of the array, as aie-rt counts them.
        data: the words that a block write writes; else none.
        words: all of its words, the ones above and those without a meaning.
        meaning: what it does, in words, as far as the register is known.
    """

    offset: int
    opcode: int
    name: str
    values: Mapping[str, int]
    data: tuple[int, ...]
    words: tuple[int, ...]
    meaning: str


@dataclass(frozen=True)
class Stream:
    """An instruction stream: what its header says, and its operations.

    Attributes:
        version: `0.1` or `1.0`.
        generation: aie-rt's number of the device's generation.
        device: `npu1` or `npu2`; empty for another generation.
        arch: of its cores; empty for another generation.
        rows, columns, mem_rows: of the device that it was made for.
        size: bytes, which is the file's size.
    """

    version: str
    generation: int
    device: str
    arch: str
    rows: int
    columns: int
    mem_rows: int
    size: int
    words: tuple[int, ...]
    operations: tuple[Operation, ...]


def looks_like(content: bytes) -> bool:
    """Tell whether bytes begin as an instruction stream does: a known version, and their own size in the header."""
    if len(content) < 4 * _HEADER_WORDS or (content[0], content[1]) not in _FORMS:
        return False
    return int.from_bytes(content[12:16], "little") == len(content) or content[2] in _GENERATIONS


def read(content: bytes, name: str) -> Stream:
    """Return what an instruction stream says.

    Args:
        content: the file's bytes.
        name: the file, for messages.

    Raises:
        InspectError: it is damaged, or has an operation of no known form; with the byte.
    """
    data = Data(name, content)
    major, minor, generation, rows, columns, mem_rows, _, count, size = data.unpack("<BBBBBBHII", 0, "the header")
    if (major, minor) not in _FORMS:
        raise data.fault(0, f"this is no instruction stream of version 0.1 or 1.0 (it would be {major}.{minor})")
    if size != len(content):
        raise data.fault(12, f"the header says {size} bytes, the file has {len(content)}")
    if size % 4:
        raise data.fault(size - size % 4, "the file ends within a word")
    words = struct.unpack(f"<{size // 4}I", content)
    operations = tuple(_operations(data, words, _FORMS[major, minor], Registers(mem_rows)))
    if len(operations) != count:
        raise data.fault(8, f"the header says {count} operations, there are {len(operations)}")
    device, arch = _GENERATIONS.get(generation, ("", ""))
    return Stream(
        version=f"{major}.{minor}",
        generation=generation,
        device=device,
        arch=arch,
        rows=rows,
        columns=columns,
        mem_rows=mem_rows,
        size=size,
        words=words[:_HEADER_WORDS],
        operations=operations,
    )


def _operations(
    data: Data, words: tuple[int, ...], forms: Mapping[int, Form], registers: Registers
) -> Iterator[Operation]:
    position = _HEADER_WORDS
    while position < len(words):
        form = forms.get(words[position] & 0xFF)
        if form is None:
            raise data.fault(4 * position, f"no operation has the code {words[position] & 0xFF}")
        count = _length(data, words, position, form)
        yield _operation(position, words[position : position + count], form, registers)
        position += count


def _length(data: Data, words: tuple[int, ...], position: int, form: Form) -> int:
    """Return how many words an operation has."""
    left = len(words) - position
    if left < form.words:
        raise data.fault(4 * position, f"a {form.name} needs {form.words} words and {left} are left")
    if form.size is None:
        return form.words
    size = words[position + form.size]
    if size % 4 or size < 4 * form.words:
        raise data.fault(4 * (position + form.size), f"a {form.name} cannot have {size} bytes")
    if size > 4 * left:
        raise data.fault(4 * (position + form.size), f"a {form.name} of {size} bytes ends after the file")
    return size // 4


def _operation(position: int, words: tuple[int, ...], form: Form, registers: Registers) -> Operation:
    values = dict(_values(words, form))
    block = words[form.data :] if form.data is not None else ()
    return Operation(
        offset=4 * position,
        opcode=words[0] & 0xFF,
        name=form.name,
        values=values,
        data=block,
        words=words,
        meaning=registers.meaning(form.name, values, block),
    )


def _values(words: tuple[int, ...], form: Form) -> Iterator[tuple[str, int]]:
    """Yield the values of an operation: those in the bytes of its first word, then those of its fields."""
    yield from _in_first_word(words[0], form.name)
    for name, index in (form.fields or {}).items():
        high = words[index + 1] << 32 if name in form.wide else 0
        if name not in {"place", "extent"}:
            yield name, words[index] | high
    if form.name == "sync":
        yield from _sync(words[2], words[3])


def _in_first_word(word: int, name: str) -> Iterator[tuple[str, int]]:
    if name == "preempt":
        yield "level", word >> 8 & 0xFF
    elif name == "load_pdi":
        yield "id", word >> 16
    elif name == "create_scratchpad":
        yield "usage", word >> 8 & 0xFF
    elif name in {"update_state_table", "update_register"}:
        yield "entry", word >> 8 & 0xFF
        yield "function", word >> 16 & 0xFF
    elif name == "load_pm_start":
        yield "sequences", word >> 8


def _sync(place: int, extent: int) -> Iterator[tuple[str, int]]:
    """Yield what a wait for tokens says (`appendSync` of `AIETargetNPU.cpp`)."""
    yield "direction", place & 0xFF
    yield "row", place >> 8 & 0xFF
    yield "column", place >> 16 & 0xFF
    yield "rows", extent >> 8 & 0xFF
    yield "columns", extent >> 16 & 0xFF
    yield "channel", extent >> 24
