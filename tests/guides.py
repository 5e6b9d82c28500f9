"""Guides whose commands are run: each `console` block has commands after `$`, and what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from projects import REPOSITORY, SECONDS, Project

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = {
    "scons": [sys.executable, "-m", "SCons", "-Q"],
    "aiebuild": [sys.executable, "-c", "from aiebuild.cli import main; raise SystemExit(main())"],
    "python3": [sys.executable],
}
"""What stands for the programs that guides call; SCons's banner is left out, in the guides as well."""


@dataclass(frozen=True)
class Shown:
    """A command of a guide, and the lines that it shows below it; `...` stands for any lines."""

    command: str
    lines: tuple[str, ...]

    def fits(self, said: str) -> bool:
        """Tell whether this is what was printed; times may differ, and `...` in a line stands for anything there."""
        parts = [".*" if line == "..." else _pattern(line) for line in self.lines]
        return (
            re.fullmatch("\n".join(parts).replace("\n.*", "(?:\n.*)?"), _timeless(said.strip("\n")), re.DOTALL)
            is not None
        )


def _pattern(line: str) -> str:
    return r"[^\n]*".join(re.escape(part) for part in _timeless(line).split("..."))


def _timeless(text: str) -> str:
    return re.sub(r"\(\d+\.\d+ s\)", "(0.0 s)", text)


def commands(guide: str) -> list[Shown]:
    """Return the commands of a guide's `console` blocks, in their order."""
    text = (REPOSITORY / "docs" / "guides" / guide).read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Shown(command, tuple(output.rstrip("\n").split("\n")) if output.strip() else ()))
    return found


def run(command: str, project: Project, folder: Path) -> str:
    """Run a command as people type it, in a folder; return what it prints, errors last."""
    words = shlex.split(command)
    argv = [*PROGRAMS.get(words[0], words[:1]), *words[1:]]
    variables = {**project.environment, "PATH": os.environ["PATH"]}
    done = subprocess.run(argv, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=SECONDS)
    return done.stdout + done.stderr
