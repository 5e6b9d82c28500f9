"""The command `aiebuild` where it is not on `PATH`: `python -m aiebuild VERB ...`."""

from __future__ import annotations

import sys

from aiebuild.cli import main

if __name__ == "__main__":
    sys.exit(main())
