"""Chess as a toolchain: its commands, and where it is found."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from aiebuild import elf
from aiebuild.environment import Environment
from aiebuild.errors import ToolchainError
from aiebuild.fingerprint import Fingerprints
from aiebuild.model import Compilation
from aiebuild.toolchains import chess
from aiebuild.toolchains.compiler import Toolchain, compile_command, inline_command
from aiebuild.toolchains.discover import Places
from installations import Installation, install

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = Compilation("chess", "aie2", "release", "k.cc", defines=(("N", "4"),), include_dirs=("inc",))


def find(folder: Path, variables: dict[str, str], mode: str = "release") -> Toolchain:
    """Return Chess as a new run of a build finds it."""
    environment = Environment.of({"PATH": "/usr/bin:/bin", **variables})
    places = Places(environment, (), sys.executable)
    prints = Fingerprints(folder / "prints.json")
    return chess.find_toolchain(environment, "aie2", mode, prints, folder / "memory.json", places=places)


@pytest.fixture
def installed(tmp_path: Path) -> Installation:
    """An installation with Chess."""
    return install(tmp_path / "packages", chess=True)


def test_the_kernel_command_goes_through_the_wrapper(installed: Installation, tmp_path: Path) -> None:
    found = find(tmp_path, installed.variables)
    assert compile_command(found, KERNEL, "k.cc", "k.o", "unused") == (
        str(installed.mlir_aie / "bin" / "xchesscc_wrapper"),
        *("aie2", "-aietools", str(installed.aietools), f"-I{installed.mlir_aie}/include"),
        *("-DNDEBUG", "-DN=4", "-Iinc", "-c", "k.cc", "-o", "k.o"),
    )


def test_it_is_asked_for_no_depfile_and_not_run_twice_at_a_time(installed: Installation, tmp_path: Path) -> None:
    found = find(tmp_path, installed.variables)
    assert not found.has_depfiles
    assert found.exclusive
    assert "-g" in find(tmp_path, installed.variables, "debug").default_flags


def test_the_command_makes_an_object_of_the_arch(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "k.cc").write_text('extern "C" int f() { return N; }\n')
    kernel = replace(KERNEL, include_dirs=())
    argv = compile_command(find(tmp_path, installed.variables), kernel, "k.cc", "k.o", "")
    subprocess.run(argv, cwd=tmp_path, check=True)
    assert elf.read(tmp_path / "k.o").machine == "aie2"
    assert "f" in elf.read(tmp_path / "k.o").defined


@pytest.mark.parametrize("part", ["wrapper", "compiler", "header"])
def test_another_build_of_a_part_is_another_toolchain(installed: Installation, tmp_path: Path, part: str) -> None:
    assert installed.aietools is not None
    path = {
        "wrapper": installed.mlir_aie / "bin" / "xchesscc_wrapper",
        "compiler": installed.aietools / "bin" / "xchesscc",
        "header": installed.mlir_aie / "include" / "aie_api" / "aie.hpp",
    }[part]
    before = find(tmp_path, installed.variables).identity
    path.write_text(path.read_text() + "// another\n")
    assert find(tmp_path, installed.variables).identity != before


def test_vitis_may_be_found_by_its_compiler_on_path(installed: Installation, tmp_path: Path) -> None:
    variables = {"MLIR_AIE_INSTALL_DIR": str(installed.mlir_aie), "PEANO_INSTALL_DIR": str(installed.peano)}
    found = find(tmp_path, variables | {"PATH": f"{installed.aietools}/bin"})
    assert str(installed.aietools) in found.default_flags


def test_without_vitis_there_is_an_error_that_says_what_was_tried(installed: Installation, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="toolchain=chess needs Vitis") as caught:
        find(tmp_path, {"MLIR_AIE_INSTALL_DIR": str(installed.mlir_aie)})
    assert "AIETOOLS_ROOT (not set)" in caught.value.message


def test_a_named_vitis_without_chess_is_an_error(installed: Installation, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"AIETOOLS_ROOT=.* has no bin/xchesscc"):
        find(tmp_path, installed.variables | {"AIETOOLS_ROOT": str(tmp_path)})


def test_n11_inline_kernels_are_peanos_alone(installed: Installation, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="inline kernels need Peano"):
        inline_command(find(tmp_path, installed.variables), KERNEL, "k.cc", "k.ll", "")
