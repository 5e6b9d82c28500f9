"""DMA programs that a design writes by hand: which channels they use, and with how many descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.fabric import DMA, MM2S, S2MM, Fabric, number, tile_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.devices import Coordinates
    from aiebuild.mlir.ir import Block, Op

PROGRAMS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
"""The ops that hold a DMA program, for a core tile, a mem tile and a shim tile."""

_Use = tuple["Coordinates", int, int, int, "Op"]
"""Tile, direction, channel, descriptors, and the op that says so."""


def channels(fabric: Fabric) -> Iterator[_Use]:
    """Yield each DMA channel that the text uses itself, once: programs first, then allocations and flows."""
    seen: set[tuple[Coordinates, int, int]] = set()
    for use in (*_programs(fabric), *_allocations(fabric), *_flows(fabric)):
        if use[:3] not in seen:
            seen.add(use[:3])
            yield use


def descriptors(fabric: Fabric) -> Iterator[tuple[Op, Op]]:
    """Yield each `aie.dma_bd` of a DMA program with the op of the program."""
    for program in fabric.named(*PROGRAMS):
        yield from ((program, op) for op in program.walk() if op.name == "aie.dma_bd")


def _programs(fabric: Fabric) -> Iterator[_Use]:
    """Yield the channels of DMA programs, in both of their forms: with blocks, and with regions."""
    for program in fabric.named(*PROGRAMS):
        place = tile_of(program)
        for op in program.walk():
            if place is not None and op.name in ("aie.dma_start", "aie.dma"):
                direction, index = number(op, "channel_dir", S2MM), number(op, "channel_index", 0)
                bodies = len(op.regions) if op.name == "aie.dma" else _chain(op)
                yield place, direction, index, bodies, op


def _chain(start: Op) -> int:
    """Count the descriptors of a chain: the blocks from the first on, along `aie.next_bd`, each once."""
    block: Block | None = start.successors[0].block if start.successors else None
    seen: set[int] = set()
    count = 0
    while block is not None and id(block) not in seen:
        seen.add(id(block))
        count += sum(op.name == "aie.dma_bd" for op in block.ops)
        following = [op for op in block.ops if op.name == "aie.next_bd" and op.successors]
        block = following[0].successors[0].block if following else None
    return count


def _allocations(fabric: Fabric) -> Iterator[_Use]:
    """Yield the channels that `aie.shim_dma_allocation` names."""
    for op in fabric.named("aie.shim_dma_allocation"):
        place = tile_of(op)
        if place is not None and not number(op, "plio", 0):
            yield place, number(op, "channel_dir", S2MM), number(op, "channel_index", 0), 0, op


def _flows(fabric: Fabric) -> Iterator[_Use]:
    """Yield the channels at both ends of each `aie.flow`: data leave the source, and arrive at the other."""
    for op in fabric.named("aie.flow"):
        for end, side, direction in ((0, "source", MM2S), (1, "dest", S2MM)):
            place = tile_of(op, end)
            if place is not None and number(op, f"{side}_bundle", -1) == DMA:
                yield place, direction, number(op, f"{side}_channel", 0), 0, op
