"""What can go wrong, said as where it is, what is wrong, and what would be right."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEAR = 0.6
"""How alike words must be for one to be meant by the other: `integer` and `int`, but not `autor` and `generator`."""


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file of the user: lines and columns count from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return `file:line:column`, as far as it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)

    @property
    def inner(self) -> Location | None:
        """The line of the macro or the included file whose text this line of a design brought in, if it did.

        It is for messages alone: places that differ only in it are equal, and it is in no JSON.
        """
        found: Location | None = self.__dict__.get("_inner")
        return found

    def through(self, inner: Location) -> Location:
        """Return this place, with the line of the macro or the included file that was used there."""
        place = Location(self.file, self.line, self.column)
        object.__setattr__(place, "_inner", inner)
        return place


class AieBuildError(Exception):
    """The root of all errors that are the user's to mend.

    Args:
        message: what is wrong, without a full stop at the end.
        where: the line of the user's own file.
        hint: what would be right: the nearest name, the choices, a command to run.
    """

    def __init__(self, message: str, where: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """Return `where: error: message`, then what is `below` it."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}error: {self.message}{self.below}"

    @property
    def below(self) -> str:
        """The lines below the message: the line of the macro that wrote the text, and the hint; empty without them."""
        inner = self.where.inner if self.where else None
        lines = (f"in {inner}" if inner else "", self.hint)
        return "".join(f"\n  {line}" for line in lines if line)


class OptionError(AieBuildError):
    """A word of the command line is wrong."""


class ContractError(AieBuildError):
    """A `design.yaml` is wrong, or a parameter does not fit it."""


class RecipeError(AieBuildError):
    """A recipe (`SConscript`) says something that cannot be built."""


class ToolchainError(AieBuildError):
    """A tool is missing, or is not one that can be used."""


class MlirError(AieBuildError):
    """MLIR text cannot be read, or an op in it is not understood."""


class CheckError(AieBuildError):
    """A design breaks a rule that is checked before any tool runs."""


class RunError(AieBuildError):
    """A design failed while it ran on the host."""


class AieBuildBug(Exception):  # noqa: N818 - it is not the user's error, and its name says so
    """An impossible state: a fault of aiebuild itself."""


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that `word` was most likely meant to be, if any is near.

    A difference in case alone counts as none; among choices that are equally near, the one in the word's case wins.
    """
    known = list(dict.fromkeys(choices))
    found = difflib.get_close_matches(
        word.lower(), [choice.lower() for choice in known], n=len(known) or 1, cutoff=_NEAR
    )
    near = [choice for choice in known if choice.lower() in found]
    return max(
        near, key=lambda choice: (_alike(choice.lower(), word.lower()), _alike(choice, word), choice), default=None
    )


def _alike(first: str, second: str) -> float:
    """Return how much two words have in common, from 0 to 1."""
    return difflib.SequenceMatcher(None, first, second).ratio()


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a hint: the nearest of the choices, else all of them."""
    known = sorted(choices)
    near = nearest(word, known)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"one of: {', '.join(known)}" if known else ""
