"""MLIR's own tools as a toolchain: which three programs are taken, what they are run with, and that it works."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mlir_tools
import numpy as np
import pytest
from aiebuild.environment import Environment, current
from aiebuild.errors import ToolchainError
from aiebuild.fingerprint import Fingerprints
from aiebuild.mlir.kernel import hide_helpers, static_buffers
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.outline import outline
from aiebuild.mlir.parse import parse
from aiebuild.mlir.split import extract, without
from aiebuild.mlir.write import write
from aiebuild.toolchains.mlir_tools import (
    MlirFiles,
    MlirTools,
    NoMlirTools,
    core_commands,
    find_mlir_tools,
    host_commands,
    translator_of,
)

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module
    from aiebuild.mlir.outline import Request

    Array = np.ndarray[Any, np.dtype[np.float32]]

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "kernels" / "two_mm.mlir"
TRIO = ("mlir-opt", "mlir-translate", "llc")

# Where they are


def program(folder: Path, name: str, version: str) -> Path:
    """Write a program that says a version and notes that it was asked."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$0" >> {folder.parent}/asked\necho "LLVM (http://llvm.org/):"\n{version}\n')
    path.chmod(0o755)
    return path


def says(number: str) -> str:
    return f'echo "  LLVM version {number}"'


def found(folder: Path, *path: Path) -> MlirTools | NoMlirTools:
    variables = {"PATH": ":".join(map(str, path))}
    prints = Fingerprints(folder / "prints.json")
    return find_mlir_tools(Environment.of(variables), prints, folder / "mlir.json")


def taken(tools: MlirTools | NoMlirTools) -> tuple[str, ...]:
    assert isinstance(tools, MlirTools)
    return tuple(Path(path).name for path in (tools.mlir_opt, tools.mlir_translate, tools.llc))


def test_plain_names_are_taken_where_all_are_of_one_version(tmp_path: Path) -> None:
    for name in TRIO:
        program(tmp_path / "bin", name, says("19.1.0"))
        program(tmp_path / "bin", f"{name}-22", says("22.1.8"))
    tools = found(tmp_path, tmp_path / "bin")
    assert taken(tools) == TRIO
    assert isinstance(tools, MlirTools)
    assert tools.version == "LLVM version 19.1.0"


def test_another_plain_llc_does_not_spoil_a_complete_set(tmp_path: Path) -> None:
    program(tmp_path / "bin", "llc", says("14.0.6"))
    for name in TRIO:
        program(tmp_path / "bin", f"{name}-21", says("21.1.0"))
        program(tmp_path / "bin", f"{name}-22", says("22.1.8"))
    program(tmp_path / "bin", "mlir-opt-23", says("23.0.0"))
    assert taken(found(tmp_path, tmp_path / "bin")) == tuple(f"{name}-22" for name in TRIO)


def test_a_plain_name_stands_for_its_version(tmp_path: Path) -> None:
    program(tmp_path / "bin", "mlir-opt", says("22.1.8"))
    program(tmp_path / "bin", "llc", says("14.0.6"))
    program(tmp_path / "other", "mlir-translate-22", says("22.1.0"))
    program(tmp_path / "other", "llc-22", says("22.1.8"))
    tools = found(tmp_path, tmp_path / "bin", tmp_path / "other")
    assert taken(tools) == ("mlir-opt", "mlir-translate-22", "llc-22")


def test_a_program_whose_name_tells_another_version_is_not_taken(tmp_path: Path) -> None:
    for name in TRIO:
        program(tmp_path / "bin", f"{name}-22", says("22.1.8"))
    program(tmp_path / "bin", "llc-22", says("14.0.6"))
    assert isinstance(found(tmp_path, tmp_path / "bin"), NoMlirTools)


@pytest.mark.parametrize("version", [says("17.0.1"), "exit 1", "echo no number"])
def test_what_is_too_old_or_says_no_version_is_not_taken(tmp_path: Path, version: str) -> None:
    for name in TRIO:
        program(tmp_path / "bin", name, version)
    assert isinstance(found(tmp_path, tmp_path / "bin"), NoMlirTools)


def test_a_notice_says_what_was_found_and_what_to_install(tmp_path: Path) -> None:
    path = program(tmp_path / "bin", "mlir-opt-22", says("22.1.8"))
    tools = found(tmp_path, tmp_path / "bin")
    assert isinstance(tools, NoMlirTools)
    assert f"mlir-opt: {path} (22)" in tools.notice
    assert "llc: not on PATH, nor llc-N" in tools.notice
    assert "mlir-22-tools" in tools.notice


def test_no_path_is_no_tools(tmp_path: Path) -> None:
    assert isinstance(found(tmp_path), NoMlirTools)


def test_programs_are_asked_once_as_long_as_they_are_the_same(tmp_path: Path) -> None:
    for name in TRIO:
        program(tmp_path / "bin", name, says("22.1.8"))
    first = found(tmp_path, tmp_path / "bin")
    asked = (tmp_path / "asked").read_text()
    assert sorted(Path(line).name for line in asked.splitlines()) == sorted(TRIO)
    assert found(tmp_path, tmp_path / "bin") == first
    assert (tmp_path / "asked").read_text() == asked
    program(tmp_path / "bin", "llc", says("22.1.9"))
    second = found(tmp_path, tmp_path / "bin")
    assert isinstance(first, MlirTools)
    assert isinstance(second, MlirTools)
    assert (tmp_path / "asked").read_text().splitlines()[-1].endswith("llc")
    assert second.identity != first.identity


# What they are run with

FILES = MlirFiles.beside("build/two_mm.generic.mlir", "build/two_mm-1a.o")


def test_each_command_reads_what_the_one_before_wrote() -> None:
    stem = "build/two_mm-1a"
    assert MlirFiles("build/two_mm.generic.mlir", f"{stem}.llvm.mlir", f"{stem}.ll", f"{stem}.o") == FILES
    lower, translate, compile_ = host_commands(MlirTools("opt", "tr", "llc", "22", "id"), FILES, "release")
    assert lower[:2] == ("opt", FILES.module)
    assert lower[2].startswith("--pass-pipeline=builtin.module(convert-linalg-to-loops,")
    assert "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}" in lower[2]
    assert lower[3:] == ("-o", FILES.lowered)
    assert translate == ("tr", "--mlir-to-llvmir", FILES.lowered, "-o", FILES.ir)
    flags = ("-filetype=obj", "-relocation-model=pic", "-O2")
    assert compile_ == ("llc", *flags, FILES.ir, "-o", FILES.output)


def test_debug_mode_keeps_the_lines_of_the_user() -> None:
    lower, _, compile_ = host_commands(MlirTools("opt", "tr", "llc", "22", "id"), FILES, "debug")
    assert "ensure-debug-info-scope-on-llvm-func" in lower[2]
    assert "--mlir-print-debuginfo" in lower
    assert "-O1" in compile_


def test_a_core_gets_its_object_from_peano() -> None:
    lower, translate, compile_ = core_commands(
        "aie-opt", "aie-translate", "clang++", FILES, target="aie2-none-unknown-elf", mode="release"
    )
    assert lower[:2] == ("aie-opt", FILES.module)
    assert translate == ("aie-translate", "--mlir-to-llvmir", FILES.lowered, "-o", FILES.ir)
    target = ("--target=aie2-none-unknown-elf", "-x", "ir", "-c")
    assert compile_ == ("clang++", "-O2", *target, FILES.ir, "-o", FILES.output)


def test_the_translator_comes_from_the_same_installation(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="need aie-translate beside aie-opt"):
        translator_of(str(tmp_path / "bin" / "aie-opt"))
    program(tmp_path / "bin", "mlir-translate", "")
    assert translator_of(str(tmp_path / "bin" / "aie-opt")) == str(tmp_path / "bin" / "mlir-translate")
    program(tmp_path / "bin", "aie-translate", "")
    assert translator_of(str(tmp_path / "bin" / "aie-opt")) == str(tmp_path / "bin" / "aie-translate")


# That it works

SHAPES = ((16, 22), (22, 18), (18, 24), (16, 24))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> MlirTools:
    folder = tmp_path_factory.mktemp("tools")
    found_ = find_mlir_tools(current(), Fingerprints(folder / "prints.json"), folder / "mlir.json")
    if isinstance(found_, NoMlirTools):
        pytest.skip(f"NOT CHECKED: {found_.notice}")
    return found_


def compiled(tools: MlirTools, folder: Path, modules: dict[str, Module], mode: str = "release") -> Path:
    """Compile modules to objects, and those to a shared library."""
    objects = []
    for name, module in modules.items():
        files = MlirFiles.beside(str(folder / f"{name}.mlir"), str(folder / f"{name}.o"))
        Path(files.module).write_text(write(module, locations=True))
        for command in host_commands(tools, files, mode):
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert not done.stderr, "a warning at every build is noise"
        objects.append(files.output)
    library = folder / "kernels.so"
    subprocess.run(["g++", "-shared", "-o", str(library), *objects], check=True)
    return library


def inputs() -> list[Array]:
    rng = np.random.default_rng(4)
    return [rng.integers(0, 10, shape).astype(np.float32) for shape in SHAPES]


def check(library: Path) -> None:
    """Call `top` as a C++ kernel is called, with bare pointers."""
    a, b, c, d = inputs()
    result = np.full((16, 24), np.nan, np.float32)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c, d, result)]
    top = ctypes.CDLL(str(library)).top
    top.restype = None
    for _ in range(2):
        top(*pointers)
    np.testing.assert_array_equal(result, a @ b @ c + d)


def kernel(*requests: Request) -> Module:
    module = normalise(KERNEL.read_text(), "kernels/two_mm.mlir")
    return outline(module, "top", list(requests), dedupe=False).module if requests else module


RANGE = ("out_AB", "out_ABC")
CUTS: list[tuple[Request, ...]] = [(), ("out_AB", "out_ABC"), (RANGE,)]


@pytest.mark.parametrize("mode", ["release", "debug"])
@pytest.mark.parametrize("requests", CUTS)
def test_a_kernel_is_called_like_one_of_c(
    tools: MlirTools, tmp_path: Path, requests: tuple[Request, ...], mode: str
) -> None:
    check(compiled(tools, tmp_path, {"two_mm": kernel(*requests)}, mode))


@pytest.mark.parametrize("requests", CUTS[1:])
def test_pieces_that_are_compiled_apart_work_together(
    tools: MlirTools, tmp_path: Path, requests: tuple[Request, ...]
) -> None:
    module = kernel(*requests)
    names = ["Stage_out_AB_out_ABC"] if requests == (RANGE,) else ["Stage_out_AB", "Stage_out_ABC"]
    pieces = {"rest": without(module, names), **{name: extract(module, name) for name in names}}
    check(compiled(tools, tmp_path, pieces))


def test_a_core_without_a_heap_computes_the_same(tools: MlirTools, tmp_path: Path) -> None:
    module = static_buffers(kernel("out_AB", "out_ABC"))
    assert not any(op.name in ("memref.alloc", "memref.dealloc") for op in module.walk())
    library = compiled(tools, tmp_path, {"two_mm": module})
    symbols = subprocess.run(["nm", str(tmp_path / "two_mm.o")], capture_output=True, text=True, check=True).stdout
    assert "malloc" not in symbols
    check(library)


def test_private_functions_of_a_kernel_are_seen_by_no_other(tools: MlirTools, tmp_path: Path) -> None:
    module = kernel("out_AB", "out_ABC")
    for folder, each in (("open", module), ("hidden", hide_helpers(module))):
        (tmp_path / folder).mkdir()
        check(compiled(tools, tmp_path / folder, {"two_mm": each}))
    assert "Stage_out_AB" in exported(tmp_path / "open" / "two_mm.o")
    assert "Stage_out_AB" not in exported(tmp_path / "hidden" / "two_mm.o")
    assert "T top" in exported(tmp_path / "hidden" / "two_mm.o")


def exported(file: Path) -> str:
    return subprocess.run(["nm", "-g", str(file)], capture_output=True, text=True, check=True).stdout


OTHER_DIALECTS = """
func.func @top(%A: memref<4x8xf32>, %B: memref<8x4xf32>, %C: memref<4x4xf32>) {
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x4xf32>) outs(%C : memref<4x4xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %bias = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %row = vector.load %C[%i, %c0] : memref<4x4xf32>, vector<4xf32>
    %sum = arith.addf %row, %bias : vector<4xf32>
    %root = math.sqrt %sum : vector<4xf32>
    vector.store %root, %C[%i, %c0] : memref<4x4xf32>, vector<4xf32>
  }
  %v = memref.subview %C[1, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 4>>
  %z = memref.load %v[%c0, %c1] : memref<1x4xf32, strided<[4, 1], offset: 4>>
  %e = math.erf %z : f32
  memref.store %e, %v[%c0, %c0] : memref<1x4xf32, strided<[4, 1], offset: 4>>
  return
}
"""


def test_linalg_vector_and_math_are_compiled_too(tools: MlirTools, tmp_path: Path) -> None:
    mlir_tools.require("mlir-opt")
    library = compiled(tools, tmp_path, {"other": parse(mlir_tools.generic(OTHER_DIALECTS))})
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 5, (4, 8)).astype(np.float32), rng.integers(0, 5, (8, 4)).astype(np.float32)
    c = np.zeros((4, 4), np.float32)
    top = ctypes.CDLL(str(library)).top
    top.restype = None
    top(*(array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c)))
    expected = np.sqrt(a @ b + np.array([1, 2, 3, 4], np.float32))
    assert expected[1, 1] > 4, "erf of it is 1 in f32"
    expected[1, 0] = 1
    np.testing.assert_allclose(c, expected, rtol=1e-6)
