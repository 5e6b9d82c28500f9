"""`scons ide` in real projects: files that editors read, and problem matchers that find real errors."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from aiebuild.ide import jsonc, problems
from projects import add_design

if TYPE_CHECKING:
    from projects import Project

KERNEL = 'extern "C" void add_one(int *x, int *y) {{ for (int i = 0; i < 16; ++i) y[i] = x[i] + {what}; }}\n'
RECIPE = 'add = env.CoreObject("add", source="#kernels/{name}.cc", functions=["add_one"], defines={{"N": 4}})\n'
DESIGN = RECIPE + 'env.Design(mlir="{name}.mlir.j2", link_with=[add], check="check.py")'
FILES = (".vscode/tasks.json", ".vscode/settings.json", "compile_commands.json")
OWN = """\
// Mine.
{
    "version": "2.0.0",
    "tasks": [
        { "label": "flash" }, /* with a comma */
    ]
}
"""


def add(project: Project, name: str, what: str = "1") -> None:
    """Add a design with a kernel of its own."""
    project.write(f"kernels/{name}.cc", KERNEL.format(what=what))
    add_design(project, name, DESIGN.format(name=name), {"add_one": "add.o"})


def database(project: Project) -> list[dict[str, Any]]:
    """Return what the compilation database says."""
    said: list[dict[str, Any]] = json.loads(project.read("compile_commands.json"))
    return said


def times(project: Project) -> list[int]:
    """Return when each of the files was written."""
    return [(project.root / name).stat().st_mtime_ns for name in FILES]


def test_files_are_written_once_with_the_commands_that_builds_run(project: Project) -> None:
    add(project, "one")
    add(project, "two")
    project.write(".vscode/tasks.json", OWN)
    project.build("ide")
    assert not (project.root / "build").exists()
    before = times(project)
    assert project.build("ide").out.count(": up to date") == len(FILES) + 1
    assert times(project) == before
    tasks = project.read(".vscode/tasks.json")
    assert tasks.startswith(
        '// Mine.\n{\n    "version": "2.0.0",\n    "tasks": [\n        { "label": "flash" }, /* with a'
    )
    schema = next(iter(_plain(project, ".vscode/settings.json")["yaml.schemas"]))
    assert json.loads(project.read(schema))["properties"]["devices"]
    assert [entry["file"] for entry in database(project)] == ["kernels/one.cc", "kernels/two.cc"]
    shown = [shlex.split(line) for line in project.build("-n").out.splitlines() if " -c kernels/" in line]
    assert sorted(shown) == sorted(entry["arguments"] for entry in database(project))
    assert {entry["directory"] for entry in database(project)} == {str(project.root)}
    said = project.build("ide", "arch=aie2p,host", "design=one").err
    assert said.startswith("warning: compile_commands.json: a toolchain is not here, and its place is left open")
    assert "Peano" in said
    found = [(entry["file"], entry["output"].split("/")[1]) for entry in database(project)]
    assert found == [(f"kernels/{name}.cc", arch) for arch in ("aie2p", "host") for name in ("one", "two")]
    assert project.build("-n", "ide").out.count(": would be written") == 1
    assert [entry["output"].split("/")[1] for entry in database(project)].count("aie2p") == 2


def _plain(project: Project, name: str) -> Any:
    value = jsonc.read(project.read(name), name).value
    assert value is not None
    return value.plain()


def test_what_is_not_ours_or_wrong_is_left_alone_and_the_rest_is_written(project: Project) -> None:
    add(project, "one")
    add(project, "two")
    project.write("designs/two/SConscript", 'Import("env", "p")\nenv.Desgn()\n')
    project.write(".vscode/tasks.json", '{\n  "tasks": [\n')
    project.write("compile_commands.json", '[{"file": "main.c", "command": "cc main.c", "directory": "/"}]')
    failed = project.scons("ide")
    assert failed.status == 2
    assert failed.err.splitlines() == [
        "designs/two/SConscript:2: error: there is no word 'Desgn'",
        "  did you mean 'Design'?",
        ".vscode/tasks.json:3:1: error: expected a value, and the file ends",
        "compile_commands.json: error: this was made by something else, and is left alone",
        "  remove it, or move it, to get aiebuild's: `scons ide` makes it for the kernels",
    ]
    assert project.read(".vscode/tasks.json") == '{\n  "tasks": [\n'
    assert "main.c" in project.read("compile_commands.json")
    assert "yaml.schemas" in project.read(".vscode/settings.json")
    (project.root / "compile_commands.json").unlink()
    project.scons("ide")
    assert [entry["file"] for entry in database(project)] == ["kernels/one.cc"]


Found = tuple[str, int, int, str, str]


def in_python(text: str) -> list[Found]:
    """Return what the problem matchers find, by Python's regular expressions."""
    found: list[Found] = []
    for matcher in problems.matchers():
        pattern = matcher["pattern"]
        for line in text.splitlines():
            hit = re.search(pattern["regexp"], line)
            if hit:
                column = hit[pattern["column"]] if "column" in pattern else None
                bad = hit[pattern["severity"]] if "severity" in pattern else matcher["severity"]
                found.append(
                    (hit[pattern["file"]], int(hit[pattern["line"]]), int(column or 0), bad, hit[pattern["message"]])
                )
    return found


PROGRAM = """\
const [matchers, text] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = [];
for (const { pattern, severity } of matchers)
  for (const line of text.split(/\\r?\\n/)) {
    const hit = new RegExp(pattern.regexp).exec(line);
    if (hit) found.push([hit[pattern.file], Number(hit[pattern.line]), Number(hit[pattern.column] || 0),
                         hit[pattern.severity] || severity, hit[pattern.message]]);
  }
console.log(JSON.stringify(found));
"""


def in_javascript(text: str) -> list[Found]:
    """Return what they find by the regular expressions that VS Code itself has."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the problem matchers were read by Python alone")
    said = json.dumps([problems.matchers(), text])
    done = subprocess.run([node, "-e", PROGRAM], input=said, capture_output=True, text=True, check=True, timeout=60)
    return [(name, line, column, bad, text) for name, line, column, bad, text in json.loads(done.stdout)]


def failing_builds(project: Project) -> str:
    """Return what builds say that fail for each kind of reason: compiler, MLIR, template, check, recipe, contract."""
    for name in ("compiler", "header", "mlir", "template", "check", "fine"):
        add(project, name)
    project.write("kernels/compiler.cc", "int a;\nint b = nowhere;\n")
    project.write("kernels/header.cc", '#include "nowhere.h"\n')
    mlir = project.read("designs/mlir/mlir.mlir.j2")
    project.write("designs/mlir/mlir.mlir.j2", mlir.replace("      aie.end\n", "      aie.ende\n"))
    project.write("designs/template/template.mlir.j2", "module {\n{{ nothing }}\n}\n")
    project.write(
        "designs/check/check.py", "def inputs(p, rng):\n    return {}[1]\n\n\ndef reference(p, X):\n    return {}\n"
    )
    said = project.scons("-k", "--no-progress").err
    project.write("designs/fine/SConscript", 'Import("env", "p")\nenv.Desgn()\n')
    said += project.scons("--no-progress", "design=fine").err
    project.write("designs/fine/design.yaml", "devices: [npu1_1col]\ndescription: [1, 2]\n")
    return said + project.scons("--no-progress", "design=fine").err


def test_problem_matchers_find_the_errors_of_real_builds(project: Project) -> None:
    said = failing_builds(project)
    found = in_python(said)
    places = {(name, line, bad) for name, line, _, bad, _ in found}
    end = project.read("designs/mlir/mlir.mlir.j2").splitlines().index("      aie.ende") + 1
    assert places >= {
        ("kernels/compiler.cc", 2, "error"),
        ("kernels/header.cc", 1, "error"),
        ("designs/mlir/mlir.mlir.j2", end, "error"),
        ("designs/template/template.mlir.j2", 2, "error"),
        ("designs/check/check.py", 2, "error"),
        ("designs/check/check.py", 2, "info"),
        ("designs/fine/SConscript", 2, "error"),
        ("designs/fine/design.yaml", 2, "error"),
        ("designs/compiler/SConscript", 5, "error"),
    }, said
    assert ("designs/mlir/mlir.mlir.j2", end, 7, "error", "the op `aie.ende` is not known") in found
    errors = [line for line in said.splitlines() if "error: " in line and not line.startswith(("scons:", "error:"))]
    assert len([each for each in found if each[3] == "error"]) == len(errors)
    assert in_javascript(said) == found


def test_problem_matchers_find_the_errors_of_mlirs_own_tools(project: Project) -> None:
    tool = shutil.which("mlir-opt-22")
    if tool is None:
        pytest.skip("mlir-opt-22 is not installed: the errors of MLIR's own tools were not seen")
    project.write("kernels/k.mlir", "module {\n  nothing.at_all\n}\n")
    done = subprocess.run([tool, "kernels/k.mlir"], cwd=project.root, capture_output=True, text=True, check=False)
    (found, *_) = in_python(done.stderr)
    assert found[:4] == ("kernels/k.mlir", 2, 3, "error")
