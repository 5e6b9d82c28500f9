"""MLIR's own tools: they compile kernels that are MLIR, for this machine or, with Peano behind them, for cores.

For the host `mlir-opt`, `mlir-translate` and `llc` of one major version are needed: what one of them writes, another
reads. Where they are not installed, the translator that runs cores runs such a kernel.

Memrefs are passed as bare pointers, as C++ kernels take them, so both are called alike; their shapes are constant.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.fingerprint import digest_of
from aiebuild.toolchains.asking import ask, libraries, remembered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints
    from aiebuild.toolchains.asking import Record
    from aiebuild.toolchains.compiler import Command

NAMES = ("mlir-opt", "mlir-translate", "llc")
MAJORS = tuple(range(40, 17, -1))
"""Versions whose names are looked for, `mlir-opt-22`, the newest first; before 18 the generic form was another one."""
ADVICE = "install one version of mlir-opt, mlir-translate and llc (for example Debian's mlir-22-tools and llvm-22)"

PASSES = (
    "convert-linalg-to-loops",
    "convert-vector-to-scf",
    "lower-affine",
    "convert-scf-to-cf",
    "expand-strided-metadata",
    # The pass before makes maps of its own.
    "lower-affine",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "finalize-memref-to-llvm",
    "convert-cf-to-llvm",
    "arith-expand",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}",
    "reconcile-unrealized-casts",
)
"""From linalg, vector, affine, scf, memref, math and arith to the LLVM dialect (mlir.llvm.org/docs/Passes)."""
DEBUG_PASSES = ("ensure-debug-info-scope-on-llvm-func",)
LLC_FLAGS = ("-filetype=obj", "-relocation-model=pic")
"""Nothing about fusing a*b+c to one rounding: llc does that only where the IR asks for it, and ours does not."""
MODE_FLAGS = {"release": ("-O2",), "debug": ("-O1",)}


@dataclass(frozen=True)
class MlirTools:
    """The three programs of one major version; `version` is what mlir-opt says, `identity` the digest of all three."""

    mlir_opt: str
    mlir_translate: str
    llc: str
    version: str
    identity: str


@dataclass(frozen=True)
class NoMlirTools:
    """There is no complete set: what was tried, for the notice that MLIR kernels will be slow."""

    tried: tuple[str, ...]

    @property
    def notice(self) -> str:
        """What to say, once, where a kernel is translated to Python instead."""
        return f"MLIR's own tools are not installed: {'; '.join(self.tried)}. {ADVICE[0].upper()}{ADVICE[1:]}"


@dataclass(frozen=True)
class MlirFiles:
    """The files of one kernel between the commands: a module, its LLVM dialect, LLVM IR and the object."""

    module: str
    lowered: str
    ir: str
    output: str

    @classmethod
    def beside(cls, module: str, output: str) -> MlirFiles:
        """Return the files of an object `x.o`: `x.llvm.mlir` and `x.ll` beside it."""
        stem = output.rpartition(".")[0] or output
        return cls(module, f"{stem}.llvm.mlir", f"{stem}.ll", output)


# --- where they are ---


def find_mlir_tools(environment: Environment, fingerprints: Fingerprints, memory: Path) -> MlirTools | NoMlirTools:
    """Return the tools of one major version on PATH.

    Plain names (`mlir-opt`) come first, if all three are of one version; then the newest version that is complete,
    a plain name standing for its version.

    Args:
        environment: the snapshot of the process's variables.
        fingerprints: digests of files, remembered by size, mtime, ctime and inode.
        memory: a JSON file beside which what the programs say is remembered, one file a program.
    """
    asker = _Asker(environment, fingerprints, memory)
    known = {name: _versions(name, asker) for name in NAMES}
    plain = {asker.major(path) for name in NAMES if (path := asker.which(name))}
    preferred = [major for major in plain if major and len(plain) == 1]
    for major in (*preferred, *sorted(known["mlir-opt"], reverse=True)):
        paths = [known[name].get(major, "") for name in NAMES]
        if major >= MAJORS[-1] and all(path and asker.major(path) == major for path in paths):
            return asker.tools(*paths)
    return NoMlirTools(tuple(_said(name, known[name]) for name in NAMES))


def _said(name: str, known: Mapping[int, str]) -> str:
    """Return what was found under a name."""
    found = ", ".join(f"{path} ({major})" for major, path in sorted(known.items(), reverse=True))
    return f"{name}: {found or f'not on PATH, nor {name}-N'}"


def _versions(name: str, asker: _Asker) -> dict[int, str]:
    """Return the programs of a name by major version: those with the version in their names, then the plain one."""
    found = {major: path for major in MAJORS if (path := asker.which(f"{name}-{major}"))}
    plain = asker.which(name)
    major = asker.major(plain) if plain else 0
    return found | {major: plain} if plain and major else found


class _Asker:
    """Looks for programs, and asks them for their versions."""

    def __init__(self, environment: Environment, fingerprints: Fingerprints, memory: Path) -> None:
        self._environment, self._fingerprints, self._memory = environment, fingerprints, memory

    def which(self, name: str) -> str:
        """Return the path of a program on PATH, else nothing."""
        path = self._environment.get("PATH")
        found = shutil.which(name, path=path) if path else None
        return str(Path(found).absolute()) if found else ""

    def major(self, program: str) -> int:
        """Return the major version that a program says; 0 where it says none, or does not run."""
        try:
            said = str(self._answers(program)["version"])
        except ToolchainError:
            return 0
        match = re.search(r"version (\d+)", said)
        return int(match.group(1)) if match else 0

    def tools(self, mlir_opt: str, mlir_translate: str, llc: str) -> MlirTools:
        """Return three programs as an identified toolchain."""
        paths = (mlir_opt, mlir_translate, llc)
        said = [self._answers(path) for path in paths]
        shared = {library for each in said for library in _texts(each, "libraries")}
        parts = (*(str(Path(path).resolve()) for path in paths), *sorted(shared))
        versions = [str(each["version"]) for each in said]
        identity = digest_of("\n".join((*versions, self._fingerprints.of_all(parts))).encode())
        return MlirTools(mlir_opt, mlir_translate, llc, versions[0], identity)

    def _answers(self, program: str) -> Record:
        variables = self._environment.for_steps()
        return remembered(
            self._memory.with_name(f"{self._memory.stem}-{Path(program).name}.json"),
            program,
            (str(Path(program).resolve()),),
            self._fingerprints,
            lambda: _ask(program, variables),
        )


def _ask(program: str, variables: Mapping[str, str]) -> Record:
    said = ask((program, "--version"), variables)
    version = next((line.strip() for line in said.text.splitlines() if "version" in line), said.first_line)
    return {"version": version, "libraries": list(libraries(program, variables))}


def _texts(said: Record, name: str) -> tuple[str, ...]:
    value = said.get(name)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


# --- what they are run with ---


def pipeline(mode: str) -> str:
    """Return the passes from a kernel to the LLVM dialect; in debug mode with the user's lines as debug information."""
    passes = (*PASSES, *DEBUG_PASSES) if mode == "debug" else PASSES
    return f"builtin.module({','.join(passes)})"


def lower_command(mlir_opt: str, files: MlirFiles, mode: str) -> Command:
    """Return the argv that lowers a kernel to the LLVM dialect; `mlir_opt` may be aie-opt: it has the same passes."""
    debug = ("--mlir-print-debuginfo",) if mode == "debug" else ()
    return (mlir_opt, files.module, f"--pass-pipeline={pipeline(mode)}", *debug, "-o", files.lowered)


def translate_command(translator: str, files: MlirFiles) -> Command:
    """Return the argv that writes LLVM IR; `translator` is mlir-translate or aie-translate."""
    return (translator, "--mlir-to-llvmir", files.lowered, "-o", files.ir)


def host_commands(tools: MlirTools, files: MlirFiles, mode: str) -> tuple[Command, ...]:
    """Return the commands that compile a kernel for this machine, one after the other."""
    return (
        lower_command(tools.mlir_opt, files, mode),
        translate_command(tools.mlir_translate, files),
        (tools.llc, *LLC_FLAGS, *MODE_FLAGS[mode], files.ir, "-o", files.output),
    )


def core_commands(
    aie_opt: str, translator: str, clang: str, files: MlirFiles, *, target: str, mode: str
) -> tuple[Command, ...]:
    """Return the commands that compile a kernel for a core.

    Args:
        aie_opt: of the installation of mlir-aie.
        translator: of the same installation, see `translator_of`.
        clang: Peano's `clang++`.
        files: where all is.
        target: the triple for it, such as `aie2-none-unknown-elf`.
        mode: `release` or `debug`.
    """
    debug = ("-g",) if mode == "debug" else ()
    return (
        lower_command(aie_opt, files, mode),
        translate_command(translator, files),
        (clang, *MODE_FLAGS[mode], *debug, f"--target={target}", "-x", "ir", "-c", files.ir, "-o", files.output),
    )


def translator_of(aie_opt: str) -> str:
    """Return what writes LLVM IR in an installation of mlir-aie: its aie-translate, else its mlir-translate.

    Raises:
        ToolchainError: it has neither.
    """
    folder = Path(aie_opt).parent
    for name in ("aie-translate", "mlir-translate"):
        path = folder / name
        if path.is_file():
            return str(path)
    hint = "install the mlir_aie wheel (https://github.com/Xilinx/mlir-aie/releases)"
    raise ToolchainError(f"MLIR kernels need aie-translate beside aie-opt, and {folder} has none", hint=hint)
