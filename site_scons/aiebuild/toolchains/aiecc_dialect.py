"""Which of its five argument dialects an installed `aiecc` speaks: from what it says of itself.

The dialects, and what tells them apart, are those of mlir-aie's history: a Python program (A, until 2026-03), a C++
one with the same names (B, from 2026-02), a declarative driver with B's names (C0, from 2026-07-17), the same with
output selectors (C1, from 2026-07-21, #3364), and with Peano as its default (C2, from 2026-08-05, #3501).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError, did_you_mean
from aiebuild.fingerprint import digest_of
from aiebuild.toolchains.asking import ask, libraries, option_names, remembered

if TYPE_CHECKING:
    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints
    from aiebuild.toolchains.asking import Record


class Dialect(Enum):
    """A way of spelling the arguments of aiecc; later ones are newer."""

    A = "A"
    B = "B"
    C0 = "C0"
    C1 = "C1"
    C2 = "C2"

    def __str__(self) -> str:
        """Return the name that messages use."""
        return self.value

    @property
    def is_declarative(self) -> bool:
        """Whether it is the driver that honours absolute names of outputs and has `--output-dir`."""
        return self in {Dialect.C0, Dialect.C1, Dialect.C2}

    @property
    def has_selectors(self) -> bool:
        """Whether outputs are chosen by `--get-<name>`."""
        return self in {Dialect.C1, Dialect.C2}

    @property
    def prefers_chess(self) -> bool:
        """Whether Chess compiles the cores unless it is told otherwise."""
        return self is not Dialect.C2


DECLARATIVE = "declarative driver"
OLD = "--aie-generate-npu"
GENERATE = "--aie-generate-xclbin"
INSTS = "--aie-generate-npu-insts"
NO_CHESS = "--no-xchesscc"


def detect(said_aie_version: str, said_version: str, said_help: str, *, program: str = "aiecc") -> Dialect:
    """Return the dialect, from the texts that a program printed.

    Args:
        said_aie_version: of `--aie-version`; A does not know it, and says how it is used.
        said_version: of `--version`; the others print LLVM's there.
        said_help: of `--help`.
        program: its path, for messages.

    Raises:
        ToolchainError: it is older than A as we know it (before 2025-03), or it is no aiecc.
    """
    listed = option_names(said_help)
    if DECLARATIVE in said_aie_version:
        return _declarative(listed)
    if GENERATE not in listed:
        hint = "name aiecc of mlir-aie (bin/aiecc, or bin/aiecc.py of an old one), or its dialect"
        raise ToolchainError(f"{program} is no aiecc that is known: its --help does not list {GENERATE}", hint=hint)
    if INSTS not in listed:
        hint = "install mlir-aie of 2025-03 or later"
        raise ToolchainError(f"{program} is too old: it has {OLD} and not {INSTS}", hint=hint)
    if "C++ version" in said_aie_version:
        return Dialect.B
    python = said_version.lstrip().startswith("aiecc") or said_help.lstrip().startswith("usage:")
    return Dialect.A if python else Dialect.B


def _declarative(listed: frozenset[str]) -> Dialect:
    if GENERATE in listed:
        return Dialect.C0
    return Dialect.C1 if NO_CHESS in listed else Dialect.C2


def dialect_named(text: str) -> Dialect:
    """Return the dialect that a user names instead of the one that is detected.

    Raises:
        ToolchainError: there is no such dialect.
    """
    names = {dialect.value: dialect for dialect in Dialect}
    found = names.get(text.upper())
    if found is None:
        raise ToolchainError(f"aiecc has no dialect {text!r}", hint=did_you_mean(text, names))
    return found


@dataclass(frozen=True)
class Aiecc:
    """An installed aiecc, known.

    Args:
        path: where the program is, absolute.
        dialect: how its arguments are spelt.
        version: the line that it says of itself.
        revision: the commit that it was made from, as far as it says so, else empty.
        identity: the digest of the program, part of the signature of each step that runs it.
        listed: the options that its `--help` lists, with dashes; `--get-<name>` is never among them.
    """

    path: str
    dialect: Dialect
    version: str = ""
    revision: str = ""
    identity: str = ""
    listed: frozenset[str] = frozenset()


NOMINAL = Aiecc("<mlir_aie>/bin/aiecc", Dialect.C2, identity="missing")
"""The aiecc whose commands are shown where none is installed: the newest one."""


def probe(
    path: str,
    environment: Environment,
    fingerprints: Fingerprints,
    memory: Path,
    *,
    dialect: str = "",
    extra: tuple[str, ...] = (),
) -> Aiecc:
    """Return what an aiecc is; it is run only when it, or one of its parts, has changed since the last time.

    Args:
        path: the absolute path of the program.
        environment: what it is run with.
        fingerprints: digests of files, remembered by size, mtime, ctime and inode.
        memory: the JSON file that remembers what it said.
        dialect: the name of the dialect, where it is not to be detected.
        extra: further programs that the same steps run: Peano's `opt`, `llc` and linker, `xclbinutil`, `aie-opt`.

    Raises:
        ToolchainError: it does not run, is no aiecc, or there is no dialect of that name.
    """
    asked = dialect_named(dialect) if dialect else None
    variables = environment.for_steps()
    said = remembered(memory, path, _own_parts(path), fingerprints, lambda: _ask(path, variables))
    texts = {name: str(said.get(name, "")) for name in ("aie_version", "version", "help")}
    found = asked or detect(texts["aie_version"], texts["version"], texts["help"], program=path)
    version = texts["version"] if found is Dialect.A else texts["aie_version"]
    libraries_ = said.get("libraries")
    parts = (*_own_parts(path), *(str(item) for item in libraries_), *extra) if isinstance(libraries_, list) else extra
    identity = digest_of(f"{found} {_plain(version)} {fingerprints.of_all(set(parts))}".encode())
    return Aiecc(path, found, _version_line(version), revision_of(version), identity, option_names(texts["help"]))


def _ask(path: str, variables: dict[str, str]) -> Record:
    return {
        "aie_version": ask((path, "--aie-version"), variables).text,
        "version": ask((path, "--version"), variables).text,
        "help": ask((path, "--help"), variables).text,
        "libraries": list(libraries(path, variables)),
    }


def _own_parts(path: str) -> tuple[str, ...]:
    """Return the files that are the program: itself, and the Python package of dialect A where it stands beside."""
    program = Path(path).resolve()
    package = program.parent.parent / "python" / "aie" / "compiler" / "aiecc"
    return (str(program), *sorted(str(file) for file in package.glob("*.py")))


def revision_of(said: str) -> str:
    """Return the commit in a version text: after `git SHA:`, or the last word of the first line, as hex digits."""
    found = re.search(r"git SHA:\s*([0-9a-f]{7,40})", said)
    if found is not None:
        return found[1]
    found = re.search(r"^aiecc\S*(?: \(C\+\+ version\))? ([0-9a-f]{7,40})\s*$", said, re.MULTILINE)
    return found[1] if found is not None else ""


def _version_line(said: str) -> str:
    first = next((line.strip() for line in said.splitlines() if line.strip()), "")
    revision = revision_of(said)
    return first if not revision or revision in first else f"{first} {revision}"


def _plain(said: str) -> str:
    """Return a version text without the time at which the program was compiled: its bytes say that already."""
    return "\n".join(line for line in said.splitlines() if "compiled:" not in line)
