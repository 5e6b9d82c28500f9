"""Small designs in MLIR's generic form, kernels for them, and projects with one design, for the tests of the host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import aiebuild
from aiebuild.mlir.facts import facts
from aiebuild.mlir.parse import parse

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module

GOLDEN = Path(__file__).resolve().parent / "golden"
FOREVER = 9223372036854775807
SITE = Path(aiebuild.__file__).resolve().parents[1]
CHECK = """\
import numpy as np

def inputs(p, rng):
    return {"A": rng.integers(0, 256, p.n, dtype=np.uint8)}

def reference(p, A):
    return {"B": A}
"""
KERNEL = """\
#include <cstdint>
extern "C" void passthrough_u8(const uint8_t *from, uint8_t *to, int32_t count) {
  BODY
  for (int32_t i = 0; i < count; ++i) to[i] = from[i];
}
"""


@dataclass
class Project:
    """A project's folder with one design, `passthrough` unless another golden one is named; `site` has aiebuild.

    `recipe` is the line that a build would say asks for the steps.
    """

    root: Path
    name: str = "passthrough"
    site: Path = SITE
    recipe: str = ""

    def write(self, file: str, text: str) -> None:
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    def host(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "aiebuild.host", *arguments)
        return subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=False)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.site), "PYTHONSAFEPATH": "1", "AIEBUILD_RECIPE": self.recipe}

    def run_command(self, *more: str, arguments: str = "A,B") -> tuple[str, ...]:
        return (
            *(sys.executable, "-m", "aiebuild.host"),
            *("run", "build/x.cores.py", "--kernels", "build/x.zip", "--check", "designs/x/check.py"),
            *("--parameters", "build/p.json", "--arguments", arguments, "-o", "build/out/check.json"),
            *("--depfile", "build/out/check.d", *more),
        )

    def prepare(self, body: str = "", check: str = CHECK, kernel: str = KERNEL) -> None:
        """Write everything, compile the kernel and make the steps before the run."""
        text = (GOLDEN / "mlir" / f"{self.name}.generic.mlir").read_text()
        text = re.sub(r"device = \d+ : i32", 'device = "npu1_1col"', text)
        self.write("build/x.generic.mlir", text)
        self.write("build/x.facts.json", facts(parse(text, "build/x.generic.mlir")).to_json())
        parameters = {
            "arch": "host",
            "device": "npu1_1col",
            "design": "copy",
            "mode": "release",
            "parameters": {"n": 4096},
        }
        self.write("build/p.json", json.dumps(parameters))
        self.write("designs/x/check.py", check)
        self.compile("passthrough.o", kernel.replace("BODY", body))
        assert self.host("translate", "build/x.generic.mlir", "-o", "build/x.cores.py").returncode == 0

    def compile(self, name: str, text: str) -> None:
        self.write(f"build/{name}.cc", text)
        source = f"build/{name}.cc"
        subprocess.run(["g++", "-O1", "-fPIC", "-c", "-o", f"build/{name}", source], cwd=self.root, check=True)

    def link(self, *more: str) -> subprocess.CompletedProcess[str]:
        words = more or ("--object", "passthrough.o=build/passthrough.o")
        return self.host("link", "--facts", "build/x.facts.json", "--cxx", "g++", *words, "-o", "build/x.zip")

    def run(self, *more: str, arguments: str = "A,B") -> subprocess.CompletedProcess[str]:
        linked = self.link()
        assert linked.returncode == 0, linked.stderr
        return self.host(*self.run_command(*more, arguments=arguments)[3:])

    def depfile(self) -> dict[str, list[str]]:
        """Return what the last run recorded."""
        found: dict[str, list[str]] = json.loads((self.root / "build/out/check.d").read_text())
        return found

    def exists(self, name: str) -> bool:
        return (self.root / name).exists()


def golden(name: str) -> Module:
    """Return a design of tests/golden/mlir, as a native tool printed it."""
    return parse((GOLDEN / "mlir" / f"{name}.generic.mlir").read_text(), f"{name}.mlir")


def compiled(source: str | Path, folder: Path, name: str = "kernels") -> Path:
    """Return the shared library made of a C++ source: a file, or text."""
    if isinstance(source, str):
        text, source = source, folder / f"{name}.cc"
        source.write_text(text)
    library = folder / f"{name}.so"
    subprocess.run(["g++", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def tile(column: int, row: int) -> str:
    """Return the name of the value of a tile."""
    return f"%t{column}_{row}"


def layout(dimensions: list[tuple[int, int]]) -> str:
    """Return the inside of a data layout."""
    return ", ".join(f"<size = {size}, stride = {stride}>" for size, stride in dimensions)


def fifo(
    name: str,
    producer: tuple[int, int],
    consumers: list[tuple[int, int]],
    kind: str = "16xi32",
    *,
    depth: int | list[int] = 2,
    to_stream: list[tuple[int, int]] | None = None,
    from_stream: list[list[tuple[int, int]]] | None = None,
    more: str = "",
) -> str:
    """Return an `aie.objectfifo`."""
    ends = ", ".join(tile(*each) for each in (producer, *consumers))
    types = ", ".join(["index"] * (1 + len(consumers)))
    number = f"{depth} : i32" if isinstance(depth, int) else f"[{', '.join(f'{each} : i32' for each in depth)}]"
    per_consumer = ", ".join(f"[{layout(each)}]" for each in (from_stream or [[] for _ in consumers]))
    return (
        f'"aie.objectfifo"({ends}) <{{'
        f"dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[{per_consumer}]>, "
        f"dimensionsToStream = #aie<bd_dim_layout_array[{layout(to_stream or [])}]>, elemNumber = {number}, "
        f'elemType = !aie.objectfifo<memref<{kind}>>, sym_name = "{name}"{more}}}> : ({types}) -> ()'
    )


def link(inputs: list[str], outputs: list[str], src: str = "", dst: str = "") -> str:
    """Return an `aie.objectfifo.link`."""
    ins, outs = (", ".join(f"@{name}" for name in names) for names in (inputs, outputs))
    return (
        f'"aie.objectfifo.link"() <{{dst_offsets = [{dst}], fifoIns = [{ins}], fifoOuts = [{outs}], '
        f"src_offsets = [{src}]}}> : () -> ()"
    )


def acquire(value: str, name: str, port: int, count: int = 1, kind: str = "16xi32") -> str:
    """Return an acquire; `value` is `%v`."""
    return (
        f'{value} = "aie.objectfifo.acquire"() <{{objFifo_name = @{name}, port = {port} : i32, size = {count} : i32}}> '
        f": () -> !aie.objectfifosubview<memref<{kind}>>"
    )


def access(value: str, view: str, place: int = 0, kind: str = "16xi32") -> str:
    """Return the access of one object of an acquired view."""
    return (
        f'{value} = "aie.objectfifo.subview.access"({view}) <{{index = {place} : i32}}> : '
        f"(!aie.objectfifosubview<memref<{kind}>>) -> memref<{kind}>"
    )


def release(name: str, port: int, count: int = 1) -> str:
    """Return a release."""
    return (
        f'"aie.objectfifo.release"() <{{objFifo_name = @{name}, port = {port} : i32, size = {count} : i32}}> : () -> ()'
    )


def constant(value: str, number: int | str, kind: str = "index") -> str:
    """Return an `arith.constant`."""
    return f'{value} = "arith.constant"() <{{value = {number} : {kind}}}> : () -> {kind}'


def loop(counter: str, count: int, *body: str) -> str:
    """Return an `scf.for` from 0 to `count`."""
    name = counter.removeprefix("%")
    return "\n".join(
        (
            constant(f"%{name}_lower", 0),
            constant(f"%{name}_upper", count),
            constant(f"%{name}_step", 1),
            f'"scf.for"(%{name}_lower, %{name}_upper, %{name}_step) ({{',
            f"^bb0({counter}: index):",
            *body,
            '"scf.yield"() : () -> ()',
            "}) : (index, index, index) -> ()",
        )
    )


def copy_objects(source: str, target: str, kind: str = "16xi32", count: int = FOREVER) -> str:
    """Return a loop that copies objects from one FIFO to another."""
    return loop(
        "%again",
        count,
        acquire("%vo", target, 0, kind=kind),
        access("%o", "%vo", kind=kind),
        acquire("%vi", source, 1, kind=kind),
        access("%i", "%vi", kind=kind),
        f'"memref.copy"(%i, %o) : (memref<{kind}>, memref<{kind}>) -> ()',
        release(source, 1),
        release(target, 0),
    )


def core(column: int, row: int, *body: str) -> str:
    """Return an `aie.core`."""
    lines = "\n".join(body)
    start = f'%core{column}_{row} = "aie.core"({tile(column, row)}) ({{'
    return f'{start}\n{lines}\n"aie.end"() : () -> ()\n}}) : (index) -> index'


def memcpy(
    argument: str,
    name: str,
    sizes: list[int],
    strides: list[int],
    kind: str,
    *,
    number: int = 0,
    token: bool = False,
) -> str:
    """Return an `aiex.npu.dma_memcpy_nd` from the start of an argument."""
    return (
        f'"aiex.npu.dma_memcpy_nd"({argument}) <{{id = {number} : i64, issue_token = {str(token).lower()}, '
        f"metadata = @{name}, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0, 0, 0>, "
        f"static_sizes = array<i64: {', '.join(map(str, sizes))}>, "
        f"static_strides = array<i64: {', '.join(map(str, strides))}>}}> : (memref<{kind}>) -> ()"
    )


def whole(argument: str, name: str, count: int, element: str = "i32", *, number: int = 0, token: bool = False) -> str:
    """Return the transfer of a whole argument."""
    return memcpy(argument, name, [1, 1, 1, count], [0, 0, 0, 1], f"{count}x{element}", number=number, token=token)


def wait(name: str) -> str:
    """Return an `aiex.npu.dma_wait`."""
    return f'"aiex.npu.dma_wait"() <{{symbol = @{name}}}> : () -> ()'


def sequence(arguments: dict[str, str], *body: str, name: str = "main") -> str:
    """Return a runtime sequence; `arguments` are memref shapes by value name."""
    declared = ", ".join(f"{value}: memref<{kind}>" for value, kind in arguments.items())
    lines = "\n".join(body)
    return f'"aie.runtime_sequence"() <{{sym_name = "{name}"}}> ({{\n^bb0({declared}):\n{lines}\n}}) : () -> ()'


def device(*parts: str) -> Module:
    """Return a module with one device; the tiles that the parts use are declared."""
    body = "\n".join(parts)
    used = sorted(set(re.findall(r"%t(\d+)_(\d+)", body)))
    tiles = "\n".join(
        f'{tile(int(column), int(row))} = "aie.tile"() <{{col = {column} : i32, row = {row} : i32}}> : () -> index'
        for column, row in used
    )
    text = (
        f'"builtin.module"() ({{\n"aie.device"() <{{device = "npu1_1col", sym_name = "main"}}> ({{\n{tiles}\n{body}\n'
        '"aie.end"() : () -> ()\n}) : () -> ()\n}) : () -> ()\n'
    )
    return parse(text, "design.mlir")


def one_core(*body: str, kind: str = "16xi32", count: int = 16, more: str = "") -> Module:
    """Return a design whose core (0, 2) gets `in` and gives `out`; the sequence sends and fetches one object each."""
    element = re.sub(r"^(\d+x)+", "", kind)
    return device(
        fifo("in", (0, 0), [(0, 2)], kind),
        fifo("out", (0, 2), [(0, 0)], kind),
        more,
        core(0, 2, *body),
        sequence(
            {"%a": f"{count}x{element}", "%b": f"{count}x{element}"},
            whole("%a", "in", count, element),
            whole("%b", "out", count, element, number=1, token=True),
            wait("out"),
        ),
    )
