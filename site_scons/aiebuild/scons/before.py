"""What runs before anything is watched: `SConstruct`, and SCons's `site_init.py`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCRIPTS = ("SConstruct", "site_scons/site_init.py")

SEARCHES = frozenset({"sys.path.insert", "sys.path.append"})
"""Calls that only say where modules are."""

START = "start.main"


def doubt_of_scripts(root: Path) -> str:
    """Return which line could read what nobody sees; empty where none does.

    Modules may be imported: of the project's own, `own_modules` tells.
    """
    for name in SCRIPTS:
        try:
            module = ast.parse((root / name).read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        line = _unseen(module.body)
        if line:
            return f"{name}:{line} is run before anything is watched, and may read something else each time"
    return ""


def _unseen(statements: list[ast.stmt]) -> int:
    """Return the line of the first statement that may read something; 0 for none, or none before the start."""
    for statement in statements:
        if isinstance(statement, ast.Expr) and _called(statement.value) == START:
            return 0 if _is_plain(statement.value) else statement.lineno
        if not _is_harmless(statement):
            return statement.lineno
    return 0


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    if isinstance(statement, ast.Assign):
        return _is_literal(statement.value)
    if not isinstance(statement, ast.Expr):
        return False
    return _is_literal(statement.value) or (_called(statement.value) in SEARCHES and _is_plain(statement.value))


def _called(value: ast.expr) -> str:
    """Return the name of what is called; empty where nothing is."""
    return ast.unparse(value.func) if isinstance(value, ast.Call) else ""


def _is_plain(value: ast.expr) -> bool:
    """Return whether a call is given names and literals alone."""
    if not isinstance(value, ast.Call) or value.keywords:
        return False
    return all(isinstance(argument, ast.Name) or _is_literal(argument) for argument in value.args)


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True
