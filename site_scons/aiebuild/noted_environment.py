"""What stands in for the process's environment while a recipe is read, and tells which variables it is asked for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING

from aiebuild.environment import exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiebuild.environment import Variables

ALL = "*"
"""What is noted of somebody who goes through all variables; no variable has this name in any recipe worth building."""


class NotedEnvironment(MutableMapping[str, str]):
    """The environment of this process, for whoever reads it as Python programs do.

    Args:
        real: what it stands in for.
        note: is told each name that is asked for, set or not; `ALL` where all of them are.
    """

    def __init__(self, real: MutableMapping[str, str], note: Callable[[str], None]) -> None:
        self._real = real
        self._note = note

    def __getitem__(self, name: str) -> str:
        value = self._real.get(name)
        # Not before: Python's library tries names that are no text as well, which is an error that it expects.
        self._note(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: str) -> None:
        self._real[name] = value

    def __delitem__(self, name: str) -> None:
        del self._real[name]

    def __iter__(self) -> Iterator[str]:
        self._note(ALL)
        return iter(self._real)

    def __len__(self) -> int:
        self._note(ALL)
        return len(self._real)

    def __or__(self, other: Mapping[str, str]) -> dict[str, str]:
        return dict(self) | dict(other)

    def __ror__(self, other: Mapping[str, str]) -> dict[str, str]:
        return dict(other) | dict(self)

    def __repr__(self) -> str:
        return repr(dict(self))

    def copy(self) -> dict[str, str]:
        """Return all variables."""
        return dict(self)


class NotedBytes(MutableMapping[bytes, bytes]):
    """The same environment in bytes, for whoever asks for that."""

    def __init__(self, text: NotedEnvironment) -> None:
        self._text = text

    def __getitem__(self, name: bytes) -> bytes:
        return os.fsencode(self._text[os.fsdecode(name)])

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self._text[os.fsdecode(name)] = os.fsdecode(value)

    def __delitem__(self, name: bytes) -> None:
        del self._text[os.fsdecode(name)]

    def __iter__(self) -> Iterator[bytes]:
        return map(os.fsencode, self._text)

    def __len__(self) -> int:
        return len(self._text)


@contextlib.contextmanager
def noted(note: Callable[[str], None]) -> Iterator[None]:
    """Let `note` be told the variables that are asked for until the end of the block."""
    real = exchange(lambda real: _noted(real, note))
    try:
        yield
    finally:
        exchange(lambda _: real)


def _noted(real: Variables, note: Callable[[str], None]) -> Variables:
    text = NotedEnvironment(real[0], note)
    return text, NotedBytes(text)
