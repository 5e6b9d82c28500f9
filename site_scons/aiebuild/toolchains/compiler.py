"""What compilers have in common: the toolchain as a value, and the commands as pure functions of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiebuild.model import Compilation

Command = tuple[str, ...]


@dataclass(frozen=True)
class Toolchain:
    """The programs that make objects for one arch, found and identified.

    `default_flags` come before everything that a recipe says. `identity` is the digest of the programs, and part of
    the signature of each step that runs them. `system_dirs` are the folders that the compiler itself searches for
    headers, in order.
    """

    name: str
    arch: str
    compiler: str
    archiver: str
    objcopy: str
    default_flags: tuple[str, ...]
    identity: str
    system_dirs: tuple[str, ...] = ()


def compile_command(toolchain: Toolchain, compilation: Compilation, source: str, output: str, depfile: str) -> Command:
    """Return the argv that compiles `source` to `output` and writes the headers that it read to `depfile`."""
    return (
        toolchain.compiler,
        *toolchain.default_flags,
        *(_define(name, value) for name, value in compilation.defines),
        *(f"-I{folder}" for folder in compilation.include_dirs),
        *compilation.flags,
        *("-c", source, "-o", output, "-MD", "-MF", depfile),
    )


def rename_command(toolchain: Toolchain, compilation: Compilation, output: str) -> Command:
    """Return the argv that gives the object's functions their prefix, in place."""
    renames = tuple(f"--redefine-sym={old}={new}" for old, new in compilation.renames)
    return (toolchain.objcopy, *renames, output)


def archive_command(toolchain: Toolchain, members: tuple[str, ...], output: str) -> Command:
    """Return the argv that makes a new archive; `D` leaves out times and owners, so equal members give equal bytes."""
    return (toolchain.archiver, "rcsD", output, *members)


def _define(name: str, value: str | None) -> str:
    return f"-D{name}" if value is None else f"-D{name}={value}"
