"""The kernels of the designs that are shipped, compiled for this machine and compared with NumPy."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import ml_dtypes
import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from types import ModuleType

    Array = np.ndarray[Any, np.dtype[Any]]

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
}


class Compile(Protocol):
    """Compiles sources of `kernels/` (or a text) into one library, once for each set of arguments."""

    def __call__(self, *sources: str, text: str = "", defines: tuple[str, ...] = ()) -> ctypes.CDLL: ...


def compiler_command(compiler: str, *arguments: str) -> tuple[str, ...]:
    return (compiler, "-O2", "-Wall", "-Wextra", "-Werror", f"-I{KERNELS / 'include'}", *arguments)


@pytest.fixture(scope="module", params=COMPILERS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    made: dict[tuple[object, ...], ctypes.CDLL] = {}

    def compile_once(*sources: str, text: str = "", defines: tuple[str, ...] = ()) -> ctypes.CDLL:
        key = (sources, text, defines)
        if key not in made:
            folder = tmp_path_factory.mktemp("kernels")
            (folder / "text.cc").write_text(text)
            files = [str(KERNELS / source) for source in sources] + ([str(folder / "text.cc")] if text else [])
            options = ("-std=c++20", "-shared", "-fPIC", *(f"-D{define}" for define in defines))
            command = compiler_command(request.param, *options, *files, "-o", str(folder / "kernels.so"))
            subprocess.run(command, check=True)
            made[key] = ctypes.CDLL(str(folder / "kernels.so"))
        return made[key]

    return compile_once


def call(function: Any, *arguments: Array | int) -> None:
    """Call a kernel: arrays as pointers, numbers as i32."""
    function.restype = None
    function(
        *(
            ctypes.c_void_p(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.c_int32(value)
            for value in arguments
        )
    )


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("source", sorted(path.name for path in KERNELS.glob("*.cc")))
def test_a_kernel_compiles_without_a_warning(source: str, compiler: str, standard: str, tmp_path: Path) -> None:
    sizes = ("-DDIM_M=32", "-DDIM_K=32", "-DDIM_N=32")
    extra = (f"-std={standard}", "-Wpedantic", "-Wconversion", "-Wshadow", "-c")
    subprocess.run(
        compiler_command(compiler, *extra, *sizes, str(KERNELS / source), "-o", "x.o"),
        check=True,
        cwd=tmp_path,
    )


def test_mm_without_its_sizes_says_which_ones_are_missing(tmp_path: Path) -> None:
    command = compiler_command(COMPILERS[0], "-c", "-DDIM_M=4", str(KERNELS / "mm.cc"))
    result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode != 0
    assert "DIM_M, DIM_K and DIM_N must be defined" in result.stderr


def test_the_table_of_the_activations_is_one_strong_symbol_of_one_member(tmp_path: Path) -> None:
    symbols = {}
    for name in ("silu", "gelu", "lut"):
        command = compiler_command(COMPILERS[0], "-std=c++20", "-c", str(KERNELS / f"{name}.cc"), "-o", f"{name}.o")
        subprocess.run(command, check=True, cwd=tmp_path)
        with (tmp_path / f"{name}.o").open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            found, *others = table.get_symbol_by_name("sigmoid_table") or []
        assert not others
        symbols[name] = (found["st_info"]["bind"], found["st_shndx"] != "SHN_UNDEF")
    assert symbols == {
        "silu": ("STB_GLOBAL", False),
        "gelu": ("STB_GLOBAL", False),
        "lut": ("STB_GLOBAL", True),
    }


@pytest.mark.parametrize("n", [0, 1, 3, 64, 1000])
def test_passthrough_copies_n_bytes_and_no_more(library: Compile, n: int) -> None:
    source = np.random.default_rng(n).integers(0, 256, n + 8, dtype=np.uint8)
    target = np.full(n + 8, 0xA5, np.uint8)
    call(library("passthrough.cc").passthrough_u8, source, target, n)
    assert np.array_equal(target[:n], source[:n])
    assert (target[n:] == 0xA5).all()


I32 = st.integers(-(2**31), 2**31 - 1)


@settings(deadline=None, max_examples=50)
@given(values=st.lists(I32, max_size=40), factor=I32)
def test_scale_multiplies_modulo_two_to_the_32(library: Compile, values: list[int], factor: int) -> None:
    x = np.array([*values, 7], np.int32)
    y = np.full_like(x, -1)
    call(library("scale.cc").scale_i32, x, y, factor, len(values))
    assert [int(value) % 2**32 for value in y[:-1]] == [value * factor % 2**32 for value in values]
    assert y[-1] == -1


def mm(library: Compile, m: int, k: int, n: int) -> ctypes.CDLL:
    return library("mm.cc", defines=(f"DIM_M={m}", f"DIM_K={k}", f"DIM_N={n}"))


BLOCKS = [(1, 1, 1), (3, 5, 7), (32, 32, 32), (8, 64, 4), (2, 3, 33)]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", ["i32", "f32"])
def test_zero_clears_a_block_and_no_more(library: Compile, dtype: str, block: tuple[int, int, int]) -> None:
    count = block[0] * block[2]
    c = np.full(count + 4, 9, DTYPES[dtype])
    call(getattr(mm(library, *block), f"zero_{dtype}"), c)
    assert (c[:count] == 0).all()
    assert (c[count:] == 9).all()


@pytest.mark.parametrize("extremes", [False, True])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", ["i8", "i16"])
def test_matmul_of_integers_adds_to_c_and_wraps(
    library: Compile, dtype: str, block: tuple[int, int, int], *, extremes: bool
) -> None:
    m, k, n = block
    limits = np.iinfo(DTYPES[dtype])
    rng = np.random.default_rng(k)
    low, high = (limits.min, limits.min) if extremes else (limits.min, limits.max)
    a, b = (rng.integers(low, high, shape, DTYPES[dtype], endpoint=True) for shape in ((m, k), (k, n)))
    c = rng.integers(2**31 - 100, 2**31, (m, n), dtype=np.int32)
    expected = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    call(getattr(mm(library, *block), f"matmul_{dtype}_i32"), a, b, c)
    assert np.array_equal(c, expected)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_matmul_of_floats_adds_to_c_in_f32(library: Compile, dtype: str, block: tuple[int, int, int]) -> None:
    m, k, n = block
    rng = np.random.default_rng(k)
    a, b = (rng.normal(size=shape).astype(DTYPES[dtype]) for shape in ((m, k), (k, n)))
    c = rng.normal(size=(m, n)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + np.abs(c)
    call(getattr(mm(library, *block), f"matmul_{dtype}_f32"), a, b, c)
    # Each of the k products and sums rounds by half a unit of a number that is at most the sum of magnitudes.
    assert (np.abs(c - exact) <= 2 * k * 2.0**-24 * magnitude).all()


CONVERSIONS = """
#include "bf16.h"
extern "C" void narrow(const float *x, Bf16 *y, int n) {
  for (int i = 0; i < n; ++i) y[i] = from_float<Bf16>(x[i]);
}
extern "C" void widen(const Bf16 *x, float *y, int n) {
  for (int i = 0; i < n; ++i) y[i] = to_float(x[i]);
}
"""


def test_bf16_widens_every_value_exactly(library: Compile) -> None:
    x = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    y = np.empty(x.shape, np.float32)
    call(library(text=CONVERSIONS).widen, x, y, x.size)
    assert np.array_equal(y.view(np.uint32), x.view(np.uint16).astype(np.uint32) << 16)


def test_bf16_rounds_to_the_nearest_and_ties_to_even(library: Compile) -> None:
    # Around every bf16 value: the value itself, its neighbours in f32, and the ties above it with theirs.
    high = np.arange(2**16, dtype=np.uint32) << 16
    bits = np.concatenate([high + low for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]).astype(np.uint32)
    x = bits.view(np.float32)
    y = np.empty(x.shape, ml_dtypes.bfloat16)
    call(library(text=CONVERSIONS).narrow, x, y, x.size)
    number = ~np.isnan(x)
    with np.errstate(all="ignore"):
        expected = x.astype(ml_dtypes.bfloat16)
    assert np.array_equal(y.view(np.uint16)[number], expected.view(np.uint16)[number])
    assert np.isnan(y[~number].astype(np.float32)).all()
    assert np.array_equal(y.view(np.uint16)[~number] >> 15, bits[~number] >> 31)


def activations_check() -> ModuleType:
    path = ROOT / "designs" / "activations" / "check.py"
    spec = importlib.util.spec_from_file_location("check_activations", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", ["silu", "gelu"])
def test_an_activation_is_within_its_tolerance_everywhere(library: Compile, name: str, dtype: str) -> None:
    ends = [0.0, -0.0, 1e30, -1e30, 1e-30]
    x = np.concatenate([ends, np.linspace(-40.0, 40.0, 200_001)]).astype(DTYPES[dtype])
    y = np.zeros(x.size + 1, x.dtype)
    activations = library("silu.cc", "gelu.cc", "lut.cc")
    call(getattr(activations, f"{name}_{dtype}"), x, y, x.size)
    p = SimpleNamespace(dtype="f32")
    reference = activations_check().reference(p, x.astype(np.float32))
    exact = reference[name[0].upper()].astype(np.float64)
    found = y[:-1].astype(np.float64)
    # Half a unit in the last place of the type, and the table's error.
    half = 2.0**-8 if dtype == "bf16" else 2.0**-22
    assert (np.abs(found - exact) <= half * np.abs(exact) + activations_check().TOLERANCE["atol"]).all()
    assert y[-1] == 0


@pytest.mark.parametrize("name", ["silu", "gelu"])
def test_an_activation_of_no_number_is_none(library: Compile, name: str) -> None:
    x = np.array([np.nan, 1.0], np.float32)
    y = np.zeros_like(x)
    call(getattr(library("silu.cc", "gelu.cc", "lut.cc"), f"{name}_f32"), x, y, 2)
    assert np.isnan(y[0])
    assert not np.isnan(y[1])
