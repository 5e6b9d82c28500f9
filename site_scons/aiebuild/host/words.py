"""Small numbers as words, for messages."""

from __future__ import annotations

_COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def count_words(number: int) -> str:
    """Return `none is`, `one is`, `two are`, ..., `11 are`."""
    word = _COUNTS[number] if number < len(_COUNTS) else str(number)
    return f"{word} {'is' if number < 2 else 'are'}"


def ordinal(number: int) -> str:
    """Return `second`, `third`, ..., `11th`."""
    if number < len(_ORDINALS):
        return _ORDINALS[number]
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in {11, 12, 13} else suffix}"


def counted(number: int, noun: str) -> str:
    """Return `one transfer is`, `two transfers are`."""
    words = count_words(number).split()
    return f"{words[0]} {noun}{'' if number == 1 else 's'} {words[1]}"
