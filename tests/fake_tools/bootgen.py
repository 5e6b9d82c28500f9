"""Stand-in for `bootgen -arch versal -image BIF -o PDI -w`: a digest of the BIF file stands for the PDI."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin, write

if __name__ == "__main__":
    words = begin("bootgen")
    image = Path(words[words.index("-image") + 1]).read_bytes()
    write("bootgen", Path(words[words.index("-o") + 1]), b"PDI " + hashlib.sha256(image).digest())
