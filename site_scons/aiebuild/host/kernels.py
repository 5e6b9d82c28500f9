"""The compiled kernels at run time: one copy of a library for each core, called through ctypes.

A memref is passed as the address of its first element, a scalar by its MLIR type; bf16 and f16 go as their 16 bits.
After each call the zones around its arguments are looked at.
"""

from __future__ import annotations

import ctypes
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.errors import RunError
from aiebuild.host import elements, status, support

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from aiebuild.host.guards import Guard
    from aiebuild.host.plan import External, Tile

_CTYPES: dict[str, Any] = {
    "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "ui8": ctypes.c_uint8, "ui16": ctypes.c_uint16, "ui32": ctypes.c_uint32, "ui64": ctypes.c_uint64,
    "index": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double, "bf16": ctypes.c_uint16,
    "f16": ctypes.c_uint16,
}  # fmt: skip
_AS_BITS = frozenset(("bf16", "f16"))


class Kernels:
    """The libraries of all cores.

    Args:
        externals: the functions that the design declares.
        libraries: the library of each core, by tile; one that has none calls no kernel.
        folder: a private folder for the copies.
        cores: all tiles with cores, in the order of the plan; their numbers go into the status.
        noted: where calls are noted.
    """

    def __init__(
        self,
        externals: Iterable[External],
        libraries: Mapping[Tile, Path],
        folder: Path | None,
        cores: Iterable[Tile] = (),
        noted: status.Status | None = None,
    ) -> None:
        self.externals = {external.name: external for external in externals}
        self.libraries = libraries
        self.folder = folder
        self.cores = list(cores)
        self.noted = noted if noted is not None else status.Status(bytearray(status.SIZE))
        self._loaded: dict[Tile, ctypes.CDLL] = {}

    def function(self, tile: Tile, name: str) -> Callable[..., Any]:
        """Return a function of a core's library; its first argument is the number of the call.

        Raises:
            RunError: there is no library for the core, or it lacks the function.
        """
        external = self.externals[name]
        try:
            found = getattr(self._library(tile, name), name)
        except AttributeError:
            raise RunError(f"core {tile}: the kernel library does not define `{name}`") from None
        found.argtypes = [_argument_type(text, name) for text in external.inputs]
        found.restype = _argument_type(external.results[0], name) if external.results else None
        core = self.cores.index(tile) if tile in self.cores else 0
        return self._caller(found, external, core)

    def _caller(self, function: Any, external: External, core: int) -> Callable[..., Any]:
        enter, leave = self.noted.enter, self.noted.leave
        convert = _result(external.results[0]) if external.results else None
        as_bits = [place for place, text in enumerate(external.inputs) if text in _AS_BITS]
        memrefs = [place for place, text in enumerate(external.inputs) if text.startswith("memref")]

        def call(site: int, *arguments: Any) -> Any:
            passed = list(arguments)
            for place in memrefs:
                passed[place] = arguments[place].address
            for place in as_bits:
                passed[place] = int(np.asarray(arguments[place]).view(np.uint16))
            enter(core, site)
            result = function(*passed)
            leave()
            for place in memrefs:
                guard = arguments[place].guard
                if guard is not None and not guard.intact:
                    raise self._overrun(external.name, core, place, guard)
            return result if convert is None else convert(result)

        return call

    def _overrun(self, name: str, core: int, place: int, guard: Guard) -> RunError:
        who = f"kernel `{name}`" + (f" called by core {self.cores[core]}" if self.cores else "")
        return RunError(f"{who} wrote {guard.damage()} of its argument {place + 1} ({guard.what})")

    def _library(self, tile: Tile, name: str) -> ctypes.CDLL:
        if tile in self._loaded:
            return self._loaded[tile]
        source = self.libraries.get(tile)
        if source is None or self.folder is None:
            raise RunError(f"core {tile}: `{name}` is called, and no kernel library was given for this core")
        copy = self.folder / f"core_{tile[0]}_{tile[1]}.so"
        shutil.copyfile(source, copy)
        try:
            self._loaded[tile] = ctypes.CDLL(str(copy.resolve()))
        except OSError as error:
            raise RunError(f"core {tile}: the kernel library cannot be loaded: {error}") from error
        return self._loaded[tile]


def _argument_type(text: str, function: str) -> Any:
    if text.startswith("memref"):
        return ctypes.c_void_p
    if text not in _CTYPES:
        raise RunError(f"`{function}`: a value of type {text} cannot be passed to a kernel on the host")
    return _CTYPES[text]


def _result(element: str) -> Callable[[Any], Any] | None:
    if element in _AS_BITS:
        return lambda bits: np.uint16(bits).view(support.dtype(element))
    if elements.is_float(element):
        return support.dtype(element).type
    return None
