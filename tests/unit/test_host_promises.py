"""Functions that a recipe promises: the files of a design define them, whether something calls them or not."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from aiebuild.errors import Location
from aiebuild.mlir.objects import check_promises

GXX = shutil.which("g++")
pytestmark = pytest.mark.skipif(GXX is None or platform.system() != "Linux", reason="needs g++ and ar that make ELF")
Compile = Callable[[str, str], Path]
RECIPE = Location("designs/x/SConscript", 5)


@pytest.fixture
def compile_c(tmp_path: Path) -> Compile:
    def run(name: str, text: str) -> Path:
        source = tmp_path / f"{Path(name).stem}.cc"
        source.write_text(f'extern "C" {{ {text} }}\n')
        subprocess.run([str(GXX), "-c", str(source), "-o", str(tmp_path / name)], check=True)
        return tmp_path / name

    return run


def test_promised_functions_are_looked_for_whether_something_calls_them_or_not(compile_c: Compile) -> None:
    path = compile_c("mm.o", "void zero_i32() {} void matmul_i16_i32() {} int table = 1;")
    assert check_promises({"mm.o": ["zero_i32", "matmul_i16_i32"]}, {"mm.o": path}) == []
    (error,) = check_promises({"mm.o": ["zero_i32", "matmul_i16"]}, {"mm.o": path}, RECIPE)
    assert error.where == RECIPE
    assert error.message == "mm.o does not define 'matmul_i16', which the recipe promises (functions=)"
    assert error.hint == "did you mean 'matmul_i16_i32'? it defines: matmul_i16_i32, zero_i32"


def test_a_promise_that_is_data_or_a_cxx_name_is_told_so(tmp_path: Path, compile_c: Compile) -> None:
    path = compile_c("mm.o", "int table = 1;")
    (error,) = check_promises({"mm.o": ["table"]}, {"mm.o": path})
    assert error.message == "mm.o defines 'table' as data, the recipe promises a function (functions=)"
    (tmp_path / "cxx.cc").write_text("void zero() {}\n")
    subprocess.run([str(GXX), "-c", str(tmp_path / "cxx.cc"), "-o", str(tmp_path / "cxx.o")], check=True)
    (error,) = check_promises({"cxx.o": ["zero"]}, {"cxx.o": tmp_path / "cxx.o"})
    assert error.hint == 'it defines _Z4zerov, a C++ name: declare the function extern "C" in the kernel'


def test_any_member_of_an_archive_keeps_a_promise(tmp_path: Path, compile_c: Compile) -> None:
    members = (compile_c("a.o", "void f() {}"), compile_c("b.o", "void g() {}"))
    path = tmp_path / "stored-abc.a"
    subprocess.run(["ar", "rcs", str(path), *map(str, members)], check=True)
    assert check_promises({"libx.a": ["f", "g"]}, {"libx.a": path}) == []
    (error,) = check_promises({"libx.a": ["h"]}, {"libx.a": path})
    assert error.message.startswith("libx.a does not define 'h'")


def test_promises_of_a_file_that_is_not_given_or_cannot_be_read(tmp_path: Path, compile_c: Compile) -> None:
    (tmp_path / "text.o").write_text("no object")
    files = {"a.o": compile_c("a.o", "void f() {}"), "text.o": tmp_path / "text.o", "code.o": tmp_path / "code.o"}
    files["code.o"].write_bytes(b"BC\xc0\xde")
    missing, unreadable = check_promises({"aa.o": ["f"], "text.o": ["f"], "code.o": ["f"], "a.o": []}, files, RECIPE)
    assert missing.message == "no file is given for 'aa.o', of which functions are promised"
    assert missing.hint == "did you mean 'a.o'?"
    assert "text.o" in unreadable.message
    assert unreadable.where == RECIPE
