"""Peano, the LLVM for AI Engines: it compiles kernels for aie2 and aie2p.

The flags are those of mlir-aie's own kernel command (`python/utils`, at 3ca0193ce), so that a command can be pasted
and compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.toolchains.compiler import Toolchain
from aiebuild.toolchains.identity import identify

if TYPE_CHECKING:
    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints

FLAGS = (
    "-std=c++20",
    "-Wno-parentheses",
    "-Wno-attributes",
    "-Wno-macro-redefined",
    "-Wno-empty-body",
    "-D__AIE_API_AIE_ADF_HPP__",
)
MODE_FLAGS = {"release": ("-O2", "-DNDEBUG"), "debug": ("-O1", "-g")}
VARIABLE = "PEANO_INSTALL_DIR"


def find_toolchain(
    environment: Environment, arch: str, mode: str, fingerprints: Fingerprints, memory: Path
) -> Toolchain:
    """Return Peano for one arch, from the folder that `PEANO_INSTALL_DIR` names; a host LLVM is never taken.

    Raises:
        ToolchainError: where the variable is not set, or its folder has no `bin/clang++`.
    """
    folder = environment.get(VARIABLE)
    if not folder:
        hint = f"set {VARIABLE} to the folder of llvm-aie (the one that has bin/clang++), or build for arch=host"
        raise ToolchainError(f"arch={arch} needs Peano, and {VARIABLE} is not set", hint=hint)
    compiler = _program(Path(folder), "clang++")
    archiver, objcopy = _program(Path(folder), "llvm-ar"), str(Path(folder) / "bin" / "llvm-objcopy")
    probe = identify(compiler, environment, fingerprints, memory, extra=(archiver, objcopy))
    return Toolchain(
        name="peano",
        arch=arch,
        compiler=compiler,
        archiver=archiver,
        objcopy=objcopy,
        default_flags=(*FLAGS, *MODE_FLAGS[mode], f"--target={arch}-none-unknown-elf"),
        identity=probe.identity,
        system_dirs=probe.system_dirs,
    )


def _program(folder: Path, name: str) -> str:
    path = folder / "bin" / name
    if path.is_file():
        return str(path)
    raise ToolchainError(f"{VARIABLE}={folder} has no bin/{name}", hint="it names the folder that holds bin/")
