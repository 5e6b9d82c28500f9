"""The compiled kernels at run time: one copy of a library for each core, called through ctypes.

A memref is passed as the address of its first element, a scalar by its MLIR type; bf16 and f16 go as their 16 bits.
"""

from __future__ import annotations

import ctypes
import shutil
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.errors import RunError
from aiebuild.host import elements, support

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from aiebuild.host.plan import External, Tile

STATUS = struct.Struct("<ii")
NOTHING = -1
_CTYPES: dict[str, Any] = {
    "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "ui8": ctypes.c_uint8, "ui16": ctypes.c_uint16, "ui32": ctypes.c_uint32, "ui64": ctypes.c_uint64,
    "index": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double, "bf16": ctypes.c_uint16,
    "f16": ctypes.c_uint16,
}  # fmt: skip
_AS_BITS = frozenset(("bf16", "f16"))


class Status:
    """Which call of a kernel is going on: two numbers (core, call) that outlive a crash of this process."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.leave()

    def enter(self, core: int, site: int) -> None:
        """Say that a call begins."""
        STATUS.pack_into(self.memory, 0, core, site)

    def leave(self) -> None:
        """Say that no call is going on."""
        STATUS.pack_into(self.memory, 0, NOTHING, NOTHING)


class Kernels:
    """The libraries of all cores.

    Args:
        externals: the functions that the design declares.
        libraries: the library of each core, by tile; one that has none calls no kernel.
        folder: a private folder for the copies.
        cores: all tiles with cores, in the order of the plan; their numbers go into the status.
        status: where calls are noted.
    """

    def __init__(
        self,
        externals: Iterable[External],
        libraries: Mapping[Tile, Path],
        folder: Path | None,
        cores: Iterable[Tile] = (),
        status: Status | None = None,
    ) -> None:
        self.externals = {external.name: external for external in externals}
        self.libraries = libraries
        self.folder = folder
        self.cores = list(cores)
        self.status = status if status is not None else Status(bytearray(STATUS.size))
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
        return _caller(found, external, core, self.status)

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


def _caller(function: Any, external: External, core: int, status: Status) -> Callable[..., Any]:
    enter, leave = status.enter, status.leave
    convert = _result(external.results[0]) if external.results else None
    as_bits = [place for place, text in enumerate(external.inputs) if text in _AS_BITS]

    def call(site: int, *arguments: Any) -> Any:
        if as_bits:
            arguments = _with_bits(arguments, as_bits)
        enter(core, site)
        result = function(*arguments)
        leave()
        return result if convert is None else convert(result)

    return call


def _with_bits(arguments: tuple[Any, ...], as_bits: list[int]) -> tuple[Any, ...]:
    found = list(arguments)
    for place in as_bits:
        found[place] = int(np.asarray(found[place]).view(np.uint16))
    return tuple(found)


def _result(element: str) -> Callable[[Any], Any] | None:
    if element in _AS_BITS:
        return lambda bits: np.uint16(bits).view(support.dtype(element))
    if elements.is_float(element):
        return support.dtype(element).type
    return None
