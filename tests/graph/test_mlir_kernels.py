"""Kernels that are MLIR: compiled by MLIR's own tools, stage by stage, or translated where there are none."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from installations import install
from projects import REPOSITORY, Built, Project, new_project

if TYPE_CHECKING:
    from pathlib import Path

HAS_TOOLS = all(shutil.which(f"{name}-22") for name in ("mlir-opt", "mlir-translate", "llc"))
needs_tools = pytest.mark.skipif(not HAS_TOOLS, reason="needs Debian's mlir-22-tools and llvm-22")


@pytest.fixture
def two_mm(tmp_path: Path) -> Project:
    """A project with the shipped design `two_mm`, whose kernel can be edited."""
    project = new_project(tmp_path / "project")
    shutil.copytree(REPOSITORY / "designs/two_mm", project.root / "designs/two_mm")
    shutil.copytree(REPOSITORY / "templates", project.root / "templates")
    project.write("kernels/two_mm.mlir", (REPOSITORY / "kernels/two_mm.mlir").read_text())
    return project


def without_tools(project: Project, folder: Path) -> None:
    """Give the project a PATH with a C++ compiler and nothing else."""
    folder.mkdir()
    for name in ("g++", "ar", "as", "ld", "objcopy"):
        (folder / name).symlink_to(os.path.realpath(str(shutil.which(name))))
    project.variables["PATH"] = str(folder)


def agrees(built: Built) -> bool:
    """Return whether the run agreed with the reference."""
    return "two_mm: E agrees with the reference" in built.out


@needs_tools
@pytest.mark.parametrize("variant", ["whole", "outlined", "fused"])
def test_two_mm_agrees_however_it_is_cut(two_mm: Project, variant: str) -> None:
    built = two_mm.build(f"variant={variant}", "design=two_mm")
    assert agrees(built)
    assert built.err == ""
    assert two_mm.build(f"variant={variant}", "design=two_mm").steps == []


@pytest.mark.parametrize("variant", ["whole", "outlined", "fused"])
def test_without_tools_it_is_translated_with_one_notice(two_mm: Project, tmp_path: Path, variant: str) -> None:
    without_tools(two_mm, tmp_path / "bin")
    built = two_mm.build(f"variant={variant}", "design=two_mm")
    assert agrees(built)
    assert built.err.count("which is slow") == 1
    assert built.compiled == []


def test_the_outlined_module_has_two_private_functions_and_two_calls(two_mm: Project, tmp_path: Path) -> None:
    without_tools(two_mm, tmp_path / "bin")
    two_mm.build("variant=outlined", "design=two_mm")
    (path,) = (two_mm.root / "build/host/objects").glob("*.outlined0.mlir")
    text = path.read_text()
    assert text.count('sym_visibility = "private"') == 2
    calls = [line for line in text.splitlines() if "callee = @Stage_" in line]
    shapes = (
        "memref<16x22xf32>, memref<22x18xf32>, memref<16x18xf32>",
        "memref<16x18xf32>, memref<18x24xf32>, memref<16x24xf32>",
    )
    assert len(calls) == 2
    assert all(shape in line for shape, line in zip(shapes, calls, strict=True))


def edit_the_first_stage(project: Project) -> None:
    """Change what the first stage of the kernel says, and none of the lines behind it."""
    text = project.read("kernels/two_mm.mlir")
    first = text.index('stage_name = "out_AB"')
    edited = text[:first].replace("arith.addf %sum, %product", "arith.addf %product, %sum", 1) + text[first:]
    assert edited != text
    project.write("kernels/two_mm.mlir", edited)


@needs_tools
def test_an_edit_of_one_stage_recompiles_one_object(two_mm: Project) -> None:
    two_mm.build("variant=outlined", "design=two_mm")
    edit_the_first_stage(two_mm)
    built = two_mm.build("variant=outlined", "design=two_mm")
    assert [name.rpartition(".Stage_")[2] for name in built.compiled] == ["out_AB.mlir"]
    assert two_mm.build("variant=outlined", "design=two_mm").steps == []


@pytest.mark.parametrize("arch", ["aie2", "aie2p"])
def test_for_the_npu_an_edit_of_one_stage_recompiles_one_object(two_mm: Project, tmp_path: Path, arch: str) -> None:
    tools = install(tmp_path / "tools", "C2", aie_opt=True)
    two_mm.variables |= tools.variables
    words = (f"arch={arch}", "variant=outlined", "design=two_mm")
    first = two_mm.build(*words)
    assert sorted(name.rpartition(".")[0].rpartition(".")[2] for name in first.compiled) == [
        "Stage_out_AB",
        "Stage_out_ABC",
        "rest",
    ]
    (artifact,) = (two_mm.root / f"build/{arch}/designs/two_mm").glob("*/two_mm.xclbin")
    assert artifact.stat().st_size > 0
    edit_the_first_stage(two_mm)
    assert [name.rpartition(".Stage_")[2] for name in two_mm.build(*words).compiled] == ["out_AB.mlir"]
    assert two_mm.build(*words).steps == []


@needs_tools
def test_a_native_tool_reads_what_the_built_in_reader_does_not_know(two_mm: Project, tmp_path: Path) -> None:
    text = two_mm.read("kernels/two_mm.mlir")
    store = "affine.store %e, %E[%i, %j] : memref<16x24xf32>"
    hint = "affine.prefetch %E[%i, %j], write, locality<3>, data : memref<16x24xf32>"
    two_mm.write("kernels/two_mm.mlir", text.replace(store, f"{hint}\n{store}"))
    assert agrees(two_mm.build("variant=outlined", "design=two_mm"))
    without_tools(two_mm, tmp_path / "bin")
    failed = two_mm.scons("variant=outlined", "design=two_mm")
    assert failed.status == 2
    line = text[: text.index(store)].count("\n") + 1
    assert f"kernels/two_mm.mlir:{line}:7: error: the op `affine.prefetch` is not known" in failed.err
    assert "install `mlir-opt`" in failed.err


def test_an_unknown_stage_of_a_kernel_lists_the_stages(two_mm: Project) -> None:
    recipe = two_mm.read("designs/two_mm/SConscript").replace(
        '("out_AB", "out_ABC"),\n    "fused"', '("out_AC",),\n    "fused"'
    )
    two_mm.write("designs/two_mm/SConscript", recipe)
    failed = two_mm.scons("variant=outlined", "design=two_mm")
    assert failed.status == 2
    assert "E-OUTLINE-NOSTAGE" in failed.err
    assert "out_ABC" in failed.err


def test_options_of_c_plus_plus_are_refused_for_mlir(two_mm: Project) -> None:
    recipe = two_mm.read("designs/two_mm/SConscript").replace('functions=["top"]', 'functions=["top"], flags=["-O3"]')
    two_mm.write("designs/two_mm/SConscript", recipe)
    failed = two_mm.scons("design=two_mm")
    assert failed.status == 2
    assert "CoreObject 'two_mm' is MLIR, which has no flags" in failed.err


def test_for_the_npu_the_commands_are_those_of_mlir_aie(two_mm: Project) -> None:
    shown = two_mm.build("-n", "arch=aie2p", "design=two_mm", "variant=outlined").out
    assert shown.count("--pass-pipeline=builtin.module(") == 3
    assert "<mlir_aie>/bin/aie-opt" in shown
    assert shown.count("--target=aie2p-none-unknown-elf") == 3


def test_kernels_that_are_mlir_are_not_for_chess(two_mm: Project) -> None:
    failed = two_mm.scons("-n", "arch=aie2p", "toolchain=chess", "design=two_mm")
    assert failed.status == 2
    assert "the MLIR of CoreObject 'two_mm' was compiled by Peano, but this design is linked by Chess" in failed.err
