"""F10: what a Python script that makes the MLIR really imported and read is an input, and nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from projects import CONTRACT, add_design, new_project, one_core_mlir

if TYPE_CHECKING:
    from pathlib import Path

    from projects import Project

SCRIPT = """\
import argparse
from pathlib import Path

import shapes
from words import WORD

parser = argparse.ArgumentParser()
parser.add_argument("-d", required=True)
options = parser.parse_args()
text = Path("designs/x/text.mlir").read_text()
print(text.replace("DEVICE", options.d).replace("COUNT", str(shapes.count())), "//", WORD)
"""
KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
RECIPE = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])
env.Design(mlir="{mlir}", link_with=[add], check="check.py")"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project of `scripted`, built once."""
    project = with_script(new_project(tmp_path_factory.mktemp("made") / "project"))
    project.build()
    return project


@pytest.fixture
def built(made: Project, tmp_path: Path) -> Project:
    """The project of `scripted` with its design built, for tests of what comes after that."""
    return made.copy_built(tmp_path / "project")


@pytest.fixture
def scripted(project: Project) -> Project:
    """A project with a design whose MLIR a script prints, from a module, a package and a data file."""
    return with_script(project)


def with_script(project: Project) -> Project:
    """Add the design, its script and what that reads."""
    project.write("kernels/add.cc", KERNEL)
    contract = CONTRACT + "generator: {options: {device: -d}}\n"
    add_design(project, "x", RECIPE.format(mlir="x.py"), {"add_one": "add.o"}, contract=contract)
    (project.root / "designs/x/x.mlir.j2").unlink()
    text = (
        one_core_mlir({"add_one": "add.o"})
        .replace("{{ device }}", "DEVICE")
        .replace("constant 2 :", "constant COUNT :")
    )
    project.write("designs/x/text.mlir", text)
    project.write("designs/x/x.py", SCRIPT)
    project.write("designs/x/shapes.py", "COUNT = 2\n\n\ndef count():\n    return COUNT\n")
    project.write("designs/x/words/__init__.py", "from words.deep import WORD\n")
    project.write("designs/x/words/deep.py", 'WORD = "one"\n')
    project.write("designs/x/beside.py", "unused = 1\n")
    return project


def generates(project: Project) -> bool:
    """Build, and return whether the script ran."""
    return "python designs/x/x.py" in project.build().steps


def test_a_script_makes_the_mlir(scripted: Project) -> None:
    assert "Y agrees with the reference" in scripted.build().out
    assert scripted.build().steps == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shapes.py", "COUNT = 1 + 1\n\n\ndef count():\n    return COUNT\n"),
        ("words/__init__.py", "# why\nfrom words.deep import WORD\n"),
        ("words/deep.py", 'WORD = "two"\n'),
        ("x.py", SCRIPT + "# why\n"),
    ],
)
def test_f10_an_edit_of_what_the_script_imports_runs_it_again(built: Project, name: str, text: str) -> None:
    built.build()
    built.write(f"designs/x/{name}", text)
    assert generates(built)
    assert built.build().steps == []


def test_f10_an_edit_of_what_the_script_reads_runs_it_again(built: Project) -> None:
    built.build()
    built.write("designs/x/text.mlir", built.read("designs/x/text.mlir") + "// why\n")
    assert generates(built)


def test_f10_an_edit_beside_them_runs_nothing(built: Project) -> None:
    built.build()
    built.write("designs/x/beside.py", "unused = 2\n")
    assert built.build().steps == []


def test_a_new_module_that_would_be_imported_first_runs_it_again(built: Project) -> None:
    built.build()
    built.write("designs/x/shapes/__init__.py", "def count():\n    return 2\n")
    assert generates(built)
    assert built.build().steps == []


def test_a_script_that_fails_shows_its_own_line_and_leaves_nothing(scripted: Project) -> None:
    scripted.write("designs/x/shapes.py", "def count():\n    return 1 // 0\n")
    failed = scripted.scons()
    assert failed.status == 2
    assert "designs/x/shapes.py:2" in failed.err
    assert "ZeroDivisionError" in failed.err
    assert "aiebuild/generate" not in failed.err
    assert not list((scripted.root / "build/host/designs").rglob("x.mlir"))


def test_a_function_is_called_with_the_parameters(scripted: Project) -> None:
    body = SCRIPT.partition("parser =")[0].replace("import argparse\n", "")
    body += "\n\ndef make(device):\n    text = Path('designs/x/text.mlir').read_text()\n"
    body += "    return text.replace('DEVICE', device).replace('COUNT', str(shapes.count()))\n"
    scripted.write("designs/x/x.py", body)
    scripted.write("designs/x/design.yaml", CONTRACT + "arguments: {X: a, Y: b}\n")
    recipe = RECIPE.format(mlir="x.py:make")
    scripted.write("designs/x/SConscript", f'Import("env", "p")\n\n{recipe}\n')
    assert "Y agrees with the reference" in scripted.build().out
    scripted.write("designs/x/SConscript", f'Import("env", "p")\n\n{RECIPE.format(mlir="x.py:mkae")}\n')
    failed = scripted.scons()
    assert failed.status == 2
    assert "did you mean 'make'?" in failed.err
