"""Stand-in for `aie-opt`: it verifies superficially (brackets, calls of what is declared) and prints what it read.

Asked to lower a kernel, it leaves the text as it is: the stand-in for aie-translate reads it so.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from module_text import ModuleTextError, read_module
from stand_in import begin, write

TOOL = "aie-opt"


def main() -> int:
    """Verify a file; return the exit status."""
    argv = begin(TOOL, "LLVM (http://llvm.org/):\n  LLVM version 23.0.0git")
    files = [word for place, word in enumerate(argv) if not word.startswith("-") and argv[place - 1 : place] != ["-o"]]
    if not files or not Path(files[0]).is_file():
        sys.stderr.write(f"{TOOL}: could not open input file '{files[0] if files else '-'}'\n")
        return 1
    text = Path(files[0]).read_text()
    lowers = any(word.startswith("--pass-pipeline=") for word in argv)
    try:
        if not lowers:
            read_module(text, files[0])
    except ModuleTextError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if "-o" in argv:
        write(TOOL, Path(argv[argv.index("-o") + 1]), text.encode())
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
