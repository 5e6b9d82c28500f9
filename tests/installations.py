"""Stand-in installations of the NPU toolchain, laid out as the wheels are: launchers of `fake_tools`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

FAKE_TOOLS = Path(__file__).resolve().parent / "fake_tools"
PROGRAMS = {
    "clang++": "clangpp.py",
    "llvm-ar": "llvm_ar.py",
    "llvm-nm": "llvm_nm.py",
    "llvm-objcopy": "llvm_objcopy.py",
    "ld.lld": "ld_lld.py",
    "aiecc": "aiecc.py",
    "aie-opt": "aie_opt.py",
    "aie-translate": "aie_translate.py",
    "xclbinutil": "xclbinutil.py",
    "bootgen": "bootgen.py",
    "xchesscc_wrapper": "xchesscc_wrapper.py",
}
HERE = "%~dp0" if os.name == "nt" else "${0%/*}"
"""The folder of a launcher, in its own words: so the same tools elsewhere have the same bytes."""

HEADER = "#pragma once\nnamespace aie { inline int lanes() { return 16; } }\n"


@dataclass(frozen=True)
class Installation:
    """Where things are.

    Args:
        packages: the folder that looks like `site-packages`.
        peano: `llvm-aie` in it.
        mlir_aie: `mlir_aie` in it.
        aietools: what looks like Vitis, or None.
    """

    packages: Path
    peano: Path
    mlir_aie: Path
    aietools: Path | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that name it all."""
        chess = {"AIETOOLS_ROOT": str(self.aietools)} if self.aietools else {}
        return {"PEANO_INSTALL_DIR": str(self.peano), "MLIR_AIE_INSTALL_DIR": str(self.mlir_aie), **chess}

    @property
    def aiecc(self) -> Path:
        """The driver."""
        old = self.mlir_aie / "bin" / "aiecc.py"
        return old if old.exists() else self.mlir_aie / "bin" / "aiecc"

    def touch(self, tool: str, text: str) -> None:
        """Make a tool one with other bytes that does the same."""
        folder = self.peano if (self.peano / "bin" / tool).exists() else self.mlir_aie
        launcher = self.aiecc if tool == "aiecc" else folder / "bin" / tool
        launcher.write_text(launcher.read_text() + f"# {text}\n")


def install(
    folder: Path,
    dialect: str = "C2",
    *,
    chess: bool = False,
    aie_opt: bool = False,
    refuse: str = "",
    clang: str = "21.0.0",
    constants: tuple[str, ...] = (),
) -> Installation:
    """Make an installation.

    Args:
        folder: an empty folder, which becomes like `site-packages`.
        dialect: of aiecc: A, B, C0, C1 or C2.
        chess: whether there is a Chess: `xchesscc_wrapper`, and Vitis beside the packages.
        aie_opt: whether there is an `aie-opt`.
        refuse: an arch that Peano lacks.
        clang: Peano's version.
        constants: further words for the launcher of aiecc: `@lenient`, `@measures`.
    """
    peano, mlir_aie = folder / "llvm-aie", folder / "mlir_aie"
    for tool in ("llvm-ar", "llvm-nm", "ld.lld"):
        launch(peano / "bin" / tool, PROGRAMS[tool])
    refused = (f"@refuse={refuse}",) if refuse else ()
    launch(peano / "bin" / "clang++", PROGRAMS["clang++"], f"@clang={clang}", *refused)
    name = "aiecc.py" if dialect == "A" else "aiecc"
    launch(mlir_aie / "bin" / name, "aiecc.py", f"@dialect={dialect}", f"@peano={HERE}/../../llvm-aie", *constants)
    tools = ["llvm-objcopy", "xclbinutil", "bootgen"]
    tools += ["xchesscc_wrapper"] if chess else []
    tools += ["aie-opt", "aie-translate"] if aie_opt else []
    for tool in tools:
        launch(mlir_aie / "bin" / tool, PROGRAMS[tool])
    for header in ("include/aie_api/aie.hpp", "include/aie_kernels/aie_kernel_utils.h", "aie_runtime_lib/AIE2/lut.h"):
        write(mlir_aie / header, HEADER)
    write(mlir_aie / "python" / "aie" / "__init__.py", "")
    aietools = folder.parent / f"{folder.name}-aietools" if chess else None
    if aietools is not None:
        write(aietools / "bin" / "xchesscc", "#!/bin/sh\nexit 1\n")
        (aietools / "bin" / "xchesscc").chmod(0o755)
    return Installation(folder, peano, mlir_aie, aietools)


def launch(path: Path, program: str, *constants: str) -> None:
    """Write a launcher of a stand-in; the constants are words that begin with `@`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = " ".join(f'"{word}"' for word in (sys.executable, "-I", str(FAKE_TOOLS / program), *constants))
    if os.name == "nt":
        path.with_name(f"{path.name}.cmd").write_text(f"@{words} %*\n")
        return
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o755)


def write(path: Path, text: str) -> None:
    """Write a file, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
