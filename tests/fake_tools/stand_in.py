"""What the stand-ins for the NPU tools have in common: they decide by argv, cwd and inputs, and log each call.

`AIE_STUB_LOG` names a file that gets one JSON line a call, `AIE_STUB_FAIL`, `AIE_STUB_SILENT` and `AIE_STUB_SLEEP`
name a tool that is to fail, to write nothing, or to take its time (`tool:seconds`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def begin(tool: str) -> list[str]:
    """Log this call, misbehave if told to, and return the arguments."""
    argv = sys.argv[1:]
    log = os.environ.get("AIE_STUB_LOG")
    if log:
        line = json.dumps({"tool": tool, "argv": argv, "cwd": str(Path.cwd())}) + "\n"
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(descriptor, line.encode())
        os.close(descriptor)
    if "--version" in argv:
        sys.stdout.write(f"{tool} stand-in version {os.environ.get('AIE_STUB_VERSION', '1')}\n")
        sys.exit(0)
    name, _, seconds = os.environ.get("AIE_STUB_SLEEP", "").partition(":")
    if name == tool:
        time.sleep(float(seconds))
    if os.environ.get("AIE_STUB_FAIL") == tool:
        sys.exit(f"{tool}: told to fail")
    if os.environ.get("AIE_STUB_SILENT") == tool:
        sys.exit(0)
    return argv
