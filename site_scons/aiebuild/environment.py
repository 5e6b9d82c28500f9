"""The only place that reads the process's environment: what is taken from it, and what steps are given."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping
    from typing import TextIO

    Variables = tuple[MutableMapping[str, str], MutableMapping[bytes, bytes]]

PASSED_ON = (
    "PATH",
    "HOME",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "XILINXD_LICENSE_FILE",
    "LM_LICENSE_FILE",
)
"""Variables that steps inherit: where programs find each other, scratch space and licences.

Nothing else reaches a step, so `CPATH`, `CPLUS_INCLUDE_PATH`, `PYTHONPATH` and the like cannot change a result
behind the graph's back.
"""

STAND_IN_PREFIX = "AIE_STUB_"
"""Variables of the stand-in tools of the tests; they tell a stand-in where to log and how to misbehave."""


RECIPE_VARIABLE = "AIEBUILD_RECIPE"
"""Tells a step which line of which recipe asked for it, for its messages."""


class Environment:
    """A snapshot of the variables of the process that may matter; not a dataclass, whose import takes 5 ms."""

    def __init__(self, variables: tuple[tuple[str, str], ...]) -> None:
        self.variables = variables

    @classmethod
    def of(cls, mapping: Mapping[str, str]) -> Environment:
        """Return a snapshot of `mapping`."""
        return cls(tuple(sorted(mapping.items())))

    def get(self, name: str) -> str:
        """Return the value of a variable, empty where it is not set."""
        return dict(self.variables).get(name, "")

    def values(self, names: Iterable[str]) -> dict[str, str | None]:
        """Return the values of some variables, None for one that is not set."""
        known = dict(self.variables)
        return {name: known.get(name) for name in sorted(names)}

    def for_steps(self) -> dict[str, str]:
        """Return the environment that steps run in, before a step adds its own values."""
        inherited = {
            name: value for name, value in self.variables if name in PASSED_ON or name.startswith(STAND_IN_PREFIX)
        }
        return inherited | {"LC_ALL": "C", "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "315532800"}


def wants_colour(environment: Environment, stream: TextIO) -> bool:
    """Return whether a stream should get colours: a terminal, unless `NO_COLOR` is set (no-color.org)."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb" and stream.isatty()


def has_cursor(environment: Environment, stream: TextIO) -> bool:
    """Return whether a stream is a terminal on which a line can be written anew; colours are another matter."""
    return environment.get("TERM") not in {"", "dumb"} and stream.isatty()


def exchange(stand_in: Callable[[Variables], Variables]) -> Variables:
    """Put stand-ins in the place of the environment, as programs know it in text and in bytes; return what was there.

    Args:
        stand_in: makes them from what is there. Where the system has no environment in bytes there is none after it.
    """
    real: Variables = os.environ, getattr(os, "environb", {})
    # B003: the variables stay as they are; assignment: a stand-in is asked, nobody looks at its type.
    os.environ, in_bytes = stand_in(real)  # type: ignore[assignment]
    if os.supports_bytes_environ:
        os.environb = in_bytes  # type: ignore[assignment]
    return real


def variables() -> dict[str, str]:
    """Return the variables of this process, for those who need no more than a look at them."""
    return dict(os.environ)


def current() -> Environment:
    """Return a snapshot of this process's environment."""
    return Environment.of(os.environ)
