"""The names that a recipe has, for type checkers and editors.

A recipe is checked as if it began with `from aiebuild.recipe import *`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from aiebuild.model import CoreArchive, CoreObject, Linkable, MlirModule, Prebuilt
from aiebuild.parameters import Parameters
from aiebuild.scons.words import DesignNodes

__all__ = ["Import", "env", "p"]

Cuts: TypeAlias = Sequence[Any] | Mapping[str, Sequence[Any]]  # stages, and pairs of the first and the last

class Recipe(Protocol):
    def CoreObject(
        self,
        name: str,
        *,
        source: str | None = None,
        text: str | None = None,
        host_source: str | None = None,
        functions: Sequence[str] = (),
        defines: Mapping[str, Any] = ...,
        include_dirs: Sequence[str] = (),
        flags: Sequence[str] = (),
        symbol_prefix: str = "",
        inline: bool = False,
        outline: Cuts = (),
        filename: str = "",
    ) -> CoreObject: ...
    def CoreArchive(
        self,
        name: str,
        *,
        sources: Sequence[str],
        host_sources: Sequence[str] = (),
        functions: Sequence[str] = (),
        defines: Mapping[str, Any] = ...,
        include_dirs: Sequence[str] = (),
        flags: Sequence[str] = (),
        filename: str = "",
    ) -> CoreArchive: ...
    def Prebuilt(
        self, name: str, *, file: str, functions: Sequence[str] = (), filename: str = "", toolchain: str = ""
    ) -> Prebuilt: ...
    def Design(
        self,
        *,
        mlir: str,
        link_with: Sequence[Linkable] = (),
        check: str | None = None,
        imports: Sequence[MlirModule] = (),
        outline: Cuts = (),
        pretty: bool = False,
        outputs: Sequence[str] = ("xclbin", "insts"),
        name: str = "",
        stable_uuid: bool = False,
        alloc_scheme: str | None = None,
        dynamic_objfifos: bool | None = None,
        packet_sw_objfifos: bool | None = None,
        opt_level: int | None = None,
        placer: str | None = None,
        sa_seed: int | None = None,
        cores_per_col: int | None = None,
        bf16_emulation: bool | None = None,
        fold_ddr_addr_offset: bool | None = None,
        unified: bool | None = None,
        expand_load_pdis: bool | None = None,
        load_pdi_to_ctrl_pkt: bool | None = None,
        ctrl_pkt_overlay: bool | None = None,
        materialize: bool | None = None,
        measure_stack: bool | None = None,
        xclbin_kernel_name: str | None = None,
        xclbin_instance_name: str | None = None,
        xclbin_kernel_id: int | None = None,
        flags: Sequence[str] = (),
    ) -> DesignNodes: ...
    def MlirModule(self, name: str, *, source: str, entry: str = "") -> MlirModule: ...
    def XclbinChain(self, name: str, *, designs: Sequence[DesignNodes]) -> list[Any]: ...

def Import(*names: str) -> None: ...

env: Recipe
p: Parameters
