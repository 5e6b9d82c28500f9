"""What later steps need to know of a module: its external functions, cores and runtime sequences, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aiebuild.errors import CheckError, Location
from aiebuild.mlir import attributes
from aiebuild.mlir.budget import fabric_budget
from aiebuild.mlir.fabric import Fabric, device_name, fabrics, reference, symbol, tile_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.devices import Coordinates
    from aiebuild.mlir.budget import TileBudget
    from aiebuild.mlir.ir import Module, Op

FORMAT = 1
"""The version of the JSON form."""


@dataclass(frozen=True)
class Function:
    """An external function: declared without a body; types are MLIR text."""

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    link_with: str | None
    where: Location


@dataclass(frozen=True)
class Core:
    """A core: the external functions that it calls, itself or through functions with bodies, and their files.

    Both are sorted. A file that `aie.core` itself names by `link_with` (the older form) is among them.
    `memory` is what its stack and the buffers of its tile take, in bytes; 0 where the device is not known.
    """

    column: int
    row: int
    calls: tuple[str, ...]
    link_files: tuple[str, ...]
    where: Location
    memory: int = 0


@dataclass(frozen=True)
class Sequence:
    """A runtime sequence; `arguments` are the texts of their types."""

    name: str
    arguments: tuple[str, ...]
    where: Location


@dataclass(frozen=True)
class Facts:
    """What later steps need to know of a module."""

    device: str
    functions: tuple[Function, ...]
    cores: tuple[Core, ...]
    sequences: tuple[Sequence, ...]

    def to_json(self) -> str:
        """Return the JSON form, with sorted keys and a final newline."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Facts:
        """Return what `to_json` wrote.

        Raises:
            CheckError: the text is not of this form, or of another version of it.
        """
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise CheckError(f"facts of format {data['format']} cannot be read, only those of {FORMAT}")
            return cls(
                data["device"],
                tuple(Function(**_record(each)) for each in data["functions"]),
                tuple(Core(**_record(each)) for each in data["cores"]),
                tuple(Sequence(**_record(each)) for each in data["sequences"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CheckError(f"the facts of a module cannot be read: {error}") from error


def facts(module: Module) -> Facts:
    """Return what later steps need to know of a module.

    Raises:
        CheckError: the module has not exactly one `aie.device`, or the device is written as a number.
        MlirError: a property is not of the form that it should have.
    """
    found = fabrics(module)
    if len(found) != 1:
        place = found[1].where(found[1].op) if found else Location(module.file)
        raise CheckError(f"the module has {len(found)} devices, not one", place, "write one aie.device a file")
    fabric = found[0]
    used = {} if fabric.known_device is None else {(each.column, each.row): each for each in fabric_budget(fabric)}
    return Facts(
        device_name(module, fabric.op),
        tuple(_function(fabric, op) for op in fabric.named("func.func") if not op.body),
        tuple(_core(fabric, op, used) for op in fabric.cores),
        tuple(_sequence(fabric, op) for op in fabric.sequences),
    )


def external_calls(fabric: Fabric, core: Op) -> dict[str, Op]:
    """Return the external functions that a core calls, directly or through functions with bodies.

    The result maps names to declarations. Calls of what is not declared are left out.
    """
    return {name: declaration for name, (declaration, _) in first_calls(fabric, core).items()}


def first_calls(fabric: Fabric, core: Op) -> dict[str, tuple[Op, Op]]:
    """Return what `external_calls` returns, with the first call of each function behind its declaration."""
    functions = {symbol(op): op for op in fabric.named("func.func")}
    found: dict[str, tuple[Op, Op]] = {}
    waiting, seen = [core], {id(core)}
    while waiting:
        for call in (op for op in waiting.pop().walk() if op.name == "func.call"):
            callee = functions.get(reference(call, "callee"))
            if callee is None or id(callee) in seen:
                continue
            seen.add(id(callee))
            if callee.body:
                waiting.append(callee)
            else:
                found[symbol(callee) or ""] = (callee, call)
    return found


def link_with(op: Op) -> str | None:
    """Return the file that `link_with` names on a declaration or a core, if it is there."""
    text = op.get("link_with")
    return None if text is None else attributes.string(text)


def _record(data: Mapping[str, Any]) -> dict[str, Any]:
    """Turn JSON's lists into tuples, and the place into a Location."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    return {**values, "where": Location(**data["where"])}


def _function(fabric: Fabric, op: Op) -> Function:
    """Read a declaration."""
    inputs, results = attributes.function_type(op.get("function_type") or "")
    return Function(symbol(op) or "", tuple(inputs), tuple(results), link_with(op), fabric.where(op))


def _core(fabric: Fabric, op: Op, used: Mapping[Coordinates, TileBudget]) -> Core:
    """Read a core; one without a placed tile counts as at (-1, -1)."""
    column, row = tile_of(op) or (-1, -1)
    called = external_calls(fabric, op)
    files = {link_with(each) for each in (*called.values(), op)} - {None}
    memory = used[column, row].memory_used if (column, row) in used else 0
    return Core(column, row, tuple(sorted(called)), tuple(sorted(map(str, files))), fabric.where(op), memory)


def _sequence(fabric: Fabric, op: Op) -> Sequence:
    """Read a runtime sequence."""
    blocks = op.regions[0].blocks if op.regions else []
    arguments = tuple(value.type for value in blocks[0].arguments) if blocks else ()
    return Sequence(symbol(op) or "", arguments, fabric.where(op))
