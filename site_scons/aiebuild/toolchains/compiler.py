"""What compilers have in common: the toolchain as a value, and the commands as pure functions of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError

if TYPE_CHECKING:
    from aiebuild.model import Compilation

Command = tuple[str, ...]


@dataclass(frozen=True)
class Toolchain:
    """The programs that make objects for one arch, found and identified.

    `default_flags` come before everything that a recipe says. `identity` is the digest of the programs, and part of
    the signature of each step that runs them. `system_dirs` are the folders that the compiler itself searches for
    headers, in order. `nm` lists symbols; it and `objcopy` are empty where the toolchain has none. A compiler without
    depfiles has its headers scanned instead; one that is `exclusive` must not run twice at the same time.
    `version` is the line that the compiler says of itself.
    `missing` is the error of a toolchain that is not there, whose commands can be shown and not run.
    """

    name: str
    arch: str
    compiler: str
    archiver: str
    objcopy: str
    default_flags: tuple[str, ...]
    identity: str
    system_dirs: tuple[str, ...] = ()
    nm: str = ""
    has_depfiles: bool = True
    exclusive: bool = False
    missing: str = ""
    version: str = ""


def compile_command(toolchain: Toolchain, compilation: Compilation, source: str, output: str, depfile: str) -> Command:
    """Return the argv that compiles `source` to `output` and writes the headers that it read to `depfile`.

    A compiler that writes no depfiles is not asked for one.
    """
    return _compile(toolchain, compilation, ("-c",), (source, output, depfile))


def inline_command(toolchain: Toolchain, compilation: Compilation, source: str, output: str, depfile: str) -> Command:
    """Return the argv that compiles `source` to LLVM IR in text: a kernel that is merged into the core that calls it.

    Raises:
        ToolchainError: this compiler writes no LLVM IR that a core could take.
    """
    if toolchain.name == "chess":
        raise ToolchainError("inline kernels need Peano: Chess writes no LLVM IR that its cores could take")
    return _compile(toolchain, compilation, ("-S", "-emit-llvm"), (source, output, depfile))


def _compile(toolchain: Toolchain, compilation: Compilation, stage: Command, files: tuple[str, str, str]) -> Command:
    """Return the argv of one stage; the files are the source, the output and the depfile."""
    source, output, depfile = files
    return (
        toolchain.compiler,
        *toolchain.default_flags,
        *(_define(name, value) for name, value in compilation.defines),
        *(f"-I{folder}" for folder in compilation.include_dirs),
        *compilation.flags,
        *(*stage, source, "-o", output),
        *(("-MD", "-MF", depfile) if toolchain.has_depfiles else ()),
    )


def rename_command(toolchain: Toolchain, compilation: Compilation, output: str) -> Command:
    """Return the argv that gives the object's functions their prefix, in place.

    objcopy says nothing of a symbol that is not there: what the object defines must be checked.

    Raises:
        ToolchainError: the toolchain has no objcopy.
    """
    if not toolchain.objcopy:
        hint = "install the mlir_aie wheel (llvm-objcopy is there, not in llvm-aie), or leave out symbol_prefix"
        raise ToolchainError(f"symbol_prefix needs objcopy, and {toolchain.name} has none", hint=hint)
    renames = tuple(f"--redefine-sym={old}={new}" for old, new in compilation.renames)
    return (toolchain.objcopy, *renames, output)


def archive_command(toolchain: Toolchain, members: tuple[str, ...], output: str) -> Command:
    """Return the argv that makes a new archive; `D` leaves out times and owners, so equal members give equal bytes."""
    return (toolchain.archiver, "rcsD", output, *members)


def _define(name: str, value: str | None) -> str:
    return f"-D{name}" if value is None else f"-D{name}={value}"
