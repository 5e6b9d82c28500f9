"""Saying something to somebody who has stopped reading, as `head` does, or who cannot take all of it: nothing fails."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from typing import TextIO


def tolerate(stream: TextIO) -> None:
    """Let a stream write what its encoding does not have as escapes."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def write(stream: TextIO, text: str) -> None:
    """Write a text at once; where that cannot be, nothing more is written there, and it is said, if anybody reads."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        silence(stream)
        if stream is not sys.stderr:
            write(sys.stderr, f"warning: what is said here cannot be written: {error.strerror}\n")


def silence(stream: TextIO) -> None:
    """Let what is written from now on, or is waiting to be, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
