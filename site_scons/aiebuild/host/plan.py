"""What a design consists of, as values: the translated text holds them, and the machine is built from them.

Tiles are (column, row). Shapes, sizes, strides and offsets count elements, outermost first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiebuild.errors import Location

Tile = tuple[int, int]
Dimensions = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Buffer:
    """An `aie.buffer`, or a `memref.global` (then `tile` is None and each core has its own).

    `initial` holds the bytes of all elements, or of one that is repeated, as hexadecimal digits; empty for zeros.
    """

    name: str
    tile: Tile | None
    shape: tuple[int, ...]
    element: str
    initial: str = ""


@dataclass(frozen=True)
class Lock:
    """An `aie.lock`."""

    name: str
    tile: Tile
    initial: int
    where: Location | None = None


@dataclass(frozen=True)
class End:
    """One end of a FIFO: its tile, how many objects it holds there, and its access pattern of the stream."""

    tile: Tile
    depth: int
    dimensions: Dimensions = ()


@dataclass(frozen=True)
class Fifo:
    """An `aie.objectfifo`. `shared`: both ends use one set of objects in shared memory, without DMAs."""

    name: str
    producer: End
    consumers: tuple[End, ...]
    shape: tuple[int, ...]
    element: str
    shared: bool = False
    repeat: int = 1
    synchronised: bool = True
    initial: tuple[str, ...] = ()
    where: Location | None = None


@dataclass(frozen=True)
class Link:
    """An `aie.objectfifo.link`: offsets of the smaller objects inside the larger ones (join: inputs, else outputs)."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    offsets: tuple[int, ...] = ()
    where: Location | None = None


@dataclass(frozen=True)
class Channel:
    """A DMA channel of a tile; direction `MM2S` reads memory, `S2MM` writes it."""

    tile: Tile
    direction: str
    number: int

    def __str__(self) -> str:
        """Return `MM2S 0 of (0, 1)`."""
        return f"{self.direction} {self.number} of {self.tile}"


@dataclass(frozen=True)
class Flow:
    """An `aie.flow` between two DMA channels."""

    source: Channel
    destination: Channel


@dataclass(frozen=True)
class Allocation:
    """An `aie.shim_dma_allocation`: the name by which a runtime sequence uses a channel."""

    name: str
    channel: Channel


@dataclass(frozen=True)
class Descriptor:
    """A block of a DMA program: take a lock, move a piece of a buffer, give a lock, go on.

    `acquire` and `release` are (lock, value, kind) with kind `>=`, `=` or `+`.
    """

    buffer: str
    offset: int
    length: int
    dimensions: Dimensions
    acquire: tuple[tuple[str, int, str], ...]
    release: tuple[tuple[str, int, str], ...]
    following: int | None
    where: Location | None = None


@dataclass(frozen=True)
class DmaProgram:
    """What an `aie.dma_start` begins: descriptors by number, the first one first."""

    channel: Channel
    descriptors: tuple[Descriptor, ...]
    runs: int | None = None


@dataclass(frozen=True)
class Core:
    """An `aie.core`; `function` is its name in the translated text."""

    tile: Tile
    function: str
    where: Location | None = None


@dataclass(frozen=True)
class External:
    """A function that a core object defines: types as MLIR writes them."""

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class Sequence:
    """A runtime sequence; `arguments` are (shape, element) pairs."""

    name: str
    function: str
    arguments: tuple[tuple[tuple[int, ...], str], ...]
    where: Location | None = None


@dataclass(frozen=True)
class Plan:
    """A whole design."""

    device: str
    buffers: tuple[Buffer, ...] = ()
    locks: tuple[Lock, ...] = ()
    fifos: tuple[Fifo, ...] = ()
    links: tuple[Link, ...] = ()
    flows: tuple[Flow, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    programs: tuple[DmaProgram, ...] = ()
    externals: tuple[External, ...] = ()
    cores: tuple[Core, ...] = ()
    sequences: tuple[Sequence, ...] = ()
