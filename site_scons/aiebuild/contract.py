"""A design's contract (`design.yaml`) as a value: what it is, its devices, parameters, rules and variants.

Reading YAML and checking it against the schema (`contract_reader.py`) is slow beside a build that has nothing
to do, so that a contract which has been read once is remembered by its content.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import expression
from aiebuild.errors import ContractError, Location, OptionError, did_you_mean
from aiebuild.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aiebuild.expression_tree import Scalar
    from aiebuild.settle import Settled

EVERYWHERE = ""
"""The key of a default that holds for every arch and device."""

_READERS = (
    "contract.py",
    "contract_reader.py",
    "contract_schema.py",
    "contract_yaml.py",
    "design.schema.json",
    "devices.py",
    "expression.py",
    "expression_tree.py",
)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,59}")
_INT = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,38}|0[xX][0-9a-fA-F]{1,32})")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_BOOL = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_FORM = {
    "int": "a whole number such as 16 or 0x10",
    "float": "a number such as 0.5 or 1e-3",
    "bool": "one of: 1, true, yes, 0, false, no",
}


class ContractErrors(ContractError):  # noqa: N818 - the plural says what it is
    """Several things that are wrong with one contract, or with the parameters given for it."""

    def __init__(self, errors: Sequence[ContractError]) -> None:
        super().__init__(errors[0].message, errors[0].where, errors[0].hint)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        """Return one message after the other."""
        return "\n".join(str(error) for error in self.errors)


def raise_all(errors: Sequence[ContractError]) -> None:
    """Raise what was found wrong, if anything: one error as itself, several in the order of their lines."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ContractErrors(sorted(errors, key=lambda error: error.where.line or 0 if error.where else 0))


def as_text(value: Scalar) -> str:
    """Return a value as a command line, a folder's name and a message write it; booleans in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Parameter:
    """A declared parameter.

    `type` is `int`, `float`, `bool`, `string` or `choice`. `defaults` are by arch or device, or `EVERYWHERE`.
    """

    name: str
    type: str
    defaults: Mapping[str, Scalar]
    choices: tuple[Scalar, ...] = ()
    min: int | float | None = None
    max: int | float | None = None
    multiple_of: int | None = None
    help: str = ""
    where: Location = field(default=Location("design.yaml"))

    def default(self, *keys: str) -> Scalar:
        """Return the default for the first of the keys (the device, then its arch) that has one.

        Raises:
            ContractError: none of them has one.
        """
        for key in (*keys, EVERYWHERE):
            if key in self.defaults:
                return self.defaults[key]
        message = f"{self.name} has no default for {' or '.join(dict.fromkeys(keys))}"
        raise ContractError(message, self.where, f"it has defaults for: {', '.join(self.defaults)}")

    def from_text(self, text: str) -> Scalar:
        """Return the value that a command line means, of the parameter's type and within its range.

        Raises:
            ContractError: there is no such value; the location is the parameter's.
        """
        if self.type == "choice":
            matching = [choice for choice in self.choices if as_text(choice) == text]
            return matching[0] if matching else self.check(text)
        if self.type == "string":
            return self.check(text)
        word = text.strip()
        if self.type == "bool" and word.lower() in _BOOL:
            return _BOOL[word.lower()]
        if self.type == "int" and _INT.fullmatch(word):
            return self.check(int(word, 16 if "x" in word.lower() else 10))
        if self.type == "float" and _FLOAT.fullmatch(word) and math.isfinite(number := float(word)):
            return self.check(number)
        raise ContractError(f"{self.name}={text} is not {self._a_type}", self.where, _FORM[self.type])

    def check(self, value: Scalar) -> Scalar:
        """Return the value (a whole number as a float, where floats are asked for).

        Raises:
            ContractError: it is of another type, no choice, or out of range; the location is the parameter's.
        """
        shown = f"{self.name}={as_text(value)}"
        if self.type == "choice":
            if not any(type(value) is type(choice) and value == choice for choice in self.choices):
                choices = ", ".join(as_text(choice) for choice in self.choices)
                raise ContractError(f"{shown} is not one of its choices", self.where, f"choices: {choices}")
            return value
        if self.type == "float" and type(value) is int:
            value = float(value)
        if type(value).__name__ != {"string": "str"}.get(self.type, self.type):
            quote = "write it in quotes" if self.type == "string" else _FORM[self.type]
            raise ContractError(f"{shown} is not {self._a_type}", self.where, quote)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._check_range(value, shown)
        return value

    @property
    def _a_type(self) -> str:
        return f"an {self.type}" if self.type == "int" else f"a {self.type}"

    def _check_range(self, value: float, shown: str) -> None:
        if self.min is not None and value < self.min:
            raise ContractError(f"{shown} is below its minimum {self.min}", self.where)
        if self.max is not None and value > self.max:
            raise ContractError(f"{shown} is above its maximum {self.max}", self.where)
        if self.multiple_of is not None and value % self.multiple_of:
            raise ContractError(f"{shown} is not a multiple of {self.multiple_of}", self.where)


@dataclass(frozen=True)
class Derived:
    """A parameter that is computed: by an expression, or by a table from the text of another's value."""

    name: str
    expression: expression.Expression | None = None
    of: str = ""
    table: Mapping[str, Scalar] = field(default_factory=dict)
    where: Location = field(default=Location("design.yaml"))


@dataclass(frozen=True)
class Rule:
    """What must hold between parameters, and what to say where it does not."""

    expression: expression.Expression
    message: str
    where: Location


@dataclass(frozen=True)
class Variant:
    """A named set of parameters."""

    name: str
    values: Mapping[str, Scalar]
    where: Location


@dataclass(frozen=True)
class Generator:
    """How a Python generator of the design's MLIR gets the parameters; `aiebuild.generate.mapping` does it.

    Args:
        arguments: words of the command line that are always the same.
        options: the option of each parameter (or of `arch`, `device`, `design`, `mode`) that a script is given.
        output: the option that names the file to write; empty for a script that prints its MLIR.
        keywords: the keyword of each parameter that a function is given; None for all, under their own names.
        devices: what the generator calls devices, where it is not their own name.
        search: folders that it imports modules from after its own, relative to the project.
        derived: the parameters that are derived; by default a function gets them only where it names them.
        file: the contract, for messages.
        where: the line of the section; no part of what is written for a step, since a moved line changes nothing.
    """

    arguments: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    keywords: Mapping[str, str] | None = None
    devices: Mapping[str, str] = field(default_factory=dict)
    search: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    file: str = ""
    where: Location | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the content of the generator file of a step."""
        names = ("arguments", "options", "output", "keywords", "devices", "search", "derived", "file")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Generator:
        """Return the generator of a generator file, or of a contract's record (that has the line too).

        Raises:
            TypeError: the record is not that of a generator.
        """
        lists = {name: tuple(record[name]) for name in ("arguments", "search", "derived") if name in record}
        line = record.get("where")
        return cls(**{**record, **lists, "where": Location(record["file"], line) if line else None})


@dataclass(frozen=True)
class Contract:
    """A `design.yaml` that has been read and found right.

    `sequences` are the names of the runtime sequences, empty for a design with a single one that needs none.
    `arguments` are names and meanings, in the order of the sequences' arguments. `lines` are those of the
    file's top-level keys.
    """

    name: str
    file: str
    description: str
    devices: tuple[str, ...]
    version: str = ""
    parameters: tuple[Parameter, ...] = ()
    derived: tuple[Derived, ...] = ()
    rules: tuple[Rule, ...] = ()
    variants: tuple[Variant, ...] = ()
    sequences: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    run_timeout: float = 60.0
    generator: Generator = field(default=Generator())
    lines: Mapping[str, int] = field(default_factory=dict)

    def where(self, key: str = "") -> Location:
        """Return the line of a top-level key; the file alone, where it has none."""
        return Location(self.file, self.lines.get(key))

    @property
    def variant_names(self) -> tuple[str, ...]:
        """The names of the variants, in the order of the file."""
        return tuple(variant.name for variant in self.variants)

    def settle(
        self,
        *,
        arch: str,
        device: str | None = None,
        variant: str | None = None,
        given: Mapping[str, str] | None = None,
        said_by: str = "the command line",
        reserved: Sequence[str] | None = None,
    ) -> Settled:
        """Return the configuration that a command line asks for; see `aiebuild.settle.settle`."""
        from aiebuild.settle import settle  # noqa: PLC0415 - that module needs this one

        return settle(
            self,
            arch=arch,
            device=device,
            variant=variant,
            given=given or {},
            said_by=said_by,
            reserved=reserved,
        )


def load(path: Path, *, cache: Path | None = None, reserved: frozenset[str] = frozenset()) -> Contract:
    """Return the contract of a design.

    Args:
        path: its `design.yaml`; the name of the folder that holds it is the design's name.
        cache: a folder in which contracts that have been read are remembered by content; none when left out.
        reserved: names that the command line has a meaning for, so that no parameter can have them.

    Raises:
        ContractError: the folder's name is none, or the file is missing or wrong: each fault with its line
            (`ContractErrors` if several).
    """
    name = path.absolute().parent.name
    if not _NAME.fullmatch(name):
        hint = "letters, digits and _ . + -, beginning with a letter, a digit or _; 60 at most"
        raise ContractError(f"the folder's name {name!r} cannot be the name of a design", Location(str(path)), hint)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ContractError(f"cannot be read: {error.strerror}", Location(str(path))) from None
    known = cache / f"{_key(content)}.json" if cache else None
    contract = _remembered(known, path) if known else None
    if contract is None:
        from aiebuild import contract_reader  # noqa: PLC0415 - slow to import, and rarely needed

        record = contract_reader.read(content, str(path))
        contract = _from_record(record, path)
        if known:
            write_atomically(known, json.dumps(record, separators=(",", ":")))
    _refuse_reserved(contract, reserved)
    return contract


def find(root: Path) -> dict[str, Path]:
    """Return the contracts of a project's designs, by name."""
    return {path.parent.name: path for path in sorted(root.glob("designs/*/design.yaml"))}


def require(names: Iterable[str], found: Mapping[str, Path]) -> None:
    """Refuse a project without designs, and names that no design has.

    Raises:
        OptionError: with the nearest name.
    """
    if not found:
        hint = "a design is a folder designs/<name>/ with a design.yaml"
        raise OptionError("there is no design here", hint=hint)
    for name in names:
        if name not in found:
            raise OptionError(f"unknown design {name!r}", hint=did_you_mean(name, found))


def _key(content: bytes) -> str:
    """Return what identifies a contract's record: its bytes, and the sources that turn them into a record."""
    digest = hashlib.sha256(content)
    folder = Path(__file__).parent
    for name in _READERS:
        digest.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return digest.hexdigest()


def _remembered(known: Path, path: Path) -> Contract | None:
    """Return the contract of a record that was kept; None where there is none, or a damaged one."""
    try:
        return _from_record(json.loads(known.read_bytes()), path)
    except (OSError, ValueError, KeyError, TypeError, ContractError):
        return None


def _from_record(record: Mapping[str, Any], path: Path) -> Contract:
    """Return the contract of a record (`contract_reader.read` says its form)."""
    file = str(path)

    def located(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**entry, "where": Location(file, entry["where"])}

    def parsed(entry: Mapping[str, Any]) -> dict[str, Any]:
        text = entry["expression"]
        return {**located(entry), "expression": None if text is None else expression.parse(text)}

    plain = ("description", "version", "arguments", "run_timeout", "lines")
    return Contract(
        name=path.absolute().parent.name,
        file=file,
        devices=tuple(record["devices"]),
        parameters=tuple(
            Parameter(**{**located(entry), "choices": tuple(entry["choices"])}) for entry in record["parameters"]
        ),
        derived=tuple(Derived(**parsed(entry)) for entry in record["derived"]),
        rules=tuple(Rule(**parsed(entry)) for entry in record["rules"]),
        variants=tuple(Variant(**located(entry)) for entry in record["variants"]),
        sequences=tuple(record["sequences"]),
        generator=Generator.from_json({**record["generator"], "file": file}),
        **{name: record[name] for name in plain},
    )


def _refuse_reserved(contract: Contract, reserved: frozenset[str]) -> None:
    raise_all(
        [
            ContractError(
                f"a parameter cannot be called {parameter.name!r}: the command line has that name for itself",
                parameter.where,
                "choose another name",
            )
            for parameter in contract.parameters
            if parameter.name in reserved
        ]
    )
