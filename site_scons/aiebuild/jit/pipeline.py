"""Element-wise pipelines: functions in series over one or several cores, from the template that ships with aiebuild."""

from __future__ import annotations

import itertools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from aiebuild.devices import CORE
from aiebuild.errors import RecipeError
from aiebuild.host import elements
from aiebuild.jit.design import Design
from aiebuild.jit.types import element_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from aiebuild.built import Built
    from aiebuild.jit.functions import ExternalFunction
    from aiebuild.jit.types import ArgumentType

TEMPLATE = "data/jit/transform.mlir.j2"
DEVICES = ("npu1_1col", "npu2_1col")
MOST_WORKERS = 4
"""The cores of one column."""

STACK = 1024
"""Bytes of a core's stack, where nothing else is said (aie.core's default)."""

SIGNATURE = "(input tile, output tile), or (input tile, output tile, number of elements)"


def transform(
    input: NDArray[Any],  # noqa: A002 - the name that callers know
    output: NDArray[Any],
    *functions: ExternalFunction,
    workers: int | None = None,
    root: str | os.PathLike[str] = ".",
    progress: Callable[[str], None] | None = None,
) -> Built:
    """Compute `output = f_n(... f_1(input))`, tile by tile, on the host; build what is needed for it first.

    Args:
        input: any number of tiles.
        output: an array of as many elements, which gets the result.
        functions: each with the arguments (input tile, output tile) and, where it wants it, the number of elements.
        workers: cores that share the functions, each a part of the series; one each where that is possible.
        root: the folder below which `build/jit/<key>/` is written.
        progress: is called with each line of the build.

    Returns:
        What was built; `compiled` has the sources that were compiled in this call.

    Raises:
        RecipeError: the functions, or the arrays, do not fit each other.
        BuildError: what the build says where it fails.
        RunError: what a run says where it fails.
    """
    built = pipeline(input, output, *functions, workers=workers).build(root, progress=progress)
    built.run(input, output)
    return built


def plan(
    input: NDArray[Any],  # noqa: A002 - the name that callers know
    output: NDArray[Any],
    *functions: ExternalFunction,
    workers: int | None = None,
    root: str | os.PathLike[str] = ".",
    arch: str = "host",
) -> tuple[Path, ...]:
    """Return the files that `transform` with these arguments builds, in the order of the steps; nothing is built.

    For another arch than the host they are those of `pipeline(...).build(arch=...)`.
    """
    return pipeline(input, output, *functions, workers=workers).plan(root, arch=arch)


def pipeline(
    input: NDArray[Any],  # noqa: A002 - the name that callers know
    output: NDArray[Any],
    *functions: ExternalFunction,
    workers: int | None = None,
) -> Design:
    """Return the design of a pipeline; of the arrays, only size and type count. The arguments are those of `transform`.

    Raises:
        RecipeError: the functions, or the arrays, do not fit each other.
    """
    count = _worker_count(len(functions), workers)
    ends = [_tiles(function) for function in functions]
    _check_series(functions, ends)
    first, last = ends[0][0], ends[-1][1]
    _check_array("input", input, first, functions[0])
    _check_array("output", output, last, functions[-1])
    tile = first.count
    if input.size != output.size or not input.size or input.size % tile:
        message = f"input has {input.size} elements and output {output.size}, in tiles of {tile}"
        raise RecipeError(message, hint=f"as many in both, and a multiple of {tile}")
    groups = _groups(functions, count)
    return Design(
        "transform",
        _template(groups, first, last),
        functions,
        devices=DEVICES,
        arguments={"X": "input", "Y": "output"},
        parameters={"length": int(input.size)},
        rules={f"length > 0 and length % {tile} == 0": f"length must be a multiple of the tile's {tile} elements"},
        description=" -> ".join(function.name for function in functions),
    )


def _worker_count(functions: int, workers: int | None) -> int:
    if not functions:
        raise RecipeError("a pipeline without functions", hint="transform(x, y, f)")
    most = min(functions, MOST_WORKERS)
    if workers is None:
        return most
    if not 1 <= workers <= most:
        raise RecipeError(f"workers={workers} for {functions} functions", hint=f"1 to {most}")
    return workers


def _groups(functions: tuple[ExternalFunction, ...], count: int) -> list[tuple[ExternalFunction, ...]]:
    """Return the functions of each worker: parts of the series that are as equal as can be."""
    bounds = [len(functions) * number // count for number in range(count + 1)]
    return [functions[start:end] for start, end in itertools.pairwise(bounds)]


def _tiles(function: ExternalFunction) -> tuple[ArgumentType, ArgumentType]:
    """Return the types of a function's input and output."""
    types = function.types
    arrays, numbers = types[:2], types[2:]
    fits = len(arrays) == 2 and all(each.shape for each in arrays) and len(numbers) <= 1
    whole = all(each.shape is None and elements.width(each.element) for each in numbers)
    if not fits or not whole:
        given = ", ".join(str(each) for each in types)
        raise RecipeError(
            f"{function.name!r} has the arguments ({given})", hint=f"a pipeline calls it with {SIGNATURE}"
        )
    if arrays[0].count != arrays[1].count:
        message = f"{function.name!r} makes {arrays[1].count} elements of {arrays[0].count}"
        raise RecipeError(message, hint="an element-wise function has tiles of one size")
    return arrays[0], arrays[1]


def _check_series(functions: tuple[ExternalFunction, ...], ends: list[tuple[ArgumentType, ArgumentType]]) -> None:
    for number in range(1, len(functions)):
        made, taken = ends[number - 1][1], ends[number][0]
        if made != taken:
            before, after = functions[number - 1].name, functions[number].name
            raise RecipeError(f"{before!r} makes {made}, which {after!r} does not take", hint=f"it takes {taken}")


def _check_array(word: str, array: NDArray[Any], tile: ArgumentType, function: ExternalFunction) -> None:
    element = element_of(array.dtype, word)
    if element != tile.element:
        raise RecipeError(f"{word} is of {element}, the tiles of {function.name!r} are of {tile.element}")


def _depth(groups: list[tuple[ExternalFunction, ...]]) -> int:
    """Return how many tiles each FIFO holds: two, where the memory of the fullest core allows it, else one."""
    double = [_bytes(number, group, 2) for number, group in enumerate(groups)]
    return 2 if max(double) <= CORE.data_memory - STACK else 1


def _bytes(number: int, group: tuple[ExternalFunction, ...], depth: int) -> int:
    """Return the bytes of a core's buffers: its output, what is in between, and the first core's input."""
    sizes = [_tiles(function)[1].bytes for function in group]
    first = _tiles(group[0])[0].bytes if number == 0 else 0
    return depth * (first + sizes[-1]) + sum(sizes[:-1])


def _template(groups: list[tuple[ExternalFunction, ...]], first: ArgumentType, last: ArgumentType) -> str:
    """Return the template that ships, with what differs set at its head."""
    workers = [[_entry(function) for function in group] for group in groups]
    shown = ",\n".join(f"  {json.dumps(worker)}" for worker in workers)
    depth = _depth(groups)
    head = (
        "{# The functions of each worker, in series; `count` is the type of the number of elements, if it has one. #}\n"
        f"{{% set workers = [\n{shown}\n] %}}\n"
        f'{{% set tile, depth, x_element, y_element = {first.count}, {depth}, "{first.element}", "{last.element}" %}}\n'
    )
    return head + (resources.files("aiebuild") / TEMPLATE).read_text(encoding="utf-8")


def _entry(function: ExternalFunction) -> dict[str, str]:
    taken, made = _tiles(function)
    count = str(function.types[2]) if len(function.types) > 2 else ""
    return {"name": function.name, "file": function.bin_name, "in": str(taken), "out": str(made), "count": count}
