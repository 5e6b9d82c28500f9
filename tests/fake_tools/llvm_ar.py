"""Stand-in for Peano's `llvm-ar`: the host's `ar` does the work; `r` replaces and adds members, and removes none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin, spoil

TOOL = "llvm-ar"


def main() -> int:
    """Do as asked; return the exit status."""
    argv = begin(TOOL)
    status = subprocess.run(["ar", *argv], check=False).returncode
    if status == 0 and len(argv) > 1 and "r" in argv[0]:
        spoil(TOOL, Path(argv[1]))
    return status


if __name__ == "__main__":
    sys.exit(main())
