"""What the arrays have: devices, their tiles, and the limits of each kind of tile.

All figures are those of mlir-aie at commit 3ca0193ce: `AIETargetModel.h` and `AIETargetModel.cpp` (grid,
memory, banks, locks, buffer descriptors, who reaches whose memory), `AIEDialect.cpp` (dimensions of a buffer
descriptor, padding) and `AIEXDialect.cpp: verifyStridesWraps` (widths of wraps and steps, the iteration
count). AIE2 and AIE2P share them all, except where a field says otherwise.

Words: a *channel in* is S2MM (from a stream into the tile's memory), a *channel out* is MM2S.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiebuild.errors import CheckError, Location, did_you_mean

Coordinates = tuple[int, int]
"""The place of a tile: column, row; both count from 0, row 0 is the shim."""


@dataclass(frozen=True)
class TileKind:
    """The limits of one kind of tile.

    Attributes:
        name: `shim`, `mem`, `core`, or `pl` (a shim tile without a DMA, on Versal devices).
        data_memory: bytes, the core's stack included.
        banks: into which the data memory is divided.
        channels_in: DMA channels from streams into the tile (S2MM).
        channels_out: DMA channels from the tile to streams (MM2S).
        descriptors: buffer descriptors (BDs) of the tile's DMA.
        descriptor_groups: 2 where even and odd channels have one half of the descriptors each, else 1.
        locks: counting locks, each with values 0 to `lock_maximum`.
        length_bits: width of a descriptor's length, in words of 32 bits.
        dimensions: of a descriptor's access pattern, besides the repeat.
        wrap_bits: width of the size of a dimension; the outermost of the dimensions has no such register.
        step_bits: a stride is 1 to 2**step_bits words of 32 bits.
        padding: whether the DMA can put constant elements around what it sends.
    """

    name: str
    data_memory: int = 0
    banks: int = 0
    channels_in: int = 0
    channels_out: int = 0
    descriptors: int = 0
    descriptor_groups: int = 1
    locks: int = 0
    lock_maximum: int = 63
    length_bits: int = 0
    dimensions: int = 0
    wrap_bits: int = 0
    step_bits: int = 0
    padding: bool = False

    @property
    def descriptors_per_group(self) -> int:
        """The descriptors that one channel can choose from."""
        return self.descriptors // self.descriptor_groups

    @property
    def longest(self) -> int:
        """The greatest length of a descriptor, in words of 32 bits."""
        return int(2**self.length_bits) - 1

    @property
    def widest(self) -> int:
        """The greatest size of a dimension that has a wrap register."""
        return int(2**self.wrap_bits) - 1

    @property
    def farthest(self) -> int:
        """The greatest stride, in words of 32 bits."""
        return int(2**self.step_bits)


SHIM = TileKind(
    name="shim",
    channels_in=2,
    channels_out=2,
    descriptors=16,
    locks=16,
    length_bits=32,
    dimensions=3,
    wrap_bits=10,
    step_bits=20,
)
MEM = TileKind(
    name="mem",
    data_memory=512 * 1024,
    banks=8,
    channels_in=6,
    channels_out=6,
    descriptors=48,
    descriptor_groups=2,
    locks=64,
    length_bits=17,
    dimensions=4,
    wrap_bits=10,
    step_bits=17,
    padding=True,
)
CORE = TileKind(
    name="core",
    data_memory=64 * 1024,
    banks=4,
    channels_in=2,
    channels_out=2,
    descriptors=16,
    locks=16,
    length_bits=14,
    dimensions=3,
    wrap_bits=8,
    step_bits=13,
)
PL = TileKind(name="pl")
"""A shim tile between the array and programmable logic: streams only."""

PROGRAM_MEMORY = 16 * 1024
"""Bytes of a core's program memory (AMD's AIE-ML architecture manual, AM020; mlir-aie's model does not have it)."""

REPEAT_MAXIMUM = 64
"""Iterations of a descriptor: a count of six bits, one less than the repeats (`verifyStridesWraps`)."""
QUEUE_REPEAT_MAXIMUM = 255
"""`repeat_count` of a task that is pushed to a channel's queue (`AIEXDialect.cpp: NpuPushQueueOp`)."""
PACKET_ID_MAXIMUM = 31
PACKET_TYPE_MAXIMUM = 7
DEFAULT_STACK = 1024
"""Bytes of a core's stack when `aie.core` states no `stack_size` (`AIEOps.td`)."""


@dataclass(frozen=True)
class Device:
    """One array, or a part of it, that `aie.device` can name.

    Attributes:
        name: as MLIR writes it.
        arch: `aie2` or `aie2p`: what the cores are compiled for.
        columns: of the array; the first is 0.
        rows: row 0 is the shim, then `mem_rows` rows of mem tiles, then cores.
        mem_rows: rows of mem tiles.
        noc_columns: the columns whose shim tile has a DMA; None for all.
        pad_values: whether padding can be of a value other than zero (AIE2P only).
    """

    name: str
    arch: str
    columns: int
    rows: int = 6
    mem_rows: int = 1
    noc_columns: frozenset[int] | None = None
    pad_values: bool = False

    def kind(self, column: int, row: int) -> TileKind | None:
        """Return the kind of the tile there; None outside the grid."""
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            return None
        if row == 0:
            return SHIM if self.noc_columns is None or column in self.noc_columns else PL
        return MEM if row <= self.mem_rows else CORE

    def reaches(self, tile: Coordinates, memory: Coordinates) -> bool:
        """Tell whether `tile` reads and writes the data memory of the tile `memory` directly, without a DMA.

        A core reaches its own memory and those of the cores west, south and north of it; a mem tile its own
        and those of its neighbours in the row (`AIE2TargetModel::isLegalMemAffinity`).
        """
        kind = self.kind(*tile)
        if kind is None or not kind.data_memory or kind is not self.kind(*memory):
            return False
        step = (memory[0] - tile[0], memory[1] - tile[1])
        reachable = {(0, 0), (-1, 0), (1, 0)} if kind is MEM else {(0, 0), (-1, 0), (0, -1), (0, 1)}
        return step in reachable

    def shared_memory(self, first: Coordinates, second: Coordinates) -> Coordinates | None:
        """Return the tile of the two whose memory both reach (the first if either would do), or None."""
        if self.reaches(second, first) and self.reaches(first, first):
            return first
        if self.reaches(first, second) and self.reaches(second, second):
            return second
        return None

    def shares_memory(self, first: Coordinates, second: Coordinates) -> bool:
        """Tell whether data pass between the two tiles through memory, without a DMA."""
        return self.shared_memory(first, second) is not None

    def neighbours(self, tile: Coordinates) -> tuple[Coordinates, ...]:
        """Return the tiles of the grid beside `tile`: west, south, east, north."""
        column, row = tile
        around = ((column - 1, row), (column, row - 1), (column + 1, row), (column, row + 1))
        return tuple(place for place in around if self.kind(*place) is not None)

    def describe(self) -> str:
        """Return the grid in words: `1 column of 6 rows (row 0 shim, 1 mem, 2 to 5 cores)`."""
        columns = f"{self.columns} column{'s' if self.columns > 1 else ''}"
        mem = "1" if self.mem_rows == 1 else f"1 to {self.mem_rows}"
        cores = f"{self.mem_rows + 1} to {self.rows - 1}"
        return f"{columns} of {self.rows} rows (row 0 shim, {mem} mem, {cores} cores)"


DEVICES = (
    Device("npu1", "aie2", columns=4),
    *(Device(f"npu1_{count}col", "aie2", columns=count) for count in range(1, 4)),
    Device("npu2", "aie2p", columns=8, pad_values=True),
    *(Device(f"npu2_{count}col", "aie2p", columns=count, pad_values=True) for count in range(1, 8)),
    # Versal: known from the target model alone (grid and NoC columns); nothing was run on them, and their
    # shim tiles outside the NoC columns lead to programmable logic, which is not modelled here.
    Device("xcve2302", "aie2", columns=17, rows=4, noc_columns=frozenset({2, 3, 6, 7, 10, 11})),
    Device(
        "xcve2802",
        "aie2",
        columns=38,
        rows=11,
        mem_rows=2,
        noc_columns=frozenset({2, 3, 6, 7, 14, 15, 22, 23, 30, 31, 34, 35}),
    ),
)


def names() -> tuple[str, ...]:
    """Return the names of all devices, in the order of the table."""
    return tuple(device.name for device in DEVICES)


def find(name: str, where: Location | None = None) -> Device:
    """Return the device of that name.

    Raises:
        CheckError: there is none; the nearest name is in the hint, `where` is the place that asked.
    """
    for device in DEVICES:
        if device.name == name:
            return device
    raise CheckError(f"unknown device {name!r}", where, did_you_mean(name, names()))


def of_arch(arch: str) -> tuple[Device, ...]:
    """Return the devices whose cores are of `arch`; none for an arch that has no array, such as `host`."""
    return tuple(device for device in DEVICES if device.arch == arch)
