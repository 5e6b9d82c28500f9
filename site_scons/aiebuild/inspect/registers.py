"""What the registers that an instruction stream writes do: tiles, DMA descriptors, channels and queues.

Addresses are a column (from bit 25 on), a row (5 bits from bit 20 on) and an offset in the tile (`AIETargetModel.h`:
`getColumnShift`, `getRowShift`). Offsets and fields of the shim's DMA are those of AMD's AIE-ML register reference
(AM025: `DMA_BD0_0`…`DMA_BD15_7`, `DMA_S2MM_0_Task_Queue`), as mlir-aie's `AIEDmaToNpu.cpp` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DESCRIPTORS = {"shim": (0x1D000, 0x20, 16), "mem": (0xA0000, 0x20, 48), "core": (0x1D000, 0x20, 16)}
"""By kind of tile: the first descriptor, the bytes from one to the next, and how many there are."""
_CHANNELS = {"shim": (0x1D200, 2), "mem": (0xA0600, 6), "core": (0x1DE00, 2)}
"""By kind of tile: the first channel's control register, and how many channels each direction has; S2MM come first."""
_DATA_MEMORY = {"shim": 0, "mem": 0x80000, "core": 0x10000}
_PROGRAM_MEMORY = range(0x20000, 0x24000)
_DIRECTIONS = ("S2MM", "MM2S")
_CONTROLLER_ID = 0x1F00
"""Of a channel's control register: the id that goes into its tokens."""
_QUEUE_FIELDS = 0x80FF000F
"""Of a task queue: token, repeat count and descriptor."""


@dataclass(frozen=True)
class Place:
    """A register or a byte of memory: the tile, its kind, and the offset in it."""

    column: int
    row: int
    kind: str
    offset: int

    def __str__(self) -> str:
        """Return `(0, 2) 0x500`."""
        return f"({self.column}, {self.row}) {self.offset:#x}"


@dataclass(frozen=True)
class Registers:
    """The registers of a device with this many rows of mem tiles."""

    mem_rows: int

    def place(self, address: int) -> Place:
        """Return what an address of the array means."""
        row = address >> 20 & 0x1F
        kind = "shim" if row == 0 else "mem" if row <= self.mem_rows else "core"
        return Place(address >> 25, row, kind, address & 0xFFFFF)

    def meaning(self, operation: str, values: Mapping[str, int], data: Sequence[int]) -> str:
        """Return what an operation does, in words."""
        if operation == "sync":
            return _sync(values)
        if operation == "patch_address":
            argument, offset = values["argument"], values["offset"]
            plus = f" + {offset}" if offset else ""
            return f"{self._register(values['address'])} = address of argument {argument}{plus}"
        if "address" not in values or operation in {"load_pdi", "create_scratchpad"}:
            return _listed(values)
        register = self._register(values["address"])
        if operation == "blockwrite":
            return f"{register}: {self._block(values['address'], data)}"
        if operation == "write":
            return f"{register} = {self._value(values['address'], values['value'])}"
        if operation == "maskwrite":
            return f"{register}: {self._masked(values)}"
        return f"{register} ({_listed({name: value for name, value in values.items() if name != 'address'})})"

    def _register(self, address: int) -> str:
        """Return the tile and the register's name, as far as it is known."""
        place = self.place(address)
        tile = f"{place.kind} ({place.column}, {place.row})"
        found = _descriptor(place)
        if found is not None:
            number, rest = found
            return f"{tile} descriptor {number}" + (f" word {rest // 4}" if rest else "")
        channel = _channel(place)
        if channel is not None:
            return f"{tile} {channel[0]} {channel[1]} {'queue' if channel[2] else 'control'}"
        if place.offset < _DATA_MEMORY[place.kind]:
            return f"{tile} data memory {place.offset:#x}"
        if place.kind == "core" and place.offset in _PROGRAM_MEMORY:
            return f"{tile} program memory {place.offset - _PROGRAM_MEMORY.start:#x}"
        return f"{tile} register {place.offset:#x}"

    def _value(self, address: int, value: int) -> str:
        channel = _channel(self.place(address))
        if channel is None or not channel[2] or value & ~_QUEUE_FIELDS:
            return f"{value:#x}" if value > 9 else str(value)
        token = ", with a token at its end" if value >> 31 else ""
        times = (value >> 16 & 0xFF) + 1
        return f"descriptor {value & 0xF}, {'once' if times == 1 else f'{times} times'}{token}"

    def _masked(self, values: Mapping[str, int]) -> str:
        channel = _channel(self.place(values["address"]))
        if channel is not None and not channel[2] and values["mask"] == _CONTROLLER_ID:
            return f"controller id {values['value'] >> 8 & 0x1F}"
        return f"{values['value']:#x} where {values['mask']:#x}"

    def _block(self, address: int, data: Sequence[int]) -> str:
        place = self.place(address)
        found = _descriptor(place)
        if place.kind == "shim" and found is not None and found[1] == 0 and len(data) == 8:
            return descriptor(data)
        return f"{len(data)} words"


def descriptor(words: Sequence[int]) -> str:
    """Return the eight words of a shim's DMA descriptor, in words; sizes and steps are in words of 32 bits."""
    fields = shim_descriptor(words)
    steps = [fields[f"step_{index}"] + 1 for index in range(3)]
    wraps = [fields["wrap_0"], fields["wrap_1"], 0]
    dimensions = [f"{size or 'rest'} by {step}" for size, step in zip(wraps, steps, strict=True) if size or step > 1]
    parts = [f"{fields['length']} words"]
    parts += [f"in {', '.join(dimensions)}"] if dimensions else []
    if fields["iterations"]:
        parts.append(f"{fields['iterations'] + 1} iterations by {fields['iteration_step'] + 1}")
    if fields["packet"]:
        parts.append(f"packet {fields['packet_id']} of type {fields['packet_type']}")
    if fields["use_next"]:
        parts.append(f"then descriptor {fields['next']}")
    if not fields["valid"]:
        parts.append("not valid")
    return ", ".join(parts)


def shim_descriptor(words: Sequence[int]) -> dict[str, int]:
    """Return the fields of a shim's DMA descriptor, as they stand in its eight words."""
    return {name: words[word] >> shift & (1 << width) - 1 for name, (word, shift, width) in SHIM_DESCRIPTOR.items()}


SHIM_DESCRIPTOR = {
    "length": (0, 0, 32),
    "address_low": (1, 0, 32),
    "address_high": (2, 0, 16),
    "packet_type": (2, 16, 3),
    "packet_id": (2, 19, 5),
    "out_of_order_id": (2, 24, 6),
    "packet": (2, 30, 1),
    "step_0": (3, 0, 20),
    "wrap_0": (3, 20, 10),
    "step_1": (4, 0, 20),
    "wrap_1": (4, 20, 10),
    "burst": (4, 30, 2),
    "step_2": (5, 0, 20),
    "axi": (5, 20, 12),
    "iteration_step": (6, 0, 20),
    "iterations": (6, 20, 6),
    "iteration_current": (6, 26, 6),
    "lock_acquire_id": (7, 0, 4),
    "lock_acquire_value": (7, 5, 7),
    "lock_acquire": (7, 12, 1),
    "lock_release_id": (7, 13, 4),
    "lock_release_value": (7, 18, 7),
    "valid": (7, 25, 1),
    "use_next": (7, 26, 1),
    "next": (7, 27, 4),
}
"""Word, lowest bit and width of each field."""


def _descriptor(place: Place) -> tuple[int, int] | None:
    """Return the number of the descriptor at a place, and the byte in it; None where there is none."""
    first, step, count = _DESCRIPTORS[place.kind]
    number, rest = divmod(place.offset - first, step)
    return (number, rest) if 0 <= number < count else None


def _channel(place: Place) -> tuple[str, int, bool] | None:
    """Return direction, number, and whether it is the queue, of the channel at a place; None where there is none."""
    first, count = _CHANNELS[place.kind]
    number, rest = divmod(place.offset - first, 8)
    if not 0 <= number < 2 * count or rest % 4:
        return None
    return _DIRECTIONS[number // count], number % count, rest == 4


def _sync(values: Mapping[str, int]) -> str:
    direction = _DIRECTIONS[values["direction"]] if values["direction"] < 2 else str(values["direction"])
    tile = f"({values['column']}, {values['row']})"
    wide = values["columns"], values["rows"]
    more = "" if wide == (1, 1) else f", {wide[0]} columns and {wide[1]} rows of tiles"
    return f"wait for a token of {tile} {direction} {values['channel']}{more}"


def _listed(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value:#x}" if value > 9 else f"{name} {value}" for name, value in values.items())
