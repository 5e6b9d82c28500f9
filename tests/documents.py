"""Documents as tests: the files that they show are written, their commands run, and what they show is what is said.

What a document may hold, each comment on a line of its own:

- `<!-- start: clone -->` or `<!-- start: empty folder -->` begins a new working folder: a copy of the project's own
  `SConstruct`, licence, designs, docs, kernels and templates, or nothing.
- A code block after a line that ends in a name, as in "Write `kernels/add.cc`:", is written to that file.
- A block ```` ```console ```` has commands, `$ scons list`, each with the output that is expected below it. `…` or
  `...` in a line stands for anything, and alone in a line for any number of lines. Seconds are not compared.
- A block ```` ```sh ```` has commands that must succeed, whatever they print.
- `<!-- tools: stand-ins -->`: from here on there is a toolchain for the NPU, which stands in for the real one.
- `<!-- not run: why -->` before a block of commands: it is not run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from installations import install
from projects import PACKAGE, REPOSITORY, SECONDS, Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COMMANDS = frozenset({"console", "sh"})
"""Languages of blocks that are commands."""

CLONE = ("SConstruct", "LICENSE", "designs", "docs", "kernels", "templates")
FENCE = re.compile(r"^ *```(\w*)\s*$")
COMMENT = re.compile(r"^<!-- (start|tools|not run): (.+) -->$")
NAMED = re.compile(r"`([\w./-]+)`:$")
VALUES = {"start": ("clone", "empty folder"), "tools": ("stand-ins",)}
"""What the comments may say."""

PROMPT = "$ "
FAILS = re.compile(r"error|stale|failed|false")
"""What a command shows that may end with a status other than 0."""


@dataclass(frozen=True)
class Block:
    """A code block.

    Args:
        line: where it begins, from 1.
        language: what stands behind the fence.
        text: what it holds.
        name: the file that the line above names, or nothing.
        reason: why its commands are not run, or nothing.
    """

    line: int
    language: str
    text: str
    name: str = ""
    reason: str = ""

    @property
    def is_commands(self) -> bool:
        """Whether it has commands, run or not; a block without a language must have none."""
        return self.language in COMMANDS or (not self.language and f"\n{PROMPT}" in f"\n{self.text}")


@dataclass(frozen=True)
class Comment:
    """A comment that says how the blocks after it are to be taken: `start`, `tools`."""

    line: int
    kind: str
    value: str


@dataclass(frozen=True)
class Command:
    """A command, and the lines that it is said to print; None where that is left open."""

    line: int
    text: str
    shown: tuple[str, ...] | None


def documents() -> list[Path]:
    """Return the documents of this repository, sorted."""
    return [REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]


def read(text: str) -> Iterator[Block | Comment]:
    """Give the code blocks and the comments of a document, in order."""
    lines = text.splitlines()
    above, reason = "", ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if fence := FENCE.match(line):
            end = next(n for n in range(number, len(lines)) if lines[n].strip() == "```")
            named = NAMED.search(above)
            body = "".join(f"{body}\n" for body in lines[number:end])
            yield Block(number, fence[1], body, named[1] if named else "", reason)
            number, above, reason = end + 1, "", ""
        elif comment := COMMENT.match(line):
            if comment[1] == "not run":
                reason = comment[2]
            else:
                assert comment[2] in VALUES[comment[1]], f"line {number}: {line}"
                yield Comment(number, comment[1], comment[2])
        elif line.strip():
            above, reason = line, ""


def commands(block: Block) -> Iterator[Command]:
    """Give the commands of a block; a line that ends in a backslash goes on in the next."""
    if block.language == "sh":
        for number, line in enumerate(block.text.splitlines(), block.line + 1):
            yield Command(number, line, None)
        return
    lines = block.text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith(PROMPT)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = start
        while lines[last].endswith("\\"):
            last += 1
        words = "\n".join(lines[start : last + 1])
        yield Command(block.line + 1 + start, words.removeprefix(PROMPT), tuple(lines[last + 1 : end]))


def agrees(shown: Sequence[str], said: str) -> bool:
    """Return whether what a command said is what a document shows."""
    rows = [_pattern(line) for line in shown]
    text = "".join(f"{line.rstrip()}\n" for line in said.rstrip().splitlines())
    return re.fullmatch("".join(rows), _without_seconds(text)) is not None


def _pattern(line: str) -> str:
    if line.strip() in {"...", "…"}:
        return r"(?:.*\n)*?"
    words = re.split(r"\.\.\.|…", _without_seconds(line.rstrip()))
    return ".*".join(map(re.escape, words)) + r"\n"


def _without_seconds(text: str) -> str:
    return re.sub(r"\b\d+(\.\d+)? s\b", "0 s", text)


class Reader:
    """Somebody who does what a document says, in folders of his own.

    Args:
        folder: an empty folder.
        seconds: how long a command may take.
    """

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self.folder = folder
        self.seconds = seconds
        self.project: Project | None = None
        self.count = 0
        self.programs = _programs(folder / "bin")

    def follow(self, text: str) -> list[str]:
        """Do all that a document says; return what is not as it says, with the line of each."""
        wrong: list[str] = []
        for part in read(text):
            if isinstance(part, Comment):
                self.prepare(part)
            elif part.language in COMMANDS and not part.reason:
                wrong += [fault for command in commands(part) if (fault := self.run(command))]
            elif part.name and self.project is not None:
                self.project.write(part.name, part.text)
        return wrong

    def prepare(self, comment: Comment) -> None:
        """Begin a new working folder, or get the tools."""
        if comment.kind == "start":
            self.count += 1
            self.project = Project(self.folder / f"folder {self.count}" / "project")
            self.project.root.mkdir(parents=True)
            for name in CLONE if comment.value == "clone" else ():
                copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy
                copy(REPOSITORY / name, self.project.root / name)
            return
        assert self.project is not None, f"line {comment.line}: tools before a start"
        self.project.variables |= install(self.folder / f"tools {self.count}").variables

    def run(self, command: Command) -> str:
        """Run a command; return what is wrong with it, or nothing."""
        assert self.project is not None, f"line {command.line}: a command before a start"
        process = subprocess.Popen(
            ["sh", "-c", command.text],
            cwd=self.project.root,
            env=self.environment(self.project),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            told, _ = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return f"line {command.line}: $ {command.text}\ndoes not end by itself"
        said = told.replace(str(self.project.root), "/home/me/project")
        shown = command.shown or ()
        if process.returncode and not FAILS.search("\n".join(shown)):
            return f"line {command.line}: $ {command.text}\nends with status {process.returncode}:\n{said}"
        if command.shown is not None and not agrees(shown, said):
            return f"line {command.line}: $ {command.text}\nsays\n{said}"
        return ""

    def environment(self, project: Project) -> dict[str, str]:
        """Return the variables of a command: SCons without its own lines, and the programs of this Python."""
        path = os.pathsep.join((str(self.programs), os.environ.get("PATH", "")))
        return project.environment | {"PATH": path, "SCONSFLAGS": "-Q"}


def _programs(folder: Path) -> Path:
    """Write launchers of what `pip install` puts on the `PATH`, for this Python and this package."""
    folder.mkdir(parents=True)
    aiebuild = "-c 'import sys; from aiebuild.cli import main; sys.exit(main())'"
    words = {"scons": "-m SCons", "aiebuild": aiebuild, "python": "", "python3": ""}
    for name, arguments in words.items():
        launcher = folder / name
        launcher.write_text(f'#!/bin/sh\nPYTHONPATH="{PACKAGE}" exec "{sys.executable}" {arguments} "$@"\n')
        launcher.chmod(0o755)
    return folder
