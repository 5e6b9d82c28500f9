"""Answers to `list` and `describe`, for people and for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiebuild.contract import EVERYWHERE, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.contract import Contract, Parameter


def answer(verbs: Sequence[str], contracts: Sequence[Contract]) -> str:
    """Return what `list` and `describe` say to people."""
    parts = []
    if "list" in verbs:
        width = max((len(contract.name) for contract in contracts), default=0)
        parts.append("\n".join(f"{contract.name:<{width}}  {contract.description}" for contract in contracts))
    if "describe" in verbs:
        parts.append("\n\n".join(describe(contract) for contract in contracts))
    return "\n\n".join(parts)


def as_json(contracts: Sequence[Contract]) -> str:
    """Return what they say to programs."""
    return json.dumps([as_record(contract) for contract in contracts], indent=1) + "\n"


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
