"""Peano, the LLVM for AI Engines: it compiles kernels for aie2 and aie2p.

The flags are those of mlir-aie's own kernel command (`python/utils`, at 3ca0193ce), so that a command can be pasted
and compared.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.fingerprint import digest_of
from aiebuild.toolchains.asking import ask, libraries, remembered, tree_digest
from aiebuild.toolchains.compiler import Toolchain
from aiebuild.toolchains.discover import PEANO, Found, Places, find, require

if TYPE_CHECKING:
    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints
    from aiebuild.toolchains.asking import Record

FLAGS = (
    "-std=c++20",
    "-Wno-parentheses",
    "-Wno-attributes",
    "-Wno-macro-redefined",
    "-Wno-empty-body",
    "-D__AIE_API_AIE_ADF_HPP__",
)
MODE_FLAGS = {"release": ("-O2", "-DNDEBUG"), "debug": ("-O1", "-g")}
HEADERS = ("aie_api", "aie_kernels")
"""What mlir-aie ships for kernels to include: part of the identity of what compiles them."""


def target_of(arch: str) -> str:
    """Return the target triple of an arch."""
    return f"{arch}-none-unknown-elf"


def find_toolchain(
    environment: Environment,
    arch: str,
    mode: str,
    fingerprints: Fingerprints,
    memory: Path,
    *,
    places: Places | None = None,
) -> Toolchain:
    """Return Peano for one arch; a host LLVM is never taken.

    Args:
        environment: the snapshot of the process's variables.
        arch: `aie2` or `aie2p`.
        mode: `release` or `debug`.
        fingerprints: digests of files, remembered by size, mtime, ctime and inode.
        memory: a JSON file beside which what the compiler says is remembered, one file an arch.
        places: where tools are looked for; the environment and the running Python's where it is left out.

    Raises:
        ToolchainError: it is nowhere, a variable names a place that does not exist, or it lacks the arch.
    """
    looked = places or Places(environment, tuple(sys.path), sys.executable)
    compiler, archiver = _compiler(arch, looked), require("llvm-ar", looked)
    tools = {name: _path(name, looked) for name in ("llvm-nm", "llvm-objcopy", "aie_api", "aie_kernels")}
    variables = environment.for_steps()
    programs = (str(Path(compiler).resolve()), archiver, tools["llvm-nm"], tools["llvm-objcopy"])
    said = remembered(
        memory.with_name(f"{memory.stem}-{arch}.json"),
        f"{compiler} {arch}",
        programs[:1],
        fingerprints,
        lambda: _ask(compiler, arch, variables),
    )
    parts = (*filter(None, programs), *_texts(said, "libraries"))
    headers = tuple(Path(tools[name]) for name in HEADERS if tools[name])
    include = str(headers[0].parent) if headers else ""
    identity = [str(said["version"]), fingerprints.of_all(parts), tree_digest(headers, fingerprints)]
    return Toolchain(
        name="peano",
        arch=arch,
        compiler=compiler,
        archiver=archiver,
        objcopy=tools["llvm-objcopy"],
        default_flags=_default_flags(arch, mode, include),
        identity=digest_of("\n".join(identity).encode()),
        system_dirs=(*filter(None, (include,)), *_texts(said, "system_dirs")),
        nm=tools["llvm-nm"],
        version=str(said["version"]),
    )


def nominal_toolchain(arch: str, mode: str, missing: ToolchainError) -> Toolchain:
    """Return Peano as it would be, where it is not installed: for showing the commands that a build would run.

    Programs and headers stand at `<llvm-aie>` and `<mlir_aie>`; running one of them must fail with `missing`.
    """
    programs = "<llvm-aie>/bin"
    return Toolchain(
        name="peano",
        arch=arch,
        compiler=f"{programs}/clang++",
        archiver=f"{programs}/llvm-ar",
        objcopy="<mlir_aie>/bin/llvm-objcopy",
        default_flags=_default_flags(arch, mode, "<mlir_aie>/include"),
        identity="missing",
        nm=f"{programs}/llvm-nm",
        missing=str(missing),
    )


def _default_flags(arch: str, mode: str, include: str) -> tuple[str, ...]:
    headers = (f"-I{include}",) if include else ()
    return (*headers, *FLAGS, *MODE_FLAGS[mode], f"--target={target_of(arch)}")


def _compiler(arch: str, places: Places) -> str:
    """Return the compiler; the message of its absence is the same on each machine, and `doctor` knows the places."""
    found = find("clang++", places)
    if isinstance(found, Found):
        return found.path
    message = f"arch={arch} needs Peano, which is not installed"
    raise ToolchainError(message, hint=f"{PEANO.advice}; or build for arch=host. What was tried: scons doctor")


def install_dir(places: Places) -> str:
    """Return the folder of the installation whose compiler is taken: what aiecc's `--peano` names.

    Raises:
        ToolchainError: as `find_toolchain`.
    """
    return str(Path(require("clang++", places)).absolute().parents[1])


def lacks_target(compiler: str, arch: str, variables: dict[str, str]) -> ToolchainError | None:
    """Return the error of a compiler that has not got an arch; None where it has.

    Raises:
        ToolchainError: it does not run at all.
    """
    answer = ask(probe_command(compiler, arch), variables)
    if answer.status == 0:
        return None
    version = ask((compiler, "--version"), variables).first_line
    if "unknown target" in answer.text or "unable to create target" in answer.text:
        return ToolchainError(f"this Peano lacks target {arch}: {compiler} ({version})", hint=PEANO.advice)
    detail = next((line for line in answer.text.splitlines() if "error" in line), f"status {answer.status}")
    return ToolchainError(f"{compiler} does not compile for {arch}: {detail.strip()}", hint=PEANO.advice)


def probe_command(compiler: str, arch: str) -> tuple[str, ...]:
    """Return the argv that preprocesses nothing: it fails for an unknown target, and lists the header folders."""
    return (compiler, f"--target={target_of(arch)}", "-E", "-v", "-x", "c++", "-")


def _ask(compiler: str, arch: str, variables: dict[str, str]) -> Record:
    lack = lacks_target(compiler, arch, variables)
    if lack is not None:
        raise lack
    return {
        "version": ask((compiler, "--version"), variables).first_line,
        "system_dirs": list(_system_dirs(ask(probe_command(compiler, arch), variables).text)),
        "libraries": list(libraries(compiler, variables)),
    }


def _system_dirs(said: str) -> tuple[str, ...]:
    """Return the folders that `-E -v` lists between `<...> search starts here` and `End of search list`."""
    found = re.search(r"#include <\.\.\.>[^\n]*\n(.*?)\nEnd of search list", said, re.DOTALL)
    lines = found[1].splitlines() if found is not None else []
    return tuple(str(Path(line.strip()).resolve()) for line in lines)


def _path(name: str, places: Places) -> str:
    """Return where a tool is, empty where it is nowhere: not every design needs it."""
    found = find(name, places)
    return found.path if isinstance(found, Found) else ""


def _texts(said: Record, name: str) -> tuple[str, ...]:
    value = said.get(name)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
