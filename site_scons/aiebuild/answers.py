"""Answers to `list` and `describe`, for people and for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import devices, freshness
from aiebuild.contract import EVERYWHERE, as_text
from aiebuild.environment import variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiebuild.contract import Contract, Parameter
    from aiebuild.options import Request

HOST = "host"
FRESH, STALE, NOT_BUILT = "fresh", "stale", "not built"


@dataclass(frozen=True)
class Asked:
    """Which configuration of the designs is told of, and the project's folder, which is the current one."""

    root: Path = field(default=Path())
    build_dir: str = freshness.DEFAULT_BUILD_DIR
    arch: str = HOST
    device: str = ""
    variant: str = ""
    mode: str = "release"
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request, root: Path) -> Asked:
        """Return what a command line asks for; of several archs the first one."""
        arch = next(iter(request.several("arch")), HOST)
        words = {name: request.get(name) for name in ("build_dir", "device", "variant", "mode")}
        return cls(root, arch=arch, given=request.parameters, **words)


DEFAULT = Asked()
"""The default configuration for the host, in the current folder's project."""


def answer(verbs: Sequence[str], contracts: Sequence[Contract], asked: Asked = DEFAULT) -> str:
    """Return what `list` and `describe` say to people.

    Raises:
        ContractError: what is asked for is no configuration of a design.
    """
    parts = []
    if "list" in verbs:
        parts.append("\n".join(_rows([(one.name, _states_text(one, asked), one.description) for one in contracts])))
    if "describe" in verbs:
        parts.append("\n\n".join(describe(contract, asked) for contract in contracts))
    return "\n\n".join(parts)


def as_json(verbs: Sequence[str], contracts: Sequence[Contract], asked: Asked = DEFAULT) -> str:
    """Return what they say to programs: a list with an object for each design."""
    records = []
    for contract in contracts:
        record = as_record(contract, asked) if "describe" in verbs else _contract_record(contract)
        records.append({**record, "states": states(contract, asked)})
    return json.dumps(records, indent=1) + "\n"


def archs(contract: Contract) -> tuple[str, ...]:
    """Return what a design can be built for."""
    return (HOST, *sorted({devices.find(name).arch for name in contract.devices}))


def states(contract: Contract, asked: Asked) -> dict[str, str]:
    """Return by arch whether the default configuration is `fresh`, `stale` or `not built`: asked of the files alone."""
    pairs = [("build_dir", asked.build_dir)] if asked.build_dir != freshness.DEFAULT_BUILD_DIR else []
    return {arch: _state(freshness.record_of(pairs, contract.name, arch)) for arch in archs(contract)}


def _state(record: freshness.Record) -> str:
    if not Path(record.path).is_file():
        return NOT_BUILT
    return FRESH if freshness.check(record, variables())[0] is not None else STALE


def _states_text(contract: Contract, asked: Asked) -> str:
    found = states(contract, asked).items()
    return ", ".join(arch if state == NOT_BUILT else f"{arch} ({state})" for arch, state in found)


def _rows(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the rows of a table, its columns as wide as they need to be."""
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def describe(contract: Contract, asked: Asked = DEFAULT) -> str:
    """Return a design as people read it."""
    record = as_record(contract, asked)
    version = f" {contract.version}" if contract.version else ""
    lines = [f"{contract.name}{version}: {contract.description}"]
    lines.append(f"  archs: {', '.join(record['archs'])}")
    lines.append(f"  devices: {', '.join(contract.devices)}")
    lines += _section("parameters", [(_usage(it), f"{it.help}{_range(it)}".strip()) for it in contract.parameters])
    lines += _section("derived", [(name, as_text(value)) for name, value in record["derived"].items()])
    lines += _section("rules", [(rule.expression.text, rule.message) for rule in contract.rules])
    lines += _section("variants", [(variant.name, _values(variant.values)) for variant in contract.variants])
    lines += _section("sequences", [(name,) for name in contract.sequences])
    lines += _section("arguments", [(it["name"], it["meaning"], _shape(it)) for it in record["arguments"]])
    for design in record["designs"]:
        said = "" if design["name"] == contract.name else f" of {design['name']}"
        rows = [(it["file"], " ".join(it["sources"]) or "(text)", _functions(it)) for it in design["kernels"]]
        lines += _section(f"kernels{said}", rows)
    lines += [f"  kernels: {record['unknown']}"] if record["unknown"] else []
    lines += _section("commands", [(it["command"], it["does"]) for it in record["commands"]])
    return "\n".join(lines)


def _section(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [f"  {title}:", *(f"    {row}" for row in _rows(rows))] if rows else []


def _contract_record(contract: Contract) -> dict[str, Any]:
    return {
        "name": contract.name,
        "description": contract.description,
        "version": contract.version,
        "devices": list(contract.devices),
        "archs": list(archs(contract)),
        "parameters": [_parameter(item) for item in contract.parameters],
        "rules": [{"that": rule.expression.text, "message": rule.message} for rule in contract.rules],
        "variants": {variant.name: dict(variant.values) for variant in contract.variants},
        "sequences": list(contract.sequences),
    }


def as_record(contract: Contract, asked: Asked = DEFAULT) -> dict[str, Any]:
    """Return a design as JSON values, in the configuration that is asked for.

    Raises:
        ContractError: what is asked for is no configuration of the design.
    """
    from aiebuild import description  # noqa: PLC0415 - a list does without

    settled = description.settle(contract, asked)
    designs, unknown = description.designs(contract, settled, asked)
    return {
        **_contract_record(contract),
        "derived": dict(settled.derived),
        "arguments": description.arguments(contract, settled, asked),
        "designs": designs,
        "unknown": unknown,
        "commands": [{"command": words, "does": does} for words, does in description.commands(contract, designs)],
    }


def _parameter(item: Parameter) -> dict[str, Any]:
    return {
        "name": item.name,
        "type": item.type,
        "help": item.help,
        "default": dict(item.defaults),
        "choices": list(item.choices),
        "min": item.min,
        "max": item.max,
        "multiple_of": item.multiple_of,
    }


def _usage(parameter: Parameter) -> str:
    kind = "|".join(as_text(choice) for choice in parameter.choices) or parameter.type
    return f"{parameter.name}={kind} [{_default(parameter)}]"


def _range(parameter: Parameter) -> str:
    """Return what values there are, in brackets; nothing where any one of the type is."""
    low, high, step = parameter.min, parameter.max, parameter.multiple_of
    bounds = f"{low} to {high}" if low is not None and high is not None else ""
    bounds = bounds or (f"{low} or more" if low is not None else f"{high} or less" if high is not None else "")
    parts = [bounds, f"a multiple of {step}" if step else ""]
    return f" ({', '.join(filter(None, parts))})" if any(parts) else ""


def _default(parameter: Parameter) -> str:
    """Return the default, or each one by its arch or device."""
    defaults = parameter.defaults
    if tuple(defaults) == (EVERYWHERE,):
        return as_text(defaults[EVERYWHERE])
    return ", ".join(f"{key or 'else'}: {as_text(value)}" for key, value in defaults.items())


def _shape(argument: Mapping[str, Any]) -> str:
    """Return direction, shape and element type; nothing before it is built."""
    if not argument["element"]:
        return ""
    shape = "x".join(map(str, argument["shape"])) or "1"
    return f"{argument['direction'] or '?'}, {shape} {argument['element']}, {argument['bytes']} bytes"


def _functions(kernel: Mapping[str, Any]) -> str:
    return ", ".join(kernel["functions"]) or "(no functions named)"


def _values(values: Any) -> str:
    return " ".join(f"{name}={as_text(value)}" for name, value in dict(values).items())
