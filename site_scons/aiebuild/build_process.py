"""SCons in a process of its own: its words, its lines as they come, and how it ended."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder that aiebuild lies in."""

_START = "import sys; sys.path.append(sys.argv.pop(1)); sys.argv[0] = 'scons'; from SCons.Script import main; main()"
"""`python -m SCons`, with this very aiebuild last in its search path, for a program that found it on its own.

The environment is left as it is: records hold a part of it, and are shared with the command line.
"""

_STEP = re.compile(r"  ([a-z]+ .*)")


@dataclass(frozen=True)
class Done:
    """A build that has ended: its exit status, all lines, those on standard error, and the steps that it ran."""

    status: int
    log: str
    errors: str
    steps: tuple[str, ...]


def run_scons(root: Path, words: Sequence[str], progress: Callable[[str], None] | None = None) -> Done:
    """Run SCons in a project and return what it said.

    Args:
        root: the folder of the `SConstruct`.
        words: of the command line.
        progress: is called in this thread with each line as it comes, without its end. What it raises ends the build.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", _START, str(PACKAGE), "-Q", *words],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        said = _listen(child, progress or _ignore)
        status = child.wait()
    finally:
        _end(child)
    out = [line for stream, line in said if stream == "out"]
    steps = tuple(" ".join(found[1].split()) for found in map(_STEP.fullmatch, out) if found)
    return Done(status, _text(line for _, line in said), _text(line for stream, line in said if stream == "err"), steps)


def _ignore(_line: str) -> None:
    """Take a line of progress that nobody wants."""


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _listen(child: subprocess.Popen[str], progress: Callable[[str], None]) -> list[tuple[str, str]]:
    """Return the lines of both streams, in the order in which they came."""
    lines: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()
    streams = {"out": child.stdout, "err": child.stderr}
    for name, stream in streams.items():
        threading.Thread(target=_read, args=(name, stream, lines), daemon=True).start()
    said: list[tuple[str, str]] = []
    for _ in streams:
        while (line := lines.get()) is not None:
            said.append(line)
            progress(line[1])
    return said


def _read(name: str, stream: IO[str], lines: queue.SimpleQueue[tuple[str, str] | None]) -> None:
    with stream:
        for line in stream:
            lines.put((name, line.rstrip("\n")))
    lines.put(None)


def _end(child: subprocess.Popen[str]) -> None:
    """End a build that is not waited for any more; SCons ends its own steps."""
    if child.poll() is None:
        child.terminate()
        child.wait()
