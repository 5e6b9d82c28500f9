"""Stand-ins for what a program asks the file system without opening anything: what is there, and what is not."""

from __future__ import annotations

import contextlib
import os
import pathlib
import stat
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Note = Callable[[str, Any], None]

QUESTIONS = ("stat", "lstat", "access", "readlink")
"""Functions of `os` that the system's audit events say nothing of."""

ABSENT, FILES, FOLDERS = "absent", "files", "folders"


class Asking:
    """One of the questions, which tells what was asked; no function, since pathlib of Python 3.10 has it in a class.

    Args:
        name: of the question.
        note: is told whether the path is absent, a file or a folder, and the path.
    """

    def __init__(self, name: str, note: Note) -> None:
        self._name = name
        self._real: Callable[..., Any] = getattr(os, name)
        self._note = note

    def __call__(self, path: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return what the system's own does."""
        try:
            answer = self._real(path, *arguments, **keywords)
        except OSError:
            self._note(ABSENT, path)
            raise
        if keywords.get("dir_fd") is None:
            self._tell(path, answer)
        return answer

    def _tell(self, path: Any, answer: Any) -> None:
        if self._name == "readlink":
            self._note(FILES, path)
        elif self._name == "access":
            self._note((FOLDERS if os.path.isdir(path) else FILES) if answer else ABSENT, path)  # noqa: PTH112 - any path
        elif not stat.S_ISDIR(answer.st_mode):
            self._note(FILES, path)
        elif self._name == "stat":
            # Not `lstat`: to resolve a path each folder above it is asked whether it is a link.
            self._note(FOLDERS, path)


@contextlib.contextmanager
def asked(note: Note) -> Iterator[None]:
    """Let `note` be told what is asked until the end of the block."""
    accessor = getattr(pathlib, "_NormalAccessor", None)
    holders = [os] if accessor is None else [os, accessor]
    kept = [(holder, name, vars(holder)[name]) for holder in holders for name in QUESTIONS if name in vars(holder)]
    stand_ins = {name: Asking(name, note) for name in QUESTIONS}
    for holder, name, _ in kept:
        setattr(holder, name, stand_ins[name])
    try:
        yield
    finally:
        for holder, name, real in kept:
            setattr(holder, name, real)


@contextlib.contextmanager
def uncached(is_own: Callable[[str], bool]) -> Iterator[None]:
    """Let modules be compiled anew until the end of the block: a cache knows whole seconds only, and hides an edit.

    Args:
        is_own: whether the cache of a module, by its path, is none to trust.
    """
    real = SourceFileLoader.get_data

    def get_data(loader: Any, path: str) -> bytes:
        if path.endswith(".pyc") and is_own(path):
            raise FileNotFoundError(path)
        return real(loader, path)

    setattr(SourceFileLoader, "get_data", get_data)  # noqa: B010 - a plain assignment has no type that fits
    try:
        yield
    finally:
        setattr(SourceFileLoader, "get_data", real)  # noqa: B010 - the same
