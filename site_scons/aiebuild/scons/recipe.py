"""Reading one recipe: whatever goes wrong in it is said with the line of the user's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import SCons.Script
from SCons.Errors import UserError

from aiebuild.errors import AieBuildBug, AieBuildError, Location, RecipeError, did_you_mean
from aiebuild.scons.location import failing_line
from aiebuild.scons.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping


class Told(SystemExit):
    """The process ends because a signal said so, whatever it reads."""


def read_recipe(recipe: str, names: Mapping[str, Any]) -> None:
    """Read a recipe; whatever goes wrong in it is said with its line.

    Raises:
        RecipeError: for anything that the recipe's own text got wrong.
    """
    try:
        SCons.Script.SConscript(f"#{recipe}", exports=dict(names))
    except AieBuildError as error:
        if error.where is None:
            error.where = failing_line(error.__traceback__)
        raise
    except Told:
        raise
    except SystemExit as error:
        ends = failing_line(error.__traceback__) or Location(recipe)
        hint = "a recipe says what there is; it decides nothing"
        raise RecipeError("the recipe ends the program", ends, hint) from error
    except SyntaxError as error:
        raise RecipeError(f"not Python: {error.msg}", Location(recipe, error.lineno, error.offset)) from error
    except (
        UserError,
        AttributeError,
        NameError,
        TypeError,
        ValueError,
        KeyError,
        IndexError,
        ImportError,
        ArithmeticError,
        AssertionError,
        OSError,
    ) as error:
        where = failing_line(error.__traceback__)
        if where is None and isinstance(error, OSError):
            raise
        if where is None:
            raise AieBuildBug(str(error)) from error
        raise RecipeError(_plain(error), where, _hint(error, names)) from error


def _plain(error: Exception) -> str:
    if isinstance(error, AttributeError) and error.name is not None and _is_environment(error.obj):
        return f"there is no word {error.name!r}"
    text = str(error).replace("SConsEnvironment", "env")
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"


def _hint(error: Exception, names: Mapping[str, Any]) -> str:
    if isinstance(error, AttributeError) and error.name is not None and _is_environment(error.obj):
        return did_you_mean(error.name, WORDS)
    if isinstance(error, NameError) and error.name in names:
        return f"a recipe asks for it first: Import({', '.join(map(repr, names))})"
    if isinstance(error, NameError) and error.name is not None:
        return did_you_mean(error.name, ["Import", *names])
    return "a recipe runs in its own folder: its paths begin there" if isinstance(error, FileNotFoundError) else ""


def _is_environment(value: object) -> bool:
    return hasattr(value, "Dictionary") and hasattr(value, "Clone")
