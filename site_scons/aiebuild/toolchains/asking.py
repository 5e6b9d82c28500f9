"""Asking programs about themselves, and remembering the answers as long as the programs' files are the same."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.files import write_atomically
from aiebuild.fingerprint import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiebuild.fingerprint import Fingerprints

SECONDS = 60
Record = dict[str, object]


@dataclass(frozen=True)
class Answer:
    """What a program said: its exit status, and both streams as text."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Both streams, the standard output first."""
        return self.out + self.err

    @property
    def first_line(self) -> str:
        """The first line that is not empty, without the spaces around it."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")


def ask(argv: tuple[str, ...], variables: Mapping[str, str]) -> Answer:
    """Run a program that answers a question and ends; a status other than 0 is an answer too.

    Raises:
        ToolchainError: it cannot be started, or does not end within `SECONDS`.
    """
    try:
        done = subprocess.run(
            argv,
            env=dict(variables),
            input="",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise ToolchainError(f"{argv[0]} does not run: {problem}") from problem
    return Answer(done.returncode, done.stdout, done.stderr)


def remembered(
    memory: Path, key: str, parts: tuple[str, ...], fingerprints: Fingerprints, ask_anew: Callable[[], Record]
) -> Record:
    """Return the answers of a program; it is asked again only when one of its files has changed.

    Args:
        memory: the JSON file that holds the answers.
        key: what was asked, of which program: a record under another key is not used.
        parts: absolute paths of the files that the answer depends on; one that is missing is a state as well.
        fingerprints: digests of files, remembered by size, mtime, ctime and inode.
        ask_anew: runs the program and returns what is to be remembered; plain JSON values.

    Raises:
        ToolchainError: what `ask_anew` raises. Nothing is remembered then.
    """
    state = fingerprints.of_all(parts)
    known = _recall(memory)
    answered = known.get("answer")
    if known.get("key") == key and known.get("state") == state and isinstance(answered, dict):
        return answered
    answer = ask_anew()
    write_atomically(memory, json.dumps({"key": key, "state": state, "answer": answer}))
    return answer


def _recall(memory: Path) -> Record:
    try:
        known = json.loads(memory.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def libraries(program: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the shared LLVM, Clang and MLIR libraries that hold a program's code, where it is linked that way."""
    try:
        said = ask(("ldd", str(Path(program).resolve())), variables).text
    except ToolchainError:
        return ()
    found = re.findall(r"=> (\S*lib(?:LLVM|clang|MLIR|AIE|aie)\S*)", said)
    return tuple(sorted({str(Path(path).resolve()) for path in found}))


def tree_digest(folders: tuple[Path, ...], fingerprints: Fingerprints) -> str:
    """Return one digest of all files below some folders, by their names in them: the headers that a tool ships.

    Where the folders stand does not matter; one that is missing counts as empty. Python's caches are left out.
    """
    lines: list[str] = []
    for folder in folders:
        lines += [f"{folder.name}/{name} {fingerprints.of(path)}" for name, path in _files(folder)]
    return digest_of("\n".join(lines).encode())


def _files(folder: Path) -> list[tuple[str, str]]:
    """Return the files below a folder: the name in it, with forward slashes, and the path."""
    found = (path for path in folder.rglob("*") if "__pycache__" not in path.parts and path.is_file())
    return sorted((path.relative_to(folder).as_posix(), str(path)) for path in found)


def option_names(help_text: str) -> frozenset[str]:
    """Return the options that a `--help` lists, with their dashes and without their values: `--tmpdir`, `-n`."""
    return frozenset(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", help_text))
