from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import aiebuild
import jsonschema
import pytest
from aiebuild import contract_yaml
from aiebuild.contract import Contract, ContractErrors, Generator, load
from aiebuild.errors import ContractError, Location
from hypothesis import given
from hypothesis import strategies as st

PACKAGE = Path(aiebuild.__file__).parent
MATMUL = """\
# yaml-language-server: $schema=../../site_scons/aiebuild/design.schema.json
description: C = A x B on one compute tile
version: 1.0.0
devices: [npu1_1col, npu2_1col]
parameters:
  M: {type: int, default: 512, min: 1, help: rows of A and C}
  m: {type: int, default: 32, min: 1, help: rows of a block}
  dtype_in: {type: choice, choices: [i8, i16, f32], default: i16, help: element type of A and B}
  columns: {type: int, default: {aie2: 4, aie2p: 8, host: 4}, help: columns used}
derive:
  dtype_out: {of: dtype_in, map: {i8: i32, i16: i32, f32: f32}}
  rows_of_blocks: {is: M // m}
require:
  - {that: M % m == 0, message: M must be a multiple of the block's rows m}
variants:
  small: {M: 64}
sequences: [main]
arguments: {A: left matrix, B: right matrix, C: result}
run_timeout: 5
generator: {options: {M: -M, device: --device=}, devices: {npu2_1col: npu2}, output: -o}
"""


VERSION = (
    'The design\'s own version, for its manifest and package, for example 1.0.0. Two numbers alone need quotes: "1.0".'
)


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, design: str = "matmul") -> Path:
    path = Path("designs") / design / "design.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def messages(text: str) -> list[str]:
    """Return what is wrong with a contract: `line: message | hint`."""
    with pytest.raises(ContractError) as caught:
        load(write(text))
    errors = caught.value.errors if isinstance(caught.value, ContractErrors) else (caught.value,)
    assert all(error.where and error.where.file == "designs/matmul/design.yaml" for error in errors)
    return [
        f"{error.where and error.where.line}: {error.message}" + (f" | {error.hint}" if error.hint else "")
        for error in errors
    ]


def minimal(more: str) -> str:
    return f"description: d\ndevices: [npu1_1col, npu2]\n{more}"


def test_a_contract_says_what_its_file_says() -> None:
    contract = load(write(MATMUL))
    assert (contract.name, contract.file) == ("matmul", "designs/matmul/design.yaml")
    assert (contract.description, contract.version) == ("C = A x B on one compute tile", "1.0.0")
    assert contract.devices == ("npu1_1col", "npu2_1col")
    assert [parameter.name for parameter in contract.parameters] == ["M", "m", "dtype_in", "columns"]
    assert str(contract.parameters[2].where) == "designs/matmul/design.yaml:8"
    assert contract.parameters[2].choices == ("i8", "i16", "f32")
    assert contract.parameters[0].min == 1
    assert [derived.name for derived in contract.derived] == ["dtype_out", "rows_of_blocks"]
    assert contract.rules[0].message == "M must be a multiple of the block's rows m"
    assert str(contract.rules[0].where) == "designs/matmul/design.yaml:14"
    assert contract.variants[0].values == {"M": 64}
    assert contract.sequences == ("main",)
    assert list(contract.arguments) == ["A", "B", "C"]
    assert contract.run_timeout == 5
    assert contract.generator == Generator(
        options={"M": "-M", "device": "--device="},
        output="-o",
        devices={"npu2_1col": "npu2"},
        derived=("dtype_out", "rows_of_blocks"),
        file="designs/matmul/design.yaml",
        where=Location("designs/matmul/design.yaml", 20),
    )


def test_most_of_a_contract_can_be_left_out() -> None:
    contract = load(write("description: d\ndevices: [npu1]\n"))
    assert (contract.parameters, contract.sequences, contract.version) == ((), (), "")
    assert contract.run_timeout == 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1: the contract is empty | it needs at least: description, devices"]),
        ("- a\n", ["1: the contract must be a mapping, not a list"]),
        ("description: d\n", ["1: 'devices' is missing"]),
        (minimal("paramters: {}"), ["3: unknown key 'paramters' | did you mean 'parameters'?"]),
        (
            minimal("autor: me"),
            [
                (
                    "3: unknown key 'autor' | one of: arguments, derive, description, devices, generator, "
                    "parameters, require, run_timeout, sequences, variants, version"
                )
            ],
        ),
        (minimal("Version: '1'"), ["3: unknown key 'Version' | did you mean 'version'?"]),
        (
            minimal("version: 1.0 beta"),
            [f"3: '1.0 beta' cannot be a name | {VERSION}"],
        ),
        (
            minimal("version: ../x"),
            [f"3: '../x' cannot be a name | {VERSION}"],
        ),
        (minimal("version: 1.0"), ["3: 'version' must be a string, not the number 1.0 | write it in quotes"]),
        (minimal("parameters: [M]"), ["3: 'parameters' must be a mapping, not a list"]),
        (minimal("run_timeout: 0"), ["3: 'run_timeout' must be greater than 0, not the number 0"]),
        (minimal("sequences: []"), ["3: 'sequences' must not be empty"]),
        (minimal("sequences: [a, b, a]"), ["3: 'sequences' has the string 'a' twice"]),
        (
            minimal("arguments: {lambda: x}"),
            ["3: an argument cannot be called 'lambda' | the name has a meaning of its own"],
        ),
        (
            "description: d\ndevices:\n  - npu1\n  - npu1_1cl\n",
            ["4: unknown device 'npu1_1cl' | did you mean 'npu1_1col'?"],
        ),
    ],
)
def test_what_a_contract_as_a_whole_gets_wrong(text: str, expected: list[str]) -> None:
    assert messages(text) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{default: 1}", "'type' is missing in 'parameters.M'"),
        ("{type: int}", "'default' is missing in 'parameters.M'"),
        ("{type: integer, default: 1}", "'type' cannot be the string 'integer' | did you mean 'int'?"),
        ("{type: int, default: 1, mim: 1}", "unknown key 'mim' in 'parameters.M' | did you mean 'min'?"),
        ("{type: int, default: 1, min: one}", "'min' must be a number, not the string 'one'"),
        ("{type: int, default: 1, min: 0.5}", "'min' of an int must be a whole number, not the number 0.5"),
        ("{type: int, default: 1, min: 2}", "default M=1 is below its minimum 2"),
        ("{type: float, default: 1, max: 0.5}", "default M=1 is above its maximum 0.5"),
        ("{type: int, default: 9, min: 9, max: 8}", "M: min 9 is above max 8"),
        ("{type: int, default: 5, multiple_of: 4}", "default M=5 is not a multiple of 4"),
        ("{type: int, default: 5, multiple_of: 0}", "'multiple_of' must be greater than 0, not the number 0"),
        (
            "{type: float, default: 5, multiple_of: 4}",
            "'multiple_of' is not for this type of parameter | it is for type: int",
        ),
        (
            "{type: bool, default: true, min: 1}",
            "'min' is not for this type of parameter | it is for type: int and type: float",
        ),
        ("{type: int, default: 1.5}", "default M=1.5 is not an int | a whole number such as 16 or 0x10"),
        ("{type: int, default: true}", "default M=true is not an int | a whole number such as 16 or 0x10"),
        ("{type: bool, default: 1}", "default M=1 is not a bool | one of: 1, true, yes, 0, false, no"),
        ("{type: string, default: 1}", "default M=1 is not a string | write it in quotes"),
        ("{type: int, default: [1]}", "'default' must be a number, a string, true or false or a mapping, not a list"),
        ("{type: choice, default: a}", "'choices' is missing in 'parameters.M'"),
        (
            "{type: int, default: 1, choices: [1]}",
            "'choices' is not for this type of parameter | it is for type: choice",
        ),
        ("{type: choice, choices: [a], default: b}", "default M=b is not one of its choices | choices: a"),
        ("{type: choice, choices: [1, 2], default: '1'}", "default M=1 is not one of its choices | choices: 1, 2"),
        (
            "{type: choice, choices: [1, '1'], default: 1}",
            "two choices are written '1': a command line could not tell them apart",
        ),
        (
            "{type: int, default: {aie2: 4}}",
            "M has no default for npu2 or its arch aie2p | it has defaults for: aie2",
        ),
        (
            "{type: int, default: {aie2: 4, npu3: 1, aie2p: 1}}",
            "M has a default for 'npu3', which is no arch or device of this design | did you mean 'npu2'?",
        ),
        ("{type: int, default: {aie2: 4, npu2: x}}", "default M=x is not an int | a whole number such as 16 or 0x10"),
        ("1", "'M' must be a mapping, not the number 1"),
    ],
)
def test_what_a_parameter_gets_wrong(entry: str, expected: str) -> None:
    assert messages(minimal(f"parameters:\n  M: {entry}"))[0] == f"4: {expected}"


@pytest.mark.parametrize("name", ["arch", "device", "design", "p", "lambda", "true", "min", "loop", "in", "as_dict"])
def test_names_with_a_meaning_of_their_own_cannot_be_parameters(name: str) -> None:
    expected = f"4: a parameter cannot be called {name!r} | the name has a meaning of its own"
    assert messages(minimal(f"parameters:\n  {name}: {{type: int, default: 1}}")) == [expected]


def test_what_follows_from_a_name_that_cannot_be_is_not_said_too() -> None:
    text = minimal(
        "parameters:\n  in: {type: int, default: 8}\nderive:\n  half: {is: in // 2}\n"
        "require:\n  - {that: in % 2 == 0, message: in must be even}\nvariants: {v: {in: 2}}"
    )
    assert messages(text) == ["4: a parameter cannot be called 'in' | the name has a meaning of its own"]


@pytest.mark.parametrize("section", ["derive: {min: {is: min + 1}}", "arguments: {min: x}"])
def test_derived_parameters_and_arguments_have_names_without_a_meaning_too(section: str) -> None:
    kind = "a derived parameter" if section.startswith("derive") else "an argument"
    assert messages(minimal(section)) == [f"3: {kind} cannot be called 'min' | the name has a meaning of its own"]


@pytest.mark.parametrize("name", ["2M", "a-b", "_x", "a b", "é"])
def test_parameters_have_plain_names(name: str) -> None:
    expected = f"4: {name!r} cannot be a name | Letters, digits and underscores; the first one is a letter."
    assert messages(minimal(f"parameters:\n  {name}: {{type: int, default: 1}}")) == [expected]


def test_names_of_the_command_line_cannot_be_parameters() -> None:
    path = write(MATMUL)
    with pytest.raises(ContractError) as caught:
        load(path, reserved=frozenset({"columns", "variant"}))
    assert str(caught.value) == (
        "designs/matmul/design.yaml:9: error: a parameter cannot be called 'columns': the command line has that "
        "name for itself\n  choose another name"
    )


PARAMETERS = "parameters:\n  M: {type: int, default: 1}\n  t: {type: choice, choices: [a, b], default: a}\n"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{is: M // Mm}", "in 'M // Mm': unknown name 'Mm' | did you mean 'M'?"),
        ("{is: later + 1}", "in 'later + 1': unknown name 'later' | it is derived further down: move it up"),
        ("{is: d + 1}", "in 'd + 1': unknown name 'd' | it is derived further down: move it up"),
        ("{is: M +}", "in 'M +', column 4: expected a value, not the end"),
        ("{of: tt, map: {a: 1}}", "unknown parameter 'tt' | did you mean 't'?"),
        ("{of: t, map: {a: 1}}", "'map' has no entry for t=b | its entries: a"),
        ("{of: t, map: {a: 1, b: 2, c: 3}}", "'map' has an entry for t=c, which is no value of it | one of: a, b"),
        ("{of: M, map: {1: a, x: b}}", "'map': M=x is not an int | a whole number such as 16 or 0x10"),
        ("{of: arch, map: {aie2: 1, aie2p: 2}}", "'map' has no entry for arch=host | its entries: aie2, aie2p"),
        ("{of: device, map: {npu1_1col: 1}}", "'map' has no entry for device=npu2 | its entries: npu1_1col"),
        (
            "{of: t}",
            "'d' must say either 'is', or 'of' and 'map' | for example: {is: M // m}, {of: dtype, map: {i8: i32}}",
        ),
        ("{iss: M}", "unknown key 'iss' in 'derive.d' | did you mean 'is'?"),
    ],
)
def test_what_a_derived_parameter_gets_wrong(entry: str, expected: str) -> None:
    text = minimal(f"{PARAMETERS}derive:\n  d: {entry}\n  later: {{is: M}}")
    assert messages(text)[0] == f"7: {expected}"


def test_a_derived_parameter_cannot_have_the_name_of_another() -> None:
    expected = "7: 'M' is derived, and declared as a parameter in line 4"
    assert messages(minimal(f"{PARAMETERS}derive:\n  M: {{is: 1}}")) == [expected]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{that: M % MM == 0, message: x}", "in 'M % MM == 0': unknown name 'MM' | did you mean 'M'?"),
        ("{that: M = 1, message: x}", "in 'M = 1', column 3: unexpected '=' | '==' compares"),
        ("{that: M == 1}", "'message' is missing in 'require.0'"),
        ("M == 1", "the entry must be a mapping, not the string 'M == 1'"),
    ],
)
def test_what_a_rule_gets_wrong(entry: str, expected: str) -> None:
    assert messages(minimal(f"{PARAMETERS}require:\n  - {entry}")) == [f"7: {expected}"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{MM: 1}", "variant 'v' sets the unknown parameter 'MM' | did you mean 'M'?"),
        ("{d: 1}", "variant 'v' sets 'd', which is derived"),
        ("{t: c}", "variant 'v': t=c is not one of its choices | choices: a, b"),
        ("{M: '1'}", "variant 'v': M=1 is not an int | a whole number such as 16 or 0x10"),
        ("{}", "'v' must not be empty"),
    ],
)
def test_what_a_variant_gets_wrong(entry: str, expected: str) -> None:
    assert messages(minimal(f"{PARAMETERS}derive: {{d: {{is: M}}}}\nvariants:\n  v: {entry}")) == [f"8: {expected}"]


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_the_lines() -> None:
    text = minimal(
        "variants: {v: {K: 1}}\nparameters:\n  M: {type: int, default: x}\nrequire:\n- {that: K, message: m}"
    )
    assert [line.split(":")[0] for line in messages(text)] == ["3", "5", "7"]


def test_a_key_that_is_given_twice_is_an_error() -> None:
    assert messages(minimal("description: e")) == ["3: 'description' is given twice | the first time in line 1"]
    assert messages(minimal("parameters:\n  M: {type: int, default: 1}\n  M: {type: int, default: 2}")) == [
        "5: 'M' is given twice | the first time in line 4"
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("description: d\ndevices: [npu1 npu2]: 3\n", 2),
        ("description: {a: 1 b: 2}\n", 1),
        ("a: b\n---\nc: d\n", 2),
        ("description: *nothing\n", 1),
    ],
)
def test_what_is_not_yaml_is_refused_with_its_line(text: str, line: int) -> None:
    assert messages(text)[0].startswith(f"{line}: not YAML: ")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("description: d\n\tdevices: [npu1]\n", 2),
        ("description: d\ndevices:\n\t- npu1\n", 3),
        ("a:\n  b: 1\n \tc: 2\n", 3),
        ("a: {b: 1,\n\tc: }}\n", 2),
    ],
)
def test_a_tab_is_refused_as_one(text: str, line: int) -> None:
    assert messages(text) == [f"{line}: not YAML: a tab | use spaces, not tabs"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "description: d\ndevices: [npu1\nversion: a\n",
            "2: not YAML: [ is not closed | line 3: expected ',' or ']', but got ':'",
        ),
        (
            "parameters:\n  M: {type: int, default: 1\n\n  K: {type: int, default: 2}\n",
            "2: not YAML: { is not closed | line 4: expected ',' or '}', but got ':'",
        ),
        ('a: "x\nb: c\n', '1: not YAML: " is not closed | line 3: found unexpected end of stream'),
    ],
)
def test_what_is_not_closed_is_said_where_it_opens(text: str, expected: str) -> None:
    assert messages(text) == [expected]


@pytest.mark.parametrize("content", [b"description: d\nversion: \xff\xfe\n", b"description: d\n\x7fELF\x00\x01"])
def test_bytes_that_are_no_text_are_refused(content: bytes) -> None:
    path = write("")
    path.write_bytes(content)
    with pytest.raises(ContractError) as caught:
        load(path)
    expected = "designs/matmul/design.yaml:2: error: is not a text file\n  a contract is YAML, in UTF-8"
    assert str(caught.value) == expected


def test_a_contract_that_is_not_there_is_an_error_with_its_path() -> None:
    with pytest.raises(ContractError) as caught:
        load(Path("designs/none/design.yaml"))
    assert str(caught.value) == "designs/none/design.yaml: error: cannot be read: No such file or directory"


def test_only_true_and_false_are_booleans_and_nothing_else_is_guessed() -> None:
    text = b"a: [on, yes, No, 1:30, 2024-01-02, 1_000, 010, 0o7, 1e3, 0x10, -4, .5, 'true', True, ~, 1.2.3]"
    expected = ["on", "yes", "No", "1:30", "2024-01-02", "1_000", "010", "0o7"]
    data = contract_yaml.read(text, "x").data
    assert data == {"a": [*expected, 1000.0, 16, -4, 0.5, "true", True, None, "1.2.3"]}


def test_anchors_are_read_and_loops_of_them_refused() -> None:
    assert contract_yaml.read(b"a: &x [1]\nb: *x", "x").data == {"a": [1], "b": [1]}
    assert [error.message for error in contract_yaml.read(b"a: &x [*x]", "x").errors] == [
        "an alias stands for something that holds it"
    ]


def test_the_schema_is_a_schema_and_describes_every_key() -> None:
    schema = json.loads((PACKAGE / "design.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    definitions = schema["$defs"]
    tables = [schema["properties"], *(entry["properties"] for entry in definitions.values() if "properties" in entry)]
    for table in tables:
        for key, entry in table.items():
            assert "description" in entry or "description" in definitions[entry["$ref"].rsplit("/")[-1]], key


def remembered() -> list[Path]:
    return sorted(Path("cache").iterdir())


def test_a_remembered_contract_is_the_same() -> None:
    path = write(MATMUL)
    first = load(path, cache=Path("cache"))
    assert load(path, cache=Path("cache")) == first == load(path)
    assert len(remembered()) == 1


def test_a_remembered_contract_needs_neither_yaml_nor_its_schema() -> None:
    load(write(MATMUL), cache=Path("cache"))
    program = (
        "import sys, pathlib\n"
        "from aiebuild.contract import load\n"
        "c = load(pathlib.Path('designs/matmul/design.yaml'), cache=pathlib.Path('cache'))\n"
        "c.settle(arch='host', variant='small', given={'m': '16'})\n"
        "print(sorted({'yaml', 'jsonschema', 'jinja2', 'numpy', 'xdsl'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", program]
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_contract_is_remembered_by_content_not_by_place() -> None:
    load(write(MATMUL), cache=Path("cache"))
    other = load(write(MATMUL, "copy"), cache=Path("cache"))
    assert (other.name, str(other.rules[0].where)) == ("copy", "designs/copy/design.yaml:14")
    assert len(remembered()) == 1


def test_an_edit_is_read_at_once() -> None:
    load(write(MATMUL), cache=Path("cache"))
    assert load(write(MATMUL.replace("512", "256")), cache=Path("cache")).parameters[0].default() == 256


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"devices": 1}', "\x00"])
def test_a_damaged_record_is_ignored_and_replaced(damage: str) -> None:
    expected = load(write(MATMUL), cache=Path("cache"))
    good = remembered()[0].read_text()
    remembered()[0].write_text(damage)
    assert load(write(MATMUL), cache=Path("cache")) == expected
    assert remembered()[0].read_text() == good


def test_names_of_the_command_line_are_refused_in_a_remembered_contract_too() -> None:
    load(write(MATMUL), cache=Path("cache"))
    with pytest.raises(ContractError, match="cannot be called 'M'"):
        load(write(MATMUL), cache=Path("cache"), reserved=frozenset({"M"}))


def test_an_upgrade_does_not_read_what_an_older_reader_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    load(write(MATMUL), cache=Path("cache"))
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: real(path) + b"#" * (path.name == "contract_reader.py"))
    load(write(MATMUL), cache=Path("cache"))
    assert len(remembered()) == 2


def documents() -> st.SearchStrategy[object]:
    words = st.sampled_from(["description", "devices", "parameters", "M", "type", "default", "int", "is", "require"])
    leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words)
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4))


@given(documents(), st.sampled_from(["parameters", "derive", "require", "variants", "generator", "arguments"]))
def test_whatever_the_file_says_it_is_read_or_refused_with_a_line(value: object, key: str) -> None:
    text = json.dumps({"description": "d", "devices": ["npu1"], key: value}, indent=1)
    try:
        contract: Contract | None = load(write(text))
    except ContractError as error:
        contract = None
        place = error.where
    assert contract is not None or (place is not None and place.line)


def test_the_folders_name_must_be_one_for_a_design() -> None:
    for name in ("my design", "-x", "a,b", "x" * 61):
        with pytest.raises(ContractError, match="cannot be the name of a design"):
            load(write(MATMUL, name))
