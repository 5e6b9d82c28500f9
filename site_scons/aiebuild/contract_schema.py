"""What the schema of `design.yaml` refuses, in our own words and with the line of the file."""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any, cast

import jsonschema

from aiebuild.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.contract_yaml import Document, Path

_TYPES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}

_DERIVED = "for example: {is: M // m}, {of: dtype, map: {i8: i32}}"

_ONLY_FOR = {
    "choices": "type: choice",
    "multiple_of": "type: int",
    "min": "type: int and type: float",
    "max": "type: int and type: float",
}


def check(document: Document) -> None:
    """Note in the document everything in it that does not fit `design.schema.json`."""
    schema = json.loads((pathlib.Path(__file__).parent / "design.schema.json").read_bytes())
    faults: Iterator[jsonschema.ValidationError] = jsonschema.Draft202012Validator(schema).iter_errors(document.data)
    for fault in faults:
        for path, message, hint in _said(fault):
            document.refuse(path, message, hint)


def _said(fault: jsonschema.ValidationError) -> Iterator[tuple[Path, str, str]]:
    """Yield path, message and hint for each thing that one fault of the schema stands for."""
    path: Path = tuple(fault.absolute_path)
    if "propertyNames" in fault.absolute_schema_path:
        # Then the instance is a key, and the path that of the mapping which has it.
        path = (*path, str(fault.instance))
    name = f"{path[-1]!r}" if path and isinstance(path[-1], str) else "the entry" if path else "the contract"
    rule, instance, wanted = fault.validator, cast("Any", fault.instance), cast("Any", fault.validator_value)
    schema = cast("dict[str, Any]", fault.schema)
    if rule == "additionalProperties":
        known = schema["properties"]
        for key in instance:
            if key not in known:
                yield (*path, key), f"unknown key {key!r}{_inside(path)}", did_you_mean(key, known)
    elif rule == "required":
        missing = [key for key in wanted if key not in instance]
        # The library yields one fault for each missing key; its message begins with the key.
        key = next(key for key in missing if fault.message.startswith(repr(key)))
        yield path, f"{key!r} is missing{_inside(path)}", ""
    else:
        yield path, *_said_of_value(fault, name)


def _said_of_value(fault: jsonschema.ValidationError, name: str) -> tuple[str, str]:
    """Return message and hint for a fault of one value."""
    rule, wanted, found = fault.validator, cast("Any", fault.validator_value), cast("Any", fault.instance)
    schema = cast("dict[str, Any]", fault.schema)
    if rule == "type":
        return _wrong_type(name, wanted, found)
    if rule == "enum":
        return f"{name} cannot be {shown(found)}", did_you_mean(str(found), wanted)
    if rule == "pattern":
        return f"{found!r} cannot be {schema.get('title', 'a name')}", schema["description"]
    if rule == "uniqueItems":
        twice = next(entry for entry in found if found.count(entry) > 1)
        return f"{name} has {shown(twice)} twice", ""
    if rule == "oneOf":
        return f"{name} must say either 'is', or 'of' and 'map'", _DERIVED
    if rule == "exclusiveMinimum":
        return f"{name} must be greater than {wanted}, not {shown(found)}", ""
    if rule in {"minItems", "minProperties", "minLength"}:
        return f"{name} must not be empty", ""
    return f"{name} is not for this type of parameter", f"it is for {_ONLY_FOR[str(found)]}"


def _wrong_type(name: str, wanted: str | list[str], found: object) -> tuple[str, str]:
    allowed = [wanted] if isinstance(wanted, str) else wanted
    names = [_TYPES[kind] for kind in allowed if not (kind == "integer" and "number" in allowed)]
    stated = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    hint = "write it in quotes" if allowed == ["string"] and isinstance(found, (int, float)) else ""
    return f"{name} must be {stated}, not {shown(found)}", hint


def shown(value: object) -> str:
    """Return a value of the file with its kind, as a message says it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the string {value!r}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a mapping"


def _inside(path: Path) -> str:
    return f" in {'.'.join(str(part) for part in path)!r}" if path else ""
