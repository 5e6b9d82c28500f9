"""Any MLIR text to our own form: the same ops and entries as `aie-opt --mlir-print-op-generic` prints.

Generic text is read by our own reader. Custom syntax is read by xDSL with our own dialect definitions, which is
imported only then; what those do not know is read by a native tool, where one is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import Location, MlirError, ToolchainError
from aiebuild.mlir.cursor import CustomSyntaxError
from aiebuild.mlir.lines import Line
from aiebuild.mlir.locations import location_text
from aiebuild.mlir.native import NativeTool, UnsupportedError, read_natively
from aiebuild.mlir.parse import parse
from aiebuild.mlir.visibility import check_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiebuild.mlir.ir import Module, Op

__all__ = ["NativeTool", "normalise"]


def normalise(
    text: str,
    file: str,
    *,
    lines: Sequence[tuple[str, int] | Line] | None = None,
    native: tuple[NativeTool, ...] = (),
) -> Module:
    """Read a module in custom or generic form.

    Args:
        text: the whole text.
        file: where it came from.
        lines: where line i + 1 of the text came from (`Line`, or a file and a line), where the text was made from a
            template; else the text is the user's own.
        native: tools that are tried, in this order, where the built-in reader does not know an op.

    Returns:
        The module. Each op has the user's own place in `line`, `column` and `location`. The device is a string.

    Raises:
        MlirError: the text is wrong, or needs a tool that is not there, with the user's own file and line.
    """
    place = _placer(file, lines)
    module = _generic(text, file, place) or _custom(text, file, place, native)
    _check_devices(module)
    check_order(module)
    return module


def _generic(text: str, file: str, place: Callable[[int, int], Location]) -> Module | None:
    """Read generic text; return None where an op is in custom syntax."""
    try:
        module = parse(text, file)
    except CustomSyntaxError:
        return None
    except MlirError as error:
        raise _moved(error, place) from None
    _locate(module, place)
    return module


def _custom(text: str, file: str, place: Callable[[int, int], Location], native: tuple[NativeTool, ...]) -> Module:
    """Read custom syntax: by the built-in reader, else by a native tool."""
    from aiebuild.mlir.custom import read  # noqa: PLC0415 - it imports xDSL, which generic text does not need

    try:
        return read(text, file, place)
    except UnsupportedError as error:
        module = read_natively(text, native, place, error)
    except MlirError as error:
        # The built-in reader does not know all forms of the ops that it knows; a native tool is the judge.
        module = _second_opinion(text, native, place, error)
    for op in (module.op, *module.walk()):
        _put(op, place(op.line or 1, op.column or 1))
    module.file = file
    return module


def _second_opinion(
    text: str, native: tuple[NativeTool, ...], place: Callable[[int, int], Location], error: MlirError
) -> Module:
    """Return what a native tool reads; if none does, the built-in reader's error is the better one."""
    try:
        return read_natively(text, native, place, UnsupportedError(error.message, error.where, error.hint))
    except (MlirError, ToolchainError):
        raise error from None


def _placer(file: str, lines: Sequence[tuple[str, int] | Line] | None) -> Callable[[int, int], Location]:
    """Return the function from a line and a column of the text to the user's own place."""

    def place(line: int, column: int) -> Location:
        if not lines:
            return Location(file, line, column)
        if line > len(lines):
            # The text ended too early: what is missing belongs behind its last line.
            return Location(*lines[-1][:2])
        return Line(*lines[line - 1]).place(column)

    return place


def _moved(error: MlirError, place: Callable[[int, int], Location]) -> MlirError:
    """Return the error at the user's own place."""
    where = error.where
    if where is None or where.line is None:
        return error
    return MlirError(error.message, place(where.line, where.column or 1), error.hint)


def _locate(module: Module, place: Callable[[int, int], Location]) -> None:
    """Give each op that does not carry a location of its own the user's own place."""
    for op in (module.op, *module.walk()):
        if op.location is None and op.line is not None:
            _put(op, place(op.line, op.column or 1))


def _put(op: Op, where: Location) -> None:
    """Give an op its place."""
    op.line, op.column, op.location = where.line, where.column, location_text(where)


def _check_devices(module: Module) -> None:
    """Check that devices are named: numbers stand for different ones in different versions of mlir-aie."""
    for op in module.walk():
        device = op.properties.get("device") if op.name == "aie.device" else None
        if device is not None and not device.startswith('"'):
            message = f"the device is a number here ({device}), whose meaning depends on the version of aie-opt"
            raise MlirError(message, module.where(op), 'write its name instead: `device = "npu1_1col"`')
