"""What the words of a compiler's command name: folders of headers, response files, and other files that it reads."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Words = tuple[str, ...]

HEADERS = (
    ("-iquote",),
    ("-I", "--include-directory="),
    ("-isystem", "-cxx-isystem"),
    ("-idirafter", "--include-directory-after="),
)
"""Options that name a folder of headers, in the order in which compilers search them, wherever they stand."""

WRITTEN = frozenset({"-o", "-MF", "-MT", "-MQ"})
"""Options whose next word is no file that is read."""

DEFINES = "-D"


def header_folders(words: Words) -> tuple[str, ...]:
    """Return the folders in which the words let headers be searched before the compiler's own, in order."""
    return tuple(folder for names in HEADERS for folder in _folders(words, names))


def _folders(words: Words, names: tuple[str, ...]) -> Iterator[str]:
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        if word in names:
            yield following
        elif word.startswith(names):
            yield next(word.removeprefix(name) for name in names if word.startswith(name))


def expanded(words: Words, root: Path) -> tuple[Words, tuple[str, ...]]:
    """Return the words with those of response files (`@file`) in their place, and the response files that were read.

    Args:
        words: of a command that runs in the project's folder.
        root: that folder.
    """
    found: list[str] = []
    return tuple(_expanded(words, root, found)), tuple(found)


def _expanded(words: Words, root: Path, found: list[str]) -> Iterator[str]:
    for word in words:
        text = _response(word, root, found)
        if text is None:
            yield word
            continue
        found.append(word[1:])
        yield from _expanded(_split(text), root, found)


def _split(text: str) -> Words:
    """Return the words of a response file; where a quote is left open, those between white space."""
    import shlex  # noqa: PLC0415 - few builds have a response file

    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def _response(word: str, root: Path, found: list[str]) -> str | None:
    """Return the text of a response file; None where a word names none, or one that was read already."""
    if not word.startswith("@") or word[1:] in found:
        return None
    try:
        return (root / word[1:]).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def named_files(words: Words, root: Path) -> tuple[str, ...]:
    """Return the files that options name, by themselves or after a `=`, and that are there: `-specs=kernels/a.specs`.

    What is said to the preprocessor alone is left out: a value that happens to be a file's name.
    """
    follows = zip(words[1:], words, strict=False)
    values = (_value(word) for word, before in follows if before not in WRITTEN and not word.startswith(DEFINES))
    return tuple(value for value in values if value and (root / value).is_file())


def _value(word: str) -> str:
    return word.partition("=")[2] if word.startswith("-") else word


def defined(words: Words) -> dict[str, str]:
    """Return the preprocessor's names that the words give a value, with it."""
    given = [word[len(DEFINES) :].partition("=") for word in words if word.startswith(DEFINES)]
    return {name: value for name, _, value in given if value}
