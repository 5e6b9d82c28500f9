"""What the stand-ins for the compilers share: the host's compiler makes the object, which is then marked."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from stand_in import mark_machine

if TYPE_CHECKING:
    from pathlib import Path


def make_object(argv: list[str], output: Path, arch: str, compiler: str) -> int:
    """Compile with these arguments of the host's compiler, and mark what came out; return the exit status."""
    status = subprocess.run(["g++", *argv], check=False).returncode
    if status == 0:
        add_section(output, ".aie_target", f"{arch}-none-unknown-elf")
        add_section(output, ".aie_compiler", f"compiled by {compiler}")
        mark_compiler(output, compiler)
        mark_machine(output, arch)
    return status


def mark_compiler(obj: Path, compiler: str) -> None:
    """Leave what the compiler leaves in its objects: a line in `.comment`, or sections of its own."""
    if compiler == "chess":
        for name in (".tctmemtab", ".chesstypeannotationtab"):
            add_section(obj, name, "of Chess alone")
        return
    subprocess.run(["objcopy", "--remove-section=.comment", obj], check=True)
    add_section(obj, ".comment", "clang (llvm-aie, stand-in)")


def add_section(obj: Path, name: str, text: str) -> None:
    """Add a section with a text."""
    file = obj.with_name(f"{obj.name}{name}")
    file.write_text(text)
    subprocess.run(["objcopy", f"--add-section={name}={file}", obj], check=True)
    file.unlink()


def symbols(path: Path) -> list[tuple[str, str]]:
    """Return the exported symbols of an object or archive and those that it needs: kind (as nm says) and name."""
    said = subprocess.run(["nm", "-P", "-g", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return [(row[1], row[0]) for row in rows if len(row) > 1 and len(row[1]) == 1]
