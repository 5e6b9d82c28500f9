"""A design's own `check.py`: its inputs, its reference, and what is wrong with them."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import default_rng

from aiebuild.errors import Location, RunError, did_you_mean, nearest
from aiebuild.host import support
from aiebuild.host.tolerance import tolerance
from aiebuild.host.users import definition, users_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from aiebuild.host.plan import Sequence
    from aiebuild.parameters import Parameters

SEED = 20_260_305


class Check:
    """The functions of a `check.py`.

    Args:
        path: the file, as the user knows it.
        parameters: what its functions get as `p`.

    Raises:
        RunError: it cannot be run, or lacks a function.
    """

    def __init__(self, path: Path, parameters: Parameters) -> None:
        self.path = path
        self.parameters = parameters
        self.names: dict[str, Any] = {"__name__": "check", "__file__": str(path)}
        try:
            content = path.read_bytes()
        except OSError as error:
            raise RunError(f"cannot be read: {error.strerror}", Location(str(path))) from None
        # Modules beside it can be imported; last, so that they hide nothing.
        sys.path.append(str(path.parent.resolve()))
        with users_errors(path):
            # Bytes, as Python takes files: it knows marks of their order, and comments about their encoding.
            exec(compile(content, str(path), "exec"), self.names)  # noqa: S102 - the user asked for it to be run
        self.tolerance = tolerance(self.names, content.decode("utf-8-sig", "replace"), path)
        self.inputs = self._function("inputs", "def inputs(p, rng): ...")

    def _function(self, name: str, example: str) -> Callable[..., Any]:
        found = self.names.get(name)
        if callable(found):
            return found  # type: ignore[no-any-return]  # what it returns is checked where it is called
        if found is not None:
            raise RunError(f"`{name}` must be a function, it is {found!r}", Location(str(self.path)), example)
        functions = [each for each, value in self.names.items() if inspect.isfunction(value)]
        near = nearest(name, functions)
        where = definition(self.names[near], self.path) if near else Location(str(self.path))
        hint = f"is `{near}` meant to be it? {example}" if near else example
        raise RunError(f"there is no function `{name}`", where, hint)

    def make_inputs(self, sequence: Sequence, arguments: list[str]) -> dict[str, NDArray[Any]]:
        """Return the arrays that `inputs` gives, by name; each fits the argument of the sequence.

        Raises:
            RunError: `inputs` failed or gave something else; or there is no `reference` that could take them.
        """
        rng = default_rng(SEED)
        with users_errors(self.path):
            given = self.inputs(self.parameters, rng, **_sequence_keyword(self.inputs, sequence.name))
        found = self._arrays(self.inputs, given, sequence, arguments)
        # Only now are the names known that it should have; and it should not be missed only after the run.
        self._reference(found)
        return found

    def _reference(self, inputs: Mapping[str, object]) -> Callable[..., Any]:
        return self._function("reference", f"def reference({', '.join(('p', *inputs))}): ...")

    def make_reference(
        self, sequence: Sequence, arguments: list[str], inputs: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Return the arrays that `reference` gives, by name; it gets copies of the inputs."""
        copies = {name: array.copy() for name, array in inputs.items()}
        reference = self._reference(inputs)
        keyword = _sequence_keyword(reference, sequence.name)
        with users_errors(self.path), np.errstate(all="ignore"):
            given = reference(self.parameters, **copies, **keyword)
        found = self._arrays(reference, given, sequence, arguments)
        if not found:
            where = definition(reference, self.path)
            raise RunError("`reference` gives nothing to compare", where, "return {name: array}")
        return found

    def _arrays(
        self, function: Callable[..., Any], given: Any, sequence: Sequence, arguments: list[str]
    ) -> dict[str, NDArray[Any]]:
        """Return what a function gave, each array fitting its argument; the line of its `def` is to blame if not."""
        where = definition(function, self.path)
        said = "inputs" if function is self.inputs else "reference"
        if not hasattr(given, "items"):
            raise RunError(f"`{said}` must return a dictionary of arrays by name, it returned {_kind(given)}", where)
        found: dict[str, NDArray[Any]] = {}
        for name, value in given.items():
            if name not in arguments:
                hint = did_you_mean(str(name), arguments)
                raise RunError(f"`{said}` gives {name!r}, which is no argument", where, hint)
            try:
                array = np.asarray(value)
            except ValueError as error:
                raise RunError(f"`{said}` gives no array for {name}: {error}", where) from None
            found[name] = _fitting(
                f"`{said}` gives {name}", name, array, sequence.arguments[arguments.index(name)], where
            )
        return found


def _fitting(
    start: str, name: str, array: NDArray[Any], argument: tuple[tuple[int, ...], str], where: Location
) -> NDArray[Any]:
    shape, element = argument
    wanted, count = support.dtype(element), int(np.prod(shape, dtype=np.int64))
    if array.dtype == wanted and array.size == count:
        return array
    sizes = "x".join(str(size) for size in shape)
    raise RunError(
        f"{start} with {array.size} elements of {array.dtype}, "
        f"the design has {count} of {wanted} there (memref<{sizes}x{element}>)",
        where,
        f"{name}.astype({_dtype_text(wanted)})" if array.size == count else "",
    )


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def _dtype_text(dtype: np.dtype[Any]) -> str:
    return "ml_dtypes.bfloat16" if dtype.name == "bfloat16" else f"numpy.{dtype.name}"


def _sequence_keyword(function: Callable[..., Any], name: str) -> dict[str, str]:
    """Return `sequence=` where the function takes it."""
    takes = inspect.signature(function).parameters
    return {"sequence": name} if "sequence" in takes else {}
