"""Stand-in for Peano's `ld.lld`: it is only asked for its version; the stand-in for aiecc links by itself."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin

if __name__ == "__main__":
    begin("ld.lld", "LLD 21.0.0 (compatible with GNU linkers)")
    sys.exit("ld.lld: error: the stand-in does not link")
