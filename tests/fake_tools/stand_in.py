"""What the stand-ins for the NPU tools have in common: they decide by argv, cwd and inputs, and log each call.

A launcher may give constants before the user's arguments, as words `@name=value`: they are part of the installation,
not of the call, and are not logged. These variables tell a stand-in where to log and how to misbehave:

- `AIE_STUB_LOG`: a file that gets one JSON line a call;
- `AIE_STUB_FAIL=tool[:nth]`: exit 1 with nothing written, always or at the nth call of the log;
- `AIE_STUB_SILENT=tool`: exit 0 with nothing written;
- `AIE_STUB_PARTIAL=tool[:kill]`: write half of an output, then exit 1, or kill itself;
- `AIE_STUB_SLEEP=tool:seconds`: take its time;
- `AIE_STUB_LITTER=1`: write into the working folder as well;
- `AIE_STUB_VERSION=text`: what it says of itself.

Several tools are separated by commas.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path

VARIABLES = ("PEANO_INSTALL_DIR", "MLIR_AIE_INSTALL_DIR", "AIETOOLS_ROOT", "VIRTUAL_ENV", "PATH", "PYTHONHASHSEED")
AIE_MACHINE = 264
AIE_FLAGS = {"aie2": 2, "aie2p": 3}
"""`e_machine` and `e_flags` of the objects of the real compiler (llvm-aie's `BinaryFormat/ELF.h`)."""


def constants() -> dict[str, str]:
    """Return what the launcher says of this installation."""
    words = [word[1:].partition("=") for word in sys.argv[1:] if word.startswith("@")]
    return {name: value for name, _, value in words}


def version_text(default: str) -> str:
    """Return the version that this stand-in has."""
    return os.environ.get("AIE_STUB_VERSION", default)


def begin(tool: str, version: str = "") -> list[str]:
    """Log this call, misbehave if told to, and return the arguments.

    `version` is the text that `--version` prints; a line with the tool's name where it is left out.
    """
    argv = [word for word in sys.argv[1:] if not word.startswith("@")]
    count = _log(tool, argv)
    if "--version" in argv:
        sys.stdout.write((version or f"{tool} stand-in version {version_text('1')}") + "\n")
        sys.exit(0)
    for seconds in told("SLEEP", tool):
        time.sleep(float(seconds))
    for nth in told("FAIL", tool):
        if not nth or int(nth) == count:
            sys.exit(f"{tool}: told to fail")
    if told("SILENT", tool):
        sys.exit(0)
    return argv


def told(fault: str, tool: str) -> list[str]:
    """Return the details of a fault that this tool is told to have; none where it is not."""
    words = [word.partition(":") for word in os.environ.get(f"AIE_STUB_{fault}", "").split(",")]
    return [detail for name, _, detail in words if name == tool]


def litters() -> bool:
    """Return whether files are to be left in the working folder."""
    return os.environ.get("AIE_STUB_LITTER") == "1"


def _log(tool: str, argv: list[str]) -> int:
    """Write a line for this call; return how many calls of this tool the log has now."""
    log = os.environ.get("AIE_STUB_LOG")
    if not log:
        return 1
    chosen = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    line = json.dumps({"tool": tool, "argv": argv, "cwd": str(Path.cwd()), "env": chosen}) + "\n"
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, line.encode())
    os.close(descriptor)
    calls = [json.loads(text) for text in Path(log).read_text(encoding="utf-8").splitlines()]
    return sum(call["tool"] == tool and "--version" not in call["argv"] for call in calls)


def write(tool: str, path: Path, data: bytes) -> None:
    """Write an output, or half of it if told so."""
    partial = told("PARTIAL", tool)
    if not partial:
        path.write_bytes(data)
        return
    path.write_bytes(data[: len(data) // 2])
    stop(tool, partial[0])


def spoil(tool: str, path: Path) -> None:
    """Cut an output that another program wrote in half, if told so, and end."""
    partial = told("PARTIAL", tool)
    if partial:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        stop(tool, partial[0])


def stop(tool: str, how: str) -> None:
    """End as if something had gone wrong in the middle."""
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(f"{tool}: told to stop half-way")


def mark_machine(obj: Path, arch: str) -> None:
    """Make an object of this machine's one of the array's, as far as its header says."""
    data = bytearray(obj.read_bytes())
    struct.pack_into("<H", data, 18, AIE_MACHINE)
    struct.pack_into("<I", data, 48, AIE_FLAGS[arch])
    obj.write_bytes(data)


def unmark_machine(obj: Path) -> str:
    """Make an object of the array's one of this machine's again, for its own tools; return the arch, if it had one."""
    data = bytearray(obj.read_bytes())
    if data[:4] != b"\x7fELF" or struct.unpack_from("<H", data, 18)[0] != AIE_MACHINE:
        return ""
    flags = struct.unpack_from("<I", data, 48)[0]
    with Path(sys.executable).resolve().open("rb") as python:
        data[18:20] = python.read(20)[18:20]
    struct.pack_into("<I", data, 48, 0)
    obj.write_bytes(data)
    return next(arch for arch, number in AIE_FLAGS.items() if number == flags)
