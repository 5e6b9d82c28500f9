from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild.contract import Contract, ContractErrors, load
from aiebuild.errors import ContractError
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.settle import Settled

FILE = "designs/matmul/design.yaml"
MATMUL = """\
# yaml-language-server: $schema=../../site_scons/aiebuild/design.schema.json
description: C = A x B on one compute tile
version: 1.0.0
devices: [npu1_1col, npu2_1col, npu1]
parameters:
  M: {type: int, default: 512, min: 1, help: rows of A and C}
  K: {type: int, default: 512, min: 1}
  m: {type: int, default: 32, min: 1, help: rows of a block}
  dtype_in: {type: choice, choices: [i8, i16, f32], default: i16}
  columns: {type: int, default: {aie2: 4, aie2p: 8, npu1: 2, host: 1}}
  scale: {type: float, default: 1}
  trace: {type: bool, default: false}
  label: {type: string, default: ""}
derive:
  dtype_out: {of: dtype_in, map: {i8: i32, i16: i32, f32: f32}}
  rows_of_blocks: {is: M // m}
  twice: {is: 2 * rows_of_blocks}
  suffix: {of: arch, map: {host: x86, aie2: aie, aie2p: aie}}
require:
  - {that: M % m == 0, message: M must be a multiple of the block's rows m}
  - {that: K > 1 or device != "npu1", message: K is too small}
variants:
  small: {M: 64, K: 64}
"""
MANY = "description: d\ndevices: [npu1]\nparameters:\n" + "".join(
    f"  {name}: {{type: {kind}, default: {default}}}\n"
    for name, kind, default in [
        ("i", "int", 1),
        ("s", "string", '"1"'),
        ("t", "string", '"true"'),
        ("b", "bool", "true"),
        ("f", "float", 1.0),
    ]
)


@pytest.fixture(scope="module")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Contract:
    return contract_of(MATMUL, tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Contract:
    return contract_of(MANY, tmp_path_factory.mktemp("project"))


def contract_of(text: str, project: Path) -> Contract:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        path = Path(FILE)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return load(path)


def settle(
    contract: Contract, arch: str = "host", device: str | None = None, variant: str = "", **given: str
) -> Settled:
    return contract.settle(arch=arch, device=device, variant=variant or None, given=given)


def refused(contract: Contract, arch: str = "host", device: str = "", variant: str = "", **given: str) -> str:
    with pytest.raises(ContractError) as caught:
        settle(contract, arch, device, variant, **given)
    return str(caught.value)


def test_the_defaults_are_a_configuration(matmul: Contract) -> None:
    settled = settle(matmul)
    assert (settled.design, settled.arch, settled.device) == ("matmul", "host", "npu1_1col")
    assert settled.parameters["M"] == 512
    assert settled.derived == {"dtype_out": "i32", "rows_of_blocks": 16, "twice": 32, "suffix": "x86"}
    assert settled.values == {**settled.parameters, **settled.derived}
    assert settled.changed == {}


@pytest.mark.parametrize(
    ("arch", "device", "expected"),
    [
        ("host", "", "npu1_1col"),
        ("host", "npu2_1col", "npu2_1col"),
        ("aie2", "", "npu1_1col"),
        ("aie2", "npu1", "npu1"),
        ("aie2p", "", "npu2_1col"),
    ],
)
def test_the_device_is_the_one_asked_for_or_the_first_that_fits(
    matmul: Contract, arch: str, device: str, expected: str
) -> None:
    assert settle(matmul, arch, device).device == expected


@pytest.mark.parametrize(
    ("arch", "device", "columns"),
    [("aie2", "", 4), ("aie2p", "", 8), ("aie2", "npu1", 2), ("host", "", 1), ("host", "npu1", 2)],
)
def test_a_default_of_the_device_wins_over_that_of_the_arch(
    matmul: Contract, arch: str, device: str, columns: int
) -> None:
    assert settle(matmul, arch, device).parameters["columns"] == columns


def test_the_host_takes_the_default_of_the_devices_arch_where_it_has_none(tmp_path: Path) -> None:
    text = "description: d\ndevices: [npu2]\nparameters:\n  c: {type: int, default: {aie2p: 8}}\n"
    assert settle(contract_of(text, tmp_path)).parameters["c"] == 8


def test_the_command_line_wins_over_the_variant_and_that_over_the_defaults(matmul: Contract) -> None:
    settled = settle(matmul, variant="small", K="128")
    assert [settled.parameters[name] for name in ("M", "K", "m")] == [64, 128, 32]
    assert list(settled.changed) == ["K", "M"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("M", "64", 64),
        ("M", "0x40", 64),
        ("M", " +64 ", 64),
        ("scale", "2", 2.0),
        ("scale", "-1.5e-3", -0.0015),
        ("scale", ".5", 0.5),
        ("trace", "1", True),
        ("trace", "Yes", True),
        ("trace", "true", True),
        ("trace", "0", False),
        ("trace", "no", False),
        ("trace", "false", False),
        ("dtype_in", "i8", "i8"),
        ("label", "a b=c", "a b=c"),
        ("label", "7", "7"),
    ],
)
def test_a_command_line_is_converted_by_the_declared_type(
    matmul: Contract, name: str, text: str, value: object
) -> None:
    found = settle(matmul, **{name: text}).parameters[name]
    assert found == value
    assert type(found) is type(value)


def test_a_choice_may_be_of_numbers(tmp_path: Path) -> None:
    text = "description: d\ndevices: [npu2]\nparameters:\n  c: {type: choice, choices: [1, 2.5, true], default: 1}\n"
    contract = contract_of(text, tmp_path)
    assert [settle(contract, c=text).parameters["c"] for text in ("1", "2.5", "true")] == [1, 2.5, True]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"M": "100"}, f"{FILE}:20: error: M must be a multiple of the block's rows m (M=100, m=32)"),
        ({"M": "0"}, f"{FILE}:6: error: M=0 is below its minimum 1"),
        ({"M": "1_000"}, f"{FILE}:6: error: M=1_000 is not an int\n  a whole number such as 16 or 0x10"),
        ({"M": "1.0"}, f"{FILE}:6: error: M=1.0 is not an int\n  a whole number such as 16 or 0x10"),
        ({"M": "010"}, f"{FILE}:6: error: M=010 is not an int\n  a whole number such as 16 or 0x10"),
        ({"M": ""}, f"{FILE}:6: error: M= is not an int\n  a whole number such as 16 or 0x10"),
        ({"M": "9" * 50}, f"{FILE}:6: error: M={'9' * 50} is not an int\n  a whole number such as 16 or 0x10"),
        ({"scale": "nan"}, f"{FILE}:11: error: scale=nan is not a float\n  a number such as 0.5 or 1e-3"),
        ({"scale": "1e999"}, f"{FILE}:11: error: scale=1e999 is not a float\n  a number such as 0.5 or 1e-3"),
        ({"trace": "on"}, f"{FILE}:12: error: trace=on is not a bool\n  one of: 1, true, yes, 0, false, no"),
        ({"dtype_in": "i4"}, f"{FILE}:9: error: dtype_in=i4 is not one of its choices\n  choices: i8, i16, f32"),
        (
            {"dtpe_in": "i8"},
            (
                "error: design 'matmul' has no parameter 'dtpe_in', which the command line gives\n"
                "  did you mean 'dtype_in'?"
            ),
        ),
        (
            {"dtype_out": "i8"},
            (
                f"{FILE}:15: error: 'dtype_out' is given on the command line, but it is derived\n"
                "  it follows from: dtype_in"
            ),
        ),
        (
            {"rows_of_blocks": "8"},
            (
                f"{FILE}:16: error: 'rows_of_blocks' is given on the command line, but it is derived\n"
                "  it follows from: M, m"
            ),
        ),
    ],
)
def test_a_command_line_that_does_not_fit_is_refused(matmul: Contract, given: Mapping[str, str], expected: str) -> None:
    assert refused(matmul, **given) == expected


@pytest.mark.parametrize(("name", "near"), [("vairant", "variant"), ("Mode", "mode"), ("k", "K"), ("LABEL", "label")])
def test_a_name_that_is_no_parameter_may_be_meant_for_an_option(matmul: Contract, name: str, near: str) -> None:
    assert refused(matmul, **{name: "1"}).endswith(f"\n  did you mean {near!r}?")


def test_a_name_that_is_near_to_nothing_gets_the_parameters(matmul: Contract) -> None:
    expected = "\n  one of: K, M, columns, dtype_in, label, m, scale, trace"
    assert refused(matmul, qqq="1").endswith(expected)


def test_who_gives_a_parameter_is_said(matmul: Contract) -> None:
    with pytest.raises(ContractErrors) as caught:
        matmul.settle(
            arch="host", given={"toolchan": "1", "twice": "2"}, said_by="AieConfiguration", reserved=("mode",)
        )
    assert str(caught.value) == (
        "error: design 'matmul' has no parameter 'toolchan', which AieConfiguration gives\n"
        "  one of: K, M, columns, dtype_in, label, m, scale, trace\n"
        f"{FILE}:17: error: 'twice' is given by AieConfiguration, but it is derived\n"
        "  it follows from: rows_of_blocks"
    )


def test_all_that_is_wrong_with_a_command_line_is_said_at_once(matmul: Contract) -> None:
    assert refused(matmul, K="x", M="-3", dtype_in="i4").count("error:") == 3
    assert refused(matmul, "aie2", "npu1", M="33", K="1").splitlines() == [
        f"{FILE}:20: error: M must be a multiple of the block's rows m (M=33, m=32)",
        f"{FILE}:21: error: K is too small (K=1, device=npu1)",
    ]
    with pytest.raises(ContractErrors):
        settle(matmul, M="x", K="x")


@pytest.mark.parametrize(
    ("arch", "device", "variant", "expected"),
    [
        (
            "aie3",
            "",
            "",
            (
                f"{FILE}:4: error: design 'matmul' has no device of arch 'aie3'\n"
                "  its devices: npu1_1col (aie2), npu2_1col (aie2p), npu1 (aie2)"
            ),
        ),
        (
            "aie2",
            "npu1_2col",
            "",
            (
                f"{FILE}:4: error: design 'matmul' is not for device 'npu1_2col'\n"
                "  did you mean 'npu1_1col'? (its devices: npu1_1col (aie2), npu2_1col (aie2p), npu1 (aie2))"
            ),
        ),
        (
            "aie2",
            "npu2_1col",
            "",
            (
                f"{FILE}:4: error: device 'npu2_1col' is of arch 'aie2p', not 'aie2'\n"
                "  devices of arch 'aie2': npu1_1col, npu1"
            ),
        ),
        ("host", "", "smal", f"{FILE}:22: error: design 'matmul' has no variant 'smal'\n  did you mean 'small'?"),
    ],
)
def test_what_a_design_does_not_have_is_refused(
    matmul: Contract, arch: str, device: str, variant: str, expected: str
) -> None:
    assert refused(matmul, arch, device, variant) == expected


def test_a_design_without_variants_says_so(many: Contract) -> None:
    assert refused(many, variant="x") == f"{FILE}: error: design 'matmul' has no variant 'x'\n  it has no variants"


def settle_with(tmp_path: Path, more: str, **given: str) -> str:
    text = f"description: d\ndevices: [npu1]\nparameters:\n  a: {{type: int, default: 1}}\n{more}\n"
    return refused(contract_of(text, tmp_path), **given)


def test_a_rule_that_cannot_be_computed_names_its_line_and_values(tmp_path: Path) -> None:
    rule = "require: [{that: 1 % a == 0, message: m}]"
    assert settle_with(tmp_path, rule, a="0") == (f"{FILE}:5: error: in '1 % a == 0': 1 % 0 divides by zero (a=0)")


def test_a_rule_must_be_true_or_false(tmp_path: Path) -> None:
    assert settle_with(tmp_path, "require: [{that: a + 1, message: m}]") == (
        f"{FILE}:5: error: in 'a + 1': a rule is true or false, not 2 (a=1)\n"
        "  compare it with something, as in 'M % m == 0'"
    )


def test_a_derived_parameter_that_cannot_be_computed_names_its_line_and_values(tmp_path: Path) -> None:
    assert settle_with(tmp_path, "derive: {d: {is: 8 // a}}", a="0") == (
        f"{FILE}:5: error: d cannot be derived: in '8 // a': 8 // 0 divides by zero (a=0)"
    )
    assert settle_with(tmp_path, "derive: {d: {of: a, map: {0x2: x, 3: y}}}") == (
        f"{FILE}:5: error: d cannot be derived: its map has no entry for a=1\n  its entries: 2, 3"
    )


def test_the_parameters_file_holds_all_that_steps_need(matmul: Contract) -> None:
    settled = settle(matmul, "aie2p", variant="small")
    record = json.loads(json.dumps(settled.to_json("debug")))
    assert record == {
        "arch": "aie2p",
        "device": "npu2_1col",
        "design": "matmul",
        "mode": "debug",
        "parameters": settled.values,
    }
    assert settled.namespace("debug") == type(settled.namespace()).from_json(record)
    assert settled.namespace().dtype_out == "i32"


@pytest.mark.parametrize(
    ("arch", "given", "expected"),
    [
        ("aie2p", {}, "npu2_1col"),
        ("aie2p", {"M": "64", "K": "64"}, "npu2_1col,K=64,M=64"),
        ("aie2p", {"M": "64", "K": "512"}, "npu2_1col,M=64"),
        ("aie2p", {"columns": "8"}, "npu2_1col"),
        ("aie2", {"columns": "8", "trace": "yes"}, "npu1_1col,columns=8,trace=true"),
        ("host", {"label": "a/b, c=%é$"}, "npu1_1col,label=a%2fb%2c%20c%3d%25%c3%a9%24"),
        ("host", {"scale": "1.0"}, "npu1_1col"),
        ("host", {"scale": "1e30"}, "npu1_1col,scale=1e+30"),
    ],
)
def test_the_folder_is_named_by_device_and_changed_parameters(
    matmul: Contract, arch: str, given: Mapping[str, str], expected: str
) -> None:
    assert settle(matmul, arch, **given).configuration() == expected


def test_the_folder_says_toolchain_and_mode_where_they_are_not_the_default(matmul: Contract) -> None:
    settled = settle(matmul, "aie2", M="64")
    assert settled.configuration(debug=True) == "npu1_1col-debug,M=64"
    assert settled.configuration("chess") == settled.configuration("-chess") == "npu1_1col-chess,M=64"
    assert settled.configuration("chess", debug=True) == "npu1_1col-chess-debug,M=64"


def test_a_variant_has_the_folder_of_its_parameters(matmul: Contract) -> None:
    named, spelt = settle(matmul, variant="small"), settle(matmul, M="64", K="64")
    assert named.configuration() == spelt.configuration() == "npu1_1col,K=64,M=64"
    assert named.to_json() == spelt.to_json()


def test_a_name_that_is_too_long_becomes_a_digest(matmul: Contract) -> None:
    longest = settle(matmul, label="x" * (120 - len("npu1_1col,label=")))
    assert len(longest.configuration()) == 120
    longer = settle(matmul, label="x" * 121).configuration("chess", debug=True)
    assert re.fullmatch(r"npu1_1col-chess-debug,[0-9a-f]{16}", longer)
    assert longer != settle(matmul, label="x" * 122).configuration("chess", debug=True)


def parameter_sets() -> st.SearchStrategy[dict[str, str]]:
    texts = st.text(max_size=8) | st.sampled_from(["", "1", "true", "a,b=c", "a%2cb", "%", "x" * 200])
    return st.fixed_dictionaries(
        {},
        optional={
            "i": st.integers(-100, 100).map(str),
            "s": texts,
            "t": texts,
            "b": st.sampled_from(["true", "0"]),
            "f": st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
        },
    )


@given(first=parameter_sets(), second=parameter_sets())
def test_folders_are_the_same_exactly_where_the_parameters_are(
    many: Contract, first: dict[str, str], second: dict[str, str]
) -> None:
    one, other = settle(many, **first), settle(many, **second)
    same = repr(one.parameters) == repr(other.parameters)
    assert (one.configuration() == other.configuration()) == same
    assert re.fullmatch(r"[A-Za-z0-9_.+,=%-]{1,120}", one.configuration())


@given(given=parameter_sets(), order=st.randoms())
def test_a_configuration_does_not_depend_on_the_order_of_the_command_line(
    many: Contract, given: dict[str, str], order: object
) -> None:
    names = list(given)
    order.shuffle(names)  # type: ignore[attr-defined] # it is a random.Random, which hypothesis does not say
    one, other = settle(many, **given), settle(many, **{name: given[name] for name in names})
    assert one == other
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())
    assert one.configuration() == other.configuration()
