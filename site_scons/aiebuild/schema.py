"""Whether a value fits one of this package's JSON schemas: an answer for the usual case, in which all is well.

Loading jsonschema takes longer than many a step, so it is asked only for what is wrong. The keywords here are those of
our schemas and mean what they mean there; a schema or value with anything else is left to jsonschema as well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Schema = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


class _UndecidedError(Exception):
    """The value has something that is not compared here."""


def fits(value: object, schema: Schema) -> bool:
    """Return whether a value is sure to fit a schema; where not, jsonschema says what is wrong, or that all is well."""
    try:
        return _Judge(schema).fits(value, schema)
    except (_UndecidedError, KeyError):
        # The latter: a keyword, a type or a reference that is not known here.
        return False


class _Judge:
    """Applies the rules of a schema; exact, so that `not` and `if` can be trusted too, or undecided."""

    def __init__(self, root: Schema) -> None:
        self._definitions = root.get("$defs", {})

    def fits(self, value: Any, schema: Schema) -> bool:
        return all(_RULES[name](self, value, schema) for name in schema if name not in _NOTES)

    def _reference(self, value: Any, schema: Schema) -> bool:
        return self.fits(value, self._definitions[schema["$ref"].removeprefix("#/$defs/")])

    def _all_of(self, value: Any, schema: Schema) -> bool:
        return all(self.fits(value, each) for each in schema["allOf"])

    def _any_of(self, value: Any, schema: Schema) -> bool:
        return any(self.fits(value, each) for each in schema["anyOf"])

    def _one_of(self, value: Any, schema: Schema) -> bool:
        return sum(self.fits(value, each) for each in schema["oneOf"]) == 1

    def _not(self, value: Any, schema: Schema) -> bool:
        return not self.fits(value, schema["not"])

    def _if(self, value: Any, schema: Schema) -> bool:
        return not self.fits(value, schema["if"]) or self.fits(value, schema["then"])

    def _properties(self, value: Any, schema: Schema) -> bool:
        known = schema["properties"]
        return not isinstance(value, dict) or all(self.fits(value[key], known[key]) for key in known if key in value)

    def _additional(self, value: Any, schema: Schema) -> bool:
        rest, known = schema["additionalProperties"], schema.get("properties", {})
        others = [each for key, each in value.items() if key not in known] if isinstance(value, dict) else []
        return not others if rest is False else all(self.fits(each, rest) for each in others)

    def _names(self, value: Any, schema: Schema) -> bool:
        return not isinstance(value, dict) or all(self.fits(key, schema["propertyNames"]) for key in value)

    def _items(self, value: Any, schema: Schema) -> bool:
        return not isinstance(value, list) or all(self.fits(each, schema["items"]) for each in value)


def _type(_judge: _Judge, value: Any, schema: Schema) -> bool:
    wanted = schema["type"]
    return any(_is_a(value, name) for name in ([wanted] if isinstance(wanted, str) else wanted))


def _is_a(value: Any, name: str) -> bool:
    if isinstance(value, float) and name == "integer":
        return value.is_integer()
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _is_one_of(value: Any, known: list[Any]) -> bool:
    """Return whether a scalar is among some; `true` and 1 are two."""
    if isinstance(value, (dict, list)):
        raise _UndecidedError
    return any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in known)


def _is_unique(_judge: _Judge, value: Any, schema: Schema) -> bool:
    if not isinstance(value, list) or not schema["uniqueItems"]:
        return True
    if not all(isinstance(each, str) for each in value):
        raise _UndecidedError
    return len(set(value)) == len(value)


_NOTES = frozenset(("$defs", "$schema", "description", "examples", "then", "title"))
"""What demands nothing by itself."""

_RULES: Mapping[str, Callable[[_Judge, Any, Schema], bool]] = {
    "$ref": _Judge._reference,
    "additionalProperties": _Judge._additional,
    "allOf": _Judge._all_of,
    "anyOf": _Judge._any_of,
    "const": lambda _judge, value, schema: _is_one_of(value, [schema["const"]]),
    "enum": lambda _judge, value, schema: _is_one_of(value, schema["enum"]),
    "exclusiveMinimum": lambda _judge, value, schema: not _is_a(value, "number") or value > schema["exclusiveMinimum"],
    "if": _Judge._if,
    "items": _Judge._items,
    "maxLength": lambda _judge, value, schema: not isinstance(value, str) or len(value) <= schema["maxLength"],
    "minItems": lambda _judge, value, schema: not isinstance(value, list) or len(value) >= schema["minItems"],
    "minLength": lambda _judge, value, schema: not isinstance(value, str) or len(value) >= schema["minLength"],
    "minProperties": lambda _judge, value, schema: not isinstance(value, dict) or len(value) >= schema["minProperties"],
    "minimum": lambda _judge, value, schema: not _is_a(value, "number") or value >= schema["minimum"],
    "not": _Judge._not,
    "oneOf": _Judge._one_of,
    "pattern": lambda _judge, value, schema: not isinstance(value, str) or bool(re.search(schema["pattern"], value)),
    "properties": _Judge._properties,
    "propertyNames": _Judge._names,
    "required": lambda _judge, value, schema: not isinstance(value, dict) or value.keys() >= set(schema["required"]),
    "type": _type,
    "uniqueItems": _is_unique,
}
