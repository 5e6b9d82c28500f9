from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from aiebuild import elf
from aiebuild.errors import CheckError, Location
from aiebuild.mlir.check import check_objects
from aiebuild.mlir.facts import Core, Facts, Function
from aiebuild.mlir.objects import linked

GXX = shutil.which("g++")
pytestmark = pytest.mark.skipif(GXX is None or platform.system() != "Linux", reason="needs g++ and ar that make ELF")
Compile = Callable[[str, str], Path]


@pytest.fixture
def compile_c(tmp_path: Path) -> Compile:
    def run(name: str, text: str) -> Path:
        source = tmp_path / f"{Path(name).stem}.cc"
        source.write_text(f'extern "C" {{ {text} }}\n')
        assert GXX is not None
        subprocess.run([GXX, "-c", str(source), "-o", str(tmp_path / name)], check=True)
        return tmp_path / name

    return run


def archive(path: Path, *members: Path) -> Path:
    subprocess.run(["ar", "rcs", str(path), *map(str, members)], check=True)
    return path


def facts_of(*cores: dict[str, str]) -> Facts:
    """Return facts with one core for each dictionary of function to file, in row 2, 3, …."""
    files = {name: file for core in cores for name, file in core.items()}
    return Facts(
        "npu1_1col",
        tuple(
            Function(name, (), (), file, Location("d.mlir", 10 + line))
            for line, (name, file) in enumerate(files.items())
        ),
        tuple(
            Core(0, 2 + row, tuple(sorted(core)), tuple(sorted(set(core.values()))), Location("d.mlir", 30 + row))
            for row, core in enumerate(cores)
        ),
        (),
    )


def test_an_object_that_defines_what_is_called_is_right(compile_c: Compile) -> None:
    path = compile_c("mm.o", "void zero() {} void matmul() {}")
    assert check_objects(facts_of({"zero": "mm.o", "matmul": "mm.o"}), {"mm.o": path}) == []


def test_a_function_that_its_file_does_not_define_gives_the_nearest_and_all(compile_c: Compile) -> None:
    path = compile_c("mm.o", "void zero_i16() {} void matmul() {} int table = 1;")
    recipe = {"mm.o": Location("SConscript", 5)}
    (error,) = check_objects(facts_of({"zero_i32": "mm.o"}), {"mm.o": path}, recipe)
    assert error.where == Location("d.mlir", 10)
    assert error.message == "mm.o does not define zero_i32"
    assert error.hint == ("did you mean 'zero_i16'? it defines: matmul, zero_i16; mm.o is declared at SConscript:5")


def test_a_cxx_name_gives_the_hint_of_extern_c(tmp_path: Path) -> None:
    source = tmp_path / "mm.cc"
    source.write_text("void zero(int* p) { *p = 0; }\n")
    subprocess.run([str(GXX), "-c", str(source), "-o", str(tmp_path / "mm.o")], check=True)
    (error,) = check_objects(facts_of({"zero": "mm.o"}), {"mm.o": tmp_path / "mm.o"})
    assert error.hint == 'it defines _Z4zeroPi, a C++ name: declare the function extern "C" in the kernel'


def test_a_function_that_another_linked_file_defines_is_told(compile_c: Compile) -> None:
    files = {"a.o": compile_c("a.o", "void f() {}"), "b.o": compile_c("b.o", "void g() {}")}
    (error,) = check_objects(facts_of({"f": "b.o", "x": "a.o"}), files)[:1]
    assert error.message == "b.o does not define f"
    assert error.hint == 'a.o defines it: write link_with = "a.o"'


def test_data_of_the_functions_name_are_no_function(compile_c: Compile) -> None:
    (error,) = check_objects(facts_of({"f": "a.o"}), {"a.o": compile_c("a.o", "int f = 1;")})
    assert error.message == "a.o defines f as data, not as a function"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (error,) = check_objects(facts_of({"f": "a.o"}), {"a.o": tmp_path / "gone.o"})
    assert error.message.startswith("a.o is not there")
    assert error.where == Location("d.mlir", 10)


def test_a_file_that_nobody_gave_is_named_with_those_that_are(compile_c: Compile) -> None:
    files = {"b.o": compile_c("b.o", "")}
    (error,) = check_objects(facts_of({"f": "a.o"}), files)
    assert (error.message, error.hint) == ("no file is given for link_with 'a.o'", "files: b.o")


def test_a_file_that_is_no_object_is_named_at_the_declaration(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_text("hello")
    (error,) = check_objects(facts_of({"f": "a.o"}), {"a.o": tmp_path / "a.o"})
    assert "is not an object file" in error.message
    assert error.where == Location("d.mlir", 10)


def two_sizes(compile_c: Compile) -> dict[str, Path]:
    return {
        "small.o": compile_c("small.o", "void zero() {} void small() {}"),
        "large.o": compile_c("large.o", "void zero() {} void large() {}"),
    }


def test_two_objects_in_one_core_that_define_one_symbol_are_an_error(compile_c: Compile) -> None:
    (error,) = check_objects(facts_of({"small": "small.o", "large": "large.o"}), two_sizes(compile_c))
    assert error.message == "large.o and small.o both define zero, and core (0, 2) links both"
    assert "symbol_prefix=" in error.hint
    assert "one shared object" in error.hint


def test_the_same_symbol_in_different_cores_is_legal(compile_c: Compile) -> None:
    assert check_objects(facts_of({"small": "small.o"}, {"large": "large.o"}), two_sizes(compile_c)) == []


def test_a_clash_in_several_cores_is_told_once(compile_c: Compile) -> None:
    both = {"small": "small.o", "large": "large.o"}
    (error,) = check_objects(facts_of(both, both), two_sizes(compile_c))
    assert "core (0, 2), (0, 3) links both" in error.message


def test_weak_symbols_do_not_clash(compile_c: Compile) -> None:
    weak = "__attribute__((weak)) void zero() {}"
    files = {
        "a.o": compile_c("a.o", f"{weak} void f() {{}}"),
        "b.o": compile_c("b.o", f"{weak} void g() {{}}"),
    }
    assert check_objects(facts_of({"f": "a.o", "g": "b.o"}), files) == []


def test_one_table_in_an_archive_serves_two_activations(compile_c: Compile, tmp_path: Path) -> None:
    table = compile_c("table.o", "int lut[4] = {1, 2, 3, 4};")
    silu = compile_c("silu.o", "extern int lut[]; int silu() { return lut[0]; }")
    gelu = compile_c("gelu.o", "extern int lut[]; int gelu() { return lut[1]; }")
    files = {"libact.a": archive(tmp_path / "libact.a", silu, gelu, table)}
    assert check_objects(facts_of({"silu": "libact.a", "gelu": "libact.a"}), files) == []


def test_members_that_nothing_needs_do_not_clash(compile_c: Compile, tmp_path: Path) -> None:
    used = compile_c("used.o", "void f() {}")
    unused = compile_c("unused.o", "void g() {} void h() {}")
    files = {"libk.a": archive(tmp_path / "libk.a", used, unused), "o.o": compile_c("o.o", "void g() {}")}
    assert check_objects(facts_of({"f": "libk.a", "g": "o.o"}), files) == []


def test_members_are_pulled_transitively_and_then_clash(compile_c: Compile, tmp_path: Path) -> None:
    first = compile_c("first.o", "void help(); void f() { help(); }")
    second = compile_c("second.o", "void deeper(); void help() { deeper(); }")
    third = compile_c("third.o", "void deeper() {} void clash() {}")
    files = {
        "libk.a": archive(tmp_path / "libk.a", third, second, first),
        "o.o": compile_c("o.o", "void clash() {} void g() {}"),
    }
    (error,) = check_objects(facts_of({"f": "libk.a", "g": "o.o"}), files)
    assert "o.o and libk.a(third.o) both define clash" in error.message


def test_symbols_that_nobody_defines_are_left_to_the_linker(compile_c: Compile) -> None:
    path = compile_c("a.o", "void memcpy_of_libc(); void f() { memcpy_of_libc(); }")
    assert check_objects(facts_of({"f": "a.o"}), {"a.o": path}) == []


def test_the_members_taken_are_those_that_the_linker_takes(compile_c: Compile, tmp_path: Path) -> None:
    members = [
        compile_c("a.o", "void b(); void a() { b(); }"),
        compile_c("b.o", "void b() {}"),
        compile_c("c.o", "void c() {}"),
        compile_c("weak.o", "void w() {}"),
    ]
    root = compile_c("root.o", "void a(); __attribute__((weak)) void w(); int main() { a(); if (w) w(); }")
    library = archive(tmp_path / "libk.a", *members)
    taken = {file.name for file in linked([elf.read(root), elf.read(library)], ["main"])}
    program = tmp_path / "out"
    subprocess.run([str(GXX), str(root), str(library), "-o", str(program)], check=True)
    really = elf.read(program).defined.keys() & {"a", "b", "c", "w"}
    assert really == {"a", "b"}
    assert taken == {"root.o", "libk.a(a.o)", "libk.a(b.o)"}


def test_objects_for_different_machines_are_an_error(compile_c: Compile, tmp_path: Path) -> None:
    other = bytearray(compile_c("b.o", "void g() {}").read_bytes())
    other[18:20] = (243).to_bytes(2, "little")
    (tmp_path / "b.o").write_bytes(other)
    files = {"a.o": compile_c("a.o", "void f() {}"), "b.o": tmp_path / "b.o"}
    (error,) = check_objects(facts_of({"f": "a.o", "g": "b.o"}), files)
    assert error.message.startswith("b.o is for riscv, but a.o is for ")


def test_the_arch_of_the_objects_is_that_of_the_design(compile_c: Compile) -> None:
    files = {"a.o": compile_c("a.o", "void f() {}")}
    assert check_objects(facts_of({"f": "a.o"}), files, arch="host") == []
    (error,) = check_objects(facts_of({"f": "a.o"}), files, arch="aie2")
    assert error.message.endswith("but the design is for aie2")


def test_objects_of_other_formats_are_taken_on_trust(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(b"\xcf\xfa\xed\xfe" + b"\0" * 40)
    assert check_objects(facts_of({"f": "a.o"}), {"a.o": tmp_path / "a.o"}, arch="host") == []


def test_all_errors_are_errors_of_checks(tmp_path: Path) -> None:
    errors = check_objects(facts_of({"f": "a.o", "g": "b.o"}), {"a.o": tmp_path / "a.o"})
    assert len(errors) == 2
    assert all(isinstance(error, CheckError) for error in errors)
