"""What must be right before any tool runs: names, calls, FIFOs, sequences, and the linked objects.

`check_module` reads the design alone; `check_objects` compares it with the files that it links. The limits of
the device are in `aiebuild.mlir.limits`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildError, CheckError, Location
from aiebuild.mlir.calls import check_calls, check_link_files, check_symbols
from aiebuild.mlir.fabric import fabrics
from aiebuild.mlir.fifos import check_cores, check_fifos
from aiebuild.mlir.lookup import Scopes
from aiebuild.mlir.objects import check_objects
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.references import check_declarations, check_recursion, check_unused, check_uses
from aiebuild.mlir.sequences import check_sequences

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from aiebuild.mlir.ir import Module

__all__ = ["check_module", "check_names", "check_objects", "gather"]


def check_module(
    module: Module,
    declared: Sequence[str] | None = None,
    recipe: Location | None = None,
    others: Sequence[Module] = (),
) -> list[CheckError]:
    """Check what a design says.

    Args:
        module: in the generic form, the device as a string.
        declared: names of the files that the recipe links; None where there is no recipe to compare with.
        recipe: the line of the recipe, for hints.
        others: modules that are known, but not linked here, for hints.

    Returns:
        All errors, in the order of the lines.
    """
    scopes = Scopes(module, others)
    checks: list[Iterable[CheckError]] = [
        check_symbols(scopes),
        check_calls(scopes),
        check_link_files(module, declared, recipe, scopes),
    ]
    for fabric in fabrics(module):
        checks += [check_cores(fabric), check_fifos(fabric), check_sequences(fabric)]
    found = gather(checks, module.file)
    more = (problem for problem in check_uses(scopes) if not _is_said(problem, found))
    return gather([found, more], module.file)


def check_names(
    module: Module,
    others: Sequence[Module] = (),
    *,
    final: bool = False,
    no_recursion: bool = False,
    runtime: Collection[str] = (),
) -> list[Problem]:
    """Check names, calls and references of any module: errors, warnings and remarks, in the order of the lines.

    Args:
        module: in the generic form; ops of any dialect.
        others: modules that are known, but not linked here, for hints.
        final: nothing more will be linked: a declaration that nothing defines is an error.
        no_recursion: functions that call each other in a circle are an error.
        runtime: names that are defined when the program runs.
    """
    scopes = Scopes(module, others)
    checks = [
        check_symbols(scopes),
        check_calls(scopes),
        check_uses(scopes),
        check_declarations(scopes, final=final, runtime=runtime),
        check_unused(scopes),
        check_recursion(scopes, refused=no_recursion),
    ]
    found = gather(checks, module.file)
    return [
        each if isinstance(each, Problem) else Problem("E-MLIR", each.message, each.where, each.hint) for each in found
    ]


def _is_said(problem: Problem, errors: Sequence[CheckError]) -> bool:
    """Tell whether an error at the same place names the same symbol: a check that knows the op says it better."""
    name = problem.message.split(" ", 1)[0]
    return any(error.where == problem.where and name in error.message.split() for error in errors)


def gather(checks: Iterable[Iterable[CheckError]], file: str) -> list[CheckError]:
    """Return the errors of all checks, in the order of the lines, each once; `file` comes before others.

    A check that cannot read a part of the module ends with the error of that part; the others go on.
    """
    errors: dict[str, CheckError] = {}
    for check in checks:
        for error in _errors(check, file):
            errors.setdefault(str(error), error)
    return sorted(errors.values(), key=lambda error: _order(error, file))


def _errors(check: Iterable[CheckError], file: str) -> Iterator[CheckError]:
    """Yield the errors that a check yields, and the one that ends it."""
    try:
        yield from check
    except AieBuildError as error:
        yield CheckError(error.message, error.where or Location(file), error.hint)


def _order(error: CheckError, file: str) -> tuple[bool, str, int, int]:
    """Return what errors are sorted by."""
    place = error.where or Location("")
    return place.file != file, place.file, place.line or 0, place.column or 0
