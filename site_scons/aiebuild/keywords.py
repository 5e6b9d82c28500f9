"""From the keywords that a recipe gives to the frozen values of `aiebuild.model`."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, TypeVar

from aiebuild.errors import RecipeError, did_you_mean
from aiebuild.model import TOP, CoreArchive, CoreObject, Design, MlirModule, Prebuilt
from aiebuild.toolchains.aiecc_options import AieccOptions, check_kinds, make_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.errors import Location
    from aiebuild.model import Defines, Outline

Word = TypeVar("Word", CoreObject, CoreArchive, Prebuilt, MlirModule, Design)


def make(word: type[Word], values: Mapping[str, Any], where: Location) -> Word:
    """Return a word of the recipe from the keywords that a recipe gave it.

    Args:
        word: CoreObject, CoreArchive, Prebuilt or Design.
        values: the keywords, lists and mappings as a recipe writes them.
        where: the line of the recipe.

    Raises:
        RecipeError: for a keyword that the word does not have (with the nearest one), a value of a wrong type, or a
            value that the word's own checks refuse.
    """
    fields = {field.name: field for field in dataclasses.fields(word) if field.name not in {"where", "aiecc"}}
    if word is Design:
        values = _with_options(values, where)
    for key in values:
        if key not in fields and not isinstance(values[key], AieccOptions):
            raise RecipeError(f"{word.__name__} has no {key!r}", where, did_you_mean(key, _words_of(word, fields)))
    required = (name for name, field in fields.items() if field.default is dataclasses.MISSING)
    for name in required:
        if name not in values:
            raise RecipeError(f"{word.__name__} needs {name!r}", where)
    settled: dict[str, Any] = {key: _settle(word.__name__, key, value, where) for key, value in values.items()}
    return word(**settled, where=where)


def _with_options(values: Mapping[str, Any], where: Location) -> Mapping[str, Any]:
    """Return a design's keywords with those that are options of aiecc gathered in one."""
    names = {item.name for item in dataclasses.fields(AieccOptions)}
    plain = {name: value for name, value in values.items() if name not in names}
    return plain | {"aiecc": make_options({name: value for name, value in values.items() if name in names}, where)}


def _words_of(word: type, fields: Mapping[str, object]) -> list[str]:
    options = dataclasses.fields(AieccOptions) if word is Design else ()
    return [*fields, *(item.name for item in options)]


_LISTS = frozenset({"functions", "include_dirs", "flags", "sources", "host_sources"})


def _settle(word: str, key: str, value: object, where: Location) -> object:
    """Return a keyword's value in the frozen form that the dataclasses hold."""
    if key == "defines":
        return _settle_defines(word, value, where)
    if key == "outputs":
        return check_kinds(_settle_list(word, key, value, where), where)
    if key == "aiecc":
        return value
    if key == "outline":
        return _settle_outline(word, value, where)
    if key in {"link_with", "imports"}:
        if isinstance(value, (list, tuple)):
            return tuple(value)
        return (value,)
    if key in {"inline", "pretty", "stable_uuid"}:
        return _settle_switch(word, key, value, where)
    if key in _LISTS:
        return _settle_list(word, key, value, where)
    if value is not None and not isinstance(value, str):
        raise RecipeError(f"{word}: {key} is a text, not {value!r}", where)
    return value


def _settle_switch(word: str, key: str, value: object, where: Location) -> bool:
    if isinstance(value, bool):
        return value
    raise RecipeError(f"{word}: {key} is True or False, not {value!r}", where)


def _settle_outline(word: str, value: object, where: Location) -> Outline:
    """Return what is cut out, as pairs of a function and its requests; a request is one stage, or first and last."""
    cuts = value if isinstance(value, dict) else {TOP: value}
    settled = []
    for function, requests in cuts.items():
        if not isinstance(function, str) or not isinstance(requests, (list, tuple)):
            hint = 'outline=["stage", ("first", "last")], or outline={"function": [...]}'
            raise RecipeError(f"{word}: outline is a list of stages, not {value!r}", where, hint)
        settled.append((function, tuple(_settle_request(word, item, where) for item in requests)))
    return tuple(pair for pair in settled if pair[1])


def _settle_request(word: str, item: object, where: Location) -> tuple[str, ...]:
    if isinstance(item, str):
        return (item,)
    if isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(name, str) for name in item):
        return tuple(item)
    raise RecipeError(f"{word}: {item!r} is neither a stage nor a range of two", where, '"stage" or ("first", "last")')


def _settle_list(word: str, key: str, value: object, where: Location) -> tuple[str, ...]:
    if isinstance(value, str):
        raise RecipeError(f"{word}: {key} is a list, not the text {value!r}", where, f"{key}=[{value!r}]")
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise RecipeError(f"{word}: {key} is a list of texts, not {value!r}", where)
    return tuple(value)


def _settle_defines(word: str, value: object, where: Location) -> Defines:
    if not isinstance(value, dict):
        message = f"{word}: defines is a mapping, not {value!r}"
        raise RecipeError(message, where, 'defines={"DIM_M": 32}')
    return tuple((_define_name(name, where), _define_value(item)) for name, item in value.items())


def _define_name(name: object, where: Location) -> str:
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w*(\(.*\))?", name):
        return name
    raise RecipeError(f"defines: {name!r} is not a name that the preprocessor accepts", where)


def _define_value(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(int(value))
    return str(value)
