"""aiecc with what it runs itself: found, identified, and told apart by what each output needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.toolchains import aiecc_dialect, chess, peano
from aiebuild.toolchains.aiecc_dialect import Aiecc
from aiebuild.toolchains.discover import Found, Places, find, require

if TYPE_CHECKING:
    from pathlib import Path

    from aiebuild.errors import ToolchainError
    from aiebuild.fingerprint import Fingerprints


@dataclass(frozen=True)
class NpuTools:
    """What turns MLIR and objects into what an NPU loads.

    Args:
        aiecc: the driver.
        peano_dir, aietools_dir: the installation of the compiler of the cores; the other one is empty.
        xclbinutil, aie_opt: empty where they are not installed.
        packaging: the digest of `xclbinutil` and `bootgen`.
        verifying: the digest of `aie-opt`.
        missing: why nothing can be run, where aiecc is not installed.
    """

    aiecc: Aiecc
    peano_dir: str = ""
    aietools_dir: str = ""
    xclbinutil: str = ""
    aie_opt: str = ""
    packaging: str = ""
    verifying: str = ""
    missing: str = ""


def find_tools(toolchain: str, dialect: str, places: Places, fingerprints: Fingerprints, memory: Path) -> NpuTools:
    """Return the tools for one compiler of the cores, `peano` or `chess`.

    Raises:
        ToolchainError: aiecc or the compiler is nowhere, a named place does not exist, or there is no such dialect.
    """
    driver = aiecc_dialect.probe(require("aiecc", places), places.environment, fingerprints, memory, dialect=dialect)
    optional = {name: _path(name, places) for name in ("xclbinutil", "bootgen", "aie-opt")}
    return NpuTools(
        aiecc=driver,
        peano_dir=peano.install_dir(places) if toolchain == "peano" else "",
        aietools_dir=chess.install_dir(places) if toolchain == "chess" else "",
        xclbinutil=optional["xclbinutil"],
        aie_opt=optional["aie-opt"],
        packaging=fingerprints.of_all(filter(None, (optional["xclbinutil"], optional["bootgen"]))),
        verifying=fingerprints.of_all(filter(None, (optional["aie-opt"],))),
    )


def nominal_tools(toolchain: str, dialect: str, missing: ToolchainError) -> NpuTools:
    """Return the tools as they would be, for showing commands where nothing is installed."""
    driver = Aiecc(
        aiecc_dialect.NOMINAL.path,
        aiecc_dialect.dialect_named(dialect) if dialect else aiecc_dialect.NOMINAL.dialect,
        identity="missing",
    )
    peano_dir = "<llvm-aie>" if toolchain == "peano" else ""
    aietools_dir = "<aietools>" if toolchain == "chess" else ""
    return NpuTools(driver, peano_dir, aietools_dir, missing=str(missing))


def _path(name: str, places: Places) -> str:
    found = find(name, places)
    return found.path if isinstance(found, Found) else ""
