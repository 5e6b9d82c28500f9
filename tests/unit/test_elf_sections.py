from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from aiebuild.devices import CORE, PROGRAM_MEMORY
from aiebuild.elf_sections import Sections, reached, read_sections
from aiebuild.errors import CheckError, Location
from aiebuild.mlir.facts import Core, Facts
from aiebuild.npu.memory import check_compilers, check_memory, kept_by, sections_of, size_of

GXX = shutil.which("g++")
pytestmark = pytest.mark.skipif(GXX is None or platform.system() != "Linux", reason="needs g++ that makes ELF")
Compile = Callable[..., Path]
WHERE = Location("d.mlir", 7)


@pytest.fixture
def compile_c(tmp_path: Path) -> Compile:
    """Return what compiles C with a section for each function and datum."""

    def run(name: str, text: str, *sections: str) -> Path:
        source, output = tmp_path / f"{name}.cc", tmp_path / f"{name}.o"
        source.write_text(f'extern "C" {{ {text} }}\n')
        split = ["-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables"]
        subprocess.run([str(GXX), "-c", "-O1", *split, str(source), "-o", str(output)], check=True)
        for section in sections:
            subprocess.run(["objcopy", f"--add-section={section}={source}", str(output)], check=True)
        return output

    return run


def filler(name: str, size: int) -> str:
    """Return a function of that many bytes of code, and a little."""
    return f'void {name}() {{ asm volatile(".fill {size}, 1, 0x90"); }}'


def facts_of(calls: tuple[str, ...], files: tuple[str, ...], memory: int = 0) -> Facts:
    return Facts("npu1_1col", (), (Core(0, 2, calls, files, WHERE, memory),), ())


def test_what_a_call_reaches_is_kept_and_nothing_else(compile_c: Compile) -> None:
    path = compile_c("k", "int used[4] = {1,2,3,4}; int unused[400] = {1}; void g(); void f() { used[0]++; g(); }")
    names = {section.name for section in reached(read_sections(path), ["f"])}
    assert names == {"k.o:.text.f", "k.o:.data.used"}


def test_a_call_into_another_object_reaches_its_section(compile_c: Compile) -> None:
    first, second = compile_c("a", "void g(); void f() { g(); g(); }"), compile_c("b", "void g() {} void h() {}")
    objects = [*read_sections(first), *read_sections(second)]
    assert {section.name for section in reached(objects, ["f"])} == {"a.o:.text.f", "b.o:.text.g"}


def test_functions_that_call_each_other_are_counted_once(compile_c: Compile) -> None:
    path = compile_c("r", "void g(int); void f(int n) { if (n) g(n - 1); } void g(int n) { if (n) f(n + 1); }")
    assert len(reached(read_sections(path), ["f", "f", "g"])) == 2


def test_members_of_an_archive_are_read(compile_c: Compile, tmp_path: Path) -> None:
    archive = tmp_path / "lib.a"
    subprocess.run(["ar", "rcs", archive, compile_c("a", "void f() {}"), compile_c("b", "void g() {}")], check=True)
    kept = reached(read_sections(archive, "v.a"), ["g"])
    assert [section.name for section in kept] == ["v.a(b.o):.text.g"]


def test_too_much_code_for_the_program_memory_names_the_largest(compile_c: Compile) -> None:
    path = compile_c("big", filler("f", 12_000) + filler("g", 5_000) + filler("unused", 90_000))
    (error,) = check_memory(facts_of(("f", "g"), ("big.o",)), sections_of({"big.o": path}))
    assert error.where == WHERE
    assert "core (0, 2) links 17,00" in error.message
    assert "program memory holds 16,384 B: big.o:.text.f 12,00" in error.message
    assert list(check_memory(facts_of(("f",), ("big.o",)), sections_of({"big.o": path}))) == []
    assert PROGRAM_MEMORY == 16_384


def test_tables_of_kernels_count_with_buffers_and_stack(compile_c: Compile) -> None:
    path = compile_c("t", "char table[40000]; char* f() { return table; }")
    sections = sections_of({"t.o": path})
    (error,) = check_memory(facts_of(("f",), ("t.o",), memory=CORE.data_memory - 39_999), sections)
    assert error.message.startswith("core (0, 2) does not hold its data: buffers and stack 25,537 B, kernels 40,000 B")
    assert list(check_memory(facts_of(("f",), ("t.o",), memory=CORE.data_memory - 40_000), sections)) == []


def test_sizes_are_those_of_the_kept_sections(compile_c: Compile) -> None:
    path = compile_c("s", "int x[8] = {1}; int* f() { return x; }")
    kept = kept_by(facts_of(("f",), ("s.o",)).cores[0], sections_of({"s.o": path}))
    assert size_of([section for section in kept if not section.is_code]) == 32


@pytest.mark.parametrize(("toolchain", "wrong"), [("peano", True), ("chess", False)])
def test_an_object_of_chess_is_known_by_its_sections(compile_c: Compile, toolchain: str, *, wrong: bool) -> None:
    path = compile_c("c", "void f() {}", ".tctmemtab")
    errors = list(check_compilers(facts_of(("f",), ("v.o",)), sections_of({"v.o": path}), toolchain))
    assert bool(errors) is wrong
    for error in errors:
        assert "v.o was compiled by Chess, but this design is linked by Peano: Peano's linker refuses" in error.message
        assert error.where == WHERE
        assert error.hint is not None
        assert "toolchain=chess" in error.hint


def test_an_object_of_neither_is_taken(compile_c: Compile) -> None:
    sections = sections_of({"v.o": compile_c("c", "void f() {}")})
    assert sections["v.o"][0].compiler == ""
    assert list(check_compilers(facts_of(("f",), ("v.o",)), sections, "chess")) == []


def test_a_damaged_object_is_an_error(compile_c: Compile) -> None:
    path = compile_c("d", "void f() {}")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(CheckError, match=r"d\.o is damaged"):
        read_sections(path)


def test_what_is_no_elf_has_no_sections(tmp_path: Path) -> None:
    (tmp_path / "x.bc").write_bytes(b"BC\xc0\xde")
    assert read_sections(tmp_path / "x.bc") == ()
    assert reached([Sections()], ["f"]) == ()
