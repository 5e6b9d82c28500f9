"""From a contract and a command line to one configuration: device, parameters, derived values, folder."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiebuild import devices
from aiebuild.contract import Contract, as_text, raise_all
from aiebuild.errors import ContractError, did_you_mean, nearest
from aiebuild.options import OPTIONS
from aiebuild.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiebuild.contract import Derived, Parameter, Rule, Variant
    from aiebuild.expression_tree import Scalar

HOST = "host"
COMMAND_LINE = "the command line"
OPTION_NAMES = tuple(option.name for option in OPTIONS)
LONGEST_NAME = 120
"""Characters of a configuration's folder; file systems allow 255 bytes, and some tools add to the name."""
LONGEST_LABEL = 60
"""Characters of a label; with design, version and archs it must fit where a tar file has room for a path."""


@dataclass(frozen=True)
class Settled:
    """One configuration of a design.

    `parameters` are the declared ones and `derived` the computed ones, in the contract's order. `changed` are
    the declared ones that are not at their default for this arch and device, sorted by name. `variant` is the
    name that was asked for; it makes no difference beyond the parameters that it sets.
    """

    design: str
    arch: str
    device: str
    parameters: Mapping[str, Scalar]
    derived: Mapping[str, Scalar]
    changed: Mapping[str, Scalar]
    variant: str | None = None

    @property
    def values(self) -> dict[str, Scalar]:
        """The declared and the derived parameters."""
        return {**self.parameters, **self.derived}

    def configuration(self, toolchain_suffix: str = "", *, debug: bool = False) -> str:
        """Return the name of the configuration's folder, for example `npu2_1col,K=64,M=64,N=64`.

        Args:
            toolchain_suffix: `chess` where that is not the arch's default; with or without its dash.
            debug: whether the mode is debug.

        Different parameters give different names. A name that would be too long is a digest of itself.
        """
        suffix = toolchain_suffix.lstrip("-")
        base = f"{self.device}{'-' if suffix else ''}{suffix}{'-debug' if debug else ''}"
        parts = [f"{name}={_escaped(as_text(value))}" for name, value in self.changed.items()]
        name = ",".join([base, *parts])
        if len(name) <= LONGEST_NAME:
            return name
        return f"{base},{hashlib.sha256(name.encode()).hexdigest()[:16]}"

    def label(self, contract: Contract, toolchain_suffix: str = "", *, debug: bool = False) -> str:
        """Return what sets this configuration apart from the arch's default one, for names of files.

        For example `K=64,M=64`, `npu2_2col-debug` or the name of a variant; empty for the default. Of one arch,
        different configurations have different labels; one that would be too long is a digest of itself.
        """
        named = self.device if self.device != _device(contract, self.arch, None) else ""
        parameters = ",".join(f"{name}={_escaped(as_text(value))}" for name, value in self.changed.items())
        said = (named, toolchain_suffix.lstrip("-"), "debug" if debug else "", self.known_as(contract) or parameters)
        label = "-".join(filter(None, said))
        if len(label) <= LONGEST_LABEL:
            return label
        return hashlib.sha256(label.encode()).hexdigest()[:16]

    def known_as(self, contract: Contract) -> str:
        """Return the contract's first variant that stands for these very parameters; empty for none."""
        changed = {name: as_text(value) for name, value in self.changed.items()}
        for variant in contract.variants:
            values = {name: as_text(value) for name, value in variant.values.items()}
            same = all(as_text(self.parameters[name]) == value for name, value in values.items())
            if changed and same and set(changed) <= set(values):
                return variant.name
        return ""

    def namespace(self, mode: str = "release") -> Parameters:
        """Return the parameters as recipes see them."""
        return Parameters(self.values, arch=self.arch, device=self.device, design=self.design, mode=mode)

    def to_json(self, mode: str = "release") -> dict[str, Any]:
        """Return the content of the parameters file that the steps of a build are given."""
        context = {"arch": self.arch, "device": self.device, "design": self.design, "mode": mode}
        return {**context, "parameters": self.values}


def settle(
    contract: Contract,
    *,
    arch: str,
    device: str | None,
    variant: str | None,
    given: Mapping[str, str],
    said_by: str = COMMAND_LINE,
    reserved: Sequence[str] | None = None,
) -> Settled:
    """Return the configuration that a command line asks for.

    Args:
        contract: the design's contract.
        arch: `host`, or an arch that a device of the contract is of.
        device: a device of the contract; the first one of the arch (of all, for the host) when left out.
        variant: a named set of parameters.
        given: parameters by name, as the command line has them; they win over the variant's.
        said_by: what gives them, for messages.
        reserved: the other names that can be given there, one of which an unknown parameter may be meant for; the
            options of the command line when left out.

    Raises:
        ContractError: a name is unknown, a value does not fit its parameter, or a rule is broken; with the
            contract's line (`ContractErrors` if several).
    """
    chosen = _device(contract, arch, device)
    defaults = {
        parameter.name: parameter.default(chosen, arch, devices.find(chosen).arch) for parameter in contract.parameters
    }
    preset = _variant(contract, variant).values if variant else {}
    others = OPTION_NAMES if reserved is None else reserved
    parameters = {**defaults, **preset, **_given(contract, given, said_by, others)}
    context = {"arch": arch, "device": chosen}
    derived = _derived(contract, {**parameters, **context})
    raise_all(_broken_rules(contract, {**parameters, **derived, **context}))
    changed = {name: value for name, value in sorted(parameters.items()) if as_text(value) != as_text(defaults[name])}
    return Settled(contract.name, arch, chosen, parameters, derived, changed, variant or None)


def _device(contract: Contract, arch: str, device: str | None) -> str:
    fitting = [name for name in contract.devices if arch in {HOST, devices.find(name).arch}]
    if not fitting:
        message = f"design {contract.name!r} has no device of arch {arch!r}"
        raise ContractError(message, contract.where("devices"), _supported(contract))
    if not device:
        return fitting[0]
    if device not in contract.devices:
        message = f"design {contract.name!r} is not for device {device!r}"
        near = did_you_mean(device, contract.devices)
        hint = near if near.startswith("one of") else f"{near} ({_supported(contract)})"
        raise ContractError(message, contract.where("devices"), hint)
    if device not in fitting:
        message = f"device {device!r} is of arch {devices.find(device).arch!r}, not {arch!r}"
        raise ContractError(message, contract.where("devices"), f"devices of arch {arch!r}: {', '.join(fitting)}")
    return device


def _supported(contract: Contract) -> str:
    return f"its devices: {', '.join(f'{name} ({devices.find(name).arch})' for name in contract.devices)}"


def _variant(contract: Contract, name: str) -> Variant:
    for variant in contract.variants:
        if variant.name == name:
            return variant
    hint = did_you_mean(name, contract.variant_names) or "it has no variants"
    raise ContractError(f"design {contract.name!r} has no variant {name!r}", contract.where("variants"), hint)


def _given(contract: Contract, given: Mapping[str, str], said_by: str, reserved: Sequence[str]) -> dict[str, Scalar]:
    declared = {parameter.name: parameter for parameter in contract.parameters}
    values: dict[str, Scalar] = {}
    errors: list[ContractError] = []
    for name, text in given.items():
        if name not in declared:
            errors.append(_unknown(contract, name, declared, said_by, reserved))
            continue
        try:
            values[name] = declared[name].from_text(text)
        except ContractError as error:
            errors.append(error)
    raise_all(errors)
    return values


def _unknown(
    contract: Contract, name: str, declared: Mapping[str, Parameter], said_by: str, reserved: Sequence[str]
) -> ContractError:
    for derived in contract.derived:
        if derived.name == name:
            message = f"{name!r} is given {'on' if said_by == COMMAND_LINE else 'by'} {said_by}, but it is derived"
            return ContractError(message, derived.where, f"it follows from: {', '.join(_sources(derived))}")
    message = f"design {contract.name!r} has no parameter {name!r}, which {said_by} gives"
    near = nearest(name, (*declared, *reserved))
    hint = f"did you mean {near!r}?" if near else did_you_mean(name, declared)
    return ContractError(message, hint=hint or "it has no parameters")


def _sources(derived: Derived) -> tuple[str, ...]:
    return derived.expression.names if derived.expression else (derived.of,)


def _derived(contract: Contract, known: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the derived parameters; each may use those before it."""
    found: dict[str, Scalar] = {}
    for derived in contract.derived:
        found[derived.name] = _derive(derived, {**known, **found})
    return found


def _derive(derived: Derived, values: Mapping[str, Scalar]) -> Scalar:
    if derived.expression is not None:
        try:
            return derived.expression.evaluate(values)
        except ContractError as error:
            said = f"{derived.name} cannot be derived: {error.message}{_with(derived.expression.names, values)}"
            raise ContractError(said, derived.where, error.hint) from None
    key = as_text(values[derived.of])
    if key in derived.table:
        return derived.table[key]
    message = f"{derived.name} cannot be derived: its map has no entry for {derived.of}={key}"
    raise ContractError(message, derived.where, f"its entries: {', '.join(derived.table)}")


def _broken_rules(contract: Contract, values: Mapping[str, Scalar]) -> list[ContractError]:
    return [error for rule in contract.rules if (error := _broken(rule, values)) is not None]


def _broken(rule: Rule, values: Mapping[str, Scalar]) -> ContractError | None:
    stated = _with(rule.expression.names, values)
    try:
        held = rule.expression.evaluate(values)
    except ContractError as error:
        return ContractError(f"{error.message}{stated}", rule.where, error.hint)
    if held is True:
        return None
    if held is False:
        return ContractError(f"{rule.message}{stated}", rule.where)
    message = f"in {rule.expression.text!r}: a rule is true or false, not {as_text(held)}{stated}"
    return ContractError(message, rule.where, "compare it with something, as in 'M % m == 0'")


def _with(names: tuple[str, ...], values: Mapping[str, Scalar]) -> str:
    """Return the values of these names in brackets, as far as they have one."""
    shown = [f"{name}={as_text(values[name])}" for name in names if name in values]
    return f" ({', '.join(shown)})" if shown else ""


def _escaped(text: str) -> str:
    """Return the text with each byte that a name of a folder should not have as `%` and two hex digits."""
    return re.sub(
        rb"[^A-Za-z0-9_.+-]", lambda found: b"%%%02x" % found[0][0], text.encode(errors="surrogatepass")
    ).decode()
