"""Writing the ops of `memref`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.host import elements
from aiebuild.host.expressions import Result, Unsupported
from aiebuild.host.reading import DYNAMIC
from aiebuild.host.shapes import dropped_dimensions, row_major
from aiebuild.mlir import attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiebuild.host.emitter import Function
    from aiebuild.mlir.ir import Op, Value


def tuple_text(items: Iterable[object]) -> str:
    """Return the text of a tuple whose items are texts already."""
    texts = [str(item) for item in items]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _access(function: Function, op: Op, memref: Value, indices: list[Value]) -> str:
    """Write the check of an access, where it can fail, and return the element's place as an expression."""
    name, found = function.text(memref), attributes.memref(memref.type)
    if found.layout and found.strides is None:
        raise function.reader.refuse(op, f"the layout `{found.layout}` is not supported on the host")
    function.reader.element(op, found.element)
    operands = [function.operand(index) for index in indices]
    tests = []
    for place, (operand, size) in enumerate(zip(operands, found.shape, strict=True)):
        if size is None:
            tests.append(f"0 <= {operand.text} < {name}.shape[{place}]")
        elif not 0 <= operand.range[0] <= operand.range[1] < size:
            tests.append(f"0 <= {operand.text} < {size}")
    if tests:
        function.write(f"if not ({' and '.join(tests)}):", op)
        with function.indented():
            function.write(f"_outside({tuple_text(operand.text for operand in operands)}, {name}.shape)", op)
    return _place(name, [operand.text for operand in operands], found)


def _place(name: str, indices: list[str], memref: attributes.MemRef) -> str:
    """Return the place of an element, counted from the first one of the view."""
    terms, number = [], 0
    for place, (index, stride) in enumerate(zip(indices, strides_of(memref), strict=True)):
        if stride is None:
            terms.append(f"{index} * {name}.strides[{place}]")
        elif index.isdigit():
            number += int(index) * stride
        else:
            terms.append(index if stride == 1 else f"{index} * {stride}")
    if number or not terms:
        terms.append(str(number))
    return " + ".join(terms)


def strides_of(memref: attributes.MemRef) -> tuple[int | None, ...]:
    """Return the strides that a type says; None for those that only the view knows."""
    if memref.strides is not None:
        return memref.strides
    if any(size is None for size in memref.shape[1:]):
        return (None,) * len(memref.shape)
    return row_major([size or 0 for size in memref.shape])


def _load(function: Function, op: Op) -> None:
    memref, *indices = op.operands
    place = _access(function, op, memref, indices)
    element = attributes.memref(memref.type).element
    text = f"_{function.text(memref)}_flat[{place}]"
    bits = elements.width(element)
    interval = (0, 0)
    if bits:
        interval = (
            (0, (1 << bits) - 1) if elements.is_unsigned(element) else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        )
    function.assign(op, Result(text, interval))


def _store(function: Function, op: Op) -> None:
    value, memref, *indices = op.operands
    place = _access(function, op, memref, indices)
    function.write(f"_{function.text(memref)}_flat[{place}] = {function.text(value)}", op)


def _mixed(function: Function, op: Op, names: tuple[str, ...], operands: list[Value]) -> list[str]:
    """Return the texts of a list that is partly constant; operands stand where it says that they are dynamic."""
    given = iter(operands)
    numbers = function.reader.integers(op, *names)
    return [function.text(next(given)) if number == DYNAMIC else str(number) for number in numbers]


def _segments(function: Function, op: Op) -> list[list[Value]]:
    """Return the operands by segment."""
    counts, at, found = function.reader.integers(op, "operandSegmentSizes"), 0, []
    for count in counts:
        found.append(op.operands[at : at + count])
        at += count
    return found


def mixed_lists(function: Function, op: Op) -> tuple[Value, list[str], list[str], list[str]]:
    """Return the memref of an op and its offsets, sizes and strides as texts."""
    segments = _segments(function, op)
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, strides = (
        _mixed(function, op, (name,), part) for name, part in zip(names, segments[1:4], strict=True)
    )
    return segments[0][0], offsets, sizes, strides


def _subview(function: Function, op: Op) -> None:
    source, offsets, sizes, strides = mixed_lists(function, op)
    shape = attributes.memref(op.results[0].type).shape
    dropped = dropped_dimensions([int(size) if size.isdigit() else None for size in sizes], shape)
    lists = f"{tuple_text(offsets)}, {tuple_text(sizes)}, {tuple_text(strides)}"
    dropping = f", {tuple_text(dropped)}" if dropped else ""
    function.assign_view(op, f"_subview({function.text(source)}, {lists}{dropping})")


def _reinterpret(function: Function, op: Op) -> None:
    source, offsets, sizes, strides = mixed_lists(function, op)
    function.assign_view(
        op, f"_reinterpret({function.text(source)}, {offsets[0]}, {tuple_text(sizes)}, {tuple_text(strides)})"
    )


def _cast(function: Function, op: Op) -> None:
    if not op.results[0].type.startswith("memref<") or op.results[0].type.startswith("memref<*"):
        raise Unsupported
    shape = attributes.memref(op.results[0].type).shape
    function.assign_view(op, f"_cast({function.text(op.operands[0])}, {tuple_text(shape)})")


def _groups(function: Function, op: Op) -> str:
    groups = [attributes.integers(text) for text in attributes.array(function.reader.text(op, "reassociation"))]
    return tuple_text(tuple_text(group) for group in groups)


def _collapse(function: Function, op: Op) -> None:
    function.assign_view(op, f"_collapse({function.text(op.operands[0])}, {_groups(function, op)})")


def _expand(function: Function, op: Op) -> None:
    shape = attributes.memref(op.results[0].type).shape
    given = iter(op.operands[1:])
    sizes = [str(size) if size is not None else function.text(next(given)) for size in shape]
    function.assign_view(op, f"_expand({function.text(op.operands[0])}, {_groups(function, op)}, {tuple_text(sizes)})")


def _allocate(function: Function, op: Op) -> None:
    memref = attributes.memref(op.results[0].type)
    element = function.reader.element(op, memref.element)
    given = iter(op.operands)
    sizes = [str(size) if size is not None else function.text(next(given)) for size in memref.shape]
    function.assign_view(op, f"_allocate({tuple_text(sizes)}, {element!r})")


def _copy(function: Function, op: Op) -> None:
    source, target = (function.text(value) for value in op.operands)
    function.write(f"_copy({source}, {target})", op)


def _dim(function: Function, op: Op) -> None:
    memref, place = op.operands
    found, rank = function.operand(place), len(attributes.memref(memref.type).shape)
    text = f"{function.text(memref)}.shape[{found.text}]"
    if not 0 <= found.range[0] <= found.range[1] < rank:
        raise function.reader.refuse(op, f"the dimension must be a constant from 0 to {rank - 1}")
    function.assign(op, Result(text, (0, (1 << 63) - 1)))


def _global(function: Function, op: Op) -> None:
    function.assign_view(op, f"_core.buffer({function.reader.symbol(op, 'name')!r})")


def _nothing(function: Function, op: Op) -> None:
    """Write nothing; a result is the operand itself."""
    if op.results:
        function.assign_view(op, function.text(op.operands[0]))


OPS: dict[str, Callable[[Function, Op], None]] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.reinterpret_cast": _reinterpret,
    "memref.cast": _cast,
    "memref.collapse_shape": _collapse,
    "memref.expand_shape": _expand,
    "memref.alloc": _allocate,
    "memref.alloca": _allocate,
    "memref.dealloc": _nothing,
    "memref.assume_alignment": _nothing,
    "memref.copy": _copy,
    "memref.dim": _dim,
    "memref.get_global": _global,
}
