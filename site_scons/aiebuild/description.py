"""What `describe` tells of a design beside its contract: kernels, arguments as they were built, commands to try."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from aiebuild import devices
from aiebuild.contract import as_text
from aiebuild.errors import AieBuildError
from aiebuild.model import CoreArchive, CoreObject
from aiebuild.recipe_values import designs_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiebuild.answers import Asked
    from aiebuild.contract import Contract
    from aiebuild.model import Design, Linkable
    from aiebuild.settle import Settled

HOST = "host"


def settle(contract: Contract, asked: Asked) -> Settled:
    """Return the configuration that is asked for; for an arch that the design has no device of, that of the host.

    Raises:
        ContractError: there is no such configuration.
    """
    known = {HOST, *(devices.find(name).arch for name in contract.devices)}
    return contract.settle(
        arch=asked.arch if asked.arch in known else HOST,
        device=asked.device or None,
        variant=asked.variant or None,
        given=asked.given,
    )


def designs(contract: Contract, settled: Settled, asked: Asked) -> tuple[list[dict[str, Any]], str]:
    """Return the designs of the recipe with what they are made of, and why that is not known, if it is not."""
    shown = f"designs/{contract.name}/SConscript"
    try:
        found = designs_of(asked.root / shown, shown, settled.namespace(asked.mode))
    except AieBuildError as error:
        return [], f"not known ({error.where}: {error.message})"
    return [_design(each, contract.name) for each in found], ""


def _design(design: Design, name: str) -> dict[str, Any]:
    return {
        "name": design.name or name,
        "mlir": design.mlir,
        "check": design.check,
        "outputs": list(design.outputs),
        "imports": [module.name for module in design.imports],
        "kernels": [
            {"file": item.link_name, "sources": _sources(item), "functions": list(item.functions)}
            for item in design.link_with
        ],
    }


def _sources(item: Linkable) -> list[str]:
    """Return the sources as the recipe has them, relative to the project where they begin with `#`."""
    if isinstance(item, CoreObject):
        named: tuple[str, ...] = (item.source,) if item.source else ()
    else:
        named = item.sources if isinstance(item, CoreArchive) else (item.file,)
    return [name.removeprefix("#").lstrip("/") for name in named]


def arguments(contract: Contract, settled: Settled, asked: Asked) -> list[dict[str, Any]]:
    """Return the arguments: names and meanings from the contract, the rest from the manifest where it is built."""
    built = _built(contract, settled, asked)
    known = {argument["name"]: argument for sequence in built for argument in sequence["arguments"]}
    empty: Mapping[str, Any] = {"direction": "", "element": "", "shape": [], "bytes": 0}
    said = [
        {**empty, **known.get(name, {}), "name": name, "meaning": text} for name, text in contract.arguments.items()
    ]
    return [*said, *(argument for name, argument in known.items() if name not in contract.arguments)]


def _built(contract: Contract, settled: Settled, asked: Asked) -> list[dict[str, Any]]:
    """Return the runtime sequences of the manifest of a configuration; none where it is not built."""
    folder = settled.configuration(debug=asked.mode == "debug")
    path = asked.root / asked.build_dir / settled.arch / "designs" / contract.name / folder / "manifest.json"
    try:
        found: list[dict[str, Any]] = json.loads(path.read_bytes())["sequences"]
        return found
    except (OSError, ValueError, KeyError, TypeError):
        return []


def commands(contract: Contract, made: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return commands to try, with what they do."""
    start = f"scons design={contract.name}"
    is_checked = bool(made) and all(design["check"] for design in made)
    found = [(start, "build, run and compare on this machine" if is_checked else "build for this machine")]
    found += [
        (f"{start} variant={variant.name}", f"with the parameters of {variant.name}")
        for variant in contract.variants[:1]
    ]
    example = _example(contract)
    found += [(f"{start} {example}", f"with another {example.partition('=')[0]}")] if example else []
    arch = devices.find(contract.devices[0]).arch
    found.append((f"scons -n {start.removeprefix('scons ')} arch={arch}", "show the commands for the NPU"))
    found.append((f"{start} arch={arch}", "build for the NPU"))
    if is_checked:
        found.append((f"scons package design={contract.name} arch={arch}", "one file for other machines"))
    return found


def _example(contract: Contract) -> str:
    """Return a parameter with a value that is not its default and that the contract takes; empty for none."""
    values = [pair for variant in contract.variants for pair in variant.values.items()]
    values += [(item.name, choice) for item in contract.parameters for choice in item.choices]
    for name, value in values:
        with contextlib.suppress(AieBuildError):
            given = {name: as_text(value)}
            if contract.settle(arch=HOST, device=None, variant=None, given=given).changed:
                return f"{name}={as_text(value)}"
    return ""
