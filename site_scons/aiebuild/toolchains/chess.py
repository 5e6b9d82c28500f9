"""Chess, the compiler of Vitis: kernels through mlir-aie's `xchesscc_wrapper`, which knows where its parts are.

It writes no depfiles, so headers are scanned for, and two of it must not run at the same time (mlir-air #1863).
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.fingerprint import digest_of
from aiebuild.toolchains.asking import tree_digest
from aiebuild.toolchains.compiler import Toolchain
from aiebuild.toolchains.discover import AIETOOLS, Found, Places, find, find_root, require

if TYPE_CHECKING:
    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints

MODE_FLAGS = {"release": ("-DNDEBUG",), "debug": ("-g",)}
"""Chess's own level of optimisation is left alone: the wrapper chooses a release configuration."""

PARTS = ("bin/xchesscc", "bin/unwrapped/*/xchesscc", "tps/*/target*/bin/*/chess-clang", "data/version*")
"""Files of an installation that an upgrade changes."""


def find_toolchain(
    environment: Environment,
    arch: str,
    mode: str,
    fingerprints: Fingerprints,
    memory: Path,
    *,
    places: Places | None = None,
) -> Toolchain:
    """Return Chess for one arch; the arguments are those of Peano's `find_toolchain`.

    `memory` is not used: nothing is run to learn what this is.

    Raises:
        ToolchainError: the wrapper or Vitis is nowhere, or a variable names a place that does not exist.
    """
    del memory
    looked = places or Places(environment, tuple(sys.path), sys.executable)
    wrapper, aietools = require("xchesscc_wrapper", looked), install_dir(looked)
    archiver = _archiver(looked)
    tools = {name: _path(name, looked) for name in ("llvm-nm", "llvm-objcopy", "aie_api", "aie_kernels")}
    headers = tuple(Path(tools[name]) for name in ("aie_api", "aie_kernels") if tools[name])
    include = str(headers[0].parent) if headers else ""
    parts = [wrapper, archiver, *filter(None, (tools["llvm-nm"], tools["llvm-objcopy"])), *_parts(Path(aietools))]
    identity = [fingerprints.of_all(parts), tree_digest(headers, fingerprints)]
    return Toolchain(
        name="chess",
        arch=arch,
        compiler=wrapper,
        archiver=archiver,
        objcopy=tools["llvm-objcopy"],
        default_flags=(
            *(arch, "-aietools", aietools),
            *((f"-I{include}",) if include else ()),
            *MODE_FLAGS[mode],
        ),
        identity=digest_of("\n".join(identity).encode()),
        system_dirs=tuple(filter(None, (include,))),
        nm=tools["llvm-nm"],
        has_depfiles=False,
        exclusive=True,
    )


def nominal_toolchain(arch: str, mode: str, missing: ToolchainError) -> Toolchain:
    """Return Chess as it would be, where it is not installed; as `peano.nominal_toolchain`."""
    return Toolchain(
        name="chess",
        arch=arch,
        compiler="<mlir_aie>/bin/xchesscc_wrapper",
        archiver="<llvm-aie>/bin/llvm-ar",
        objcopy="<mlir_aie>/bin/llvm-objcopy",
        default_flags=(arch, "-aietools", "<aietools>", "-I<mlir_aie>/include", *MODE_FLAGS[mode]),
        identity="missing",
        nm="<llvm-aie>/bin/llvm-nm",
        has_depfiles=False,
        exclusive=True,
        missing=str(missing),
    )


def install_dir(places: Places) -> str:
    """Return the folder of Vitis's AIE tools: the one that was named, else that of the `xchesscc` on PATH.

    Raises:
        ToolchainError: there is none, or a variable names a place that does not exist or has no `bin/xchesscc`.
    """
    found = find_root(AIETOOLS, places)
    if isinstance(found, Found):
        if not (Path(found.path) / "bin" / "xchesscc").is_file():
            raise ToolchainError(f"{found.how} has no bin/xchesscc", hint=AIETOOLS.advice)
        return found.path
    path = places.environment.get("PATH")
    on_path = shutil.which("xchesscc", path=path) if path else None
    if on_path is None:
        tried = "; ".join((*found.tried, "xchesscc on PATH"))
        raise ToolchainError(f"toolchain=chess needs Vitis's AIE tools; tried: {tried}", hint=AIETOOLS.advice)
    return str(Path(on_path).resolve().parents[1])


def _parts(folder: Path) -> list[str]:
    return sorted(str(path) for pattern in PARTS for path in folder.glob(pattern) if path.is_file())


def _archiver(places: Places) -> str:
    """Return an archiver: LLVM's, else the one of this machine, which does not look into members of another kind."""
    found = find("llvm-ar", places)
    if isinstance(found, Found):
        return found.path
    path = places.environment.get("PATH")
    host = shutil.which("ar", path=path) if path else None
    if host is None:
        raise found.error
    return host


def _path(name: str, places: Places) -> str:
    found = find(name, places)
    return found.path if isinstance(found, Found) else ""
