"""The SCons tool `aie`: gives an environment the words and the builders."""

from __future__ import annotations

from typing import Any

from aiebuild.scons import adapter


def generate(env: Any) -> None:
    """Add the words of a recipe and the builders under them to an environment."""
    adapter.generate(env)


def exists(env: Any) -> bool:
    """Return that the tool can be used: compilers are looked for when something needs them."""
    del env
    return True
