"""Python generators: what they are given, what they depend on, how they fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiebuild
import pytest
from aiebuild.generate.__main__ import main

OUTPUT, DEPFILE = Path("build/x.mlir"), Path("build/x.mlir.d")


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    give(M=4)


def give(**values: Any) -> None:
    record = {"arch": "host", "device": "npu2_1col", "design": "x", "mode": "release", "parameters": values}
    Path("P.json").write_text(json.dumps(record))


def write(**files: str) -> None:
    """Write files beside the script; `.py` is added to a name without a dot."""
    for name, text in files.items():
        path = Path("designs/x") / (name if "." in name else f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(mlir: str = "x.py", *more: str, **generator: Any) -> int:
    """Run a generator of designs/x with a section of the contract."""
    given = []
    if generator:
        Path("G.json").write_text(json.dumps(generator))
        given = ["--generator", "G.json"]
    command = [f"designs/x/{mlir}", "--parameters", "P.json", *given, "-o", str(OUTPUT), "--depfile", str(DEPFILE)]
    return main([*command, *more])


def made(mlir: str = "x.py", *more: str, **generator: Any) -> str:
    assert run(mlir, *more, **generator) == 0
    return OUTPUT.read_text()


def depends(kind: str = "files") -> set[str]:
    """Return what the last run depends on inside the project."""
    found = json.loads(DEPFILE.read_text())[kind]
    assert found == sorted(set(found))
    return {name.removeprefix("designs/x/") for name in found if not name.startswith("/")}


def refused(capfd: pytest.CaptureFixture[str], *arguments: str, **generator: Any) -> str:
    """Return what is said of a generator that fails; it leaves nothing."""
    assert run(*arguments, **generator) == 1
    assert not list(Path().glob("build/*"))
    said = capfd.readouterr()
    assert said.out == ""
    return said.err


# What a generator is given


def test_what_a_script_prints_is_the_mlir() -> None:
    write(x="print('module {')\nprint('}')")
    assert made() == "module {\n}\n"


def test_a_script_is_given_its_options_and_its_path_as_the_recipe_has_it() -> None:
    write(x="import sys; print(sys.argv, __file__, __name__)")
    give(M=4, trace=True)
    text = made("x.py", options={"M": "-M", "trace": "-t", "device": "-d"}, devices={"npu2_1col": "npu2"})
    assert text == "['designs/x/x.py', '-M', '4', '-t', '-d', 'npu2'] designs/x/x.py __main__\n"


def test_words_after_two_dashes_are_given_as_they_are() -> None:
    write(x="import sys; print(sys.argv[1:])")
    assert made("x.py", "--", "-M", "512", "--emit-mlir") == "['-M', '512', '--emit-mlir']\n"


def test_a_script_can_write_the_file_that_an_option_names() -> None:
    write(x="import sys; open(sys.argv[2], 'w').write('module'); print('done')")
    assert made("x.py", output="--output") == "module"
    assert sorted(path.name for path in Path("build").iterdir()) == ["x.mlir", "x.mlir.d"]
    assert depends() == {"x.py"}


def test_what_a_script_that_writes_a_file_prints_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="import sys; open(sys.argv[2], 'w').write('module'); print('done')")
    made("x.py", output="--output")
    assert capfd.readouterr() == ("", "done\n")


def test_a_function_gets_the_parameters_as_keywords_and_its_text_is_the_mlir() -> None:
    write(x="def build(M, name):\n    return f'module {M!r} {name!r} {__name__}'")
    give(M=4, name="a")
    assert made("x.py:build") == "module 4 'a' x"


def test_a_function_is_given_the_device_and_derived_values_where_it_names_them() -> None:
    write(x="def build(M, *, device): return device\ndef short(M): return 'module'\ndef all(**kw): return repr(kw)")
    give(M=4, cells=8)
    assert made("x.py:build", derived=["cells"], devices={"npu2_1col": "npu2"}) == "npu2"
    assert made("x.py:short", derived=["cells"]) == "module"
    assert made("x.py:all", derived=["cells"]) == "{'M': 4}"


def test_a_function_can_print_its_mlir_or_return_what_shows_as_it() -> None:
    write(
        x="class Module:\n    def __str__(self): return 'module {}'\n"
        "def build(M): return Module()\ndef prints(M): print('module', M)"
    )
    assert made("x.py:build") == "module {}"
    assert made("x.py:prints") == "module 4\n"


def test_a_function_of_a_script_does_not_run_its_main_part() -> None:
    write(x="def build(M): return 'module'\nif __name__ == '__main__': raise SystemExit(1)")
    assert made("x.py:build") == "module"


def test_modules_are_found_beside_the_script_and_in_the_folders_of_the_contract() -> None:
    write(x="import beside, shared; print(beside.B, shared.S)", beside="B = 1")
    Path("python").mkdir()
    Path("python/shared.py").write_text("S = 2")
    assert made("x.py", search=["python"]) == "1 2\n"
    assert "python/shared.py" in depends()
    assert depends("absent") >= {"shared.py", "shared/__init__.py"}
    assert "python/beside.py" not in depends("absent")


def test_a_module_beside_the_script_wins_over_one_that_only_we_would_need() -> None:
    write(x="import json, traceback, pathlib; print(json.N, traceback.N, pathlib.N)")
    write(json="N = 1", traceback="N = 2", pathlib="N = 3")
    assert made() == "1 2 3\n"


# What it depends on

TREE = {
    "x": "import helper\nfrom package import part\nprint(helper.N, part.P, open('designs/x/data.txt').read())",
    "helper": "import deeper\nN = deeper.N",
    "deeper": "N = 1",
    "package/__init__.py": "",
    "package/part": "P = 2",
    "package/unused": "",
    "data.txt": "3",
    "beside": "",
}


def test_all_that_was_imported_and_read_is_an_input_and_a_file_beside_is_not() -> None:
    write(**TREE)
    made()
    package = {"package/__init__.py", "package/part.py"}
    assert depends() == {"x.py", "helper.py", "deeper.py", "data.txt"} | package
    assert depends("folders") == set()


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("deeper", "N = 7", "7 2 3\n"),
        ("helper", "N = 8", "8 2 3\n"),
        ("package/__init__.py", "import helper; helper.N = 9", "9 2 3\n"),
        ("data.txt", "6", "1 2 6\n"),
        ("beside", "raise ValueError", "1 2 3\n"),
    ],
)
def test_an_edit_shows_exactly_if_the_file_is_an_input(file: str, text: str, expected: str) -> None:
    write(**TREE)
    before = made()
    inputs = depends()
    write(**{file: text})
    assert made() == expected
    assert (expected != before) == (bool({file, f"{file}.py"} & inputs))


def test_a_module_that_was_imported_and_forgotten_is_an_input() -> None:
    write(x="import sys, helper\ndel sys.modules['helper']\nprint('module')", helper="")
    made()
    assert "helper.py" in depends()


def test_a_module_that_is_loaded_by_its_path_is_an_input() -> None:
    write(
        x="import importlib.util as u\ns = u.spec_from_file_location('m', 'designs/x/odd-name.py')\n"
        "m = u.module_from_spec(s); s.loader.exec_module(m); print(m.N)",
    )
    write(**{"odd-name": "N = 5"})
    assert made() == "5\n"
    assert "odd-name.py" in depends()


@pytest.mark.parametrize(
    "read",
    [
        "open(name).read()",
        "__import__('pathlib').Path(name).read_text()",
        "__import__('os').read(__import__('os').open(name, 0), 9).decode()",
        "__import__('io').open_code(__import__('os').path.abspath(name)).read().decode()",
        "open(name.encode(), 'r+').read()",
        "(__import__('os').chdir('designs'), open('x/data.py').read())[1]",
    ],
)
def test_a_file_is_an_input_however_it_is_read(read: str) -> None:
    write(x=f"name = 'designs/x/data.py'\nprint({read})", data="# 1")
    assert made() == "# 1\n"
    assert "data.py" in depends()


def test_a_file_that_the_generator_wrote_itself_is_no_input() -> None:
    write(x="open('build/t', 'w').write('1'); print(open('build/t').read())")
    Path("build").mkdir()
    made()
    assert depends() == {"x.py"}


def test_the_outputs_are_no_inputs_whatever_the_generator_asks() -> None:
    write(x="import os\nprint(os.path.exists('build/x.mlir'), os.path.exists('build/x.mlir.d'))")
    made()
    assert not {"build/x.mlir", "build/x.mlir.d"} & (depends() | depends("absent"))


def test_what_was_looked_for_in_vain_is_known() -> None:
    write(
        x="try: import extra\nexcept ImportError: pass\n"
        "try: open('designs/x/extra.txt')\nexcept OSError: print('module')"
    )
    made()
    assert depends("absent") >= {"extra.py", "extra/__init__.py", "extra", "extra.txt"}


@pytest.mark.parametrize(
    "ask",
    [
        "os.path.exists(name)",
        "os.path.isdir(name)",
        "pathlib.Path(name).exists()",
        "pathlib.Path(name).is_file()",
        "next(iter(pathlib.Path('designs/x').glob('config')), False)",
    ],
)
def test_what_was_only_asked_for_is_known(ask: str) -> None:
    write(x=f"import os, pathlib\nname = 'designs/x/config'\nprint({ask})")
    assert made() == "False\n"
    assert "config" in depends("absent") or "designs/x" in depends("folders")


def test_a_file_that_the_generator_made_where_there_was_none_is_no_input() -> None:
    write(
        x="import os\nif not os.path.exists('build/t'): open('build/t', 'w').write('1')\nprint(open('build/t').read())"
    )
    Path("build").mkdir()
    made()
    assert depends() == {"x.py"}


def test_what_would_hide_an_imported_module_is_known() -> None:
    write(x="import helper, colorsys, math\nfrom package import part\nprint('module')", helper="")
    write(**{"package/part": ""})
    made()
    absent = depends("absent")
    assert absent >= {"helper/__init__.py", "colorsys.py", "colorsys/__init__.py", "package/part/__init__.py"}
    assert not absent & {"helper.py", "package/part.py", "sys.py", "colorsys", "math"}
    # A namespace package: an __init__.py would make it another one.
    assert "package/__init__.py" in absent


def test_a_module_that_hides_another_is_imported_and_was_foretold() -> None:
    write(x="import colorsys; print(hasattr(colorsys, 'N'))")
    assert made() == "False\n"
    assert "colorsys.py" in depends("absent")
    write(colorsys="N = 1")
    assert made() == "True\n"


def test_the_folders_that_were_listed_are_known() -> None:
    write(x="from pathlib import Path\nprint(*sorted(p.name for p in Path('designs/x').glob('*.py')))", helper="")
    assert made() == "helper.py x.py\n"
    assert depends("folders") == {"designs/x"}


def test_packages_outside_the_project_and_the_interpreter_are_inputs_the_standard_library_is_not() -> None:
    # A stack is shown with the lines of the files, so that these are read; ours is among them.
    write(x="import argparse, markupsafe, traceback\ndef build(M): return f'module {traceback.format_stack()}'")
    made("x.py:build")
    files = json.loads(DEPFILE.read_text())["files"]
    outside = [name for name in files if name.startswith("/")]
    assert any(name.endswith("/markupsafe/__init__.py") for name in outside)
    assert str(Path(sys.executable).resolve()) in outside
    assert not any(name.endswith(("/argparse.py", "/recorder.py", "/os.py")) for name in files)
    assert not any("__pycache__" in name for name in files)


# Determinism


def test_compiled_caches_are_neither_written_nor_believed() -> None:
    write(x="import helper; print(helper.N)", helper="N = 1")
    helper = Path("designs/x/helper.py")
    subprocess.run([sys.executable, "-m", "compileall", "-q", "designs"], check=True)
    before = helper.stat()
    helper.write_text("N = 2")
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    caches = {path: path.read_bytes() for path in Path().rglob("*.pyc")}
    assert caches
    assert made() == "2\n"
    assert {path: path.read_bytes() for path in Path().rglob("*.pyc")} == caches


def test_no_compiled_cache_is_left_in_the_project() -> None:
    write(**TREE)
    made()
    assert not list(Path().rglob("__pycache__"))


def test_the_same_inputs_give_the_same_bytes_whatever_the_caller_has_set(tmp_path: Path) -> None:
    write(
        x="import os, sys\nimport helper\nprint({'a', 'b', 'c', 'd', 'e'}, sys.argv, __file__)\n"
        "print(sorted(os.environ.items()), sys.flags.utf8_mode, sys.stdout.encoding, os.path.basename(os.getcwd()))",
        helper="",
    )
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "helper.py").write_text("raise SystemExit(3)")
    texts = []
    for seed in ("1", "2", "random"):
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": "/nowhere",
            "PYTHONPATH": f"{Path(aiebuild.__file__).parents[1]}:{tmp_path / 'shadow'}",
            "PYTHONHASHSEED": seed,
            "LANG": f"x{seed}",
            "COLUMNS": seed,
        }
        command = [sys.executable, "-m", "aiebuild.generate", "designs/x/x.py", "--parameters", "P.json"]
        command += ["-o", str(OUTPUT), "--depfile", str(DEPFILE)]
        subprocess.run(command, env=variables, check=True, input=seed, text=True)
        texts.append((OUTPUT.read_bytes(), DEPFILE.read_bytes()))
    assert texts[0] == texts[1] == texts[2]


def test_another_place_of_the_project_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(x="import sys; print(sys.argv, __file__)")
    first = made()
    Path().absolute().rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert made() == first


def test_text_is_utf_8_wherever_it_is_made() -> None:
    write(x="print('// \\u00e9')")
    made()
    assert OUTPUT.read_bytes() == b"// \xc3\xa9\n"


# Failures


def test_an_exception_is_said_at_its_line_with_the_users_frames_only(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="import helper\nhelper.build(3)\n", helper="def build(m):\n    return int('a' * m)\n")
    assert refused(capfd) == (
        "designs/x/helper.py:2: error: ValueError: invalid literal for int() with base 10: 'aaa'\n"
        "  Traceback (most recent call last):\n"
        '    File "designs/x/x.py", line 2, in <module>\n'
        "      helper.build(3)\n"
        '    File "designs/x/helper.py", line 2, in build\n'
        "      return int('a' * m)\n"
        "  ValueError: invalid literal for int() with base 10: 'aaa'\n"
    )


def test_what_caused_an_exception_is_said_too(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="try:\n    {}['M']\nexcept KeyError as e:\n    raise ValueError('no M') from e\n")
    said = refused(capfd)
    assert said.startswith("designs/x/x.py:4: error: ValueError: no M\n")
    assert "KeyError: 'M'\n  which caused:\n" in said


def test_a_mistake_of_syntax_is_said_at_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="import helper\n", helper="\nif :\n")
    assert refused(capfd).startswith("designs/x/helper.py:2:4: error: SyntaxError: ")


def test_what_the_generator_itself_says_comes_after(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="import argparse\np = argparse.ArgumentParser()\np.add_argument('-N')\np.parse_args()\n")
    said = refused(capfd, options={"M": "-M"}, file="designs/x/design.yaml").splitlines()
    assert said[:2] == [
        "designs/x/x.py:4: error: the generator ended with exit status 2",
        "  it was given: -M 4 ('generator' in designs/x/design.yaml says so)",
    ]
    assert said[-1] == "x.py: error: unrecognized arguments: -M 4"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit('M is odd')", "designs/x/x.py:1: error: M is odd\n"),
        ("pass", "designs/x/x.py: error: the script printed no MLIR\n  it was given no options\n"),
        ("print(' ')", "designs/x/x.py: error: the script printed no MLIR\n  it was given no options\n"),
        ("import os; os.kill(os.getpid(), 9)", "designs/x/x.py: error: the generator was ended by SIGKILL\n"),
        ("print('module', flush=True); import os; os._exit(0)", "designs/x/x.py: error: the generator left at once"),
        (
            "import os\nclass Last:\n    def __del__(self, leave=os._exit): leave(3)\nlast = Last()\nprint('module')",
            "designs/x/x.py: error: the generator left at once with exit status 3",
        ),
        ("print('module'); raise KeyboardInterrupt", "designs/x/x.py:1: error: KeyboardInterrupt\n"),
    ],
)
def test_a_script_that_makes_nothing(code: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    write(x=code)
    assert refused(capfd).startswith(expected)


def test_a_script_that_prints_instead_of_writing_its_file(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="print('module')")
    assert refused(capfd, output="--output") == (
        "designs/x/x.py: error: the script wrote no MLIR to its --output\n"
        "  it printed something: leave 'output' of 'generator' out\n"
    )


def test_a_script_that_fails_after_it_wrote_leaves_no_file(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="import sys; open(sys.argv[2], 'w').write('module'); raise ValueError('late')")
    assert refused(capfd, output="-o").startswith("designs/x/x.py:1: error: ValueError: late\n")


def test_exit_status_0_is_no_failure() -> None:
    write(x="print('module'); raise SystemExit(0)")
    assert made() == "module\n"


FUNCTIONS = """\
def build(rows, cols=1):
    return "module"


def nothing(M): pass


def inner(M):
    return build(lines=M)
"""


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("biuld", "designs/x/x.py: error: the file has no function 'biuld'\n  did you mean 'build'?\n"),
        ("nothing", "designs/x/x.py: error: nothing() returned and printed no MLIR\n  return the text, or print it\n"),
        ("inner", "designs/x/x.py:9: error: TypeError: build() got an unexpected keyword argument 'lines'\n"),
    ],
)
def test_a_function_that_makes_nothing(function: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    write(x=FUNCTIONS)
    assert refused(capfd, f"x.py:{function}").startswith(expected)


def test_something_else_than_a_function(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="build = 3")
    assert refused(capfd, "x.py:build") == "designs/x/x.py: error: 'build' is not a function, but of type int\n"


CONTRACT = """\
description: d
devices: [npu2_1col]
parameters:
  M: {type: int, default: 4}
generator:
  keywords:
    M: row
"""


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (
            {"keywords": {"M": "row"}},
            "7: error: build() got an unexpected keyword argument 'row' (designs/x/x.py:1)\n  did you mean 'rows'?\n",
        ),
        (
            {},
            "4: error: build() got an unexpected keyword argument 'M' (designs/x/x.py:1)\n  one of: cols, rows\n",
        ),
        (
            {"keywords": {}},
            "5: error: build() missing 1 required positional argument: 'rows' (designs/x/x.py:1)\n  it is given: \n",
        ),
    ],
)
def test_a_keyword_that_does_not_fit_is_said_at_the_contracts_line(
    section: dict[str, Any], expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write(x=FUNCTIONS)
    Path("designs/x/design.yaml").write_text(CONTRACT)
    said = refused(capfd, "x.py:build", file="designs/x/design.yaml", **section)
    assert said == f"designs/x/design.yaml:{expected}"


def test_a_script_that_is_not_there_is_said_at_the_recipe(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(x="")
    monkeypatch.setenv("AIEBUILD_RECIPE", "designs/x/SConscript:5")
    assert refused(capfd, "xx.py") == (
        "designs/x/SConscript:5: error: there is no file designs/x/xx.py\n  did you mean 'x.py'?\n"
    )


def test_what_was_made_before_does_not_outlive_a_failure(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="print('module')")
    made()
    write(x="raise ValueError")
    assert refused(capfd) == "designs/x/x.py:1: error: ValueError\n"


@pytest.mark.parametrize("file", ["P.json", "G.json"])
def test_a_file_that_is_not_what_it_should_be(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    write(x="print('module')")
    Path("G.json").write_text("{}")
    Path(file).write_text('{"x": 1}' if file == "G.json" else "{")
    assert run("x.py", "--generator", "G.json") == 1
    assert capfd.readouterr().err.startswith(f"{file}: error: this is not a ")


def test_what_nobody_can_see_is_warned_of(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="import subprocess\nsubprocess.run(['true'])\nopen('designs/x/log.txt', 'w')\nprint('module')")
    made()
    assert capfd.readouterr().err == (
        "designs/x/x.py:2: warning: the generator starts 'true': the build does not see what that reads\n"
        "designs/x/x.py:3: warning: the generator writes 'designs/x/log.txt': the build does not see that file\n"
    )


# Interpreters


def test_another_interpreter_runs_the_script_and_needs_nothing_of_ours(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "other"], check=True)
    other = tmp_path / "other" / "bin" / "python"
    write(x="import sys\ntry: import aiebuild\nexcept ImportError: print(sys.prefix)")
    assert made("x.py", "--interpreter", str(other)) == f"{tmp_path / 'other'}\n"
    assert str(tmp_path / "other" / "pyvenv.cfg") in json.loads(DEPFILE.read_text())["files"]


def test_an_environment_inside_the_project_is_not_the_project() -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "env"], check=True)
    (packages,) = Path("env").glob("lib/python*/site-packages")
    (packages / "tool.py").write_text("T = 1")
    (packages / "early.py").write_text("")
    (packages / "early.pth").write_text("import early\n")
    subprocess.run([sys.executable, "-m", "compileall", "-q", packages], check=True)
    write(x="import tool, colorsys; print(tool.T)")
    assert made("x.py", "--interpreter", "env/bin/python") == "1\n"
    assert {f"{packages}/{name}" for name in ("tool.py", "early.py", "early.pth")} <= depends()
    assert not any(name.startswith("env/") for name in depends("absent"))


def test_an_interpreter_that_is_not_there_or_too_old(capfd: pytest.CaptureFixture[str]) -> None:
    write(x="print('module')")
    assert "error: the interpreter ./none does not run: " in refused(capfd, "x.py", "--interpreter", "./none")
    Path("old").write_text('#!/bin/sh\ncase "$1" in -c) echo 3 6;; *) exit 1;; esac\n')
    Path("old").chmod(0o755)
    said = refused(capfd, "x.py", "--interpreter", "./old")
    assert said == "error: ./old is Python 3.6; generators need 3.8 or later\n"
