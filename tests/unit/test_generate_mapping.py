"""What a contract says of its generator, and what the generator is given for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiebuild import contract
from aiebuild.contract import ContractErrors, Generator
from aiebuild.errors import ContractError
from aiebuild.generate import mapping
from hypothesis import given
from hypothesis import strategies as st

BEGIN = """\
description: d
devices: [npu1_1col, npu2_1col]
parameters:
  rows: {type: int, default: 4}
  trace: {type: bool, default: false}
derive:
  cells: {is: rows * 8}
"""
OPTION = (
    "A dash or two, then letters, digits, dashes and underscores: -M, --rows. With = at its end it is joined to the "
    "value."
)
NO_EFFECT = "'devices' has no effect: the generator is not given the device"


def parameters(**values: Any) -> dict[str, Any]:
    return {"arch": "aie2p", "device": "npu2_1col", "design": "d", "mode": "debug", "parameters": values}


def load(section: str) -> contract.Contract:
    path = Path("designs/d/design.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BEGIN + section)
    return contract.load(path)


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_options_come_in_the_contracts_order_after_the_fixed_words() -> None:
    generator = Generator(arguments=("--emit-mlir",), options={"N": "-N", "device": "-d", "M": "--rows"})
    words = mapping.argv(parameters(M=512, N=64), generator)
    assert words == ("--emit-mlir", "-N", "64", "-d", "npu2_1col", "--rows", "512")


def test_a_boolean_is_a_flag_that_is_there_when_it_is_true() -> None:
    generator = Generator(options={"trace": "--trace", "fast": "-f"})
    assert mapping.argv(parameters(trace=True, fast=False), generator) == ("--trace",)


def test_an_option_that_ends_with_an_equals_sign_is_joined_to_its_value() -> None:
    generator = Generator(options={"M": "--rows=", "trace": "--trace=", "low": "--low="})
    words = mapping.argv(parameters(M=512, trace=False, low=-0.5), generator)
    assert words == ("--rows=512", "--trace=false", "--low=-0.5")


def test_a_device_goes_by_the_generators_name_where_it_has_one() -> None:
    generator = Generator(options={"device": "-d", "arch": "-a", "mode": "-m"}, devices={"npu2_1col": "npu2"})
    assert mapping.argv(parameters(), generator) == ("-d", "npu2", "-a", "aie2p", "-m", "debug")
    other = {**parameters(), "device": "npu1_1col"}
    assert mapping.argv(other, generator)[:2] == ("-d", "npu1_1col")


@pytest.mark.parametrize(("option", "expected"), [("--output", ("--output", "x")), ("-o=", ("-o=x",)), ("", ())])
def test_the_output_is_named_by_its_option(option: str, expected: tuple[str, ...]) -> None:
    assert mapping.output_option(option, "x") == expected


def test_a_function_gets_every_parameter_and_is_offered_what_follows_from_them() -> None:
    generator = Generator(derived=("cells",), devices={"npu2_1col": "npu2"})
    given_ = parameters(rows=4, trace=True, cells=32)
    assert mapping.keywords(given_, generator) == {"rows": 4, "trace": True}
    context = {"arch": "aie2p", "device": "npu2", "design": "d", "mode": "debug"}
    assert mapping.offers(given_, generator) == {"cells": 32, **context}


def test_a_function_gets_no_more_than_the_keywords_of_the_contract() -> None:
    generator = Generator(keywords={"cells": "n", "device": "dev"}, derived=("cells",))
    given_ = parameters(rows=4, cells=32)
    assert mapping.keywords(given_, generator) == {"n": 32, "dev": "npu2_1col"}
    assert mapping.offers(given_, generator) == {}


@given(st.dictionaries(st.from_regex(r"[A-Z]{1,3}\Z"), st.integers() | st.text() | st.floats(allow_nan=False)))
def test_a_change_of_any_value_that_is_passed_changes_the_command_line(values: dict[str, Any]) -> None:
    generator = Generator(options={name: f"--{name}" for name in values})
    words = mapping.argv(parameters(**values), generator)
    assert dict(zip(words[::2], words[1::2], strict=True)) == {f"--{name}": str(it) for name, it in values.items()}


@pytest.mark.parametrize(
    ("mlir", "expected"),
    [
        ("x.py", ("x.py", "")),
        ("designs/x/x.py:build", ("designs/x/x.py", "build")),
        ("x.mlir.j2", ("x.mlir.j2", "")),
        ("a:b.py", ("a:b.py", "")),
    ],
)
def test_a_colon_after_the_script_names_a_function(mlir: str, expected: tuple[str, str]) -> None:
    assert mapping.split(mlir) == expected


@pytest.mark.parametrize("name", ["arguments", "options", "output"])
def test_what_is_for_a_script_is_refused_where_the_recipe_names_a_function(name: str) -> None:
    values: dict[str, Any] = {"arguments": ("-v",), "options": {"M": "-M"}, "output": "-o"}
    generator = Generator(**{name: values[name]}, file="designs/d/design.yaml")
    mapping.check(generator, "")
    with pytest.raises(ContractError, match=f"'{name}' of 'generator' is for a script") as caught:
        mapping.check(generator, "build")
    assert str(caught.value).startswith("designs/d/design.yaml: ")


def test_keywords_are_refused_where_the_recipe_names_a_script() -> None:
    mapping.check(Generator(keywords={}), "build")
    with pytest.raises(ContractError, match="'keywords' are for a function"):
        mapping.check(Generator(keywords={}), "")


def test_a_contract_without_the_section_says_what_is_derived() -> None:
    assert load("").generator == Generator(derived=("cells",), file="designs/d/design.yaml")


def test_a_moved_section_is_the_same_generator_for_a_step() -> None:
    section = "generator: {options: {rows: -r}, search: [python]}\n"
    first, moved = load(section).generator, load(f"# a comment\n{section}").generator
    assert first.where != moved.where
    assert json.dumps(first.to_json()) == json.dumps(moved.to_json())
    assert Generator.from_json(json.loads(json.dumps(first.to_json()))).options == {"rows": "-r"}


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("[rows]", "8: 'generator' must be a mapping, not a list"),
        ("{option: {rows: -r}}", "8: unknown key 'option' in 'generator' | did you mean 'options'?"),
        ("\n  options:\n    row: -r", "10: unknown parameter 'row' in 'options' | did you mean 'rows'?"),
        ("\n  keywords:\n    cell: n", "10: unknown parameter 'cell' in 'keywords' | did you mean 'cells'?"),
        ("{options: {rows: r}}", f"8: 'r' cannot be an option | {OPTION}"),
        (
            "{keywords: {rows: a-b}}",
            "8: 'a-b' cannot be a keyword | Letters, digits and underscores; the first one is no digit.",
        ),
        ("{keywords: {rows: lambda}}", "8: 'lambda' cannot be a keyword | Python has it for itself"),
        ("{options: {rows: -r, cells: -r=}}", "8: 'rows' and 'cells' are both passed as '-r='"),
        (
            "\n  keywords: {rows: n}\n  output: -o",
            "10: 'output' is for a script, and 'keywords' for a function: a generator is one of them",
        ),
        (
            "{options: {device: -d}, devices: {npu2: x}}",
            "8: 'npu2' is no device of this design | did you mean 'npu2_1col'?",
        ),
        (
            "\n  options: {rows: -r}\n  devices: {npu2_1col: npu2}",
            f"10: {NO_EFFECT} | for example device: --device in 'options'",
        ),
        ("{arguments: [1]}", "8: the entry must be a string, not the number 1 | write it in quotes"),
        ("{options: {}}", "8: 'options' must not be empty"),
    ],
)
def test_what_a_contract_gets_wrong_about_its_generator(section: str, expected: str) -> None:
    with pytest.raises(ContractError) as caught:
        load(f"generator: {section}\n")
    assert not isinstance(caught.value, ContractErrors), caught.value
    error = caught.value
    said = f"{error.where and error.where.line}: {error.message}" + (f" | {error.hint}" if error.hint else "")
    assert said == expected
