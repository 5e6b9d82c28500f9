"""Modules that designs import, and stages that become functions, as nodes of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from installations import install
from projects import Project, add_design, one_core_mlir

if TYPE_CHECKING:
    from pathlib import Path

HELPER = """\
func.func @add_one(%x: memref<16xi32>, %y: memref<16xi32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant {one} : i32
  scf.for %i = %c0 to %c16 step %c1 {{
    %v = memref.load %x[%i] : memref<16xi32>
    %w = arith.addi %v, %one : i32
    memref.store %w, %y[%i] : memref<16xi32>
  }} {{stage_name = "body"}}
  return
}}
"""
RECIPE = """\
adds = env.MlirModule("adds", source="#modules/adds.mlir")
env.Design(mlir="{name}.mlir.j2", {more}check="check.py")"""


CALL = "func.call @add_one("


def importer(project: Project, name: str, more: str) -> None:
    """Add a design whose core calls a function that a module of its own defines."""
    project.write("modules/adds.mlir", HELPER.format(one=1))
    add_design(project, name, RECIPE.format(name=name, more=more), {"add_one": "unused.o"})
    text = one_core_mlir({"add_one": "unused.o"}).replace(' attributes {link_with = "unused.o"}', "")
    project.write(f"designs/{name}/{name}.mlir.j2", text)


def test_a_design_calls_the_functions_of_the_modules_that_it_imports(project: Project) -> None:
    importer(project, "x", "imports=[adds], ")
    assert "Y agrees with the reference" in project.build().out
    assert project.build().steps == []


def test_an_edit_of_a_module_reaches_the_designs_that_import_it(project: Project) -> None:
    importer(project, "x", "imports=[adds], ")
    importer(project, "same", "imports=[adds], ")
    built = project.build()
    assert len([step for step in built.steps if step.startswith("module ")]) == 1
    project.write("modules/adds.mlir", HELPER.format(one=2))
    failed = project.scons("-k")
    assert failed.status == 2
    assert len([step for step in failed.steps if step.startswith("run ")]) == 2


def test_a_definition_that_is_not_imported_is_one_error_for_every_arch(project: Project, tmp_path: Path) -> None:
    importer(project, "x", "")
    project.variables |= install(tmp_path / "tools", "C2").variables
    failed = project.scons("-k", "arch=host,aie2,aie2p")
    assert failed.status == 2
    text = project.read("designs/x/x.mlir.j2")
    line = text[: text.index(CALL)].count("\n") + 1
    error = f"designs/x/x.mlir.j2:{line}:9: error: @add_one is called, but nothing defines it"
    assert failed.err.count(error) == 3
    assert failed.err.count("@add_one is defined in module modules/adds.mlir (") == 3
    assert failed.err.count("[E-") == 3


def test_a_stage_of_an_imported_function_can_become_a_function(project: Project) -> None:
    importer(project, "x", 'imports=[adds], outline={"add_one": ["body"]}, ')
    built = project.build()
    assert any(step.startswith("outline ") for step in built.steps)
    assert "Stage_body" in project.read("build/host/designs/x/npu1_1col/x.generic.mlir")
    assert project.build().steps == []


def test_an_unknown_stage_is_an_error_with_those_that_there_are(project: Project) -> None:
    importer(project, "x", 'imports=[adds], outline={"add_one": ["bodi"]}, ')
    failed = project.scons()
    assert failed.status == 2
    assert "body" in failed.err


def test_what_is_imported_reaches_aiecc(project: Project, tmp_path: Path) -> None:
    importer(project, "x", "imports=[adds], ")
    project.variables |= install(tmp_path / "tools", "C2").variables
    project.build("arch=aie2")
    text = project.read("build/aie2/designs/x/npu1_1col/x.config.mlir")
    assert "aie.device(npu1_1col)" in text
    assert "memref.store" in text
    assert "runtime_sequence" not in text
    assert project.build("arch=aie2").steps == []
