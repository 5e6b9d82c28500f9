"""Findings of the MLIR services: an error, a warning or a remark with a code that a person can look up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aiebuild.errors import CheckError, Location

if TYPE_CHECKING:
    from collections.abc import Iterable

_KINDS = {"E": "error", "W": "warning", "I": "remark"}


class Problem(CheckError):  # noqa: N818 - warnings and remarks are no errors, and are not raised
    """One finding.

    Args:
        code: `E-...` for an error, `W-...` for a warning, `I-...` for a remark.
        message: what is wrong.
        where: the line of the user's own file.
        hint: what would be right.
    """

    def __init__(self, code: str, message: str, where: Location | None = None, hint: str = "") -> None:
        super().__init__(message, where, hint)
        self.code = code

    @property
    def kind(self) -> str:
        """`error`, `warning` or `remark`."""
        return _KINDS[self.code[0]]

    @property
    def is_error(self) -> bool:
        """Whether the module cannot be used as it is."""
        return self.code.startswith("E-")

    def __str__(self) -> str:
        """Return `where: kind: message [code]`, then what is `below` it."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.kind}: {self.message} [{self.code}]{self.below}"

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the parts by name, for JSON."""
        place = self.where or Location("")
        return {
            "code": self.code,
            "kind": self.kind,
            "message": self.message,
            "file": place.file,
            "line": place.line,
            "column": place.column,
            "hint": self.hint,
        }


class ProblemsError(CheckError):
    """Several errors at once; it reads as the first one where only one is looked at."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.message, first.where, first.hint)

    @property
    def codes(self) -> tuple[str, ...]:
        """The code of each error."""
        return tuple(problem.code for problem in self.problems)

    def __str__(self) -> str:
        """Return one message after the other."""
        return "\n".join(str(problem) for problem in self.problems)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise the errors among the findings, if there are any, each once.

    Raises:
        ProblemsError: there are some.
    """
    errors = {str(problem): problem for problem in problems if problem.is_error}
    if errors:
        raise ProblemsError(errors.values())


def stop(code: str, message: str, where: Location | None = None, hint: str = "") -> NoReturn:
    """Raise one error.

    Raises:
        ProblemsError: always.
    """
    raise ProblemsError([Problem(code, message, where, hint)])
