"""What a generator is given: its command line, or its keywords, from a configuration's parameters. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiebuild.contract import as_text
from aiebuild.errors import ContractError, Location
from aiebuild.parameters import CONTEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.contract import Generator
    from aiebuild.expression_tree import Scalar


def split(mlir: str) -> tuple[str, str]:
    """Return script and function of `matmul.py:function`; the function is empty for `matmul.py`."""
    script, colon, function = mlir.rpartition(":")
    return (script, function) if colon and script.endswith(".py") else (mlir, "")


def check(generator: Generator, function: str) -> None:
    """Refuse a section that is for a script where the recipe names a function, and the other way round.

    Raises:
        ContractError: at the line of the section.
    """
    where = generator.where or (Location(generator.file) if generator.file else None)
    if not function and generator.keywords is not None:
        hint = "name its function in the recipe, 'x.py:function', or say 'options' instead"
        raise ContractError("'keywords' are for a function, but the recipe names a script", where, hint)
    for name in ("arguments", "options", "output"):
        if function and getattr(generator, name):
            message = f"{name!r} of 'generator' is for a script, but the recipe names the function {function!r}"
            raise ContractError(message, where, "a function gets 'keywords'")


def argv(parameters: Mapping[str, Any], generator: Generator) -> tuple[str, ...]:
    """Return the words that a script is given, without the option for its output.

    Args:
        parameters: the parameters file's content (`Settled.to_json`).
        generator: the contract's section.

    Fixed words come first, then the options in the contract's order: `-M 512`, or `--rows=512` where the option is
    `--rows=`. A boolean is a flag, given when it is true.
    """
    values = _values(parameters, generator)
    words = [word for name, option in generator.options.items() for word in _option(option, values[name])]
    return (*generator.arguments, *words)


def output_option(option: str, path: str) -> tuple[str, ...]:
    """Return the words that tell a script where to write; none for one that prints."""
    return _option(option, path) if option else ()


def keywords(parameters: Mapping[str, Any], generator: Generator) -> dict[str, Scalar]:
    """Return the keywords that a function is given: those of the contract, else every parameter that can be set."""
    values = _values(parameters, generator)
    if generator.keywords is not None:
        return {keyword: values[name] for name, keyword in generator.keywords.items()}
    return {name: value for name, value in parameters["parameters"].items() if name not in generator.derived}


def offers(parameters: Mapping[str, Any], generator: Generator) -> dict[str, Scalar]:
    """Return the keywords that a function is given only where it names them: derived parameters and the context."""
    if generator.keywords is not None:
        return {}
    values = _values(parameters, generator)
    return {name: values[name] for name in (*generator.derived, *CONTEXT) if name in values}


def _values(parameters: Mapping[str, Any], generator: Generator) -> dict[str, Scalar]:
    """Return all that can be passed on, by name; the device as the generator calls it."""
    values = {**{name: parameters[name] for name in CONTEXT}, **parameters["parameters"]}
    return {**values, "device": generator.devices.get(values["device"], values["device"])}


def _option(option: str, value: Scalar) -> tuple[str, ...]:
    if option.endswith("="):
        return (f"{option}{as_text(value)}",)
    if isinstance(value, bool):
        return (option,) if value else ()
    return (option, as_text(value))
