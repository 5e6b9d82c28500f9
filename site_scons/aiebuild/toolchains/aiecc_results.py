"""What a run of aiecc leaves behind: where each output is, and whether it is really there.

Several tools that aiecc runs exit 0 with nothing written, and so does aiecc then.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.toolchains.aiecc import OUTPUTS, packet_sequence
from aiebuild.toolchains.aiecc_options import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.toolchains.aiecc_dialect import Dialect
    from aiebuild.toolchains.aiecc_options import AieccRequest


@dataclass(frozen=True)
class Left:
    """Files that aiecc left in its folder of intermediate files: a pattern in it, and where they belong.

    `is_folder` says that `target` is a folder for all of them; else there is exactly one, and `target` is its path.
    """

    pattern: str
    target: str
    is_folder: bool


def collect(dialect: Dialect, request: AieccRequest) -> Mapping[str, Left]:
    """Return, by kind, the outputs that this dialect cannot put at an absolute path, and has left in `tmpdir`."""
    unplaced = [kind for kind in request.kinds if dialect in OUTPUTS[kind].unplaced]
    return {kind: Left(_pattern(dialect, request, kind), request.outputs[kind], kind in FOLDERS) for kind in unplaced}


def _pattern(dialect: Dialect, request: AieccRequest, kind: str) -> str:
    device = request.device_name
    patterns = {
        "pdi": Path(request.outputs.get("pdi", "")).name,
        "cdo": f"cdo_{device}/*.bin" if dialect.is_declarative else f"{device}_aie_cdo_*.bin",
        "core_elfs": f"elfs_{device}_*.elf" if dialect.is_declarative else f"{device}_core_*.elf",
        "physical_mlir": "input_with_addresses.mlir",
    }
    return patterns[kind]


def fetch(dialect: Dialect, request: AieccRequest) -> None:
    """Move what aiecc left in `tmpdir` to where it belongs, then see that every output is there and not empty.

    Raises:
        ToolchainError: an output is missing or empty; the message names each of them.
    """
    for left in collect(dialect, request).values():
        _move(Path(request.tmpdir), left)
    problems = [f"{kind} ({path}) {state}" for kind, path in expected(request) if (state := _state(Path(path)))]
    if problems:
        hint = (
            "a tool that aiecc runs (bootgen, xclbinutil, aiebu-asm) may be missing or have failed: see what it printed"
        )
        raise ToolchainError(f"aiecc ended well, but {'; '.join(problems)}", hint=hint)


def expected(request: AieccRequest) -> tuple[tuple[str, str], ...]:
    """Return each output that must be there after a run, as its kind and its path."""
    further = (("ctrlpkt", packet_sequence(request)),) if "ctrlpkt" in request.outputs else ()
    return (*((kind, request.outputs[kind]) for kind in request.kinds), *further)


def _move(tmpdir: Path, left: Left) -> None:
    found = sorted(path for path in tmpdir.glob(left.pattern) if path.is_file())
    target = Path(left.target)
    if left.is_folder:
        target.mkdir(parents=True, exist_ok=True)
    for path in found:
        shutil.move(path, target / path.name if left.is_folder else target)


def _state(path: Path) -> str:
    """Return what is wrong with an output; empty where nothing is."""
    if path.is_dir():
        files = sorted(path.iterdir())
        empty = [file.name for file in files if not file.stat().st_size]
        return "" if files and not empty else f"has an empty {empty[0]}" if empty else "is an empty folder"
    if not path.exists():
        return "was not written"
    return "" if path.stat().st_size else "is empty"
