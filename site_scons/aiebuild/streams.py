"""Writing for somebody who may have stopped reading, as `head` does: then nothing more is said, and nothing fails."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from typing import TextIO


def write(stream: TextIO, text: str) -> None:
    """Write a text at once."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Let what is written from now on, or is waiting to be, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
