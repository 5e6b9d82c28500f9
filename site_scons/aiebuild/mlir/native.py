"""Reading a module with a tool of MLIR's own: for what the built-in reader does not know."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import Location, MlirError, ToolchainError
from aiebuild.mlir.attributes import quote
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write
from aiebuild.mlir.write_custom import write_custom

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.mlir.ir import Module

_DEBUG = ("--mlir-print-debuginfo",)
_FLAGS = ("--mlir-print-op-generic", "--mlir-print-local-scope", *_DEBUG)
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


_OPTIONS = {"aie": "aie-opt", "stablehlo": "iree-opt", "upstream": "mlir-opt"}


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
    needed = _needed(plain)
    tool = next((tool for tool in tools if needed in tool.dialects), None)
    if tool is None:
        raise UnsupportedError(reason.message, reason.where, _advice(reason.hint, needed))
    module = parse(_run(tool, text, place, _FLAGS))
    _name_devices(module, _DEVICE.findall(plain))
    return module


def pretty(module: Module, tools: tuple[NativeTool, ...], *, locations: bool = False) -> str:
    """Return a module as the first tool that knows its dialects prints it, in custom syntax; the tool verifies it.

    Args:
        module: what is printed.
        tools: what there is.
        locations: whether each op is printed with its place.

    Raises:
        MlirError: no tool fits, or the tool refused the module: at the user's own line.
        ToolchainError: the tool cannot be run.
    """
    needed = _needed("\n".join(sorted({op.name for op in module.walk()})))
    tool = next((tool for tool in tools if needed in tool.dialects), None)
    if tool is None:
        hint = f"name {_ADVICE[needed]} with --{_OPTIONS[needed]}"
        raise UnsupportedError("no tool is named that verifies and prints this module", Location(module.file), hint)
    # Devices, ports and the like are names in the text for aie-opt: numbers depend on its version.
    text = write_custom(module) if needed == "aie" else write(module, locations=True)
    return _run(tool, text, lambda _line, _column: Location(module.file), _DEBUG if locations else ())


def _needed(text: str) -> str:
    """Return the dialect that decides which tool reads a text, comments and strings left out."""
    return "aie" if _AIE_OP.search(text) else "stablehlo" if _STABLEHLO_OP.search(text) else "upstream"


def _advice(hint: str, needed: str) -> str:
    """Return the hint, and the tool that would help."""
    tool = _ADVICE[needed]
    return f"{hint} If not, install {tool}" if hint else f"install {tool}, which knows all of it"


def _run(tool: NativeTool, text: str, place: Callable[[int, int], Location], flags: tuple[str, ...]) -> str:
    """Return what the tool prints."""
    with tempfile.TemporaryDirectory(prefix="aiebuild-") as folder:
        source, output = Path(folder, "input.mlir"), Path(folder, "output.mlir")
        source.write_text(text, encoding="utf-8")
        command = (*tool.command, str(source), *flags, "-o", str(output))
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(f"{tool.command[0]} cannot be run: {error}") from None
        if done.returncode != 0:
            raise _refused(tool, done.stderr, str(source), place)
        return output.read_text(encoding="utf-8")


def _refused(tool: NativeTool, stderr: str, source: str, place: Callable[[int, int], Location]) -> MlirError:
    """Return the error of a text that the tool refused: its first message, at the user's own line.

    Where the op has a location of its own, the tool names that.
    """
    match = _DIAGNOSTIC.search(stderr)
    if match is None:
        return MlirError(f"{Path(tool.command[0]).name} failed: {stderr.strip() or 'it says nothing'}")
    line, column = int(match["line"]), int(match["column"])
    own = place(line, column) if match["file"] == source else Location(match["file"], line, column or None)
    return MlirError(match["message"], own)


def _name_devices(module: Module, names: list[str]) -> None:
    """Replace the numbers of devices, which depend on the tool's version, by the names in the text."""
    devices = [op for op in module.walk() if op.name == "aie.device"]
    for op, name in zip(devices, names, strict=len(devices) == len(names)):
        if not op.properties.get("device", "").startswith('"'):
            op.properties["device"] = quote(name)
