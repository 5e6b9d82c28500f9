"""The C++ compiler of this machine: it compiles kernels for arch=host."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.toolchains.compiler import Toolchain
from aiebuild.toolchains.identity import identify

if TYPE_CHECKING:
    from pathlib import Path

    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints

FLAGS = ("-std=c++20", "-fPIC", "-ffp-contract=off", "-fdiagnostics-color=never")
"""No contraction of a*b+c to one rounding: a core's result must not depend on what this machine's CPU can fuse."""

MODE_FLAGS = {"release": ("-O2", "-DNDEBUG"), "debug": ("-O1", "-g")}


def find_toolchain(environment: Environment, mode: str, fingerprints: Fingerprints, memory: Path) -> Toolchain:
    """Return the host's toolchain.

    The compiler is `CXX`, else `clang++`, else `g++`.

    Raises:
        ToolchainError: where `CXX` names no program, or there is no compiler.
    """
    compiler = _find_compiler(environment)
    archiver, objcopy = _beside(environment, "ar", "llvm-ar"), _beside(environment, "objcopy", "llvm-objcopy")
    probe = identify(compiler, environment, fingerprints, memory, extra=(archiver, objcopy))
    return Toolchain(
        name="host",
        arch="host",
        compiler=compiler,
        archiver=archiver,
        objcopy=objcopy,
        default_flags=(*FLAGS, *MODE_FLAGS[mode]),
        identity=probe.identity,
        system_dirs=probe.system_dirs,
        version=probe.version,
    )


def _find_compiler(environment: Environment) -> str:
    path = environment.get("PATH")
    asked = environment.get("CXX")
    if asked:
        found = shutil.which(asked, path=path)
        if found is None:
            hint = "CXX names one program, without options; unset it to use clang++ or g++"
            raise ToolchainError(f"CXX={asked}: there is no such program", hint=hint)
        return found
    found = shutil.which("clang++", path=path) or shutil.which("g++", path=path)
    if found is None:
        hint = "install one (Debian and Ubuntu: apt-get install g++; macOS: xcode-select --install), or set CXX"
        raise ToolchainError("no C++ compiler: neither clang++ nor g++ is on PATH", hint=hint)
    return found


def _beside(environment: Environment, *names: str) -> str:
    found = (shutil.which(name, path=environment.get("PATH")) for name in names)
    return next((path for path in found if path is not None), names[0])
