"""The running Python as a tool: which interpreter, which sources of aiebuild, which versions of what they import."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.fingerprint import digest_of

if TYPE_CHECKING:
    from aiebuild.fingerprint import Fingerprints

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PythonTool:
    """A part of aiebuild that runs as a step: `python -m aiebuild.<part> <command>`."""

    interpreter: str
    part: str
    identity: str

    def command(self, *arguments: str) -> tuple[str, ...]:
        """Return the argv of a command of this part."""
        return (self.interpreter, "-m", f"aiebuild.{self.part}", *arguments)


IMPORTED = {
    "mlir": (),
    "host": ("mlir", "generate"),
    "npu": ("mlir", "toolchains", "inspect"),
    "generate": (),
    "manifest_step": ("mlir", "inspect"),
    "package": ("inspect", "data/package"),
}
"""The further folders of the package that a part imports from."""

VARIABLES = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONSAFEPATH": "1"}
"""Where a step's Python finds this very aiebuild; the current folder is not searched for modules.

They are no part of a signature: the identity of the tool is.
"""


def python_tool(part: str, needs: tuple[str, ...], fingerprints: Fingerprints) -> PythonTool:
    """Return a part of aiebuild as an identified tool.

    Args:
        part: the package below aiebuild, for example `mlir`.
        needs: the distributions that its results depend on, by the names of their `.dist-info` folders.
        fingerprints: digests of files, remembered.
    """
    folders = ("", *IMPORTED.get(part, ()), part)
    sources = {path for folder in folders for path in PACKAGE.glob(f"{folder}/**/*.py" if folder else "*.py")}
    # Names below the package: where it is installed makes no difference.
    code = [f"{path.relative_to(PACKAGE).as_posix()} {fingerprints.of(str(path))}" for path in sorted(sources)]
    versions = _versions(frozenset(needs))
    identity = digest_of("\n".join([sys.version, *code, *versions]).encode())
    return PythonTool(sys.executable, part, identity)


def _versions(needs: frozenset[str]) -> list[str]:
    """Return `name-version` of installed distributions; importlib.metadata would cost a null build 20 ms."""
    found: dict[str, str] = {}
    for folder in sys.path:
        for entry in _entries(folder):
            name, _, version = entry.removesuffix(".dist-info").partition("-")
            if entry.endswith(".dist-info") and name.lower() in needs:
                found.setdefault(name.lower(), version)
    return [f"{name}-{found.get(name, 'absent')}" for name in sorted(needs)]


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder or "."))  # noqa: PTH208 - names alone; Path objects would cost five times as much
    except OSError:
        return []
