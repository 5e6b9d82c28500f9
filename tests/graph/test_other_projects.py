"""U1: the words and the builders work in another project's own `SConstruct`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from installations import install
from projects import CHECK, CONTRACT, HandMade, Project, add_design, one_core_mlir

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + SOME; }\n'
RUN = """\
add = env.AieObject("out/add.o", "src/add.cc", defines={"SOME": 1})
run = env.AieHostRun("out/check.json", "src/adder.mlir.j2", device="npu1_1col", link_with={"add.o": add},
                     check="src/check.py", arguments=["X", "Y"])
env.Install("deploy", run)
"""


def by_hand(tmp_path: Path, script: str) -> HandMade:
    """Return a project that uses the builders by hand on a kernel, a template and a check."""
    project = HandMade(tmp_path / "project")
    project.write("src/add.cc", KERNEL)
    project.write("src/adder.mlir.j2", one_core_mlir({"add_one": "add.o"}))
    project.write("src/check.py", CHECK)
    project.script(script)
    return project


def test_u1_a_design_runs_by_the_builders_alone(tmp_path: Path) -> None:
    project = by_hand(tmp_path, RUN)
    assert "adder: Y agrees with the reference, largest error 0" in project.build("-j2").out
    assert (project.root / "deploy/check.json").is_file()
    assert project.build().steps == []
    project.write("src/add.cc", KERNEL.replace("+ SOME", "+ 2"))
    assert project.scons().status == 2


def test_u1_checked_mlir_by_hand(tmp_path: Path) -> None:
    script = """\
env.AieMlir("out/adder.generic.mlir", "src/adder.mlir.j2", device="npu1_1col", link_with={"add.o": "src/add.cc"})"""
    project = by_hand(tmp_path, script)
    assert project.build().kinds == {"write", "render", "check"}
    assert (project.root / "out/adder.facts.json").is_file()
    project.script(script.replace('device="', 'pretty=True, device="'))
    failed = project.scons()
    assert failed.status == 2
    assert "aie-opt" in failed.err
    project.variables |= install(tmp_path / "tools", "C2", aie_opt=True).variables
    assert project.build().kinds == {"pretty"}
    assert "aie.device(npu1_1col) {" in project.read("out/adder.pretty.mlir")


def test_u6_a_misspelt_keyword_of_a_builder_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    project = by_hand(tmp_path, 'env.AieObject("out/add.o", "src/add.cc", define={"SOME": 1})')
    failed = project.scons()
    assert failed.status == 2
    assert "SConstruct:5: error: AieObject has no 'define'\n  did you mean 'defines'?" in failed.err
    assert "Traceback" not in failed.err


def test_a_design_needs_a_contract(tmp_path: Path) -> None:
    project = by_hand(tmp_path, 'env.Design(mlir="src/adder.mlir.j2", name="adder")')
    failed = project.scons()
    assert failed.status == 2
    assert failed.err.startswith("SConstruct:5: error: Design needs a contract, and this environment has none\n")


def test_u1_a_design_folder_is_embedded_with_its_recipe(tmp_path: Path) -> None:
    project = HandMade(tmp_path / "project")
    recipe = """\
add = env.CoreObject("add", source="add.cc", functions=["add_one"], defines={"SOME": p.some})
env.Design(mlir="x.mlir.j2", link_with=[add], check="check.py")"""
    contract = CONTRACT + "parameters:\n  some: {type: int, default: 2}\n"
    add_design(Project(project.root), "x", recipe, {"add_one": "add.o"}, contract=contract)
    project.write("designs/x/add.cc", KERNEL)
    script = """\
design, p = env.AieConfiguration("designs/x", some=1)
SConscript("designs/x/SConscript", exports={"env": design, "p": p})
"""
    project.script(script.replace("some=1", 'devise="npu1_1col"'))
    failed = project.scons()
    assert "has no parameter 'devise', which AieConfiguration gives" in failed.err
    assert "'device'" in failed.err
    project.script(script)
    assert "x: Y agrees with the reference" in project.build().out
    assert (project.root / "build/host/designs/x/npu1_1col,some=1/check.json").is_file()
    assert project.build().steps == []


def test_u2_explicit_targets_are_honoured_word_for_word(hand_made: HandMade) -> None:
    hand_made.script('env.AieObject("deep/er/any name.obj", "src/b.cc")')
    hand_made.build()
    said = subprocess.run(
        ["nm", "deep/er/any name.obj"], cwd=hand_made.root, capture_output=True, text=True, check=True
    )
    assert " T b" in said.stdout


def test_sources_by_arch_fall_back_and_the_host_may_have_its_own(tmp_path: Path) -> None:
    project = HandMade(tmp_path / "project")
    project.write("kernels/aie2/a.cc", "#error for the NPU alone\n")
    project.write("kernels/a.cc", 'extern "C" int a() { return 1; }\n')
    project.write("kernels/aie2/b.cc", "#error for the NPU alone\n")
    project.write("kernels/plain/b.cc", 'extern "C" int b() { return 1; }\n')
    project.script("""\
env.AieObject("out/a.o", "#kernels/{arch}/a.cc")
env.AieObject("out/b.o", "#kernels/{arch}/b.cc", host_source="#kernels/plain/b.cc")
""")
    assert project.build().compiled == ["kernels/a.cc", "kernels/plain/b.cc"]
    project.write("kernels/host/a.cc", 'extern "C" int a() { return 2; }\n')
    assert project.build().compiled == ["kernels/host/a.cc"]
