"""Stand-in for Peano's `llvm-nm`: the host's `nm` does the work; it knows the same options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin

if __name__ == "__main__":
    sys.exit(subprocess.run(["nm", *begin("llvm-nm")], check=False).returncode)
