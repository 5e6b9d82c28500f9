"""A small terminal for tests: what a program that writes to one leaves on the screen, and every line it showed."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LIMIT = 120.0
"""Seconds after which a program is ended."""

_PIECE = re.compile(r"\x1b\[(\d*(?:;\d*)*)([A-Za-z])|\r|\n|[^\x1b\r\n]+|\x1b")


@dataclass(frozen=True)
class Shown:
    """What a program left: its exit status, the lines of the screen, all lines that were redrawn, and the raw text."""

    status: int
    screen: list[str]
    drawn: list[str]
    raw: str


def run(command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, columns: int = 100) -> Shown:
    """Run a program on a terminal of its own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(command, cwd=cwd, env=dict(environment), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        raw = _read(ours, time.monotonic() + LIMIT)
    finally:
        os.close(ours)
        if child.poll() is None:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
    return Shown(child.wait(), *_screen(raw, columns), raw)


def _read(terminal: int, until: float) -> str:
    data = b""
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # what Linux says when the other side is closed
            break
        if not piece:
            break
        data += piece
    return data.decode("utf-8", "replace")


def _screen(raw: str, columns: int) -> tuple[list[str], list[str]]:
    """Return the lines that stay, and those that were erased or written over."""
    lines, drawn, at = [""], [], 0
    for found in _PIECE.finditer(raw):
        piece = found[0]
        if piece == "\n":
            lines.append("")
            at = 0
        elif piece == "\r":
            drawn.append(lines[-1])
            at = 0
        elif found[2] == "K":
            lines[-1] = lines[-1][:at]
        elif found[2] is None:
            lines[-1] = lines[-1][:at] + piece + lines[-1][at + len(piece) :]
            at += len(piece)
            assert len(lines[-1]) <= columns or not piece.startswith("["), "a status line wraps"
    return [line for line in lines if line], [line for line in drawn if line]
