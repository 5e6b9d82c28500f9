"""What one `aie.device` holds, read from the module once: tiles, object FIFOs, links, cores, sequences.

Everything here is a reading of the text without judgement: the checks say what is wrong with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aiebuild import devices
from aiebuild.errors import CheckError, Location
from aiebuild.mlir import attributes
from aiebuild.mlir.locations import file_line_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.devices import Coordinates, Device
    from aiebuild.mlir.attributes import MemRef
    from aiebuild.mlir.ir import Module, Op, Value

PRODUCE, CONSUME = 0, 1
"""The numbers of the ports of an object FIFO, as aie-opt prints them."""
S2MM, MM2S = 0, 1
"""The numbers of the directions of a DMA channel: into the tile's memory, and out of it."""
DMA = 1
"""The number of the DMA among the wire bundles of `aie.flow` (0 is the core)."""
SEQUENCES = ("aie.runtime_sequence", "aiex.runtime_sequence")
_WIDTH = re.compile(r"(?:[su]?i|b?f)(\d+)|f8\w+")


@dataclass(frozen=True)
class Fifo:
    """An `aie.objectfifo`.

    Attributes:
        op: the op.
        name: its symbol.
        producer: the tile of the producing end; None where the tile has no coordinates yet.
        consumers: the tiles of the consuming ends.
        depths: objects at each end, the producer's first; one for all ends is repeated.
        per_end: whether the text states a depth for each end.
        element: the type of one object.
        to_stream: (size, stride) of the access pattern at the producer, outermost first; empty for none.
        from_stream: the same at each consumer.
    """

    op: Op
    name: str
    producer: Coordinates | None
    consumers: tuple[Coordinates | None, ...]
    depths: tuple[int, ...]
    per_end: bool
    element: MemRef
    to_stream: tuple[tuple[int, int], ...]
    from_stream: tuple[tuple[tuple[int, int], ...], ...]

    def flag(self, name: str) -> bool:
        """Return a Boolean property of the op; False where it is not there."""
        return bool(number(self.op, name, 0))

    def depth(self, end: int) -> int:
        """Return the depth at an end, 0 being the producer's; at one that the text leaves out the greatest."""
        return self.depths[end] if end < len(self.depths) else max(self.depths, default=0)

    @property
    def ends(self) -> tuple[Coordinates | None, ...]:
        """The tiles of all ends, the producer's first."""
        return (self.producer, *self.consumers)

    @property
    def path(self) -> str:
        """Where it leads, in words: `from (0, 0) to (0, 1)`."""
        return f"from {self.producer} to {', '.join(str(place) for place in self.consumers)}"


@dataclass(frozen=True)
class Link:
    """An `aie.objectfifo.link`: what arrives by `inputs` leaves by `outputs`, in the memory of one tile."""

    op: Op
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    offsets: tuple[int, ...]

    @property
    def segments(self) -> int:
        """The pieces that an object in the link's memory is divided into: those of a distribute or a join."""
        return max(len(self.inputs), len(self.outputs))


@dataclass(frozen=True)
class Fabric:
    """One `aie.device` of a module."""

    module: Module
    op: Op

    @cached_property
    def device(self) -> Device:
        """The device that the op names.

        Raises:
            CheckError: it is not known, or is a number.
        """
        return devices.find(device_name(self.module, self.op), where(self.module, self.op))

    @property
    def known_device(self) -> Device | None:
        """The device that the op names; None where that is an error, which the check of limits reports."""
        try:
            return self.device
        except CheckError:
            return None

    @cached_property
    def fifos(self) -> Mapping[str, Fifo]:
        """The object FIFOs by name, in the order of the text."""
        return {fifo.name: fifo for fifo in map(_fifo, self.named("aie.objectfifo"))}

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links, in the order of the text."""
        return tuple(_link(op) for op in self.named("aie.objectfifo.link"))

    @cached_property
    def cores(self) -> tuple[Op, ...]:
        """The `aie.core` ops, in the order of the text."""
        return tuple(self.named("aie.core"))

    @cached_property
    def sequences(self) -> tuple[Op, ...]:
        """The runtime sequences, in the order of the text."""
        return tuple(self.named(*SEQUENCES))

    def named(self, *names: str) -> Iterator[Op]:
        """Yield the device's own ops of these names."""
        return (op for op in self.op.body if op.name in names)

    def where(self, op: Op) -> Location:
        """Return the line of the op in the user's file."""
        return where(self.module, op)

    def linked_tile(self, link: Link) -> Coordinates | None:
        """Return the tile where the link's inputs end and its outputs begin; None where there is none."""
        names = (*link.inputs, *link.outputs)
        if not link.inputs or not all(name in self.fifos for name in names):
            return None
        inputs = [self.fifos[name] for name in link.inputs]
        outputs = [self.fifos[name] for name in link.outputs]
        starts = {fifo.producer for fifo in outputs}
        if len(starts) != 1 or not all(starts & set(fifo.consumers) for fifo in inputs):
            return None
        return starts.pop()


def fabrics(module: Module) -> tuple[Fabric, ...]:
    """Return the devices of the module, in the order of the text."""
    return tuple(Fabric(module, op) for op in module.op.body if op.name == "aie.device")


def where(module: Module, op: Op) -> Location:
    """Return the line of the op in the user's file; that file may be a template that the module includes."""
    place = file_line_column(op.location or "")
    return place or Location(module.file, op.line, op.column)


def device_name(module: Module, op: Op) -> str:
    """Return the name of the device that an `aie.device` op names.

    Raises:
        CheckError: it is a number, as aie-opt prints; each version of it counts differently.
    """
    text = op.get("device") or ""
    if not text.startswith('"'):
        raise CheckError(
            f"the device is written as {text or 'nothing'}; numbers differ between versions of aie-opt",
            where(module, op),
            'write the name: device = "npu1_1col"',
        )
    return attributes.string(text)


def symbol(op: Op) -> str | None:
    """Return the name that the op defines, if it has one."""
    text = op.get("sym_name")
    return None if text is None else attributes.string(text)


def number(op: Op, name: str, default: int) -> int:
    """Return an integer property of the op; `default` where it is not there."""
    text = op.get(name)
    return default if text is None else attributes.integer(text)


def reference(op: Op, name: str) -> str:
    """Return the symbol that a property of the op refers to; empty where it is not there."""
    text = op.get(name)
    if text is None:
        return ""
    return attributes.string(text) if text.startswith('"') else attributes.symbol(text)


def tile(value: Value) -> Coordinates | None:
    """Return the coordinates of the `aie.tile` that made the value; None for any other op."""
    op = value.owner
    if getattr(op, "name", "") != "aie.tile":
        return None
    return (number(op, "col", -1), number(op, "row", -1))  # type: ignore[arg-type]  # a block has no name


def stack_size(core: Op) -> int:
    """Return the bytes of a core's stack, the dialect's default where it states none."""
    return number(core, "stack_size", devices.DEFAULT_STACK)


def tile_of(op: Op, operand: int = 0) -> Coordinates | None:
    """Return the coordinates of the tile that is an operand of the op, the first one if not said otherwise."""
    return tile(op.operands[operand]) if operand < len(op.operands) else None


def bits(element: str) -> int | None:
    """Return the width of an element type in bits; None where it is not known (`index`, vectors)."""
    match = _WIDTH.fullmatch(element)
    if match is None:
        return None
    return int(match.group(1)) if match.group(1) else 8


def elements(type_: MemRef) -> int | None:
    """Return the number of elements; None where a size is dynamic."""
    count = 1
    for size in type_.shape:
        if size is None:
            return None
        count *= size
    return count


def size_in_bytes(type_: MemRef) -> int | None:
    """Return the bytes of a buffer of that type; None where they are not known."""
    count, width = elements(type_), bits(type_.element)
    return None if count is None or width is None else (count * width + 7) // 8


def _fifo(op: Op) -> Fifo:
    """Read an object FIFO."""
    depth = op.get("elemNumber") or "0"
    per_end = depth.startswith("[")
    ends = len(op.operands)
    depths = tuple(attributes.integers(depth)) if per_end else (attributes.integer(depth),) * ends
    to_stream = op.get("dimensionsToStream")
    from_stream = op.get("dimensionsFromStreamPerConsumer")
    places = tuple(tile(value) for value in op.operands)
    return Fifo(
        op,
        symbol(op) or "",
        places[0] if places else None,
        places[1:],
        depths,
        per_end,
        attributes.fifo_element(op.get("elemType") or ""),
        tuple(attributes.dimensions(to_stream)) if to_stream else (),
        tuple(map(tuple, attributes.dimensions_per_consumer(from_stream))) if from_stream else (),
    )


def _link(op: Op) -> Link:
    """Read a link; its offsets are those of the side that has several FIFOs."""
    inputs = tuple(attributes.symbol(text) for text in attributes.array(op.get("fifoIns") or "[]"))
    outputs = tuple(attributes.symbol(text) for text in attributes.array(op.get("fifoOuts") or "[]"))
    side = "src_offsets" if len(inputs) > 1 else "dst_offsets"
    return Link(op, inputs, outputs, tuple(attributes.integers(op.get(side) or "[]")))
