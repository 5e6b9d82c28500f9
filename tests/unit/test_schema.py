"""What is taken to fit a schema without jsonschema does fit it, and what is right is not left to jsonschema."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import packages
import pytest
import yaml
from aiebuild.manifest import SCHEMA
from aiebuild.schema import fits
from hypothesis import given
from hypothesis import strategies as st
from projects import PACKAGE, REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTRACT = json.loads((PACKAGE / "aiebuild" / "design.schema.json").read_text())
MANIFEST = json.loads(SCHEMA.read_text())
FULL = """\
description: everything
version: 1.0.0
devices: [npu1_1col, npu2]
parameters:
  M: {type: int, default: 512, min: 1, max: 4096, multiple_of: 4, help: rows}
  scale: {type: float, default: {host: 0.5, aie2: 2}, min: -1.5}
  dtype: {type: choice, choices: [i8, 1, true], default: i8}
  fast: {type: bool, default: true}
derive:
  half: {is: M // 2}
  wide: {of: dtype, map: {i8: i32}}
require: [{that: M % 2 == 0, message: M must be even}]
variants: {small: {M: 64}}
sequences: [main, other-1]
arguments: {A: left}
run_timeout: 1.5
generator: {arguments: [-v], options: {M: --rows=}, output: -o, keywords: {M: rows}, devices: {npu2: two}, search: [a]}
"""
CONTRACTS = [yaml.safe_load(path.read_text()) for path in sorted(REPOSITORY.glob("designs/*/design.yaml"))]
RIGHT = [
    *((CONTRACT, document) for document in (yaml.safe_load(FULL), *CONTRACTS)),
    *((MANIFEST, made.manifest.to_record()) for made in (packages.npu(), packages.host(), packages.npu(check=None))),
]
KEYS = st.sampled_from(
    ["M", "type", "default", "choices", "min", "max", "multiple_of", "is", "of", "map", "0bad", "x", 1]
)
LEAVES = st.one_of(
    st.sampled_from(
        ["", "int", "float", "bool", "choice", "../up", "/abs", "0" * 64, "a b", "-M", "release", "in", "é"]
    ),
    st.integers(-2, 3),
    st.sampled_from([0.0, 1.0, 1.5, -1.0]),
    st.booleans(),
    st.none(),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=4
)


def places(value: Any) -> Iterator[Any]:
    """Give every list and mapping in a value."""
    if isinstance(value, (list, dict)):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from places(each)


@given(data=st.data(), right=st.sampled_from(RIGHT))
def test_what_fits_is_right_to_jsonschema(data: st.DataObject, right: tuple[Any, Any]) -> None:
    schema, document = right[0], copy.deepcopy(right[1])
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from([each for each in places(document) if each]))
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        change = data.draw(st.sampled_from(["other value", "gone", "new"]))
        if change == "gone":
            del place[key]
        elif change == "other value":
            place[key] = data.draw(VALUES)
        elif isinstance(place, dict):
            place[data.draw(KEYS)] = data.draw(VALUES)
        else:
            place.append(copy.deepcopy(place[key]))
    if fits(document, schema):
        jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: str(right[1].get("description")))
def test_what_is_right_is_known_to_fit(right: tuple[Any, Any]) -> None:
    assert fits(right[1], right[0])


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (1, {"multipleOf": 1}),
        (1, {"type": "decimal"}),
        (1, {"$ref": "#/$defs/nowhere"}),
        ([1], {"const": [1]}),
        ([1, 2], {"uniqueItems": True}),
        (1, {"not": {"multipleOf": 2}}),
        (1, {"if": {"const": 1}, "then": {}, "else": {}}),
    ],
)
def test_what_is_not_known_here_is_not_said_to_fit(value: object, schema: dict[str, Any]) -> None:
    assert not fits(value, schema)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (True, {"const": 1}),
        (1, {"enum": [True]}),
        (True, {"type": ["integer", "number"]}),
        (1.5, {"type": "integer"}),
        (0, {"exclusiveMinimum": 0}),
        (-1, {"minimum": 0}),
        ("ab", {"maxLength": 1}),
        (["a", "a"], {"uniqueItems": True}),
        ({"a": 1}, {"oneOf": [{}, {"required": ["a"]}]}),
        ({"b": 1}, {"properties": {"a": {}}, "additionalProperties": False}),
        ({"0": 1}, {"propertyNames": {"pattern": "^[a-z]"}}),
        (1, {"if": {"const": 1}, "then": {"type": "string"}}),
        ([], {"minItems": 1}),
        ({}, {"minProperties": 1}),
        ("", {"minLength": 1}),
        (None, {"anyOf": [{"type": "string"}, {"type": "boolean"}]}),
    ],
)
def test_what_is_wrong_does_not_fit(value: object, schema: dict[str, Any]) -> None:
    assert not jsonschema.Draft202012Validator(schema).is_valid(value)
    assert not fits(value, schema)


def test_a_contract_that_is_right_is_read_without_jsonschema() -> None:
    program = (
        "import pathlib, sys\nfrom aiebuild.contract import load\n"
        "load(pathlib.Path('designs/matmul/design.yaml'))\nprint('jsonschema' in sys.modules)"
    )
    environment = {"PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
