"""Peano as a toolchain: its commands, what identifies it, the targets that it has, and kernels as LLVM IR."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from aiebuild import elf
from aiebuild.environment import Environment
from aiebuild.errors import CheckError, Location, ToolchainError
from aiebuild.fingerprint import Fingerprints
from aiebuild.model import Compilation
from aiebuild.toolchains import peano
from aiebuild.toolchains.compiler import Toolchain, compile_command, inline_command, rename_command
from aiebuild.toolchains.discover import Places
from aiebuild.toolchains.inline import bitcode_command, patch
from installations import Installation, install

if TYPE_CHECKING:
    from pathlib import Path

MATMUL = Compilation(
    "peano", "aie2", "release", "kernels/mm.cc", flags=("-O3",), defines=(("N", "4"),), include_dirs=("k",)
)


class Machine:
    """A machine with an installation, on which several runs of a build look for Peano."""

    def __init__(self, folder: Path, installed: Installation) -> None:
        self.folder = folder
        self.installed = installed
        self.log = folder / "log"
        variables = {**installed.variables, "AIE_STUB_LOG": str(self.log), "PATH": "/usr/bin:/bin"}
        self.environment = Environment.of(variables)

    def find(self, arch: str = "aie2", mode: str = "release") -> Toolchain:
        """Return Peano as a new run of a build finds it."""
        prints = Fingerprints(self.folder / "prints.json")
        found = peano.find_toolchain(self.environment, arch, mode, prints, self.folder / "toolchain-peano.json")
        prints.save()
        return found

    @property
    def calls(self) -> int:
        """How many tools were run."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with both wheels."""
    return Machine(tmp_path, install(tmp_path / "packages"))


def test_u24_the_kernel_command_is_mlir_aies_own(machine: Machine) -> None:
    found = machine.find()
    installed = machine.installed
    assert compile_command(found, MATMUL, "kernels/mm.cc", "mm.o", "mm.d") == (
        str(installed.peano / "bin" / "clang++"),
        f"-I{installed.mlir_aie}/include",
        *("-std=c++20", "-Wno-parentheses", "-Wno-attributes", "-Wno-macro-redefined", "-Wno-empty-body"),
        *("-D__AIE_API_AIE_ADF_HPP__", "-O2", "-DNDEBUG", "--target=aie2-none-unknown-elf"),
        *("-DN=4", "-Ik", "-O3", "-c", "kernels/mm.cc", "-o", "mm.o", "-MD", "-MF", "mm.d"),
    )


def test_the_command_runs_with_the_headers_that_mlir_aie_ships(machine: Machine, tmp_path: Path) -> None:
    source, obj = tmp_path / "k.cc", tmp_path / "k.o"
    source.write_text('#include <aie_api/aie.hpp>\nextern "C" int lanes() { return aie::lanes(); }\n')
    for arch in ("aie2", "aie2p"):
        found = machine.find(arch)
        argv = compile_command(found, replace(MATMUL, include_dirs=()), str(source), str(obj), str(tmp_path / "k.d"))
        subprocess.run(argv, check=True)
        assert elf.read(obj).machine == arch
        assert "aie_api/aie.hpp" in (tmp_path / "k.d").read_text()


def test_debug_keeps_assertions(machine: Machine) -> None:
    flags = machine.find(mode="debug").default_flags
    assert "-g" in flags
    assert "-DNDEBUG" not in flags


def test_f8_it_is_asked_at_most_once_until_it_changes(machine: Machine) -> None:
    first = machine.find()
    calls = machine.calls
    assert calls > 0
    assert machine.find() == first
    assert machine.calls == calls
    machine.installed.touch("clang++", "another build")
    assert machine.find().identity != first.identity
    assert machine.calls == 2 * calls


@pytest.mark.parametrize("tool", ["llvm-ar", "llvm-nm", "llvm-objcopy"])
def test_f8_each_tool_is_part_of_the_identity(machine: Machine, tool: str) -> None:
    before = machine.find().identity
    machine.installed.touch(tool, "another build")
    assert machine.find().identity != before


@pytest.mark.parametrize("header", ["aie_api/aie.hpp", "aie_kernels/aie_kernel_utils.h", "aie_api/new.hpp"])
def test_headers_that_it_ships_are_part_of_the_identity(machine: Machine, header: str) -> None:
    before = machine.find().identity
    path = machine.installed.mlir_aie / "include" / header
    path.write_text("// another\n")
    assert machine.find().identity != before


def test_an_aiecc_is_not_part_of_the_identity(machine: Machine) -> None:
    before = machine.find().identity
    machine.installed.touch("aiecc", "another build")
    assert machine.find().identity == before


def test_two_arches_remember_side_by_side(machine: Machine) -> None:
    machine.find("aie2"), machine.find("aie2p")
    calls = machine.calls
    machine.find("aie2"), machine.find("aie2p")
    assert machine.calls == calls


def test_u10_a_peano_without_the_target_is_an_error_before_anything_is_built(tmp_path: Path) -> None:
    machine = Machine(tmp_path, install(tmp_path / "packages", refuse="aie2p"))
    machine.find("aie2")
    with pytest.raises(ToolchainError, match=r"this Peano lacks target aie2p: .*bin/clang") as caught:
        machine.find("aie2p")
    assert "clang version 21.0.0" in caught.value.message
    assert "llvm-aie" in caught.value.hint


def test_u8_without_peano_there_is_one_error_that_is_the_same_on_each_machine(tmp_path: Path) -> None:
    environment = Environment.of({"PATH": "/usr/bin:/bin"})
    places = Places(environment, (), sys.executable)
    prints = Fingerprints(tmp_path / "p.json")
    with pytest.raises(ToolchainError) as caught:
        peano.find_toolchain(environment, "aie2", "release", prints, tmp_path / "m.json", places=places)
    assert caught.value.message == "arch=aie2 needs Peano, which is not installed"
    assert "scons doctor" in caught.value.hint
    assert "arch=host" in caught.value.hint


def test_its_commands_can_be_shown_where_it_is_not_installed() -> None:
    missing = ToolchainError("arch=aie2 needs Peano, which is not installed")
    nominal = peano.nominal_toolchain("aie2", "release", missing)
    words = compile_command(nominal, MATMUL, "kernels/mm.cc", "mm.o", "mm.d")
    assert words[:2] == ("<llvm-aie>/bin/clang++", "-I<mlir_aie>/include")
    assert "--target=aie2-none-unknown-elf" in words
    assert "needs Peano" in nominal.missing


def test_the_folder_that_aiecc_is_told_is_that_of_the_compiler(machine: Machine) -> None:
    places = Places(machine.environment, (), sys.executable)
    assert peano.install_dir(places) == str(machine.installed.peano)


def test_n6_a_prefix_without_an_objcopy_is_an_error(machine: Machine) -> None:
    (machine.installed.mlir_aie / "bin" / "llvm-objcopy").unlink()
    found = machine.find()
    with pytest.raises(ToolchainError, match="symbol_prefix needs objcopy") as caught:
        rename_command(found, replace(MATMUL, renames=(("f", "p_f"),)), "mm.o")
    assert "mlir_aie" in caught.value.hint


def test_n11_an_inline_kernel_is_compiled_to_text(machine: Machine, tmp_path: Path) -> None:
    source, text = tmp_path / "k.cc", tmp_path / "k.ll"
    source.write_text('extern "C" void add(int *x) { *x += 1; }\n')
    argv = inline_command(machine.find(), replace(MATMUL, include_dirs=()), str(source), str(text), str(tmp_path / "d"))
    assert [word for word in argv if word in {"-c", "-S", "-emit-llvm"}] == ["-S", "-emit-llvm"]
    subprocess.run(argv, check=True)
    patched = patch(text.read_text(), ("add",), "k.cc")
    assert "define linkonce_odr dso_local void @add(" in patched
    code = subprocess.run(bitcode_command(machine.find(), str(tmp_path / "k.bc")), input=patched.encode(), check=True)
    assert code.returncode == 0
    assert (tmp_path / "k.bc").read_bytes().startswith(b"BC\xc0\xde")


IR = """\
define dso_local void @add(ptr noundef captures(none) %0, i32 (...)* %f) local_unnamed_addr #0 !dbg !3 {
  ret void
}

define internal void @hidden() #1 {
  ret void
}

define weak_odr void @"odd name"() unnamed_addr {
  ret void
}

define dso_local void @_Z3mulPi(ptr %0) #1 {
  ret void
}

attributes #0 = { mustprogress noinline nounwind optnone "a"="b c" }
attributes #1 = { nounwind }
"""


def test_n11_a_patched_function_is_inlined_wherever_it_is_called() -> None:
    lines = patch(IR, ("add",), "k.cc").splitlines()
    assert lines[0] == (
        "define linkonce_odr dso_local void @add(ptr noundef captures(none) %0, i32 (...)* %f) "
        "local_unnamed_addr #2 !dbg !3 {"
    )
    assert 'attributes #0 = { mustprogress noinline nounwind optnone "a"="b c" }' in lines
    assert 'attributes #2 = { alwaysinline mustprogress nounwind "a"="b c" }' in lines
    assert lines[4:-3] == IR.splitlines()[4:-2]


def test_a_function_without_attributes_gets_the_word_itself() -> None:
    assert 'define linkonce_odr void @"odd name"() unnamed_addr alwaysinline {' in patch(IR, ("odd name",), "k.cc")


def test_patching_twice_changes_nothing() -> None:
    names = ("add", "odd name")
    once = patch(IR, names, "k.cc")
    assert patch(once, names, "k.cc") == once


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("ad", "k.cc does not define 'ad'", "did you mean 'add'?"),
        ("mul", "k.cc does not define 'mul'", 'declare it extern "C": it is there as _Z3mulPi'),
        ("hidden", "'hidden' is static in k.cc", "exported"),
    ],
)
def test_what_cannot_be_merged_is_an_error(name: str, message: str, hint: str) -> None:
    with pytest.raises(CheckError) as caught:
        patch(IR, (name,), "k.cc", Location("SConscript", 2))
    assert caught.value.message == message
    assert hint in caught.value.hint
