"""From the text of a `design.yaml` to a record of a contract: the schema, then what a schema cannot say.

Imported only for a contract that is not remembered: PyYAML and jsonschema are slow to import.
"""

from __future__ import annotations

import keyword
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aiebuild import contract_schema, contract_yaml, devices, expression
from aiebuild.contract import EVERYWHERE, Parameter, as_text, raise_all
from aiebuild.errors import ContractError, did_you_mean
from aiebuild.expression_tree import FUNCTIONS
from aiebuild.parameters import CONTEXT, METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.contract_yaml import Document
    from aiebuild.expression_tree import Scalar

HOST = "host"

# Names that expressions, templates, the namespace `p` or the functions of `check.py` have a meaning for.
_TAKEN = (
    frozenset(keyword.kwlist)
    | frozenset(FUNCTIONS)
    | {name.lower() for name in keyword.kwlist}
    | {*CONTEXT, *METHODS, "p", "rng", "sequence", "raise", "range", "namespace", "dict", "cycler", "joiner"}
    | {
        "loop",
        "self",
        "super",
        "caller",
        "varargs",
        "kwargs",
        "set",
        "block",
        "macro",
        "call",
        "filter",
        "include",
    }
)


def read(content: bytes, file: str) -> dict[str, Any]:
    """Return the record of a contract: plain JSON data, the fields of `Contract` with lines for locations.

    Raises:
        ContractError: the file is wrong: each fault with its line (`ContractErrors` if several).
    """
    document = contract_yaml.read(content, file)
    if document.data is None:
        document.refuse((), "the contract is empty", "it needs at least: description, devices")
    else:
        contract_schema.check(document)
    raise_all(document.errors)
    builder = _Builder(document)
    builder.check_names()
    # What else is found with such a name, in expressions for example, follows from it.
    raise_all(document.errors)
    record = builder.record()
    raise_all(document.errors)
    return record


class _Builder:
    """Makes the record of a document that fits the schema, and notes in the document what is still wrong."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._data: Mapping[str, Any] = document.data if isinstance(document.data, dict) else {}
        self._parameters: dict[str, Parameter] = {}

    def record(self) -> dict[str, Any]:
        self._check_devices()
        parameters = [self._parameter(name, entry) for name, entry in self._section("parameters")]
        derived = [self._derived(name, entry) for name, entry in self._section("derive")]
        names = [*self._known(None), *self._data.get("derive", {})]
        rules = [self._rule(position, entry, names) for position, entry in enumerate(self._data.get("require", []))]
        return {
            "description": self._data["description"],
            "version": self._data.get("version", ""),
            "devices": self._data["devices"],
            "parameters": parameters,
            "derived": derived,
            "rules": rules,
            "variants": [self._variant(name, values) for name, values in self._section("variants")],
            "sequences": self._data.get("sequences", []),
            "arguments": self._data.get("arguments", {}),
            "run_timeout": self._data.get("run_timeout", 60),
            "generator": self._generator(self._data.get("generator", {})),
            "lines": {key: self._line(key) for key in self._data},
        }

    def _section(self, key: str) -> list[tuple[str, Any]]:
        return list(self._data.get(key, {}).items())

    def _line(self, *path: str | int) -> int | None:
        return self._document.where(path).line

    def _check_devices(self) -> None:
        for position, name in enumerate(self._data["devices"]):
            if name not in devices.names():
                hint = did_you_mean(name, devices.names())
                self._document.refuse(("devices", position), f"unknown device {name!r}", hint)

    def check_names(self) -> None:
        """Note the names that have a meaning of their own."""
        kinds = {"parameters": "a parameter", "derive": "a derived parameter", "arguments": "an argument"}
        for section, kind in kinds.items():
            for name in self._data.get(section, {}):
                if name in _TAKEN:
                    message = f"{kind} cannot be called {name!r}"
                    self._document.refuse((section, name), message, "the name has a meaning of its own")

    def _devices(self) -> list[devices.Device]:
        return [devices.find(name) for name in self._data["devices"] if name in devices.names()]

    def _parameter(self, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        path = ("parameters", name)
        limits = {key: self._limit(path, entry, key) for key in ("min", "max", "multiple_of")}
        choices = tuple(entry.get("choices", ()))
        where = self._document.where(path)
        bare = Parameter(name, entry["type"], {}, choices, help=entry.get("help", ""), where=where, **limits)
        self._check_choices(path, choices)
        if bare.min is not None and bare.max is not None and bare.min > bare.max:
            self._document.refuse((*path, "min"), f"{name}: min {bare.min} is above max {bare.max}")
        default = entry["default"]
        by_key = default if isinstance(default, dict) else {EVERYWHERE: default}
        defaults = {key: self._default(bare, key, value) for key, value in by_key.items()}
        self._check_covered(path, defaults)
        self._parameters[name] = replace(bare, defaults=defaults)
        return {
            "name": name,
            "type": bare.type,
            "defaults": defaults,
            "choices": list(choices),
            **limits,
            "help": bare.help,
            "where": where.line,
        }

    def _limit(self, path: contract_yaml.Path, entry: Mapping[str, Any], key: str) -> Any:
        limit = entry.get(key)
        if limit is not None and entry["type"] == "int" and not isinstance(limit, int):
            message = f"{key!r} of an int must be a whole number, not {contract_schema.shown(limit)}"
            self._document.refuse((*path, key), message)
        return limit

    def _check_choices(self, path: contract_yaml.Path, choices: tuple[Scalar, ...]) -> None:
        texts = [as_text(choice) for choice in choices]
        for text in dict.fromkeys(text for text in texts if texts.count(text) > 1):
            message = f"two choices are written {text!r}: a command line could not tell them apart"
            self._document.refuse((*path, "choices"), message)

    def _default(self, parameter: Parameter, key: str, value: Scalar) -> Scalar:
        path = ("parameters", parameter.name, "default", *([key] if key else []))
        known = (HOST, *dict.fromkeys(device.arch for device in self._devices()), *self._data["devices"])
        if key and key not in known:
            message = f"{parameter.name} has a default for {key!r}, which is no arch or device of this design"
            self._document.refuse(path, message, did_you_mean(key, known))
        return self._checked(parameter, value, path, "default ")

    def _checked(self, parameter: Parameter, value: Scalar, path: contract_yaml.Path, prefix: str) -> Scalar:
        """Return the value as the parameter's type has it; what is wrong with it is noted at `path`."""
        try:
            return parameter.check(value)
        except ContractError as error:
            self._document.refuse(path, f"{prefix}{error.message}", error.hint)
            return value

    def _check_covered(self, path: contract_yaml.Path, defaults: Mapping[str, Scalar]) -> None:
        if EVERYWHERE in defaults:
            return
        for device in self._devices():
            if device.name not in defaults and device.arch not in defaults:
                message = f"{path[-1]} has no default for {device.name} or its arch {device.arch}"
                self._document.refuse((*path, "default"), message, f"it has defaults for: {', '.join(defaults)}")

    def _known(self, before: str | None) -> list[str]:
        """Return the names that an expression can use: parameters, and what is derived before `before`."""
        derived = list(self._data.get("derive", {}))
        return ["arch", "device", *self._parameters, *derived[: derived.index(before) if before else 0]]

    def _derived(self, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        path = ("derive", name)
        if name in self._parameters:
            message = f"{name!r} is derived, and declared as a parameter in line {self._line('parameters', name)}"
            self._document.refuse(path, message)
        text = self._expression((*path, "is"), entry["is"], self._known(name)) if "is" in entry else None
        table = self._table(path, entry) if "of" in entry else {}
        return {
            "name": name,
            "expression": text,
            "of": entry.get("of", ""),
            "table": table,
            "where": self._line(*path),
        }

    def _table(self, path: contract_yaml.Path, entry: Mapping[str, Any]) -> dict[str, Scalar]:
        """Return the map of a derived parameter, its keys as the values of `of` are written."""
        source, table = entry["of"], entry["map"]
        known = self._known(str(path[-1]))
        if source not in known:
            self._document.refuse((*path, "of"), f"unknown parameter {source!r}", did_you_mean(source, known))
            return dict(table)
        possible = self._possible(source)
        missing = [value for value in possible if value not in table]
        if missing:
            message = f"'map' has no entry for {source}={', '.join(missing)}"
            self._document.refuse((*path, "map"), message, f"its entries: {', '.join(table)}")
        return {self._table_key(path, source, key, possible): value for key, value in table.items()}

    def _possible(self, source: str) -> list[str]:
        """Return all values of a parameter that has only a few, as text; none where it has many."""
        if source == "arch":
            return [HOST, *dict.fromkeys(device.arch for device in self._devices())]
        if source == "device":
            return list(self._data["devices"])
        parameter = self._parameters.get(source)
        if parameter is None:
            return []
        return ["true", "false"] if parameter.type == "bool" else [as_text(choice) for choice in parameter.choices]

    def _table_key(self, path: contract_yaml.Path, source: str, key: str, possible: list[str]) -> str:
        if possible and key not in possible:
            message = f"'map' has an entry for {source}={key}, which is no value of it"
            self._document.refuse((*path, "map", key), message, did_you_mean(key, possible))
            return key
        parameter = self._parameters.get(source)
        if parameter is None or possible:
            return key
        try:
            return as_text(parameter.from_text(key))
        except ContractError as error:
            self._document.refuse((*path, "map", key), f"'map': {error.message}", error.hint)
            return key

    def _rule(self, position: int, entry: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
        path = ("require", position)
        text = self._expression((*path, "that"), entry["that"], names)
        return {"expression": text, "message": entry["message"], "where": self._line(*path)}

    def _expression(self, path: contract_yaml.Path, value: Scalar, names: list[str]) -> str:
        """Return the text of an expression that can be read and that uses known names only."""
        text = as_text(value)
        try:
            unknown = [name for name in expression.parse(text).names if name not in names]
        except ContractError as error:
            self._document.refuse(path, error.message, error.hint)
            return "0"
        later = self._data.get("derive", {})
        for name in unknown:
            hint = "it is derived further down: move it up" if name in later else did_you_mean(name, names)
            self._document.refuse(path, f"in {text!r}: unknown name {name!r}", hint)
        return text

    def _generator(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return the section with what its defaults need to know: which parameters are derived."""
        derived = list(self._data.get("derive", {}))
        known = [*self._parameters, *derived, *CONTEXT]
        passed = self._passed("options", entry, known) + self._passed("keywords", entry, known)
        if "keywords" in entry:
            for key in ("arguments", "options", "output"):
                if key in entry:
                    message = f"{key!r} is for a script, and 'keywords' for a function: a generator is one of them"
                    self._document.refuse(("generator", key), message)
        for name in entry.get("devices", {}):
            if name not in self._data["devices"]:
                hint = did_you_mean(name, self._data["devices"])
                self._document.refuse(("generator", "devices", name), f"{name!r} is no device of this design", hint)
        if "devices" in entry and ("options" in entry or "keywords" in entry) and "device" not in passed:
            way = "device: --device in 'options'" if "options" in entry else "device: device in 'keywords'"
            message = "'devices' has no effect: the generator is not given the device"
            self._document.refuse(("generator", "devices"), message, f"for example {way}")
        return {**entry, "derived": derived, "where": self._line("generator") if "generator" in self._data else None}

    def _passed(self, section: str, entry: Mapping[str, Any], known: list[str]) -> list[str]:
        """Return the names that a section passes on; each must be known, and its option or keyword its own."""
        mapping: Mapping[str, str] = entry.get(section, {})
        first: dict[str, str] = {}
        for name, word in mapping.items():
            path = ("generator", section, name)
            if name not in known:
                self._document.refuse(path, f"unknown parameter {name!r} in {section!r}", did_you_mean(name, known))
            if keyword.iskeyword(word):
                self._document.refuse(path, f"{word!r} cannot be a keyword", "Python has it for itself")
            other = first.setdefault(word.rstrip("="), name)
            if other != name:
                self._document.refuse(path, f"{other!r} and {name!r} are both passed as {word!r}")
        return list(mapping)

    def _variant(self, name: str, values: Mapping[str, Scalar]) -> dict[str, Any]:
        checked: dict[str, Scalar] = {}
        for key, value in values.items():
            path = ("variants", name, key)
            if key in self._parameters:
                checked[key] = self._checked(self._parameters[key], value, path, f"variant {name!r}: ")
            elif key in self._data.get("derive", {}):
                self._document.refuse(path, f"variant {name!r} sets {key!r}, which is derived")
            else:
                hint = did_you_mean(key, self._parameters) or "the design has no parameters"
                self._document.refuse(path, f"variant {name!r} sets the unknown parameter {key!r}", hint)
        return {"name": name, "values": checked, "where": self._line("variants", name)}
