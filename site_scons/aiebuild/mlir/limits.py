"""The limits of the device: what a design uses of each tile, and what a tile has; the same for every arch.

The figures are those of `aiebuild.devices`, what FIFOs cost is counted by `aiebuild.mlir.budget`, the rules of
access patterns are in `aiebuild.mlir.layouts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.devices import MEM, PL
from aiebuild.errors import CheckError
from aiebuild.mlir.budget import TileBudget, budget, fabric_budget
from aiebuild.mlir.check import gather
from aiebuild.mlir.fabric import MM2S, S2MM, Fabric, fabrics, number, symbol, tile_of
from aiebuild.mlir.patterns import check_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiebuild.devices import Coordinates
    from aiebuild.mlir.budget import Channel, Part
    from aiebuild.mlir.ir import Module

__all__ = ["budget", "check_limits"]

_KINDS = {
    "aie.buffer": ("core", "mem"),
    "aie.lock": ("core", "mem", "shim"),
    "aie.mem": ("core",),
    "aie.memtile_dma": ("mem",),
    "aie.shim_dma": ("shim",),
    "aie.shim_dma_allocation": ("shim", "pl"),
}
"""The kinds of tiles that ops can be put on; cores are checked by `aiebuild.mlir.fifos`."""
_WAYS = {S2MM: "into it", MM2S: "out of it"}


def check_limits(module: Module) -> list[CheckError]:
    """Check a design against the limits of its device.

    Args:
        module: in the generic form, the device as a string: numbers differ between versions of aie-opt.

    Returns:
        All errors, in the order of the lines.
    """
    checks: list[Iterable[CheckError]] = []
    for fabric in fabrics(module):
        if fabric.known_device is None:
            checks.append(_unknown_device(fabric))
            continue
        checks += [_check_tiles(fabric), _check_kinds(fabric), _check_budgets(fabric), _check_locks(fabric)]
        checks.append(check_patterns(fabric))
    return gather(checks, module.file)


def _unknown_device(fabric: Fabric) -> Iterator[CheckError]:
    """Yield nothing, and end with the error of a device that is not known."""
    yield from ()
    _ = fabric.device


def _check_tiles(fabric: Fabric) -> Iterator[CheckError]:
    """Yield an error for each tile outside the grid."""
    for op in fabric.named("aie.tile"):
        place = (number(op, "col", -1), number(op, "row", -1))
        if fabric.device.kind(*place) is None:
            yield CheckError(
                f"tile {place} is outside of {fabric.device.name}",
                fabric.where(op),
                f"{fabric.device.name} has {fabric.device.describe()}",
            )


def _check_kinds(fabric: Fabric) -> Iterator[CheckError]:
    """Yield an error for each op on a tile that has no place for it."""
    for op in fabric.named(*_KINDS):
        place = tile_of(op)
        kind = fabric.device.kind(*place) if place else None
        if kind is not None and kind.name not in _KINDS[op.name]:
            right = " or ".join(_KINDS[op.name])
            yield CheckError(
                f"{op.name} {_name(symbol(op))}is put on tile {place}, which is a {kind.name} tile",
                fabric.where(op),
                f"it belongs on a {right} tile; {fabric.device.name} has {fabric.device.describe()}",
            )
    for fifo in fabric.fifos.values():
        for place in fifo.ends:
            kind = fabric.device.kind(*place) if place else None
            if kind is not None and kind.name == "pl" and not fifo.flag("plio"):
                yield CheckError(
                    f"@{fifo.name} ends at shim tile {place}, which has no DMA",
                    fabric.where(fifo.op),
                    f"columns with one: {', '.join(map(str, sorted(fabric.device.noc_columns or ())))}",
                )


def _name(name: str | None) -> str:
    """Return `@name ` for messages, or nothing."""
    return f"@{name} " if name else ""


def _check_budgets(fabric: Fabric) -> Iterator[CheckError]:
    """Yield an error for each thing of which a tile has less than the design uses."""
    budgets = {(each.column, each.row): each for each in fabric_budget(fabric)}
    for place, each in budgets.items():
        if each.kind is PL:
            continue
        for direction, limit in ((S2MM, each.kind.channels_in), (MM2S, each.kind.channels_out)):
            yield from _check_channels(each, place, direction, limit)
        for group in range(each.kind.descriptor_groups):
            yield from _check_descriptors(each, place, group)
        yield from _check_lock_count(each, place)
        yield from _check_memory(fabric, each, place, budgets)


def _check_channels(each: TileBudget, place: Coordinates, direction: int, limit: int) -> Iterator[CheckError]:
    """Check the DMA channels of one direction."""
    used = [channel for channel in each.channels if channel.direction == direction]
    over = [channel for channel in used if channel.index >= limit]
    if not over:
        return
    message = (
        f"{each.kind.name} tile {place} has {limit} DMA channels {_WAYS[direction]}, but {len(used)} are used: "
        f"{_listed(used)}"
    )
    if len(used) <= limit:
        message = (
            f"DMA channel {over[0].index} {_WAYS[direction]} is used on {each.kind.name} tile {place}, "
            f"which has {limit}: 0 to {limit - 1}"
        )
    yield CheckError(message, over[0].where, _channel_hint(each.kind.name))


def _channel_hint(kind: str) -> str:
    """Return what may be done where a tile of a kind has too few channels."""
    if kind == "core":
        return "send several data in one object by way of a mem tile (aie.objectfifo.link), or use another tile"
    if kind == "shim":
        return "distribute or join in a mem tile (aie.objectfifo.link), or use another column's shim tile"
    return "use another column's mem tile as well"


def _listed(parts: Iterable[Channel | Part]) -> str:
    """Return what the parts are, separated by commas."""
    return ", ".join(part.what for part in parts)


def _check_descriptors(each: TileBudget, place: Coordinates, group: int) -> Iterator[CheckError]:
    """Check the buffer descriptors that one group of channels shares."""
    channels = each.group(group)
    used, limit = sum(channel.descriptors for channel in channels), each.kind.descriptors_per_group
    if used <= limit:
        return
    which = "" if each.kind.descriptor_groups == 1 else (" for even channels", " for odd channels")[group]
    parts = " + ".join(f"{channel.what} {channel.descriptors}" for channel in channels if channel.descriptors)
    largest = max(channels, key=lambda channel: channel.descriptors)
    yield CheckError(
        f"{each.kind.name} tile {place} has {limit} buffer descriptors{which}, but {used} are used: {parts}",
        largest.where,
        "each object costs one at each end, each piece of a distributed or joined one too: lower a depth",
    )


def _check_lock_count(each: TileBudget, place: Coordinates) -> Iterator[CheckError]:
    """Check the number of locks."""
    if each.locks_used <= each.kind.locks:
        return
    parts = " + ".join(f"{part.what} {part.amount}" for part in each.locks)
    yield CheckError(
        f"{each.kind.name} tile {place} has {each.kind.locks} locks, but {each.locks_used} are used: {parts}",
        max(each.locks, key=lambda part: part.amount).where,
        "use fewer FIFOs on this tile",
    )


def _check_memory(
    fabric: Fabric, each: TileBudget, place: Coordinates, budgets: dict[Coordinates, TileBudget]
) -> Iterator[CheckError]:
    """Check the data memory; what a mem tile does not hold may go to the mem tiles beside it."""
    limit = each.kind.data_memory
    excess = each.memory_used - limit
    if not limit or excess <= 0 or excess <= _room_beside(fabric, place, budgets):
        return
    parts = sorted(each.memory, key=lambda part: -part.amount)
    yield CheckError(
        f"{each.kind.name} tile {place} does not hold its data: {_listed(parts)} "
        f"= {each.memory_used:,} B of {limit:,} B",
        parts[0].where,
        _memory_hint(parts, excess),
    )


def _room_beside(fabric: Fabric, place: Coordinates, budgets: dict[Coordinates, TileBudget]) -> int:
    """Return the bytes that are free beside a mem tile, where mlir-aie puts what it does not hold; else 0."""
    room = 0
    for side in fabric.device.neighbours(place):
        kind = fabric.device.kind(*side)
        if kind is not MEM or kind is not fabric.device.kind(*place) or side[1] != place[1]:
            continue
        used = budgets[side].memory_used if side in budgets else 0
        room += max(0, kind.data_memory - used)
    return room


def _memory_hint(parts: Iterable[Part], excess: int) -> str:
    """Return what would make the data fit: a FIFO with one object where that is enough, else smaller blocks."""
    for part in parts:
        if part.each and part.amount - part.each >= excess:
            name = part.what.split()[1]
            return f"{excess:,} B too many: give @{name} the depth 1, or make the blocks smaller"
    return f"{excess:,} B too many: make the blocks smaller, or use another tile"


def _check_locks(fabric: Fabric) -> Iterator[CheckError]:
    """Yield an error for each lock with a number or value that a tile does not have, or that is taken."""
    taken: dict[tuple[Coordinates, int], str] = {}
    for op in fabric.named("aie.lock"):
        place = tile_of(op)
        kind = fabric.device.kind(*place) if place else None
        if place is None or kind is None:
            continue
        identity, value = number(op, "lockID", -1), number(op, "init", 0)
        where, name = fabric.where(op), symbol(op) or "lock"
        if identity >= kind.locks:
            yield CheckError(f"lock {identity} of a {kind.name} tile: it has 0 to {kind.locks - 1}", where)
        if not 0 <= value <= kind.lock_maximum:
            yield CheckError(f"@{name} begins as {value}: a lock counts from 0 to {kind.lock_maximum}", where)
        if identity >= 0 and (place, identity) in taken:
            first = taken[place, identity]
            yield CheckError(f"@{name} is lock {identity} of tile {place}, which @{first} is already", where)
        taken.setdefault((place, identity), name)
