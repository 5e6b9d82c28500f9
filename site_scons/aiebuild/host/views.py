"""Memrefs at run time: a view of a flat NumPy array, with an offset, a shape and strides, all in elements."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.host import elements, guards, support
from aiebuild.host.shapes import row_major
from aiebuild.host.support import Fault

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ALIGNMENT = 64


class View:
    """A memref.

    `flat` reaches the elements from the first one of the view on: a memoryview for integers (an access costs least
    and gives a Python int), else the NumPy array (an access gives a scalar of that type). `guard` surrounds the whole
    buffer that the view is a part of; the host's arrays, which no kernel sees, have none.
    """

    __slots__ = ("_address", "base", "flat", "guard", "offset", "shape", "strides")

    def __init__(
        self,
        base: NDArray[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
        guard: guards.Guard | None = None,
    ) -> None:
        self.base = base
        self.guard = guard
        self.offset = offset
        self.shape = shape
        self.strides = row_major(shape) if strides is None else strides
        part = base[offset:] if offset else base
        self.flat: Any = part.data if part.dtype.kind in "iub" else part
        self._address: int | None = None

    @property
    def address(self) -> int:
        """The address of the first element; what a kernel is given. The elements must lie without gaps.

        Raises:
            Fault: there are gaps.
        """
        if self._address is None:
            if not self.contiguous:
                raise Fault(f"a view with gaps (strides {list(self.strides)}) cannot be passed to a kernel")
            self._address = int(self.base.ctypes.data) + self.offset * self.base.itemsize
        return self._address

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie without gaps, in order."""
        wanted = row_major(self.shape)
        return all(
            size == 1 or stride == dense for size, stride, dense in zip(self.shape, self.strides, wanted, strict=True)
        )

    @property
    def array(self) -> NDArray[Any]:
        """The elements as a NumPy array of the view's shape, sharing its memory."""
        part = self.base[self.offset :]
        steps = tuple(stride * self.base.itemsize for stride in self.strides)
        return np.lib.stride_tricks.as_strided(part, self.shape, steps)


def allocate(shape: tuple[int, ...], element: str, name: str = "memref.alloc") -> View:
    """Return a new buffer of zeros, guarded, and aligned as kernels may rely on (an AIE vector has 32 or 64 bytes).

    Args:
        shape: its shape.
        element: its element type.
        name: what messages call it.
    """
    dtype = support.dtype(element)
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + 2 * guards.SIZE + _ALIGNMENT, np.uint8)
    start = guards.SIZE + -int(memory.ctypes.data) % _ALIGNMENT
    guard = guards.Guard(memory, start, size, f"{name}, {math.prod(shape)} x {element}")
    return View(memory[start : start + size].view(dtype), shape, guard=guard)


def filled(shape: tuple[int, ...], element: str, initial: str, name: str) -> View:
    """Return a new buffer with the given content: the bytes of all elements or of one, as hexadecimal digits."""
    view = allocate(shape, element, name)
    if initial:
        fill(view, initial)
    return view


def fill(view: View, content: str) -> None:
    """Fill a whole buffer: with the bytes of all its elements or of one, as hexadecimal digits."""
    view.base[:] = np.frombuffer(bytes.fromhex(content), view.base.dtype)


def subview(
    view: View,
    offsets: tuple[int, ...],
    sizes: tuple[int, ...],
    steps: tuple[int, ...],
    dropped: tuple[int, ...] = (),
) -> View:
    """Return a part of a view; `dropped` are the dimensions of size 1 that the result does not have."""
    start, strides = view.offset, []
    for place, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        last = offset + (size - 1) * step
        if size > 0 and not (0 <= offset < view.shape[place] and 0 <= last < view.shape[place]):
            raise Fault(
                f"a part outside a buffer: elements {offset} to {last} of dimension {place}, "
                f"which has {view.shape[place]}"
            )
        start += offset * view.strides[place]
        strides.append(view.strides[place] * step)
    kept = [place for place in range(len(sizes)) if place not in dropped]
    shape = tuple(sizes[place] for place in kept)
    return View(view.base, shape, tuple(strides[place] for place in kept), start, view.guard)


def cast(view: View, shape: tuple[int | None, ...]) -> View:
    """Return the view itself, once its sizes are those that the new type says."""
    for place, size in enumerate(shape):
        if size is not None and size != view.shape[place]:
            raise Fault(f"dimension {place} has {view.shape[place]} elements, the type says {size}")
    return view


def collapse(view: View, groups: tuple[tuple[int, ...], ...]) -> View:
    """Return the view with the dimensions of each group made one."""
    shape, strides = [], []
    for group in groups:
        inner = [place for place in group if view.shape[place] != 1] or [group[-1]]
        for outer, following in itertools.pairwise(inner):
            if view.strides[outer] != view.strides[following] * view.shape[following]:
                raise Fault(f"dimensions {list(group)} have gaps between them and cannot become one")
        shape.append(math.prod(view.shape[place] for place in group))
        strides.append(view.strides[inner[-1]])
    if not groups:
        return View(view.base, (), (), view.offset, view.guard)
    return View(view.base, tuple(shape), tuple(strides), view.offset, view.guard)


def expand(view: View, groups: tuple[tuple[int, ...], ...], shape: tuple[int, ...]) -> View:
    """Return the view with each dimension made the group of dimensions that `shape` gives sizes of."""
    strides = [1] * len(shape)
    for place, group in enumerate(groups):
        sizes = [shape[member] for member in group]
        if math.prod(sizes) != view.shape[place]:
            raise Fault(f"dimension {place} has {view.shape[place]} elements, not {'x'.join(map(str, sizes))}")
        for member, dense in zip(group, row_major(sizes), strict=True):
            strides[member] = dense * view.strides[place]
    return View(view.base, shape, tuple(strides), view.offset, view.guard)


def reinterpret(view: View, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> View:
    """Return another view of the whole buffer that a view is part of."""
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    if offset < 0 or last >= len(view.base):
        raise Fault(f"a view outside a buffer: elements {offset} to {last} of {len(view.base)}")
    return View(view.base, shape, strides, offset, view.guard)


def copy(source: View, target: View) -> None:
    """Copy all elements; the shapes must be equal."""
    if source.shape != target.shape:
        raise Fault(f"a copy from shape {list(source.shape)} to {list(target.shape)}")
    target.array[...] = source.array


def element_of(view: View) -> str:
    """Return MLIR's name of the element type."""
    return elements.mlir_name(view.base.dtype.name)
