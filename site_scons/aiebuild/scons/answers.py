"""Answers to `list` and `describe`, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.contract import EVERYWHERE, as_text
from aiebuild.files import write_atomically
from aiebuild.scons import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.contract import Contract, Parameter
    from aiebuild.options import Request


def answer(request: Request, contracts: Sequence[Contract]) -> None:
    """Print what `list` and `describe` ask for, or write it as JSON where `json=FILE` was given."""
    target = request.get("json")
    if target:
        record = [as_record(contract) for contract in contracts]
        write_atomically(Path(target), json.dumps(record, indent=1) + "\n")
        return
    if "list" in request.verbs:
        width = max(len(contract.name) for contract in contracts)
        for contract in contracts:
            report.note(f"{contract.name:<{width}}  {contract.description}")
    if "describe" in request.verbs:
        report.note("\n\n".join(describe(contract) for contract in contracts))


def describe(contract: Contract) -> str:
    """Return a contract as people read it."""
    lines = [f"{contract.name}: {contract.description}", f"  devices: {', '.join(contract.devices)}"]
    if contract.parameters:
        lines.append("  parameters:")
        lines += [f"    {_usage(parameter):<36} {parameter.help}".rstrip() for parameter in contract.parameters]
    if contract.variants:
        lines.append("  variants:")
        lines += [f"    {variant.name}: {_values(variant.values)}" for variant in contract.variants]
    if contract.sequences:
        lines.append(f"  sequences: {', '.join(contract.sequences)}")
    if contract.arguments:
        lines.append("  arguments:")
        lines += [f"    {name:<12} {meaning}" for name, meaning in contract.arguments.items()]
    return "\n".join(lines)


def as_record(contract: Contract) -> dict[str, Any]:
    """Return a contract as JSON values."""
    return {
        "name": contract.name,
        "description": contract.description,
        "version": contract.version,
        "devices": list(contract.devices),
        "parameters": [
            {
                "name": item.name,
                "type": item.type,
                "help": item.help,
                "default": dict(item.defaults),
                "choices": list(item.choices),
            }
            for item in contract.parameters
        ],
        "variants": {variant.name: dict(variant.values) for variant in contract.variants},
        "sequences": list(contract.sequences),
        "arguments": dict(contract.arguments),
    }


def _usage(parameter: Parameter) -> str:
    kind = "|".join(str(choice) for choice in parameter.choices) or parameter.type
    return f"{parameter.name}={kind} [{_default(parameter)}]"


def _default(parameter: Parameter) -> str:
    """Return the default, or each one by its arch or device."""
    defaults = parameter.defaults
    if tuple(defaults) == (EVERYWHERE,):
        return as_text(defaults[EVERYWHERE])
    return ", ".join(f"{key or 'else'}: {as_text(value)}" for key, value in defaults.items())


def _values(values: Any) -> str:
    return " ".join(f"{name}={value}" for name, value in dict(values).items())
