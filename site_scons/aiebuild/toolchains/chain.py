"""Several designs in one xclbin: the kernels must differ in their ids and names, which no tool checks.

xclbinutil merges two kernels of one id in silence (mlir-aie #1561), and the second design's results are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aiebuild.errors import RecipeError
from aiebuild.toolchains.aiecc_options import (
    DEFAULT_INSTANCE_NAME,
    DEFAULT_KERNEL_ID,
    DEFAULT_KERNEL_NAME,
    KERNEL_IDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.errors import Location
    from aiebuild.toolchains.aiecc_options import AieccOptions


@dataclass(frozen=True)
class ChainKernel:
    """A design's kernel in a chain: what XRT opens, as far as the recipe names it; None is given by `allocate`.

    Args:
        design: the design's name.
        kernel_name, instance_name, kernel_id: as the options of the same names.
        where: the line of the recipe.
    """

    design: str
    kernel_name: str | None = None
    instance_name: str | None = None
    kernel_id: int | None = None
    where: Location | None = None


def check_chain(kernels: Iterable[ChainKernel]) -> list[RecipeError]:
    """Return an error for each kernel whose id, name or instance name another one of the chain has, or is no good.

    Names that are left out are not compared: `allocate` gives them.
    """
    errors: list[RecipeError] = []
    seen: dict[tuple[str, object], ChainKernel] = {}
    for kernel in kernels:
        errors += _out_of_range(kernel)
        for what, value in _said(kernel):
            first = seen.setdefault((what, value), kernel)
            if first is not kernel:
                errors.append(_twice(what, value, kernel, first))
    return errors


def _said(kernel: ChainKernel) -> list[tuple[str, object]]:
    values: list[tuple[str, object]] = [
        ("kernel id", kernel.kernel_id),
        ("kernel name", kernel.kernel_name),
        ("instance name", kernel.instance_name),
    ]
    return [(what, value) for what, value in values if value is not None]


def _out_of_range(kernel: ChainKernel) -> list[RecipeError]:
    if kernel.kernel_id is None or kernel.kernel_id in KERNEL_IDS:
        return []
    message = f"{kernel.design}: kernel id {kernel.kernel_id:#x} is out of range"
    return [RecipeError(message, kernel.where, f"{KERNEL_IDS.start:#x} to {KERNEL_IDS.stop - 1:#x}")]


def _twice(what: str, value: object, kernel: ChainKernel, first: ChainKernel) -> RecipeError:
    shown = f"{value:#x}" if isinstance(value, int) else repr(value)
    place = f" at {first.where}" if first.where else ""
    message = f"{kernel.design} has the {what} {shown}, which {first.design} has too{place}"
    return RecipeError(message, kernel.where, f"give one of them another {what}, or leave it out to get a free one")


def allocate(kernels: Iterable[ChainKernel]) -> tuple[ChainKernel, ...]:
    """Return the kernels with all that the recipe left out: free ids from 0x901 up, names that end in the design's.

    A chain of one keeps aiecc's own names. The result depends on the order, and on nothing else.

    Raises:
        RecipeError: the first of what `check_chain` returns.
    """
    given = tuple(kernels)
    errors = check_chain(given)
    if errors:
        raise errors[0]
    ids = {kernel.kernel_id for kernel in given if kernel.kernel_id is not None}
    names = {kernel.kernel_name for kernel in given if kernel.kernel_name}
    instances = {kernel.instance_name for kernel in given if kernel.instance_name}
    done: list[ChainKernel] = []
    for kernel in given:
        alone = len(given) == 1
        settled = replace(
            kernel,
            kernel_id=_take_id(ids) if kernel.kernel_id is None else kernel.kernel_id,
            kernel_name=kernel.kernel_name or _take_name(DEFAULT_KERNEL_NAME, kernel, names, alone=alone),
            instance_name=kernel.instance_name or _take_name(DEFAULT_INSTANCE_NAME, kernel, instances, alone=alone),
        )
        done.append(settled)
    return tuple(done)


def _take_id(taken: set[int]) -> int:
    candidates: tuple[int, ...] = (*range(DEFAULT_KERNEL_ID, KERNEL_IDS.stop), *KERNEL_IDS)
    free = next(value for value in candidates if value not in taken)
    taken.add(free)
    return free


def _take_name(stem: str, kernel: ChainKernel, taken: set[str], *, alone: bool) -> str:
    wanted = stem if alone else f"{stem}_{kernel.design}"
    names = (wanted, *(f"{wanted}_{number}" for number in range(2, len(taken) + 3)))
    free = next(name for name in names if name not in taken)
    taken.add(free)
    return free


def with_kernel(options: AieccOptions, kernel: ChainKernel) -> AieccOptions:
    """Return a design's options with what it is called in the chain."""
    return replace(
        options,
        xclbin_kernel_name=kernel.kernel_name,
        xclbin_instance_name=kernel.instance_name,
        xclbin_kernel_id=kernel.kernel_id,
    )
