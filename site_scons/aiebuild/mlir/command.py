"""What the commands of `python -m aiebuild.mlir` share: how one is described, and how files are read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildError, Location, MlirError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from aiebuild.mlir.ir import Module
    from aiebuild.mlir.native import NativeTool
    from aiebuild.mlir.problems import Problem

Outputs = dict[Path, str]
"""The text of each file to write."""
STANDARD_OUTPUT = Path("-")
"""Stands for the standard output among outputs."""


class RefusedError(AieBuildError):
    """All that is wrong with a module."""

    def __init__(self, errors: Sequence[AieBuildError]) -> None:
        super().__init__(errors[0].message, errors[0].where, errors[0].hint)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        """Return one message after the other."""
        return "\n".join(str(error) for error in self.errors)


@dataclass(frozen=True)
class Command:
    """A subcommand: its options, which of them name outputs, and what it writes."""

    help: str
    declare: Callable[[argparse.ArgumentParser], None]
    outputs: tuple[str, ...]
    run: Callable[[argparse.Namespace], Outputs]


def refuse(errors: Sequence[AieBuildError]) -> None:
    """Raise all errors at once, if there are any.

    Raises:
        RefusedError: there are some.
    """
    if errors:
        raise RefusedError(errors)


def warn(problems: Iterable[Problem]) -> None:
    """Say warnings and remarks on the standard error output."""
    for problem in problems:
        if not problem.is_error:
            print(problem, file=sys.stderr)


def read_text(path: Path) -> str:
    """Return the text of a file, its line ends untouched.

    Raises:
        MlirError: it cannot be read, or is not UTF-8 text.
        ProblemsError: it is MLIR bytecode.
    """
    from aiebuild.mlir.bytecode import refuse_bytecode  # noqa: PLC0415 - commands import only what they need

    where = Location(str(path))
    try:
        data = path.read_bytes()
        refuse_bytecode(data, where)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise MlirError(f"cannot be read: {error.strerror}", where) from None
    except UnicodeDecodeError:
        raise MlirError("is not UTF-8 text", where) from None


def read_module(path: Path, native: tuple[NativeTool, ...] = ()) -> Module:
    """Return the module of a file, in custom or generic syntax.

    Raises:
        MlirError: it cannot be read.
    """
    from aiebuild.mlir.normalise import normalise  # noqa: PLC0415 - commands import only what they need

    return normalise(read_text(path), str(path), native=native)


def native_tools(options: argparse.Namespace) -> tuple[NativeTool, ...]:
    """Return the tools that `--mlir-opt`, `--aie-opt` and `--iree-opt` name."""
    if not (options.mlir_opt or options.aie_opt or options.iree_opt):
        return ()
    from aiebuild.mlir.native import NativeTool  # noqa: PLC0415 - only needed where there are such tools

    tools = (
        (options.mlir_opt, {"upstream"}),
        (options.aie_opt, {"aie", "upstream"}),
        (options.iree_opt, {"stablehlo", "upstream"}),
    )
    return tuple(NativeTool((program,), frozenset(dialects)) for program, dialects in tools if program)


def declare_native_tools(parser: argparse.ArgumentParser) -> None:
    """Add `--aie-opt`, `--mlir-opt` and `--iree-opt`."""
    parser.add_argument("--aie-opt", metavar="PROGRAM", help="reads what the built-in reader does not know")
    parser.add_argument("--mlir-opt", metavar="PROGRAM", help="the same, for modules without aie and aiex")
    parser.add_argument("--iree-opt", metavar="PROGRAM", help="the same, for StableHLO")
