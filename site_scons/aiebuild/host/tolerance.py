"""`TOLERANCE` of a `check.py`: what it says, and the line to blame where that is wrong."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from aiebuild.errors import Location, RunError, did_you_mean
from aiebuild.host.compare import Tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "TOLERANCE"
_KNOWN = ("rtol", "atol")
_EXAMPLE = f'for example {NAME} = {{"rtol": 1e-3, "atol": 1e-5}}'
_NEAR = 0.85
"""How alike two names are that one writes for the other (`TOLERANC`, `TOLERENCE`); `TOLERANCE_F32` is less."""


def tolerance(names: Mapping[str, object], source: str, path: Path) -> Tolerance:
    """Return what the names of a module say.

    Args:
        names: of the module, after it was run.
        source: its text.
        path: its file, as the user knows it.

    Raises:
        RunError: `TOLERANCE` is no dictionary, has another key, or a value that is no number from 0 on; or it is not
            there, and a name is that it was meant to be.
    """
    if NAME not in names:
        _refuse_near(names, source, path)
        return Tolerance()
    given, where = names[NAME], _assigned(NAME, source, path)
    if not isinstance(given, dict):
        raise RunError(f"{NAME} must be a dictionary, it is {given!r}", where, _EXAMPLE)
    for name, value in given.items():
        if name not in _KNOWN:
            raise RunError(f"{NAME} has no {name!r}", where, did_you_mean(str(name), _KNOWN))
        if not _is_bound(value):
            raise RunError(f"{NAME}[{name!r}] must be a number from 0 on, it is {value!r}", where, _EXAMPLE)
    return Tolerance(**{name: float(value) for name, value in given.items()})


def _is_bound(value: object) -> bool:
    """Return whether a value is a number, NumPy's among them, and not negative, and not no number."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        return False
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return number >= 0 and not math.isnan(number)


def _refuse_near(names: Mapping[str, object], source: str, path: Path) -> None:
    for name in names:
        if name.isupper() and _alike(name) >= _NEAR:
            where = _assigned(name, source, path)
            raise RunError(f"nothing uses {name}", where, f"did you mean {NAME!r}?")


def _alike(name: str) -> float:
    from difflib import SequenceMatcher  # noqa: PLC0415 - only names without a TOLERANCE beside them are compared

    return SequenceMatcher(None, NAME, name).ratio()


def _assigned(name: str, source: str, path: Path) -> Location:
    """Return the last line of the module itself that gives a name its value; the file alone where there is none."""
    lines = [statement.lineno for statement in ast.parse(source).body if name in _targets(statement)]
    return Location(str(path), lines[-1] if lines else None)


def _targets(statement: ast.stmt) -> set[str]:
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stored}
