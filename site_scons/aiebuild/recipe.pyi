"""The names that a recipe has, for type checkers and editors.

A recipe is checked as if it began with `from aiebuild.recipe import *`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from aiebuild.model import CoreArchive, CoreObject, Linkable, Prebuilt
from aiebuild.parameters import Parameters
from aiebuild.scons.words import DesignNodes

__all__ = ["Import", "env", "p"]

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
    def Prebuilt(self, name: str, *, file: str, functions: Sequence[str] = (), filename: str = "") -> Prebuilt: ...
    def Design(
        self,
        *,
        mlir: str,
        link_with: Sequence[Linkable] = (),
        check: str | None = None,
        name: str = "",
    ) -> DesignNodes: ...

def Import(*names: str) -> None: ...

env: Recipe
p: Parameters
