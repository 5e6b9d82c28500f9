"""The only code that knows SCons: recipe words become nodes, steps become actions."""

from __future__ import annotations

from typing import Any


def aie(env: Any) -> None:
    """Give an SCons environment the words and the builders: `Environment(tools=[aie])`, in any project."""
    from aiebuild.scons.adapter import generate  # noqa: PLC0415 - needs SCons, which this name alone must not

    generate(env)
