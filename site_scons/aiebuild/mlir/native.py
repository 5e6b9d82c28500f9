"""Reading a module with a tool of MLIR's own: for what the built-in reader does not know."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError, ToolchainError
from aiebuild.mlir.attributes import quote
from aiebuild.mlir.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.errors import Location
    from aiebuild.mlir.ir import Module

_FLAGS = ("--mlir-print-op-generic", "--mlir-print-local-scope", "--mlir-print-debuginfo")
_DIAGNOSTIC = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): error: (?P<message>.*)$", re.MULTILINE)
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
_AIE_OP = re.compile(r"\baiex?\.")
_STABLEHLO_OP = re.compile(r"\b(?:stablehlo|chlo|vhlo)\.")
_ADVICE = {
    "aie": "`aie-opt` (mlir-aie)",
    "stablehlo": "`iree-opt` (the Python package iree-base-compiler)",
    "upstream": "`mlir-opt` (for example Debian's mlir-22-tools)",
}
_DEVICE = re.compile(r"\baie\.device\s*\(\s*(\w+)\s*\)")
_SECONDS = 120


class UnsupportedError(MlirError):
    """Text that the built-in reader does not know; it may be right, and a native tool may read it."""


@dataclass(frozen=True)
class NativeTool:
    """A program that reads and prints MLIR.

    Attributes:
        command: the argument vector's beginning: the program, and options that it always needs.
        dialects: `aie` where it knows `aie` and `aiex`; `stablehlo`; `upstream` where it knows MLIR's own dialects.
    """

    command: tuple[str, ...]
    dialects: frozenset[str] = field(default_factory=lambda: frozenset({"upstream"}))


def read_natively(
    text: str,
    tools: tuple[NativeTool, ...],
    place: Callable[[int, int], Location],
    reason: UnsupportedError,
) -> Module:
    """Read a module with the first tool that knows its dialects.

    Args:
        text: the whole text.
        tools: what there is.
        place: gives the user's own place for a line and a column of the text.
        reason: why the built-in reader did not do it: raised, with the tool to install, if no tool fits.

    Raises:
        MlirError: no tool fits, or the tool refused the text.
        ToolchainError: the tool cannot be run.
    """
    plain = _COMMENT_OR_STRING.sub("", text)
    needed = "aie" if _AIE_OP.search(plain) else "stablehlo" if _STABLEHLO_OP.search(plain) else "upstream"
    tool = next((tool for tool in tools if needed in tool.dialects), None)
    if tool is None:
        raise UnsupportedError(reason.message, reason.where, _advice(reason.hint, needed))
    module = parse(_run(tool, text, place))
    _name_devices(module, _DEVICE.findall(plain))
    return module


def _advice(hint: str, needed: str) -> str:
    """Return the hint, and the tool that would help."""
    tool = _ADVICE[needed]
    return f"{hint} If not, install {tool}" if hint else f"install {tool}, which knows all of it"


def _run(tool: NativeTool, text: str, place: Callable[[int, int], Location]) -> str:
    """Return the generic text that the tool prints, with locations."""
    with tempfile.TemporaryDirectory(prefix="aiebuild-") as folder:
        source, output = Path(folder, "input.mlir"), Path(folder, "output.mlir")
        source.write_text(text, encoding="utf-8")
        command = (*tool.command, str(source), *_FLAGS, "-o", str(output))
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(f"{tool.command[0]} cannot be run: {error}") from None
        if done.returncode != 0:
            raise _refused(tool, done.stderr, place)
        return output.read_text(encoding="utf-8")


def _refused(tool: NativeTool, stderr: str, place: Callable[[int, int], Location]) -> MlirError:
    """Return the error of a text that the tool refused: its first message, at the user's own line."""
    match = _DIAGNOSTIC.search(stderr)
    if match is None:
        return MlirError(f"{Path(tool.command[0]).name} failed: {stderr.strip() or 'it says nothing'}")
    return MlirError(match["message"], place(int(match["line"]), int(match["column"])))


def _name_devices(module: Module, names: list[str]) -> None:
    """Replace the numbers of devices, which depend on the tool's version, by the names in the text."""
    devices = [op for op in module.walk() if op.name == "aie.device"]
    for op, name in zip(devices, names, strict=len(devices) == len(names)):
        if not op.properties.get("device", "").startswith('"'):
            op.properties["device"] = quote(name)
