"""One line at the bottom of a terminal that says how far a build is; what is printed meanwhile stays above it."""

from __future__ import annotations

import os
import sys
import threading
import time
import unicodedata
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = 0.2
"""Seconds between two looks at the clock."""

CLEAR = "\r\033[K"
"""To the start of the line, and erase it: ECMA-48's EL, which every terminal has that is not `dumb`."""

NARROWEST = 10
"""Columns below which nothing is shown."""

USUAL = 80
"""Columns of a terminal that does not say how many it has."""


class StatusLine:
    """The line, on the terminal of one stream.

    Args:
        stream: the terminal.
        text: returns what the line says now; empty for no line.
        columns: returns how wide the terminal is now.
    """

    def __init__(self, stream: TextIO, text: Callable[[], str], columns: Callable[[], int] | None = None) -> None:
        self._stream = stream
        self._text = text
        self._columns = columns or (lambda: _columns(stream))
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._is_shown = False
        self._is_midline = False
        self._streams: list[tuple[str, Any]] = []
        self._ticks: threading.Thread | None = None

    def begin(self) -> None:
        """Show the line from now on, below all that goes to standard output and standard error."""
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream.isatty():
                self._streams.append((name, stream))
                setattr(sys, name, _Above(stream, self))
        self._ticks = threading.Thread(target=self._tick, daemon=True)
        self._ticks.start()

    def end(self) -> None:
        """Remove the line, and leave the streams as they were."""
        self._over.set()
        if self._ticks is not None:
            self._ticks.join()
        with self._lock:
            self._clear()
        for name, stream in self._streams:
            setattr(sys, name, stream)
        self._streams.clear()

    def draw(self) -> None:
        """Show what is to be said now."""
        with self._lock:
            if self._is_midline or self._over.is_set():
                return
            text = fitted(self._text(), self._columns() - 1)
            if text:
                self._put(f"\r{text}\033[K")
                self._is_shown = True
            else:
                self._clear()

    def write_above(self, stream: TextIO, text: str) -> int:
        """Write to a stream where the line is, and show the line again below it."""
        with self._lock:
            self._clear()
            written = stream.write(text)
            stream.flush()
            if text:
                self._is_midline = not text.endswith("\n")
            self.draw()
        return written

    def _clear(self) -> None:
        if self._is_shown:
            self._put(CLEAR)
            self._is_shown = False

    def _put(self, text: str) -> None:
        encoding = self._stream.encoding or "ascii"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()

    def _tick(self) -> None:
        while not self._over.wait(EVERY):
            self.draw()


class _Above:
    """A stream whose text goes above the line."""

    def __init__(self, stream: Any, line: StatusLine) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        return self._line.write_above(self._stream, text)

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except (OSError, ValueError):
        return USUAL


def fitted(text: str, columns: int) -> str:
    """Return as much of a text as fits, `…` for what is left out; nothing where the terminal is too narrow."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    if columns < NARROWEST:
        return ""
    if sum(map(_width, plain)) <= columns:
        return plain
    kept, left = "", columns - 1
    for letter in plain:
        left -= _width(letter)
        if left < 0:
            break
        kept += letter
    return f"{kept}…"


def _width(letter: str) -> int:
    """Return the columns of a letter: two for a wide one, none for one that is put on another."""
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1


class Counts:
    """How far a build is: the steps that are done, run now and failed.

    Args:
        total: how many steps there are.
        clock: returns seconds.
    """

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self._clock = clock
        self._started = clock()
        self._seen: set[str] = set()
        self._running: dict[str, str] = {}
        self._failed: set[str] = set()
        self._lock = threading.RLock()

    def see(self, step: str) -> None:
        """Note that a step has its turn; one that is up to date is done with that."""
        with self._lock:
            self._seen.add(step)

    def begin(self, step: str, label: str) -> None:
        """Note that a step runs."""
        with self._lock:
            self._seen.add(step)
            self._running[step] = label

    def end(self, step: str, *, failed: bool) -> None:
        """Note that it has ended."""
        with self._lock:
            self._running.pop(step, None)
            if failed:
                self._failed.add(step)

    def text(self) -> str:
        """Return what the line says, empty while nothing runs: `[3/9, 1 failed] 1.2 s  compile kernels/mm.cc`."""
        with self._lock:
            if not self._running:
                return ""
            done = len(self._seen) - len(self._running)
            failed = f", {len(self._failed)} failed" if self._failed else ""
            seconds = self._clock() - self._started
            total = max(self.total, len(self._seen))
            return f"[{done}/{total}{failed}] {seconds:.1f} s  {', '.join(self._running.values())}"
