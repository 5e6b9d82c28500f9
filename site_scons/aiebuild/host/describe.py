"""From a module to its plan: everything of a design that is not code."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError, did_you_mean
from aiebuild.host import constants, fifos, plan
from aiebuild.host.reading import DIRECTIONS, FLOW_DMA, Reader, core_tile, python_name, tile_of
from aiebuild.mlir import attributes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.mlir.ir import Block, Module, Op, Value

_ACTIONS = {0: "=", 1: "+", 2: ">="}
_KNOWN = frozenset((
    "aie.tile", "aie.buffer", "aie.lock", "aie.objectfifo",
    "aie.objectfifo.link", "aie.core", "aie.mem", "aie.memtile_dma",
    "aie.shim_dma", "aie.flow", "aie.shim_dma_allocation", "aie.runtime_sequence",
    "aiex.runtime_sequence", "func.func", "memref.global", "aie.end",
    "arith.constant", "aie.objectfifo.allocate",
))  # fmt: skip


class Design:
    """The ops of one device, sorted by kind, and the names by which the host knows its values."""

    def __init__(self, module: Module) -> None:
        self.reader = Reader(module)
        self.op = self._device(module)
        self.by_kind: dict[str, list[Op]] = defaultdict(list)
        for op in self.op.body:
            if op.name not in _KNOWN:
                raise self.reader.unsupported(op)
            self.by_kind[op.name].append(op)
        outside = [op for op in module.op.body if op.name in {"func.func", "memref.global"}]
        self.functions = self._by_symbol([*outside, *self.by_kind["func.func"]], "func.func")
        self.globals = self._by_symbol([*outside, *self.by_kind["memref.global"]], "memref.global")
        self.buffer_names = self._names("aie.buffer")
        self.lock_names = self._names("aie.lock")

    def _device(self, module: Module) -> Op:
        devices = [op for op in module.op.body if op.name == "aie.device"]
        if len(devices) != 1:
            raise MlirError(f"{module.file or 'the module'} has {len(devices)} `aie.device` ops, the host runs one")
        return devices[0]

    def _by_symbol(self, ops: list[Op], kind: str) -> dict[str, Op]:
        named = [op for op in ops if op.name == kind]
        return {attributes.string(self.reader.text(op, "sym_name")): op for op in named}

    def _names(self, kind: str) -> dict[Value, str]:
        """Return the name of each buffer or lock: its own, else one made of its tile and number."""
        names: dict[Value, str] = {}
        for number, op in enumerate(self.by_kind[kind]):
            column, row = tile_of(op.operands[0])
            own = op.get("sym_name")
            made = f"{kind.removeprefix('aie.')}_{column}_{row}_{number}"
            names[op.results[0]] = attributes.string(own) if own else made
        return names

    @property
    def device(self) -> str:
        """The device as the module names it: `npu1_1col`, or a number where a native tool printed it."""
        text = self.reader.text(self.op, "device")
        return attributes.string(text) if text.startswith('"') else text.split(":")[0].strip()

    @property
    def cores(self) -> list[Op]:
        """The cores, by tile."""
        return sorted(self.by_kind["aie.core"], key=core_tile)

    @property
    def sequences(self) -> list[Op]:
        """The runtime sequences, in the order of the text."""
        return [*self.by_kind["aie.runtime_sequence"], *self.by_kind["aiex.runtime_sequence"]]

    def sequence_name(self, op: Op) -> str:
        """Return the name of a runtime sequence."""
        own = op.get("sym_name")
        return attributes.string(own) if own else "sequence"

    def fifo_names(self) -> list[str]:
        """Return the names of all FIFOs."""
        return [attributes.string(self.reader.text(op, "sym_name")) for op in self.by_kind["aie.objectfifo"]]


def describe(design: Design) -> plan.Plan:
    """Return the plan of a design.

    Raises:
        MlirError: something in it is not supported on the host.
    """
    reader = design.reader
    links = tuple(_link(design, op) for op in design.by_kind["aie.objectfifo.link"])
    return plan.Plan(
        device=design.device,
        buffers=(*_buffers(design), *_globals(design)),
        locks=tuple(_locks(design)),
        fifos=tuple(fifos.describe(design, op, links) for op in design.by_kind["aie.objectfifo"]),
        links=links,
        flows=tuple(_flow(reader, op) for op in design.by_kind["aie.flow"]),
        allocations=tuple(_allocation(reader, op) for op in design.by_kind["aie.shim_dma_allocation"]),
        programs=tuple(_programs(design)),
        externals=tuple(_externals(design)),
        cores=tuple(plan.Core(core_tile(op), core_function(op), reader.where(op)) for op in design.cores),
        sequences=tuple(_sequence(design, op) for op in design.sequences),
    )


def core_function(op: Op) -> str:
    """Return the name of a core's function in the translated text."""
    column, row = core_tile(op)
    return f"core_{column}_{row}"


def _buffers(design: Design) -> Iterator[plan.Buffer]:
    for op in design.by_kind["aie.buffer"]:
        shape, element = design.reader.shape(op, op.results[0].type)
        initial = op.get("initial_value")
        data = constants.dense(initial, shape, element) if initial else ""
        yield plan.Buffer(design.buffer_names[op.results[0]], tile_of(op.operands[0]), shape, element, data)


def _globals(design: Design) -> Iterator[plan.Buffer]:
    for name, op in design.globals.items():
        shape, element = design.reader.shape(op, design.reader.text(op, "type"))
        initial = op.get("initial_value")
        data = constants.dense(initial, shape, element) if initial and "dense" in initial else ""
        yield plan.Buffer(name, None, shape, element, data)


def _locks(design: Design) -> Iterator[plan.Lock]:
    for op in design.by_kind["aie.lock"]:
        initial = design.reader.integer(op, "init", 0)
        yield plan.Lock(design.lock_names[op.results[0]], tile_of(op.operands[0]), initial, design.reader.where(op))


def _link(design: Design, op: Op) -> plan.Link:
    reader, known = design.reader, design.fifo_names()
    inputs = tuple(attributes.symbol(text) for text in attributes.array(reader.text(op, "fifoIns")))
    outputs = tuple(attributes.symbol(text) for text in attributes.array(reader.text(op, "fifoOuts")))
    for name in (*inputs, *outputs):
        if name not in known:
            raise reader.refuse(op, f"there is no FIFO `{name}`", did_you_mean(name, known))
    offsets = reader.integers(op, "src_offsets") if len(inputs) > 1 else reader.integers(op, "dst_offsets")
    several = max(len(inputs), len(outputs))
    if several > 1 and len(offsets) != several:
        raise reader.refuse(op, f"{len(offsets)} offsets for {several} FIFOs")
    return plan.Link(inputs, outputs, tuple(offsets), reader.where(op))


def _flow(reader: Reader, op: Op) -> plan.Flow:
    if {reader.integer(op, "source_bundle"), reader.integer(op, "dest_bundle")} != {FLOW_DMA}:
        raise reader.refuse(op, "only flows between DMAs are supported on the host")
    source = plan.Channel(tile_of(op.operands[0]), "MM2S", reader.integer(op, "source_channel"))
    return plan.Flow(source, plan.Channel(tile_of(op.operands[1]), "S2MM", reader.integer(op, "dest_channel")))


def _allocation(reader: Reader, op: Op) -> plan.Allocation:
    direction = DIRECTIONS[reader.integer(op, "channel_dir")]
    channel = plan.Channel(tile_of(op.operands[0]), direction, reader.integer(op, "channel_index"))
    return plan.Allocation(attributes.string(reader.text(op, "sym_name")), channel)


def _externals(design: Design) -> Iterator[plan.External]:
    for name, op in sorted(design.functions.items()):
        if not op.body:
            inputs, results = attributes.function_type(design.reader.text(op, "function_type"))
            yield plan.External(name, tuple(inputs), tuple(results))


def _sequence(design: Design, op: Op) -> plan.Sequence:
    name = design.sequence_name(op)
    arguments = op.regions[0].blocks[0].arguments if op.regions and op.regions[0].blocks else []
    types = tuple(design.reader.shape(op, value.type) for value in arguments)
    return plan.Sequence(name, python_name("sequence", name), types, design.reader.where(op))


def _programs(design: Design) -> Iterator[plan.DmaProgram]:
    for kind in ("aie.mem", "aie.memtile_dma", "aie.shim_dma"):
        for op in design.by_kind[kind]:
            yield from _programs_of(design, op)


def _programs_of(design: Design, memory: Op) -> Iterator[plan.DmaProgram]:
    """Yield the programs of one tile: each `aie.dma_start` names its first block and where the next start is."""
    tile, reader = tile_of(memory.operands[0]), design.reader
    block: Block | None = memory.regions[0].blocks[0]
    while block is not None:
        start = next((op for op in block.ops if op.name not in {"aie.end", "arith.constant"}), None)
        if start is None:
            return
        if start.name != "aie.dma_start":
            raise reader.unsupported(start)
        channel = plan.Channel(
            tile, DIRECTIONS[reader.integer(start, "channel_dir")], reader.integer(start, "channel_index")
        )
        runs = reader.integer(start, "repeat_count", 0)
        yield plan.DmaProgram(channel, descriptor_chain(design, start.successors[0].block), runs + 1 if runs else None)
        block = start.successors[1].block


def descriptor_chain(design: Design, first: Block) -> tuple[plan.Descriptor, ...]:
    """Return the descriptors that follow from a block, each with the number of its successor."""
    blocks, here = [], first
    while here not in blocks and any(op.name == "aie.dma_bd" for op in here.ops):
        blocks.append(here)
        last = here.ops[-1]
        if last.name != "aie.next_bd":
            break
        here = last.successors[0].block
    return tuple(_descriptor(design, block, blocks) for block in blocks)


def _descriptor(design: Design, block: Block, blocks: list[Block]) -> plan.Descriptor:
    reader = design.reader
    taken: dict[bool, list[tuple[str, int, str]]] = {True: [], False: []}
    bd: Op | None = None
    for op in block.ops:
        if op.name == "aie.use_lock":
            taken[bd is None].append(lock_use(design, op))
        elif op.name == "aie.dma_bd":
            bd = op
        elif op.name not in {"aie.next_bd", "aie.end"}:
            raise reader.unsupported(op)
    if bd is None:
        raise reader.refuse(block.ops[-1], "the block moves nothing")
    last = block.ops[-1]
    following = blocks.index(last.successors[0].block) if last.name == "aie.next_bd" else None
    shape, _ = reader.shape(bd, bd.operands[0].type)
    total = 1
    for count in shape:
        total *= count
    return plan.Descriptor(
        buffer=design.buffer_names[bd.operands[0]],
        offset=reader.integer(bd, "offset", 0),
        length=reader.integer(bd, "len", total),
        dimensions=reader.dimensions(bd),
        acquire=tuple(taken[True]),
        release=tuple(taken[False]),
        following=following,
        where=reader.where(bd),
    )


def lock_use(design: Design, op: Op) -> tuple[str, int, str]:
    """Return (lock, value, kind) of an `aie.use_lock`: kind `>=` or `=` takes, `+` gives."""
    reader = design.reader
    name = design.lock_names.get(op.operands[0])
    if name is None:
        raise reader.refuse(op, "its operand is not an `aie.lock` of this device")
    return name, reader.integer(op, "value", 1), _ACTIONS[reader.integer(op, "action")]
