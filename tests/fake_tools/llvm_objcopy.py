"""Stand-in for `llvm-objcopy`: the host's `objcopy` does the work, on an object that it takes for its own.

A symbol to be renamed that is not there is no error, as with the real one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin, mark_machine, spoil, unmark_machine

TOOL = "llvm-objcopy"
TAKE_A_VALUE = ("--redefine-sym", "--redefine-syms", "--prefix-symbols", "--add-section")


def main() -> int:
    """Do as asked; return the exit status."""
    options, files = split(begin(TOOL))
    if not files:
        sys.stderr.write(f"{TOOL}: no input file specified\n")
        return 1
    source, output = Path(files[0]), Path(files[-1])
    if not source.is_file():
        sys.stderr.write(f"{TOOL}: '{source}': No such file or directory\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "x.o")
        shutil.copyfile(source, copy)
        arch = unmark_machine(copy)
        status = subprocess.run(["objcopy", *options, copy], check=False).returncode
        if status != 0:
            return status
        if arch:
            mark_machine(copy, arch)
        shutil.copyfile(copy, output)
    spoil(TOOL, output)
    return 0


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Return the options, with their values, and the files."""
    options: list[str] = []
    files: list[str] = []
    words = iter(argv)
    for word in words:
        if word in TAKE_A_VALUE:
            options += [word, next(words, "")]
        elif word.startswith("-"):
            options.append(word)
        else:
            files.append(word)
    return options, files


if __name__ == "__main__":
    sys.exit(main())
