"""`two_mm`, whose kernel is MLIR: each cut of it computes the same, translated and compiled; what kernels promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import aiebuild
import pytest
from aiebuild import contract
from aiebuild.environment import current
from aiebuild.errors import AieBuildError, CheckError
from aiebuild.fingerprint import Fingerprints
from aiebuild.mlir.kernel import check_promises, marked, stand_in, static_buffers
from aiebuild.mlir.link import link_into
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.parse import parse
from aiebuild.mlir.symbols import is_declaration, symbols
from aiebuild.mlir.write import write
from aiebuild.toolchains.mlir_tools import MlirFiles, NoMlirTools, find_mlir_tools, host_commands

ROOT = Path(__file__).resolve().parents[2]
DESIGN = ROOT / "designs" / "two_mm"
SITE = Path(aiebuild.__file__).resolve().parents[1]
CUTS = {
    "whole": (),
    "outlined": ("--stage", "out_AB", "--stage", "out_ABC"),
    "fused": ("--range", "out_AB", "out_ABC"),
}


def step(part: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a step of the build, from the project's folder."""
    environment = {**os.environ, "PYTHONPATH": str(SITE), "PYTHONSAFEPATH": "1"}
    command = (sys.executable, "-m", f"aiebuild.{part}", *map(str, words))
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def done(part: str, *words: str | Path) -> str:
    """Run a step that must succeed, and return what it says."""
    result = step(part, *words)
    assert result.returncode == 0, result.stderr
    return result.stdout


def rendered(folder: Path, variant: str, device: str) -> Path:
    """Render the design for a variant."""
    found = contract.load(DESIGN / "design.yaml").settle(arch="host", device=device, variant=variant, given={})
    (folder / "p.json").write_text(json.dumps(found.to_json()))
    text = folder / "x.mlir"
    done(
        *("mlir", "render", DESIGN / "two_mm.mlir.j2", "--parameters", folder / "p.json"),
        *("--search", ROOT / "templates", "-o", text, "--lines", folder / "x.lines"),
    )
    return text


def cut(folder: Path, variant: str) -> Path:
    """Return the kernel as the variant cuts it."""
    if not CUTS[variant]:
        return ROOT / "kernels" / "two_mm.mlir"
    output = folder / "cut.mlir"
    done("mlir", "outline", "kernels/two_mm.mlir", "--func", "top", *CUTS[variant], "--no-dedupe", "-o", output)
    return output


def checked(folder: Path, text: Path, device: str, *words: str | Path) -> Path:
    """Normalise the design with these words, and return its generic text."""
    done(
        *("mlir", "normalise", text, "--lines", folder / "x.lines", "--declared", "two_mm.o", "--device", device),
        *("--facts", folder / "facts.json", "-o", folder / "x.generic.mlir", *words),
    )
    return folder / "x.generic.mlir"


def ran(folder: Path, generic: Path, *link: str | Path, check: Path = DESIGN / "check.py") -> bool:
    """Translate, link and run the design; return whether it agrees with NumPy."""
    cores, kernels, result = folder / "x.cores.py", folder / "x.zip", folder / "check.json"
    done("host", "translate", generic, "-o", cores)
    done("host", "link", "--facts", folder / "facts.json", *link, "--cxx", "g++", "-o", kernels)
    done(
        *("host", "run", cores, "--kernels", kernels, "--check", check),
        *("--parameters", folder / "p.json", "--arguments", "A,B,C,D,E", "--timeout", "60", "-o", result),
    )
    outcome: bool = json.loads(result.read_text())["ok"]
    return outcome


@pytest.mark.parametrize("device", ["npu1_1col", "npu2_1col"])
@pytest.mark.parametrize("variant", CUTS)
def test_without_native_tools_the_kernel_becomes_part_of_the_module(tmp_path: Path, variant: str, device: str) -> None:
    text = rendered(tmp_path, variant, device)
    kernel = tmp_path / "kernel.mlir"
    done("mlir", "kernel", cut(tmp_path, variant), "--function", "top", "--stands-for", "two_mm.o", "-o", kernel)
    generic = checked(tmp_path, text, device, "--import", kernel)
    module = parse(generic.read_text())
    functions = [op for op in module.walk() if op.name == "func.func"]
    assert not any(is_declaration(op) for op in functions)
    assert len(functions) == {"whole": 1, "outlined": 3, "fused": 2}[variant]
    assert ran(tmp_path, generic)


@pytest.mark.parametrize("variant", CUTS)
def test_with_native_tools_the_kernel_is_an_object(tmp_path: Path, variant: str) -> None:
    tools = find_mlir_tools(current(), Fingerprints(tmp_path / "prints.json"), tmp_path / "mlir.json")
    if isinstance(tools, NoMlirTools):
        pytest.skip(f"NOT CHECKED: {tools.notice}")
    files = MlirFiles.beside(str(tmp_path / "kernel.mlir"), str(tmp_path / "two_mm.o"))
    done("mlir", "kernel", cut(tmp_path, variant), "--function", "top", "--native", "-o", files.module)
    for command in host_commands(tools, files, "release"):
        subprocess.run(command, check=True)
    generic = checked(tmp_path, rendered(tmp_path, variant, "npu1_1col"), "npu1_1col")
    assert ran(tmp_path, generic, "--object", f"two_mm.o={files.output}", "--promises", "two_mm.o", "top")


def test_a_wrong_kernel_is_noticed(tmp_path: Path) -> None:
    """The comparison of the tests above, with a bound that is one too small."""
    source = tmp_path / "wrong.mlir"
    source.write_text((ROOT / "kernels" / "two_mm.mlir").read_text().replace("%k = 0 to 22", "%k = 0 to 21"))
    kernel = tmp_path / "kernel.mlir"
    done("mlir", "kernel", source, "--function", "top", "-o", kernel)
    generic = checked(tmp_path, rendered(tmp_path, "whole", "npu1_1col"), "npu1_1col", "--import", kernel)
    with pytest.raises(AssertionError, match="E differs from the reference in 384 of 384 elements"):
        ran(tmp_path, generic)
    assert not (tmp_path / "check.json").exists()


def test_a_fault_in_the_kernel_is_at_the_kernels_own_line(tmp_path: Path) -> None:
    source = tmp_path / "wrong.mlir"
    text = (ROOT / "kernels" / "two_mm.mlir").read_text()
    source.write_text(text.replace("affine.load %A[%i, %k]", "affine.load %A[%i, %k + 1]"))
    kernel = tmp_path / "kernel.mlir"
    done("mlir", "kernel", source, "--function", "top", "-o", kernel)
    generic = checked(tmp_path, rendered(tmp_path, "whole", "npu1_1col"), "npu1_1col", "--import", kernel)
    with pytest.raises(AssertionError, match=r"wrong\.mlir:9:9: error: .*an access outside a buffer: index \[0, 22\]"):
        ran(tmp_path, generic)


WITH_GLOBALS = """
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @scaled(%x: f32, %i: index) -> f32 {
  %table = memref.get_global @table : memref<4xf32>
  %f = affine.load %table[%i mod 4] : memref<4xf32>
  %y = arith.mulf %x, %f : f32
  return %y : f32
}
func.func @top(
  %A: memref<16x22xf32>, %B: memref<22x18xf32>, %C: memref<18x24xf32>, %D: memref<16x24xf32>, %E: memref<16x24xf32>
) {
  %T = memref.alloca() : memref<24xf32>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 24 {
      %d = affine.load %D[%i, %j] : memref<16x24xf32>
      %y = func.call @scaled(%d, %j) : (f32, index) -> f32
      affine.store %y, %T[-%j + 23] : memref<24xf32>
    }
    affine.for %j = 0 to 24 {
      %y = affine.load %T[-%j + 23] : memref<24xf32>
      affine.store %y, %E[%i, %j] : memref<16x24xf32>
    }
  }
  return
}
"""
CHECK_OF_GLOBALS = """
import importlib.util
import numpy as np
spec = importlib.util.spec_from_file_location("shipped", "designs/two_mm/check.py")
shipped = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shipped)
inputs = shipped.inputs

def reference(p, A, B, C, D):
    return {"E": D.reshape(16, 24) * np.tile(np.array([1, 2, 3, 4], np.float32), 6)}
"""


def test_helpers_and_globals_of_a_kernel_come_along(tmp_path: Path) -> None:
    (tmp_path / "source.mlir").write_text(WITH_GLOBALS)
    (tmp_path / "check.py").write_text(CHECK_OF_GLOBALS)
    kernel = tmp_path / "kernel.mlir"
    done("mlir", "kernel", tmp_path / "source.mlir", "--function", "top", "--stands-for", "two_mm.o", "-o", kernel)
    generic = checked(tmp_path, rendered(tmp_path, "whole", "npu1_1col"), "npu1_1col", "--import", kernel)
    assert ran(tmp_path, generic, check=tmp_path / "check.py")


# What kernels promise

KERNEL = """
func.func @top(%A: memref<4xf32>) { return }
func.func private @helper(%A: memref<4xf32>) { return }
func.func private @outside(memref<4xf32>)
"""


@pytest.mark.parametrize(
    ("name", "line", "message", "hint"),
    [
        ("tpo", None, "does not define @tpo", "did you mean 'top'?"),
        ("helper", 3, "@helper is private", "leave out `private`"),
        ("outside", 4, "does not define @outside", ""),
    ],
)
def test_a_promise_that_is_not_kept_is_an_error(name: str, line: int | None, message: str, hint: str) -> None:
    module = normalise(KERNEL, "k.mlir")
    assert check_promises(module, ["top"]) == []
    (error,) = check_promises(module, ["top", name])
    assert message in error.message
    assert hint in error.hint
    assert error.where is not None
    assert (error.where.file, error.where.line) == ("k.mlir", line)


def test_all_promises_that_are_not_kept_are_said_at_once() -> None:
    result = step("mlir", "kernel", "kernels/two_mm.mlir", "--function", "bottom", "--function", "side")
    assert result.returncode == 1
    assert "@bottom" in result.stderr
    assert "@side" in result.stderr


DESIGN_TEXT = """
module {
  aie.device(npu1_1col) {
    func.func private @top(memref<4xf32>) attributes {link_with = "a.o"}
    %tile = aie.tile(0, 2)
    %A = aie.buffer(%tile) : memref<4xf32>
    aie.core(%tile) {
      func.call @top(%A) : (memref<4xf32>) -> ()
      aie.end
    }
  }
}
"""


@pytest.mark.parametrize(("stands_for", "filled"), [("a.o", True), ("", True), ("b.o", False), (None, False)])
def test_a_kernel_takes_the_place_of_its_own_file_alone(stands_for: str | None, filled: bool) -> None:
    main, kernel = normalise(DESIGN_TEXT, "x.mlir"), normalise(KERNEL, "k.mlir")
    code = kernel if stands_for is None else marked(kernel, stands_for)
    stand_in(main, [code])
    link_into(main, [code], None, needed_only=True)
    top = symbols(next(op for op in main.walk() if op.name == "aie.device"))["top"]
    assert is_declaration(top) is not filled
    assert (top.get("link_with") is None) is filled
    assert "stands_for" not in write(main)


# Buffers of a core


def allocating(*lines: str) -> str:
    constants = (f"%c{number} = arith.constant {number} : index" for number in (0, 1))
    return "\n".join(["func.func @top(%n: index) {", *constants, *lines, "return", "}"])


def test_buffers_of_a_core_become_globals_with_names_of_their_own() -> None:
    text = allocating(
        "%a = memref.alloc() {alignment = 32 : i64} : memref<4xf32>",
        "%b = memref.alloc() : memref<4xf32>",
        "memref.copy %a, %b : memref<4xf32> to memref<4xf32>",
        "memref.dealloc %a : memref<4xf32>",
        "memref.dealloc %b : memref<4xf32>",
    )
    module = normalise(f"func.func private @top_buffer_0()\n{text}", "k.mlir")
    found = static_buffers(module)
    made = {name: op for name, op in symbols(found.op).items() if op.name == "memref.global"}
    assert sorted(made) == ["top_buffer_0_", "top_buffer_1"]
    assert made["top_buffer_0_"].properties["alignment"] == "32 : i64"
    assert not any(op.name in ("memref.alloc", "memref.dealloc") for op in found.walk())
    assert any(op.name == "memref.alloc" for op in module.walk()), "the module that is given is not changed"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%a = memref.alloc(%n) : memref<?xf32>", "this buffer's size is not constant"),
        (
            "scf.for %i = %c0 to %n step %c1 {\n%a = memref.alloc() : memref<4xf32>\n}",
            "this buffer is allocated inside of a loop or branch",
        ),
    ],
)
def test_a_buffer_that_cannot_be_static_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(CheckError, match=message) as caught:
        static_buffers(normalise(allocating(line), "k.mlir"))
    assert caught.value.where is not None
    assert caught.value.where.line == 4 + line.count("{")


# The contract


def test_variants_are_the_three_cuts() -> None:
    found = contract.load(DESIGN / "design.yaml")
    for variant in CUTS:
        settled = found.settle(arch="host", device=None, variant=variant, given={})
        assert settled.to_json()["parameters"] == {"cut": variant}
    with pytest.raises(AieBuildError, match="cut"):
        found.settle(arch="host", device=None, variant=None, given={"cut": "hole"})
