"""Each folder of `tests/recipes/failing` is a wrong design, with the command and the exact message expected."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from projects import CHECK, CONTRACT, one_core_mlir

if TYPE_CHECKING:
    from projects import Project

CASES = Path(__file__).resolve().parents[1] / "recipes" / "failing"
DEFAULTS = {
    "design.yaml": CONTRACT + "arguments: {X: input, Y: output}\n",
    "x.mlir.j2": one_core_mlir({"add_one": "add.o"}),
    "check.py": CHECK,
    "SConscript": """\
\"\"\"One core that adds one.\"\"\"

Import("env", "p")

add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])

env.Design(mlir="x.mlir.j2", link_with=[add], check="check.py")
""",
}
KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'


def test_the_defaults_of_these_cases_are_right(project: Project) -> None:
    set_up(project, None)
    assert project.build("design=x").status == 0


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_a_wrong_design_is_refused_with_its_message(
    project: Project, case: str, request: pytest.FixtureRequest
) -> None:
    folder = CASES / case
    set_up(project, folder)
    command = (folder / "command").read_text(encoding="utf-8").split()
    failed = project.scons(*command)
    said = failed.err.replace(str(project.root), "<project>")
    expected = folder / "expected"
    if request.config.getoption("--rewrite"):
        expected.write_text(said, encoding="utf-8")
    assert failed.status == 2, failed.out
    assert "Traceback" not in said
    assert said == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["kernels/add.cc", "designs/x/check.py", "designs/x/x.mlir.j2"])
def test_a_link_that_leads_nowhere_is_said_to_be_one(project: Project, name: str) -> None:
    set_up(project, None)
    file = project.root / name
    file.unlink()
    file.symlink_to("elsewhere.cc")
    failed = project.scons("design=x")
    assert failed.status == 2
    assert f"{name} is a link that leads nowhere\n  there is no file elsewhere.cc: make it lead to one\n" in failed.err


def set_up(project: Project, folder: Path | None) -> None:
    """Make the design `x` from the defaults and the files of a case."""
    project.write("kernels/add.cc", KERNEL)
    for name, text in DEFAULTS.items():
        project.write(f"designs/x/{name}", text)
    for path in sorted(folder.iterdir()) if folder else ():
        if path.name not in {"command", "expected"}:
            shutil.copy(path, project.root / "designs/x" / path.name)
