"""A design's own `check.py`: its inputs, its reference, and errors in it shown as the user's own."""

from __future__ import annotations

import inspect
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aiebuild.errors import AieBuildError, Location, RunError, did_you_mean
from aiebuild.host import support
from aiebuild.host.compare import Tolerance
from aiebuild.host.reads import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
            source = path.read_text(encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot be read: {error.strerror}", Location(str(path))) from None
        # Modules beside it can be imported; last, so that they hide nothing.
        sys.path.append(str(path.parent.resolve()))
        with users_errors(path):
            exec(compile(source, str(path), "exec"), self.names)  # noqa: S102 - the user asked for it to be run
        self.inputs = self._function("inputs")
        self.reference = self._function("reference")
        self.tolerance = self._tolerance()

    def _function(self, name: str) -> Callable[..., Any]:
        found = self.names.get(name)
        if not callable(found):
            hint = "def inputs(p, rng): ..." if name == "inputs" else "def reference(p, A, B): ..."
            raise RunError(f"there is no function `{name}`", Location(str(self.path)), hint)
        return found  # type: ignore[no-any-return]  # what it returns is checked where it is called

    def _tolerance(self) -> Tolerance:
        given = self.names.get("TOLERANCE", {})
        known = ("rtol", "atol")
        for name in given:
            if name not in known:
                raise RunError(f"TOLERANCE has no {name!r}", Location(str(self.path)), did_you_mean(str(name), known))
        return Tolerance(**{name: float(value) for name, value in given.items()})

    def make_inputs(self, sequence: Sequence, arguments: list[str]) -> dict[str, NDArray[Any]]:
        """Return the arrays that `inputs` gives, by name; each fits the argument of the sequence."""
        rng = np.random.default_rng(SEED)
        with users_errors(self.path):
            given = self.inputs(self.parameters, rng, **_sequence_keyword(self.inputs, sequence.name))
        return self._arrays("inputs", given, sequence, arguments)

    def make_reference(
        self, sequence: Sequence, arguments: list[str], inputs: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Return the arrays that `reference` gives, by name; it gets copies of the inputs."""
        copies = {name: array.copy() for name, array in inputs.items()}
        keyword = _sequence_keyword(self.reference, sequence.name)
        with users_errors(self.path), np.errstate(all="ignore"):
            given = self.reference(self.parameters, **copies, **keyword)
        found = self._arrays("reference", given, sequence, arguments)
        if not found:
            raise RunError("`reference` gives nothing to compare", Location(str(self.path)), "return {name: array}")
        return found

    def _arrays(self, function: str, given: Any, sequence: Sequence, arguments: list[str]) -> dict[str, NDArray[Any]]:
        where = Location(str(self.path))
        if not hasattr(given, "items"):
            raise RunError(f"`{function}` must return a dictionary of arrays by name", where)
        found: dict[str, NDArray[Any]] = {}
        for name, value in given.items():
            if name not in arguments:
                raise RunError(
                    f"`{function}` gives {name!r}, which is no argument", where, did_you_mean(str(name), arguments)
                )
            found[name] = self._fitting(function, name, np.asarray(value), sequence.arguments[arguments.index(name)])
        return found

    def _fitting(
        self, function: str, name: str, array: NDArray[Any], argument: tuple[tuple[int, ...], str]
    ) -> NDArray[Any]:
        shape, element = argument
        wanted, count = support.dtype(element), int(np.prod(shape, dtype=np.int64))
        if array.dtype == wanted and array.size == count:
            return array
        sizes = "x".join(str(size) for size in shape)
        raise RunError(
            f"`{function}` gives {name} with {array.size} elements of {array.dtype}, "
            f"the design has {count} of {wanted} there (memref<{sizes}x{element}>)",
            Location(str(self.path)),
            f"{name}.astype({_dtype_text(wanted)})" if array.size == count else "",
        )


def _dtype_text(dtype: np.dtype[Any]) -> str:
    return "ml_dtypes.bfloat16" if dtype.name == "bfloat16" else f"numpy.{dtype.name}"


def _sequence_keyword(function: Callable[..., Any], name: str) -> dict[str, str]:
    """Return `sequence=` where the function takes it."""
    takes = inspect.signature(function).parameters
    return {"sequence": name} if "sequence" in takes else {}


@contextmanager
def users_errors(path: Path) -> Iterator[None]:
    """Show an exception as the user's: its line first, then the traceback without our own frames."""
    try:
        yield
    except (RunError, SystemExit, KeyboardInterrupt) as error:
        if isinstance(error, SystemExit):
            raise RunError(f"check.py ended the run: SystemExit({error.code!r})", Location(str(path))) from None
        raise
    except SyntaxError as error:
        where = Location(error.filename or str(path), error.lineno)
        raise RunError(f"{type(error).__name__}: {error.msg}", where) from None
    except Exception as error:
        raise _as_users(error, path) from None


def _as_users(error: Exception, path: Path) -> RunError:
    here = Path(__file__).resolve().parent
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve().parent != here
    ]
    last = next((frame for frame in reversed(frames) if _is_users(frame.filename)), None)
    where = Location(_shown(last.filename), last.lineno) if last is not None else Location(str(path))
    told = "".join(traceback.format_list(frames)).rstrip()
    if isinstance(error, AieBuildError):
        return RunError(error.message, where, "\n  ".join(part for part in (error.hint, told.strip()) if part))
    return RunError(f"{type(error).__name__}: {error}" + (f"\n{told}" if told else ""), where)


def _is_users(file: str) -> bool:
    """Return whether a file is the user's: below the current folder, and no installed package."""
    full, here = Path(file).absolute(), Path.cwd()
    packages = any(full.resolve().is_relative_to(prefix) for prefix in installed(here))
    return full.is_relative_to(here) and full.exists() and not packages


def _shown(file: str) -> str:
    full = Path(file).absolute()
    return full.relative_to(Path.cwd()).as_posix() if full.is_relative_to(Path.cwd()) else file
