"""Access patterns of buffer descriptors: what they reach, and the rules that they must keep.

Sizes and strides are written outermost first and count elements, as in MLIR. The rules are those of
mlir-aie's `AIEXDialect.cpp: verifyStridesWraps` for runtime transfers, and those of `AIEDialect.cpp:
DMABDOp::verify` for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from aiebuild.devices import REPEAT_MAXIMUM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.devices import TileKind

_WORD = 32
"""Bits that a DMA moves at once: lengths, sizes and steps are whole words."""
_RUNTIME_DIMENSIONS = 4
"""Of a runtime transfer: the repeat and three of the descriptor."""


@dataclass(frozen=True)
class Fault:
    """A rule that a pattern breaks: what is wrong, and what would be right."""

    message: str
    hint: str = ""


@dataclass(frozen=True)
class Pattern:
    """An access pattern; the first dimension of four is the repeat.

    Attributes:
        sizes: of the dimensions, outermost first.
        strides: elements from one step of a dimension to the next.
        offset: of the first element.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest index that the pattern reaches; all sizes are positive."""
        steps = [(size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True)]
        return self.offset + sum(min(step, 0) for step in steps), self.offset + sum(max(step, 0) for step in steps)

    def padded(self, dimensions: int) -> Pattern:
        """Return the same pattern with dimensions of size 1 put before it, up to that number."""
        missing = dimensions - len(self.sizes)
        return Pattern((1,) * missing + self.sizes, (0,) * missing + self.strides, self.offset)

    @property
    def contiguous(self) -> bool:
        """Whether one pass reads elements that lie one behind the other; a repeat does not count."""
        expected = 1
        lower = list(zip(self.sizes, self.strides, strict=True))[-(_RUNTIME_DIMENSIONS - 1) :]
        for size, stride in reversed(lower):
            if size > 1 and stride != expected:
                return False
            expected *= size
        return True


def runtime_faults(pattern: Pattern, width: int, kind: TileKind) -> Iterator[Fault]:
    """Yield the rules that a transfer of a runtime sequence breaks.

    Args:
        pattern: at most four dimensions; the first of four is the repeat.
        width: bits of an element.
        kind: of the tile whose DMA moves the data: in practice the shim.
    """
    if len(pattern.sizes) > _RUNTIME_DIMENSIONS:
        yield Fault(f"{len(pattern.sizes)} dimensions, but a transfer has {_RUNTIME_DIMENSIONS} at most")
        return
    whole = pattern.padded(_RUNTIME_DIMENSIONS)
    shown = len(pattern.sizes) - _RUNTIME_DIMENSIONS
    bad = [index for index, size in enumerate(whole.sizes) if size < 1]
    if bad:
        yield from (Fault(f"sizes[{index + shown}] is {whole.sizes[index]}, but a size is positive") for index in bad)
        return
    yield from _repeat_faults(whole, shown)
    yield from _stride_faults(whole, shown)
    yield from _word_faults(whole, width, shown)
    yield from _range_faults(whole, width, kind, shown)
    if whole.sizes[-1] * width % _WORD == 0:
        yield from length_faults(prod(whole.sizes[1:]), width, kind)


def _repeat_faults(whole: Pattern, shown: int) -> Iterator[Fault]:
    """Yield faults of the outermost dimension."""
    if whole.sizes[0] > REPEAT_MAXIMUM:
        yield Fault(
            f"sizes[{shown}] is {whole.sizes[0]}, but the outermost dimension, the repeat, is {REPEAT_MAXIMUM} at most",
            _division(whole.sizes[0], REPEAT_MAXIMUM) or "divide the transfer into several",
        )
    if whole.sizes[0] > 1 and whole.strides[0] < 0:
        yield Fault(f"strides[{shown}] is {whole.strides[0]}, but no stride is negative")


def _stride_faults(whole: Pattern, shown: int) -> Iterator[Fault]:
    """Yield faults of strides that do not advance."""
    for index in range(1, _RUNTIME_DIMENSIONS):
        if whole.sizes[index] > 1 and whole.strides[index] < 1:
            yield Fault(
                f"strides[{index + shown}] is {whole.strides[index]}, but a stride is positive "
                f"where the size ({whole.sizes[index]}) is above 1",
                "only the outermost of four dimensions, the repeat, may have the stride 0",
            )


def _word_faults(whole: Pattern, width: int, shown: int) -> Iterator[Fault]:
    """Yield faults of sizes and strides that are not whole words."""
    last = _RUNTIME_DIMENSIONS - 1
    unit = max(1, _WORD // width)
    size, stride = whole.sizes[last], whole.strides[last]
    if width < _WORD and size > 1 and stride not in (0, 1):
        yield Fault(
            f"strides[{last + shown}] is {stride}, but the innermost stride of elements of {width} bits is 1",
            "a DMA moves words of 32 bits: it cannot leave out a part of one",
        )
    if size * width % _WORD:
        yield Fault(
            f"sizes[{last + shown}] is {size} elements of {width} bits, "
            f"{size * width // 8} bytes, which is no multiple of 4",
            f"make it a multiple of {unit}",
        )
    for index, stride in enumerate(whole.strides):
        if stride * width % _WORD and not (index == last and stride == 1):
            # The real verifier asks this of dimensions of size 1 too, whose stride is never used.
            unused = " (write 0: its size is 1)" if whole.sizes[index] == 1 else ""
            yield Fault(
                f"strides[{index + shown}] is {stride} elements of {width} bits, "
                f"{stride * width / 8:g} bytes, which is no multiple of 4{unused}",
                f"make it a multiple of {unit}",
            )


def _range_faults(whole: Pattern, width: int, kind: TileKind, shown: int) -> Iterator[Fault]:
    """Yield faults of sizes and strides that their registers do not hold."""
    last = _RUNTIME_DIMENSIONS - 1
    # A contiguous transfer uses the length alone; the outermost dimension of the descriptor has no register.
    for index in (last - 1, last) if not whole.contiguous else ():
        words = whole.sizes[index] * width // _WORD if index == last else whole.sizes[index]
        if words > kind.widest:
            unit = max(1, _WORD // width) if index == last else 1
            limit = kind.widest * whole.sizes[index] // words
            hint = _division(whole.sizes[index], limit, unit)
            yield Fault(_wrap(f"sizes[{index + shown}]", whole.sizes[index], words, kind), hint)
    for index, stride in enumerate(whole.strides):
        words = stride * width // _WORD
        if whole.sizes[index] > 1 and words > kind.farthest:
            yield Fault(_step(f"strides[{index + shown}]", stride, words, kind))


def length_faults(elements: int, width: int, kind: TileKind) -> Iterator[Fault]:
    """Yield the rules that a descriptor's length breaks: `elements` of `width` bits, on that kind of tile."""
    total = elements * width
    if total % _WORD:
        yield Fault(
            f"{elements} elements of {width} bits are {total / 8:g} bytes, which is no multiple of 4",
            "a DMA moves words of 32 bits",
        )
    if total // _WORD > kind.longest:
        yield Fault(
            f"{elements:,} elements of {width} bits are {total // _WORD:,} words, but a buffer descriptor of "
            f"a {kind.name} tile counts {kind.longest:,} at most",
            "make the blocks smaller",
        )


def descriptor_faults(
    dimensions: Sequence[tuple[int, int]], elements: int, width: int, kind: TileKind, length: int | None
) -> Iterator[Fault]:
    """Yield the rules that the access pattern of a descriptor of a core or mem tile breaks.

    Args:
        dimensions: (size, stride), outermost first.
        elements: of the buffer, counted from where the descriptor begins.
        width: bits of an element.
        kind: of the tile whose DMA it is.
        length: elements that the descriptor moves; None where padding adds to them.
    """
    if len(dimensions) > kind.dimensions:
        yield Fault(
            f"{len(dimensions)} dimensions, but a descriptor of a {kind.name} tile has {kind.dimensions}",
            "a mem tile's has 4" if kind.dimensions < 4 else "",
        )
        return
    bad = [dimension for dimension in dimensions if min(dimension) < 1]
    if bad:
        yield from (
            Fault(f"<size = {size}, stride = {stride}>: size and stride are positive", "write 1 where unused")
            for size, stride in bad
        )
        return
    for position, dimension in enumerate(reversed(dimensions)):
        yield from _dimension_faults(position, *dimension, width, kind)
    yield from _reach_faults(dimensions, elements, length)


def _dimension_faults(position: int, size: int, stride: int, width: int, kind: TileKind) -> Iterator[Fault]:
    """Yield faults of one dimension; `position` counts from the innermost."""
    name = f"<size = {size}, stride = {stride}>"
    unit = max(1, _WORD // width)
    words = size * width // _WORD if position == 0 else size
    if position == 0 and width < _WORD and stride != 1:
        yield Fault(f"{name}: the innermost stride of elements of {width} bits is 1")
    elif position > 0 and stride * width % _WORD:
        yield Fault(
            f"{name}: a stride of {stride * width / 8:g} bytes is no multiple of 4",
            f"make it a multiple of {unit}",
        )
    if position == 0 and size * width % _WORD:
        yield Fault(
            f"{name}: a size of {size * width / 8:g} bytes is no multiple of 4",
            f"make it a multiple of {unit}",
        )
    if words > (1023 if position == kind.dimensions - 1 else kind.widest):
        # The outermost dimension has no register, but the real verifier allows no more than 1023 there.
        yield Fault(_wrap(f"{name}: the size", size, words, kind))
    if stride * width // _WORD > kind.farthest:
        yield Fault(_step(f"{name}: the stride", stride, stride * width // _WORD, kind))


def _reach_faults(dimensions: Sequence[tuple[int, int]], elements: int, length: int | None) -> Iterator[Fault]:
    """Yield faults of a pattern as a whole."""
    visited = prod(size for size, _ in dimensions)
    highest = sum((size - 1) * stride for size, stride in dimensions)
    if highest >= elements:
        yield Fault(f"the pattern reaches element {highest:,}, but there are {elements:,} (0 to {elements - 1:,})")
    if length is not None and visited != length:
        yield Fault(
            f"the pattern visits {visited:,} elements, but {length:,} are moved",
            f"let the product of the sizes be {length:,}",
        )


def _wrap(what: str, size: int, words: int, kind: TileKind) -> str:
    """Say that a size is too great."""
    in_words = f" ({words:,} words of 32 bits)" if words != size else ""
    return f"{what} is {size:,}{in_words}, but a {kind.name} tile's DMA counts to {kind.widest:,} in a dimension"


def _step(what: str, stride: int, words: int, kind: TileKind) -> str:
    """Say that a stride is too great."""
    in_words = f" ({words:,} words of 32 bits)" if words != stride else ""
    return f"{what} is {stride:,}{in_words}, but a {kind.name} tile's DMA steps by {kind.farthest:,} at most"


def _division(size: int, limit: int, unit: int = 1) -> str:
    """Return how a size is written as two, the inner a multiple of `unit` up to the limit, if it can be."""
    inner = next((part for part in range(limit, 1, -1) if size % part == 0 and part % unit == 0), None)
    return f"divide it: {size // inner} x {inner}" if inner else ""
