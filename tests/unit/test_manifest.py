from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from aiebuild import manifest
from aiebuild.errors import AieBuildError, Location
from aiebuild.manifest import Check, Checked, Input
from aiebuild.manifest_arguments import sequences
from aiebuild.manifest_request import ManifestError, Object, Product, Request, Tool
from aiebuild.manifest_step import Contents, build, main, output, read_check, refuse_machine
from aiebuild.mlir.parse import parse
from hypothesis import given
from hypothesis import strategies as st
from packages import GOLDEN, host, npu

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"A": "left", "B": "right", "C": "result"}
DEVICES = {"device = 5 : i32": 'device = "npu1_1col"', "device = 9 : i32": 'device = "npu2_1col"'}


def golden(name: str, *changes: tuple[str, str]) -> str:
    text = (GOLDEN / "mlir" / f"{name}.generic.mlir").read_text()
    for old, new in (*DEVICES.items(), *changes):
        text = text.replace(old, new)
    return text


def directions(name: str, *changes: tuple[str, str]) -> dict[str, list[str]]:
    module = parse(golden(name, *changes), f"{name}.mlir")
    return {each.name: [argument.direction for argument in each.arguments] for each in sequences(module, {})}


# What a sequence says of its arguments


def test_arguments_have_names_types_shapes_bytes_and_meanings() -> None:
    (found,) = sequences(parse(golden("matmul"), "m.mlir"), NAMES, {"sequence": "m.insts.bin"})
    assert (found.name, found.insts) == ("sequence", "m.insts.bin")
    assert [(each.name, each.element, each.shape, each.bytes, each.meaning) for each in found.arguments] == [
        ("A", "i16", (4096,), 8192, "left"),
        ("B", "i16", (4096,), 8192, "right"),
        ("C", "i32", (4096,), 16384, "result"),
    ]


def test_an_argument_without_a_name_in_the_contract_is_numbered() -> None:
    (found,) = sequences(parse(golden("tasks"), "t.mlir"), {"x": "input"})
    assert [each.name for each in found.arguments] == ["x", "arg1"]
    assert found.arguments[1].shape == (8, 8)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("passthrough", {"sequence": ["in", "out"]}),
        ("matmul", {"sequence": ["in", "in", "out"]}),
        ("scale4", {"sequence": ["in", "in", "out"]}),
        ("tasks", {"negate": ["in", "out"]}),
        ("rtp", {"triple": ["in", "out"], "halves": ["in", "out"]}),
        ("locks", {"sequence": ["in", "out"]}),
    ],
)
def test_a_direction_is_what_the_transfers_do(name: str, expected: dict[str, list[str]]) -> None:
    assert directions(name) == expected


def test_an_argument_that_is_moved_both_ways_is_inout() -> None:
    text = golden("passthrough")
    body = text[text.index("runtime_sequence") :]
    first, second = (line for line in body.splitlines() if "dma_memcpy_nd" in line)
    operand = first[first.index("(%") + 1 : first.index(")")]
    other = second[second.index("(%") + 1 : second.index(")")]
    assert operand != other
    assert directions("passthrough", (second, second.replace(f"({other})", f"({operand})"))) == {
        "sequence": ["inout", ""]
    }


def test_an_argument_that_an_unknown_op_takes_has_no_known_direction() -> None:
    text = golden("passthrough")
    line = next(line for line in text.splitlines() if "dma_memcpy_nd" in line)
    operand = line[line.index("(%") + 1 : line.index(")")]
    further = f'{line}\n      "aiex.somehow"({operand}) : (memref<4096xui8>) -> ()'
    found = directions("passthrough", (line, further))["sequence"]
    assert sorted(found) in (["", "in"], ["", "out"])


# The manifest as a value


def test_what_is_written_is_read_back() -> None:
    for found in (npu().manifest, npu("aie2p").manifest, host(check=None).manifest):
        assert manifest.from_json(found.to_json(), "m.json") == found


@given(st.dictionaries(st.text(max_size=5), st.one_of(st.booleans(), st.integers(), st.text(max_size=9)), max_size=4))
def test_any_parameters_are_read_back(parameters: dict[str, bool | int | str]) -> None:
    found = replace(npu().manifest, parameters=parameters)
    assert manifest.from_json(found.to_json(), "m.json") == found


def test_the_order_in_which_things_are_given_makes_no_difference() -> None:
    products = (Product("b/x.mlir", "mlir"), Product("b/a.mlir", "mlir"))
    tools = (Tool("peano", "1"), Tool("aiecc", "2", "C2"))
    files = {"b/x.mlir": b"x", "b/a.mlir": b"a"}
    texts = set()
    for turn in (1, -1):
        request = Request("d", "aie2", "npu1", products[::turn], tools=tools[::turn], parameters={"n": 1})
        inputs = dict(list({"k.cc": "0" * 64, "a.h": "1" * 64}.items())[::turn])
        texts.add(build(request, Contents(inputs, files), (), None).to_json())
    assert len(texts) == 1


def test_flags_keep_their_order() -> None:
    flags = ("-O2", "-DB", "-DA", "-Iz", "-Ia")
    request = Request("d", "aie2", "npu1", (), objects=(Object("mm.o", ("kernels/mm.cc",), flags),))
    assert build(request, Contents({}, {}), (), None).objects[0].flags == flags


def test_two_xclbins_of_the_same_inputs_have_one_digest() -> None:
    first = (GOLDEN / "inspect" / "one.xclbin").read_bytes()
    second = bytearray(first)
    second[416:432] = bytes(range(16))  # the UUID of the header
    second[312:320] = bytes(8)  # the time
    assert output("x.xclbin", "xclbin", first) == output("x.xclbin", "xclbin", bytes(second))
    assert output("x.xclbin", "xclbin", first).masked
    assert output("x.bin", "insts", first) != output("x.bin", "insts", bytes(second))


def test_the_xclbins_kernels_are_in_the_manifest() -> None:
    assert [(kernel.name, kernel.id) for kernel in npu(xclbin="two").manifest.kernels] == [
        ("add", "0x901"),
        ("mul", "0x902"),
    ]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (None, "matmul for aie2 has not been checked"),
        (
            Check("host", "npu1_1col", ok=False, outputs=(Checked("s", "C", ok=False), Checked("s", "D", ok=True))),
            "the check of matmul for aie2 failed: C differs from the reference",
        ),
    ],
)
def test_only_a_good_check_is_a_check(check: Check | None, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        npu(check=check).manifest.require_checked(Location("m.json"))
    assert caught.value.message == message


# What is refused


def changed(**values: object) -> str:
    return json.dumps({**npu().manifest.to_record(), **values})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is not JSON: Expecting property name enclosed in double quotes"),
        ("[" * 100000, "this is not JSON that can be read"),
        ("[]", "this is not a manifest: [] is not of type 'object'"),
        (changed(format=2), "this is a manifest of format 2, and only those up to 1 are known"),
        (changed(format="x"), "this is not a manifest: format: 1 was expected"),
        (
            changed(further=1),
            "this is not a manifest: Additional properties are not allowed ('further' was unexpected)",
        ),
        (changed(arch=5), "this is not a manifest: arch: 5 is not of type 'string'"),
        (changed(inputs=[{"path": "/etc/passwd", "sha256": "0" * 64}]), "this is not a manifest: inputs/0/path: '/etc"),
        (changed(inputs=[{"path": "a/../../b", "sha256": "0" * 64}]), "this is not a manifest: inputs/0/path: 'a/../"),
        (changed(outputs=npu().manifest.to_record()["outputs"] * 2), "two outputs are called 'matmul.insts.bin'"),
        (changed(outputs=[]), "the instructions of sequence 'sequence' are no output: 'matmul.insts.bin'"),
    ],
)
def test_what_is_not_a_manifest_is_refused(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        manifest.from_json(text, "m.json")
    assert caught.value.message.startswith(message)
    assert caught.value.where is not None
    assert caught.value.where.file == "m.json"


def test_two_outputs_of_one_name_are_refused() -> None:
    products = (Product("a/x.mlir", "mlir"), Product("b/x.mlir", "mlir"))
    with pytest.raises(ManifestError, match=r"two outputs are called 'x\.mlir'"):
        build(Request("d", "aie2", "npu1", products), Contents({}, {"a/x.mlir": b"", "b/x.mlir": b""}), (), None)


def test_a_value_that_could_not_be_read_back_is_refused() -> None:
    with pytest.raises(ManifestError, match="the manifest of d for aie2 would be wrong: mode: 'fast' is not one of"):
        build(Request("d", "aie2", "npu1", (), mode="fast"), Contents({}, {}), (), None)
    with pytest.raises(ManifestError, match=r"would be wrong: inputs/0/path: '/usr/include/x\.h' does not match"):
        build(Request("d", "aie2", "npu1", ()), Contents({"/usr/include/x.h": "0" * 64}, {}), (), None)


def test_a_path_of_the_machine_is_refused() -> None:
    made = replace(npu().manifest, objects=(Object("a.o", ("a.cc",), ("-I/home/me/project/include",)),))
    refuse_machine(made, "/somewhere/else")
    with pytest.raises(ManifestError, match="would hold a path of this machine: '-I/home/me/project/include'"):
        refuse_machine(made, "/home/me/project")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("/src/a.h", True),
        ("-I/src", True),
        ("-isystem/src/x", True),
        ("--sysroot=/src", True),
        ("x:/src", True),
        ("lib/src/a.cc", False),
        ("-Ilib/src", False),
        ("/src2/a.h", False),
    ],
)
def test_a_path_of_the_machine_is_told_from_one_of_the_project(text: str, refused: bool) -> None:
    made = replace(npu().manifest, description=text)
    if not refused:
        refuse_machine(made, "/src")
        return
    with pytest.raises(ManifestError, match="a path of this machine"):
        refuse_machine(made, "/src")


def test_the_check_must_be_the_designs_own() -> None:
    request = Request("matmul", "aie2", "npu1_1col", ())
    said = {"design": "matmul", "device": "npu1_1col", "ok": True, "sequences": []}
    assert read_check(json.dumps(said), request, "check.json").ok
    for changes in ({"design": "other"}, {"device": "npu2_1col"}):
        with pytest.raises(ManifestError, match=r"this is the check of .* not of matmul for npu1_1col"):
            read_check(json.dumps({**said, **changes}), request, "check.json")
    with pytest.raises(ManifestError, match="this is not the result of a check"):
        read_check("{}", request, "check.json")
    # A second design of one recipe is run under the name of the first.
    second = replace(request, design="second", recipe="matmul")
    assert read_check(json.dumps(said), second, "check.json").device == "npu1_1col"


# The step


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project in which a build of `matmul` has just ended; it is the current folder."""
    monkeypatch.chdir(tmp_path)
    for folder in ("designs/matmul", "kernels", "build/x"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "designs/matmul/design.yaml").write_text("description: x\n")
    (tmp_path / "kernels/mm.cc").write_text("// mm\n")
    (tmp_path / "kernels/mm.h").write_text("// header\n")
    (tmp_path / "outside.h").write_text("// of the system\n")
    (tmp_path / "build/x/m.generic.mlir").write_text(golden("matmul"))
    (tmp_path / "build/x/m.insts.bin").write_bytes((GOLDEN / "mlir" / "matmul.insts.bin").read_bytes())
    (tmp_path / "build/x/m.xclbin").write_bytes((GOLDEN / "inspect" / "one.xclbin").read_bytes())
    reads = {"files": ["kernels/mm.cc", "kernels/mm.h"], "external": [str(tmp_path / "outside.h")], "absent": []}
    (tmp_path / "build/x/reads.json").write_text(json.dumps(reads))
    check = {"name": "sequence", "outputs": [{"name": "C", "ok": True, "max_error": 0}]}
    said = {"design": "matmul", "device": "npu1_1col", "ok": True, "sequences": [check]}
    (tmp_path / "build/x/check.json").write_text(json.dumps(said))
    request = Request(
        "matmul",
        "aie2",
        "npu1_1col",
        (Product("build/x/m.xclbin", "xclbin"), Product("build/x/m.insts.bin", "insts", "sequence")),
        version="1.0.0",
        toolchain="peano",
        arguments=NAMES,
        inputs=("designs/matmul/design.yaml",),
        tools=(Tool("peano", "21", "", "ab"),),
    )
    (tmp_path / "request.json").write_text(request.to_json())
    return tmp_path


def step(*further: str) -> int:
    words = ["request.json", "--module", "build/x/m.generic.mlir", "--check", "build/x/check.json"]
    return main([*words, "--reads", "build/x/reads.json", "-o", "build/x/manifest.json", *further])


def test_the_step_writes_the_manifest_and_what_it_has_read(project: Path) -> None:
    assert step("--depfile", "build/x/d.json") == 0
    found = manifest.read(project / "build/x/manifest.json")
    assert [each.path for each in found.inputs] == ["designs/matmul/design.yaml", "kernels/mm.cc", "kernels/mm.h"]
    assert [each.path for each in found.outputs] == ["m.insts.bin", "m.xclbin"]
    assert found.sequences[0].insts == "m.insts.bin"
    assert [argument.direction for argument in found.sequences[0].arguments] == ["in", "in", "out"]
    assert found.kernels[0].name == "MLIR_AIE"
    assert found.check == Check("host", "npu1_1col", ok=True, outputs=(Checked("sequence", "C", ok=True),))
    read = [str(project / "outside.h"), *(each.path for each in found.inputs)]
    assert json.loads((project / "build/x/d.json").read_text()) == {"files": read, "absent": [], "folders": []}
    assert str(project) not in (project / "build/x/manifest.json").read_text()


def test_two_builds_of_the_same_inputs_give_the_same_bytes(project: Path) -> None:
    assert step() == 0
    first = (project / "build/x/manifest.json").read_bytes()
    again = bytearray((project / "build/x/m.xclbin").read_bytes())
    again[416:432] = bytes(16)
    (project / "build/x/m.xclbin").write_bytes(again)
    assert step() == 0
    assert (project / "build/x/manifest.json").read_bytes() == first


def test_an_input_that_changed_is_seen(project: Path) -> None:
    assert step() == 0
    first = manifest.read(project / "build/x/manifest.json")
    (project / "kernels/mm.h").write_text("// another header\n")
    (project / "outside.h").write_text("// another system\n")
    assert step() == 0
    second = manifest.read(project / "build/x/manifest.json")
    changes = {new.path for old, new in zip(first.inputs, second.inputs, strict=True) if old != new}
    assert changes == {"kernels/mm.h"}
    assert isinstance(second.inputs[0], Input)
    assert first.external != second.external


def test_the_place_of_the_project_makes_no_difference(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert step() == 0
    first = (project / "build/x/manifest.json").read_bytes()
    elsewhere = project.parent / f"{project.name}-moved"
    project.rename(elsewhere)
    monkeypatch.chdir(elsewhere)
    reads = elsewhere / "build/x/reads.json"
    reads.write_text(reads.read_text().replace(str(project), str(elsewhere)))
    assert step() == 0
    assert (elsewhere / "build/x/manifest.json").read_bytes() == first


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("request.json", "{", "request.json: error: this is not a request for a manifest"),
        ("request.json", '{"desing": "x"}', "error: a request has no 'desing'\n  did you mean 'design'?"),
        ("request.json", '{"design": "x", "outputs": []}', "request.json: error: this is not a request for a manifest"),
        ("build/x/reads.json", "[]", "build/x/reads.json: error: this is not a record of files that were read"),
        ("build/x/check.json", "{}", "build/x/check.json: error: this is not the result of a check"),
        ("build/x/m.xclbin", "xclbin2", "build/x/m.xclbin: error: "),
        ("build/x/m.generic.mlir", "module {", "build/x/m.generic.mlir:1:"),
    ],
)
def test_what_the_step_cannot_read_is_said_and_no_manifest_is_left(
    project: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, message: str
) -> None:
    assert step() == 0
    (project / file).write_text(text)
    assert step() == 1
    assert message in capsys.readouterr().err
    assert not (project / "build/x/manifest.json").exists()


def test_a_missing_output_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "build/x/m.insts.bin").unlink()
    assert step() == 1
    assert "build/x/m.insts.bin: error: cannot be read: No such file or directory" in capsys.readouterr().err


def test_a_request_is_read_back_as_it_was_written() -> None:
    request = Request(
        "d",
        "aie2",
        "npu1",
        (Product("b/x.insts.bin", "insts", "main"),),
        variant="small",
        parameters={"n": 3, "fast": True, "t": "i16"},
        arguments={"Z": "last letter first", "A": ""},
        objects=(Object("a.o", ("k/a.cc",), ("-O2", "-DX=1")),),
        tools=(Tool("peano", "1", "", "d"),),
        inputs=("a", "b"),
    )
    found = Request.from_json(request.to_json(), "r.json")
    assert found == request
    assert list(found.arguments) == ["Z", "A"]
    with pytest.raises(AieBuildError):
        Request.from_json("[]", "r.json")
