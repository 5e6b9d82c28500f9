"""Small projects in a temporary folder, built by a real SCons in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "site_scons"
GOLDEN = Path(__file__).resolve().parent / "golden"
SECONDS = 300


KINDS = (
    *("compile", "archive", "write", "render", "python", "check", "cores", "link", "run", "trace", "split", "symbols"),
    *("aiecc", "module", "outline", "custom", "kernel", "cut", "package", "install", "pretty"),
)
"""The words that labels begin with; not the manifest's: it says what was read, so that any edit writes it anew."""


@dataclass(frozen=True)
class Built:
    """What one run of SCons said and did."""

    status: int
    out: str
    err: str

    @property
    def steps(self) -> list[str]:
        """The steps that ran, as their labels say, white space folded."""
        labels = re.findall(rf"^  ((?:{'|'.join(KINDS)})\s.*)$", self.out, re.MULTILINE)
        return [" ".join(label.split()) for label in labels]

    @property
    def compiled(self) -> list[str]:
        """The sources that were compiled, sorted."""
        return sorted(step.split(" ", 1)[1] for step in self.steps if step.startswith("compile "))

    @property
    def kinds(self) -> set[str]:
        """The kinds of the steps that ran."""
        return {step.split(" ", 1)[0] for step in self.steps}


@dataclass
class Project:
    """A project with designs of its own; `variables` are added to the environment of each run."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        """Return the text of a file of the project."""
        return (self.root / name).read_text(encoding="utf-8")

    def scons(self, *words: str) -> Built:
        """Run SCons with these words."""
        return self.python("-m", "SCons", "-Q", *words)

    def python(self, *words: str) -> Built:
        """Run this Python in the project's folder."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Built(done.returncode, done.stdout, done.stderr)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a run: this process's, without those that choose tools, and the project's own."""
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("AIE", "PEANO", "MLIR_AIE", "CXX"))
        }
        return kept | {"PYTHONPATH": str(PACKAGE), **self.variables}

    def start(self, *words: str, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start SCons in a process group of its own, and do not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "SCons", "-Q", *words],
            cwd=self.root,
            env=self.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def build(self, *words: str) -> Built:
        """Run SCons and insist that it succeeds."""
        built = self.scons(*words)
        assert built.status == 0, f"{built.out}\n{built.err}"
        assert "Traceback" not in built.err, built.err
        return built

    def objects(self, arch: str = "host") -> list[Path]:
        """The core objects that were built for an arch."""
        return sorted((self.root / "build" / arch / "objects").glob("*.o"))

    def copy(self, root: Path) -> Project:
        """Return a copy of the project without anything that was built."""
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns("build"), symlinks=True)
        return Project(root, dict(self.variables))

    def copy_built(self, root: Path) -> Project:
        """Return a copy with all that was built: a build there looks at everything, and finds nothing to do."""
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root, {key: value.replace(str(self.root), str(root)) for key, value in self.variables.items()})


CONTRACT = """\
description: a design of the tests
devices: [npu1_1col, npu2_1col]
"""

ADD_MLIR = """\
module {{
  aie.device({{{{ device }}}}) {{
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @in(%shim, {{%core}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%core, {{%shim}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
{declarations}
    aie.core(%core) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.for %i = %c0 to %c2 step %c1 {{
        %vi = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %a = aie.objectfifo.subview.access %vi[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %vo = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %b = aie.objectfifo.subview.access %vo[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
{calls}
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }}
      aie.end
    }}
    aie.runtime_sequence(%X: memref<32xi32>, %Y: memref<32xi32>) {{
      aiex.npu.dma_memcpy_nd(%X[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {{id = 0 : i64, metadata = @in}} : memref<32xi32>
      aiex.npu.dma_memcpy_nd(%Y[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1])
        {{id = 1 : i64, metadata = @out, issue_token = true}} : memref<32xi32>
      aiex.npu.dma_wait {{symbol = @out}}
    }}
  }}
}}
"""


def one_core_mlir(functions: dict[str, str]) -> str:
    """Return a template with one core that calls each function (name to link_with) on a block of 16 i32."""
    types = "(memref<16xi32>, memref<16xi32>)"
    declarations = "\n".join(
        f'    func.func private @{name}{types[:-1]}) attributes {{link_with = "{file}"}}'
        for name, file in functions.items()
    )
    calls = "\n".join(f"        func.call @{name}(%a, %b) : {types} -> ()" for name in functions)
    return ADD_MLIR.format(declarations=declarations, calls=calls)


CHECK = """\
import numpy as np


def inputs(p, rng):
    return {"X": rng.integers(-100, 100, 32, dtype=np.int32)}


def reference(p, X):
    return {"Y": X + 1}
"""


def new_project(root: Path) -> Project:
    """Return an empty project with the `SConstruct` of this repository."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copy(REPOSITORY / "SConstruct", root / "SConstruct")
    return Project(root)


def add_design(
    project: Project,
    name: str,
    recipe: str,
    functions: dict[str, str],
    *,
    contract: str = CONTRACT,
    check: str = CHECK,
) -> None:
    """Add a design of one core to a project; `recipe` is the part of the recipe before the Design call."""
    project.write(f"designs/{name}/design.yaml", contract + "arguments: {X: input, Y: output}\n")
    project.write(f"designs/{name}/SConscript", f'"""{name}."""\n\nImport("env", "p")\n\n{recipe}\n')
    project.write(f"designs/{name}/{name}.mlir.j2", one_core_mlir(functions))
    project.write(f"designs/{name}/check.py", check)


BY_HAND = """\
from aiebuild.scons import aie

DefaultEnvironment(tools=[])
env = Environment(tools=[aie])
{body}
"""


class HandMade(Project):
    """A project whose `SConstruct` uses the builders by hand, at explicit targets."""

    def script(self, body: str) -> None:
        """Write the `SConstruct`: `env` has the builders."""
        self.write("SConstruct", BY_HAND.format(body=body))


TWO_OBJECTS = """\
a = env.AieObject("out/a.o", "src/a.cc")
b = env.AieObject("out/b.o", "src/b.cc")
env.AieArchive("out/libab.a", [a, b])
"""
