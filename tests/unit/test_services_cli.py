from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import aiebuild
import mlir_tools
import pytest
from aiebuild.mlir.__main__ import main
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.parse import parse
from aiebuild.mlir.symbols import symbols

TWO_MM = (Path(__file__).parents[1] / "golden" / "services" / "two_mm.mlir").read_text()
BAD = """func.func @top(%a: i32) {
  func.call @one(%a) : (i32) -> ()
  func.call @two(%a) : (i32) -> ()
  func.call @helper(%a) : (i32) -> ()
  return
}
"""
HELPER = "func.func @helper(%a: i32) {\n  return\n}\n"
USER = "func.func private @helper(i32)\nfunc.func @top(%a: i32) {\n  func.call @helper(%a) : (i32) -> ()\n  return\n}\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("bad", BAD), ("helper", HELPER), ("user", USER), ("two_mm", TWO_MM)):
        Path(f"{name}.mlir").write_text(text)


def test_check_reports_three_undefined_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.mlir", "--known", "helper.mlir", "-o", "stamp"]) == 1
    errors = capsys.readouterr().err
    assert errors.count("[E-CALL-UNDEF]") == 3
    assert "bad.mlir:4:3: error: @helper is called, but not declared" in errors
    assert "@helper is defined in module helper.mlir" in errors
    assert not Path("stamp").exists()


def test_check_prints_json_and_still_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.mlir", "helper.mlir", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1
    bad, helper = found["modules"]
    assert [(each["code"], each["line"], each["column"]) for each in bad["problems"]] == [
        ("E-CALL-UNDEF", 2, 3),
        ("E-CALL-UNDEF", 3, 3),
        ("E-CALL-UNDEF", 4, 3),
    ]
    assert helper == {"file": "helper.mlir", "problems": [], "files": []}


def test_check_writes_a_stamp_that_depends_on_the_content_alone() -> None:
    assert main(["check", "helper.mlir", "-o", "stamp"]) == 0
    first = Path("stamp").read_text()
    Path("helper.mlir").write_text("// a comment\n" + HELPER)
    assert main(["check", "helper.mlir", "-o", "stamp"]) == 0
    assert Path("stamp").read_text() == first


def test_warnings_do_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "user.mlir"]) == 0
    assert "[W-DECL-UNDEF]" in capsys.readouterr().err
    assert main(["check", "user.mlir", "--final"]) == 1
    assert main(["check", "user.mlir", "--final", "--runtime", "helper"]) == 0


def test_link_fills_what_is_declared() -> None:
    assert main(["link", "user.mlir", "helper.mlir", "-o", "out.mlir"]) == 0
    functions = symbols(parse(Path("out.mlir").read_text()).op)
    assert list(functions) == ["helper", "top"]
    assert functions["helper"].location == '"helper.mlir":1:1'


def test_link_prints_without_an_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["link", "user.mlir", "helper.mlir", "--names", "keep", "--no-locations"]) == 0
    assert "loc(" not in capsys.readouterr().out
    assert main(["link", "user.mlir", "helper.mlir", "--entry", "main"]) == 1
    assert "[E-LINK-ENTRY]" in capsys.readouterr().err


def test_outline_split_and_link_again() -> None:
    assert main(["outline", "two_mm.mlir", "--stage", "out_AB", "--range", "out_ABC", "E", "-o", "cut.mlir"]) == 0
    assert list(symbols(parse(Path("cut.mlir").read_text()).op)) == ["Stage_out_AB", "Stage_out_ABC_E", "top"]
    assert main(["split", "cut.mlir", "-o", "pieces"]) == 0
    pieces = sorted(Path("pieces").iterdir())
    assert [piece.name for piece in pieces] == ["Stage_out_AB.mlir", "Stage_out_ABC_E.mlir", "top.mlir"]
    assert main(["link", *map(str, pieces), "-o", "again.mlir", "--no-locations"]) == 0
    assert main(["normalise", "cut.mlir", "-o", "plain.mlir"]) == 0
    again, cut = (parse(Path(name).read_text()) for name in ("again.mlir", "plain.mlir"))
    assert list(symbols(again.op)) == list(symbols(cut.op))


def test_pieces_of_another_time_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for stage in ("out_AB", "out_ABC"):
        assert main(["outline", "two_mm.mlir", "--stage", stage, "-o", "cut.mlir"]) == 0
        assert main(["split", "cut.mlir", "-o", "pieces"]) == 0
    assert capsys.readouterr().err == "warning: pieces also holds Stage_out_AB.mlir, of which cut.mlir has nothing\n"


def test_one_piece_and_the_rest() -> None:
    assert main(["outline", "two_mm.mlir", "--stage", "E", "-o", "cut.mlir"]) == 0
    assert main(["split", "cut.mlir", "--only", "Stage_E", "-o", "e.mlir"]) == 0
    assert "loc(" not in Path("e.mlir").read_text()
    assert main(["split", "cut.mlir", "--without", "Stage_E", "-o", "rest.mlir"]) == 0
    assert list(symbols(parse(Path("rest.mlir").read_text()).op)) == ["Stage_E", "top"]


def test_normalise_imports_what_a_design_uses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["normalise", "user.mlir", "--import", "helper.mlir", "-o", "out.mlir"]) == 0
    assert symbols(parse(Path("out.mlir").read_text()).op)["helper"].body
    assert main(["normalise", "bad.mlir", "--known", "helper.mlir", "-o", "out.mlir"]) == 1
    assert "@helper is defined in module helper.mlir" in capsys.readouterr().err
    assert not Path("out.mlir").exists()


def test_an_error_leaves_no_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cut.mlir").write_text("old")
    assert main(["outline", "two_mm.mlir", "--stage", "out_AC", "-o", "cut.mlir"]) == 1
    assert "did you mean 'out_ABC'?" in capsys.readouterr().err
    assert not Path("cut.mlir").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["link", "user.mlir", "helper.mlir", "-o", "user.mlir"],
        ["link", "user.mlir", "helper.mlir", "-o", "./helper.mlir"],
        ["outline", "two_mm.mlir", "--stage", "E", "-o", "two_mm.mlir"],
        ["split", "two_mm.mlir", "-o", "two_mm.mlir"],
        ["check", "helper.mlir", "-o", "helper.mlir"],
    ],
)
def test_what_is_read_is_never_overwritten(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    before = {path: path.read_text() for path in Path().iterdir()}
    assert main(argv) == 1
    assert "error: is read, so it cannot be the output" in capsys.readouterr().err
    assert {path: path.read_text() for path in Path().iterdir()} == before


def test_a_file_where_split_would_make_a_folder_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["split", "two_mm.mlir", "-o", "helper.mlir"]) == 1
    assert "error: is a file, so nothing can be written below it\n" in capsys.readouterr().err
    assert Path("helper.mlir").read_text() == HELPER


def test_an_output_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    Path("old").write_text("")
    assert main(["split", "helper.mlir", "--only", "gone", "-o", "old"]) == 1
    assert not Path("old").exists(), "what failed leaves no old output behind"
    capsys.readouterr()
    assert main(["check", "helper.mlir", "-o", "folder"]) == 1
    assert capsys.readouterr().err.startswith("folder: error: cannot be written: ")


def test_pieces_whose_names_are_alike_are_files_of_their_own() -> None:
    names = ("a b", "a_b", "A_b", "rest", "../up")
    functions = [
        f'"func.func"() <{{function_type = () -> (), sym_name = "{name}"}}> ({{"func.return"() : () -> ()}}) : () -> ()'
        for name in names
    ]
    state = '"memref.global"() <{initial_value, sym_name = "state", type = memref<4xi32>}> : () -> ()'
    Path("all.mlir").write_text("\n".join([*functions, state]))
    assert main(["split", "all.mlir", "-o", "pieces"]) == 0
    written = sorted(path.name for path in Path("pieces").iterdir())
    assert written == ["A_b_3.mlir", "_._up.mlir", "a_b.mlir", "a_b_2.mlir", "rest.mlir", "rest_2.mlir"]


def test_a_byte_order_mark_is_no_text() -> None:
    Path("marked.mlir").write_bytes(b"\xef\xbb\xbf" + HELPER.replace("\n", "\r\n").encode())
    assert main(["check", "marked.mlir"]) == 0


def test_bytecode_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.mlir").write_bytes(b"ML\xefR\x0dMLIR22.1.8\0\1\2")
    assert main(["check", "b.mlir"]) == 1
    assert "written by MLIR22.1.8 [E-BYTECODE]" in capsys.readouterr().err


def test_a_tool_verifies_and_writes_its_own_form(capsys: pytest.CaptureFixture[str]) -> None:
    mlir_tools.require("mlir-opt")
    tool = ("--mlir-opt", mlir_tools.find("mlir-opt") or "")
    assert main(["outline", "two_mm.mlir", "--stage", "out_AB", "--pretty", "--no-locations", *tool, "-o", "x"]) == 0
    assert main(["outline", "two_mm.mlir", "--stage", "out_AB", "--no-locations", "-o", "generic"]) == 0
    assert "func.func private @Stage_out_AB(%arg0: memref<" in Path("x").read_text()
    assert normalise(Path("x").read_text(), "x").op.body[0].name == "func.func"
    assert mlir_tools.generic(Path("x").read_text()) == mlir_tools.generic(Path("generic").read_text())
    assert main(["pretty", "generic", *tool]) == 0
    assert capsys.readouterr().out == Path("x").read_text()


def test_what_the_tool_refuses_is_at_the_users_own_line(capsys: pytest.CaptureFixture[str]) -> None:
    mlir_tools.require("mlir-opt")
    Path("wrong.mlir").write_text(
        '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({}) : () -> ()\n"func.return"() : () -> ()\n'
    )
    assert main(["pretty", "wrong.mlir", "-o", "x", "--mlir-opt", mlir_tools.find("mlir-opt") or ""]) == 1
    assert capsys.readouterr().err.startswith("wrong.mlir:2:1: error: 'func.return' op expects parent op 'func.func'")
    assert not Path("x").exists()


def test_without_a_tool_its_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pretty", "helper.mlir", "-o", "x"]) == 1
    assert "name `mlir-opt` (for example Debian's mlir-22-tools) with --mlir-opt" in capsys.readouterr().err
    Path("device.mlir").write_text("aie.device(npu1_1col) {}\n")
    assert main(["pretty", "device.mlir", "-o", "x"]) == 1
    assert "name `aie-opt` (mlir-aie) with --aie-opt" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [[], ["--json"], ["x", "--only"]], ids=["nothing", "no file", "an option of another command"]
)
def test_wrong_usage_ends_with_two(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["check", *argv])
    assert caught.value.code == 2


def test_generic_text_needs_nothing_but_the_standard_library() -> None:
    Path("g.mlir").write_text('"builtin.module"() ({\n}) : () -> ()\n')
    code = (
        "import sys\nfrom aiebuild.mlir.__main__ import main\n"
        "for words in ('check g.mlir', 'link g.mlir g.mlir -o o', 'split g.mlir -o p'):\n"
        "    assert main(words.split()) == 0\n"
        "print(*(set(sys.modules) & {'xdsl', 'numpy', 'jinja2', 'yaml', 'SCons'}))"
    )
    environment = {"PYTHONPATH": str(Path(aiebuild.__file__).parents[1]), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
