"""`aiebuild.jit`: descriptions of functions, the designs that are made of them, and pipelines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from aiebuild.environment import variables
from aiebuild.errors import RecipeError
from aiebuild.jit import Design, ExternalArchive, ExternalFunction, pipeline, plan, transform
from aiebuild.jit.types import argument_type
from hypothesis import given, settings
from hypothesis import strategies as st
from projects import PACKAGE, REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

CODE = """\
extern "C" {
void add_constant_1(int *in, int *out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] + 1; }
void add_constant_2(int *in, int *out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] + 2; }
}
"""
TYPED = """\
extern "C" {
#ifdef T1
void add_constant_1(T1 *in, T1 *out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] + 1; }
#endif
#ifdef T2
void add_constant_2(T2 *in, T2 *out, int n) { for (int i = 0; i < n; ++i) out[i] = in[i] + 2; }
#endif
}
"""


def array(size: int | tuple[int, ...], dtype: Any = np.int32) -> Any:
    """Return the type of an array as NumPy's typing says it."""
    return np.ndarray[size if isinstance(size, tuple) else (size,), np.dtype[dtype]]  # type: ignore[misc] # made at run time


TILE = array(16)
ARGUMENTS = [TILE, TILE, np.int32]


def adders(source: str = CODE, one: dict[str, Any] | None = None, two: dict[str, Any] | None = None) -> Any:
    return (
        ExternalFunction("add_constant_1", source_string=source, arg_types=ARGUMENTS, **(one or {})),
        ExternalFunction("add_constant_2", source_string=source, arg_types=ARGUMENTS, **(two or {})),
    )


def arrays(size: int = 64) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.arange(size, dtype=np.int32), np.zeros(size, np.int32)


def objects(folder: Path) -> list[str]:
    """Return the names of the objects that a design's project holds."""
    return sorted(path.name for path in folder.glob("build/host/objects/*.o"))


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in variables():
        if name.startswith(("AIE", "PEANO", "MLIR_AIE", "CXX")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    monkeypatch.chdir(tmp_path)


def test_two_functions_of_one_source_are_one_compilation_and_the_second_call_none() -> None:
    x, y = arrays()
    built = transform(x, y, *adders())
    assert y.tolist() == (x + 3).tolist()
    assert len(built.compiled) == 1
    y[:] = 0
    again = transform(x, y, *adders())
    assert y.tolist() == (x + 3).tolist()
    assert again.was_fresh


def test_another_process_compiles_nothing_either(tmp_path: Path) -> None:
    example = REPOSITORY / "docs/examples/pipeline.py"
    said = [
        subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said[0].splitlines()[:2] == ["1 compilation ran", "output = input + 3"]
    assert said[1].splitlines()[:2] == ["nothing was compiled", "output = input + 3"]


def test_an_archive_says_source_and_flags_once() -> None:
    guarded = CODE.replace("+ 1;", "+ ONE;")
    archive = ExternalArchive("my_archive.o", source_string=guarded, compile_flags=["-DONE=1"])
    functions = [
        ExternalFunction(name, arg_types=ARGUMENTS, archive=archive) for name in ("add_constant_1", "add_constant_2")
    ]
    x, y = arrays()
    built = transform(x, y, *functions)
    assert y.tolist() == (x + 3).tolist()
    assert built.compiled == ("kernels/my_archive.cc",)
    assert {function.bin_name for function in functions} == {"my_archive.o"}


def test_a_real_archive_is_linked_as_one() -> None:
    archive = ExternalArchive("libadd.a", source_string=CODE)
    functions = [
        ExternalFunction(name, arg_types=ARGUMENTS, archive=archive) for name in ("add_constant_1", "add_constant_2")
    ]
    x, y = arrays()
    built = transform(x, y, *functions)
    assert y.tolist() == (x + 3).tolist()
    assert len(list(built.root.glob("build/host/objects/*.a"))) == 1


def test_different_defines_are_two_objects_in_one_link() -> None:
    x, y = arrays()
    functions = adders(TYPED, {"compile_flags": ["-DT1=int"]}, {"compile_flags": ["-DT2=int"]})
    built = transform(x, y, *functions, workers=1)
    assert y.tolist() == (x + 3).tolist()
    assert len(built.compiled) == 2
    assert len(objects(built.root)) == 2


def test_an_explicit_object_name_is_honoured() -> None:
    name = {"object_file_name": "adders.o"}
    x, y = arrays()
    built = transform(x, y, *adders(CODE, name, name))
    assert built.compiled == ("kernels/adders.cc",)
    assert 'link_with = "adders.o"' in built.artifacts["mlir"].read_text()


def test_one_name_for_two_recipes_is_an_error_before_anything_is_built(tmp_path: Path) -> None:
    one = {"object_file_name": "adders.o", "compile_flags": ["-DT1=int"]}
    two = {"object_file_name": "adders.o", "compile_flags": ["-DT2=int"]}
    with pytest.raises(RecipeError, match=r"two different recipes for adders.o: those of 'add_constant_1' and 'add_"):
        transform(*arrays(), *adders(TYPED, one, two))
    assert not (tmp_path / "build").exists()


MATMUL = """\
extern "C" {
void zero(int *c) { for (int i = 0; i < 16; ++i) c[i] = 0; }
void matmul(const int *a, const int *b, int *c) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k)
        c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
}
}
"""
MATMUL_MLIR = """\
module {{
  aie.device(npu1_1col) {{
    {zero}
    {matmul}
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @a(%shim, {{ %core }}, 2 : i32) : !aie.objectfifo<memref<4x4xi32>>
    aie.objectfifo @b(%shim, {{ %core }}, 2 : i32) : !aie.objectfifo<memref<4x4xi32>>
    aie.objectfifo @c(%core, {{ %shim }}, 2 : i32) : !aie.objectfifo<memref<4x4xi32>>
    aie.core(%core) {{
      %va = aie.objectfifo.acquire @a(Consume, 1) : !aie.objectfifosubview<memref<4x4xi32>>
      %xa = aie.objectfifo.subview.access %va[0] : !aie.objectfifosubview<memref<4x4xi32>> -> memref<4x4xi32>
      %vb = aie.objectfifo.acquire @b(Consume, 1) : !aie.objectfifosubview<memref<4x4xi32>>
      %xb = aie.objectfifo.subview.access %vb[0] : !aie.objectfifosubview<memref<4x4xi32>> -> memref<4x4xi32>
      %vc = aie.objectfifo.acquire @c(Produce, 1) : !aie.objectfifosubview<memref<4x4xi32>>
      %xc = aie.objectfifo.subview.access %vc[0] : !aie.objectfifosubview<memref<4x4xi32>> -> memref<4x4xi32>
      func.call @zero(%xc) : (memref<4x4xi32>) -> ()
      func.call @matmul(%xa, %xb, %xc) : (memref<4x4xi32>, memref<4x4xi32>, memref<4x4xi32>) -> ()
      aie.objectfifo.release @a(Consume, 1)
      aie.objectfifo.release @b(Consume, 1)
      aie.objectfifo.release @c(Produce, 1)
      aie.end
    }}
    aie.runtime_sequence(%A: memref<4x4xi32>, %B: memref<4x4xi32>, %C: memref<4x4xi32>) {{
      aiex.npu.dma_memcpy_nd(%A[0, 0, 0, 0][1, 1, 4, 4][0, 0, 4, 1]) {{id = 0 : i64, metadata = @a}} : memref<4x4xi32>
      aiex.npu.dma_memcpy_nd(%B[0, 0, 0, 0][1, 1, 4, 4][0, 0, 4, 1]) {{id = 1 : i64, metadata = @b}} : memref<4x4xi32>
      aiex.npu.dma_memcpy_nd(%C[0, 0, 0, 0][1, 1, 4, 4][0, 0, 4, 1])
        {{id = 2 : i64, metadata = @c, issue_token = true}} : memref<4x4xi32>
      aiex.npu.dma_wait {{symbol = @c}}
    }}
  }}
}}
"""


def test_a_matmul_of_two_functions_with_one_object_name() -> None:
    block = array((4, 4))
    same: dict[str, Any] = {
        "source_string": MATMUL, "compile_flags": ["-O2"], "object_file_name": "mm_4x4x4.o"
    }  # fmt: skip
    zero = ExternalFunction("zero", arg_types=[block], **same)
    matmul = ExternalFunction("matmul", arg_types=[block] * 3, **same)
    assert zero.bin_name == matmul.bin_name == "mm_4x4x4.o"
    text = MATMUL_MLIR.format(zero=zero.declaration, matmul=matmul.declaration)
    design = Design("matmul", text, (zero, matmul), arguments={"A": "left", "B": "right", "C": "result"})
    built = design.build()
    assert built.compiled == ("kernels/mm_4x4x4.cc",)
    a, b = np.arange(16, dtype=np.int32).reshape(4, 4), np.eye(4, dtype=np.int32) * 2
    (c,) = built.run(a, b)
    assert c.tolist() == (a @ b).tolist()


def test_a_source_file_is_compiled_where_it_lies_and_its_edits_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/some.h").write_text("#define SOME 5\n")
    loop = "for (int i = 0; i < n; ++i) y[i] = x[i] + SOME;"
    text = f'#include "some.h"\nextern "C" void add(int *x, int *y, int n) {{ {loop} }}\n'
    (tmp_path / "add.cc").write_text(text)
    add = ExternalFunction("add", source_file="add.cc", arg_types=ARGUMENTS, include_dirs=["inc"])
    x, y = arrays()
    assert transform(x, y, add).compiled == (str(tmp_path / "add.cc"),)
    assert y[0] == 5
    (tmp_path / "inc/some.h").write_text("#define SOME 6\n")
    assert len(transform(x, y, add).compiled) == 1
    assert y[0] == 6
    assert transform(x, y, add).was_fresh


def test_a_source_file_that_is_not_there_is_an_error() -> None:
    add = ExternalFunction("add", source_file="nowhere.cc", arg_types=ARGUMENTS)
    with pytest.raises(RecipeError, match=r"'add': there is no file .*nowhere.cc"):
        transform(*arrays(), add)


def test_making_descriptions_touches_nothing(tmp_path: Path) -> None:
    functions = adders()
    pipeline(*arrays(), *functions)
    assert functions[0].bin_name == functions[1].bin_name
    assert list(tmp_path.iterdir()) == []


def test_a_plan_names_the_targets_and_builds_nothing(tmp_path: Path) -> None:
    x, y = arrays()
    targets = plan(x, y, *adders())
    assert not (tmp_path / "build").exists()
    assert sum(path.suffix == ".o" for path in targets) == 1
    built = transform(x, y, *adders())
    assert all(path.is_file() for path in targets)
    made = {path for path in built.root.glob("build/host/**/*") if path.is_file()}
    assert {
        path
        for path in made
        if not path.name.endswith((".reads.json", "last-run.json", "request.json", "manifest.json"))
    } == set(targets)


@pytest.mark.parametrize("arch", ["aie2", "aie2p"])
def test_a_plan_for_the_npu_names_what_its_build_would_make(tmp_path: Path, arch: str) -> None:
    x, y = arrays()
    targets = plan(x, y, *adders(), arch=arch)
    folder = pipeline(x, y, *adders()).write(tmp_path)
    command = [sys.executable, "-m", "SCons", "-Q", "explain", f"arch={arch}", f"json={tmp_path / 'explained.json'}"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    (explained,) = json.loads((tmp_path / "explained.json").read_text())
    made = {folder / name for step in explained["steps"] for name in step["outputs"]}
    assert {path for path in made if not path.name.endswith(("request.json", "manifest.json"))} == set(targets)


def test_a_plan_for_an_arch_that_no_device_has_is_an_error() -> None:
    with pytest.raises(RecipeError, match="'one' has no device of arch 'aie2p'"):
        Design("one", "", devices=("npu1_1col",)).plan(arch="aie2p")


def test_a_plan_knows_archives() -> None:
    archive = ExternalArchive("libadd.a", source_string=CODE)
    one = ExternalFunction("add_constant_1", arg_types=ARGUMENTS, archive=archive)
    x, y = arrays()
    targets = plan(x, y, one)
    transform(x, y, one)
    assert all(path.is_file() for path in targets)


def test_the_project_builds_without_the_program(tmp_path: Path) -> None:
    folder = pipeline(*arrays(), *adders()).write(tmp_path)
    command = [sys.executable, "-m", "SCons", "-Q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert pipeline(*arrays(), *adders()).build(tmp_path).was_fresh


def test_what_is_written_is_left_alone_where_it_is_right_and_mended_where_not(tmp_path: Path) -> None:
    design = pipeline(*arrays(), *adders())
    folder = design.write(tmp_path)
    recipe = folder / "designs/transform/SConscript"
    os.utime(recipe, (1, 1))
    design.write(tmp_path)
    assert recipe.stat().st_mtime == 1
    recipe.write_text("")
    design.write(tmp_path)
    assert "env.CoreObject(" in recipe.read_text()


def test_different_designs_have_different_folders(tmp_path: Path) -> None:
    first = pipeline(*arrays(), *adders()).folder(tmp_path)
    assert pipeline(*arrays(), *adders()).folder(tmp_path) == first
    assert pipeline(*arrays(128), *adders()).folder(tmp_path) != first
    assert pipeline(*arrays(), *adders(CODE + "\n")).folder(tmp_path) != first
    assert pipeline(*arrays(), *adders(), workers=1).folder(tmp_path) != first


SCALE = 'extern "C" void {name}({type} *x, {type} *y) {{ for (int i = 0; i < {tile}; ++i) y[i] = x[i] * 2; }}\n'


@pytest.mark.parametrize(
    ("count", "workers", "tile", "size"), [(1, 1, 1, 5), (5, None, 48, 480), (4, 4, 7, 7), (3, 2, 4096, 8192)]
)
def test_any_number_of_functions_workers_and_elements(count: int, workers: int | None, tile: int, size: int) -> None:
    kind = array(tile)
    functions = [
        ExternalFunction(f"f{n}", source_string=SCALE.format(name=f"f{n}", type="int", tile=tile), arg_types=[kind] * 2)
        for n in range(count)
    ]
    x, y = arrays(size)
    transform(x, y, *functions, workers=workers)
    assert y.tolist() == (x * 2**count).tolist()


def test_one_function_may_be_used_several_times() -> None:
    one, _ = adders()
    x, y = arrays()
    assert len(transform(x, y, one, one, one).compiled) == 1
    assert y.tolist() == (x + 3).tolist()


def test_types_may_change_along_the_series() -> None:
    narrow, wide = array(32, np.int16), array((8, 4), np.float32)
    widen = 'extern "C" void widen(short *x, float *y) { for (int i = 0; i < 32; ++i) y[i] = x[i] + 0.5f; }\n'
    half = 'extern "C" void half(float *x, float *y, short n) { for (int i = 0; i < n; ++i) y[i] = x[i] / 2; }\n'
    functions = [
        ExternalFunction("widen", source_string=widen, arg_types=[narrow, wide]),
        ExternalFunction("half", source_string=half, arg_types=[wide, wide, np.int16]),
    ]
    x, y = np.arange(64, dtype=np.int16), np.zeros(64, np.float32)
    transform(x, y, *functions)
    assert y.tolist() == ((x + np.float32(0.5)) / 2).tolist()


def test_bf16_goes_through() -> None:
    tile = array(16, ml_dtypes.bfloat16)
    copy = 'extern "C" void copy(unsigned short *x, unsigned short *y) { for (int i = 0; i < 16; ++i) y[i] = x[i]; }\n'
    x = np.linspace(-3, 3, 32).astype(ml_dtypes.bfloat16)
    y = np.zeros_like(x)
    transform(x, y, ExternalFunction("copy", source_string=copy, arg_types=[tile, tile]))
    assert y.tolist() == x.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([TILE], r"has the arguments \(memref<16xi32>\)"),
        ([TILE, TILE, np.float32], r"a pipeline calls it with"),
        ([TILE, TILE, TILE], r"a pipeline calls it with"),
        ([TILE, array(8)], "makes 8 elements of 16"),
        ([TILE, TILE, str], "is not a type that kernels take"),
        ([array(16, np.float32)] * 2, "input is of i32, the tiles of 'f' are of f32"),
        ([array(16, np.int32), array(16, np.int16)], "output is of i32, the tiles of 'f' are of i16"),
        ([array(48)] * 2, "input has 64 elements and output 64, in tiles of 48"),
    ],
)
def test_a_function_that_does_not_fit_is_an_error(arguments: list[Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        pipeline(*arrays(), ExternalFunction("f", source_string="", arg_types=arguments))


def test_a_series_that_does_not_fit_is_an_error() -> None:
    one, _ = adders()
    other = ExternalFunction("other", source_string="", arg_types=[array(8)] * 2)
    with pytest.raises(RecipeError, match=r"makes memref<16xi32>, which 'other' does not take(.|\n)*memref<8xi32>"):
        pipeline(*arrays(), one, other)
    with pytest.raises(RecipeError, match="without functions"):
        pipeline(*arrays())
    with pytest.raises(RecipeError, match="workers=5 for 1 functions"):
        pipeline(*arrays(), one, workers=5)


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"source_string": "", "source_file": "x.cc"},
        {"source_string": "", "object_file_name": "a/b.o"},
        {"source_string": "", "object_file_name": "b.so"},
        {"source_string": "", "compile_flags": "-DN=4"},
        {"source_string": "", "archive": ExternalArchive("a.o", source_string="")},
        {"compile_flags": ["-O1"], "archive": ExternalArchive("a.o", source_string="")},
    ],
)
def test_a_description_that_contradicts_itself_is_an_error(keywords: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        ExternalFunction("f", **keywords)


def test_two_functions_of_one_name_are_an_error() -> None:
    one = ExternalFunction("f", source_string="int a;", arg_types=ARGUMENTS)
    two = ExternalFunction("f", source_string="int b;", arg_types=ARGUMENTS)
    with pytest.raises(RecipeError, match="two different functions are called 'f'"):
        pipeline(*arrays(), one, two)


@settings(max_examples=50, deadline=None)
@given(
    flags=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), max_size=3),
    text=st.text(st.characters(codec="utf-8")),
)
def test_a_recipe_says_exactly_what_was_described(flags: list[str], text: str) -> None:
    one = ExternalFunction("f", source_string=text, compile_flags=flags, arg_types=ARGUMENTS)
    design = Design("d", "", (one,))
    said: list[dict[str, Any]] = []

    class Env:
        def CoreObject(self, name: str, **keywords: Any) -> str:  # noqa: N802 - a recipe's word
            said.append({"name": name, **keywords})
            return name

        def Design(self, **keywords: Any) -> None:  # noqa: N802 - the same
            said.append(keywords)

    names = {"Import": lambda *_: None, "env": Env()}
    exec(compile(design.files()["designs/d/SConscript"], "SConscript", "exec"), names)
    assert said[0].get("flags", []) == flags
    assert said[0]["functions"] == ["f"]
    assert f"{said[0]['name']}.o" == one.bin_name
    assert design.files()[said[0]["source"][1:]] == text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (array((4, 8), np.uint8), "memref<4x8xui8>"),
        (array(3, ml_dtypes.bfloat16), "memref<3xbf16>"),
        (np.int64, "i64"),
        (np.dtype("float32"), "f32"),
        (np.bool_, "i1"),
    ],
)
def test_types_of_numpy_are_types_of_mlir(given: Any, said: str) -> None:
    assert str(argument_type(given, "f")) == said


@pytest.mark.parametrize("given", [np.ndarray[Any, np.dtype[np.int32]], array((0,)), array(4, np.complex64), "i32x"])
def test_types_that_say_too_little_are_errors(given: Any) -> None:
    with pytest.raises(RecipeError, match="f: "):
        argument_type(given, "f")
