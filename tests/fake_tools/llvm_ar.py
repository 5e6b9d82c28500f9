"""Stand-in for Peano's `llvm_ar`: the host's `ar` does the work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin

if __name__ == "__main__":
    sys.exit(subprocess.run(["ar", *begin("llvm_ar".replace("_", "-"))], check=False).returncode)
