"""`compile_commands.json`: how each kernel is compiled, for clangd and the editors and tools that read the same file.

The form is Clang's "JSON Compilation Database": a list of `directory`, `file`, `arguments` and `output`. Clang refuses
any other key, so the file cannot say whose it is: it is taken for ours by the objects that its commands write.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildError, Location

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = "compile_commands.json"

_OBJECT = re.compile(r"(?:.*/)?(?:host|aie2|aie2p)/objects/[^/]*-[0-9a-f]{12}\.\w+")
"""The place of an object that aiebuild makes: `<build_dir>/<arch>/objects/<name>-<key>.o`."""


@dataclass(frozen=True)
class Entry:
    """One source with the argv that compiles it, both as seen from the project's folder.

    `missing` is the message of a toolchain that is not there, whose place the argv leaves open.
    """

    source: str
    arguments: tuple[str, ...]
    output: str
    missing: str = ""


def text(entries: Iterable[Entry], root: Path) -> str:
    """Return the content of a compilation database."""
    said = [
        {"directory": str(root), "file": entry.source, "arguments": list(entry.arguments), "output": entry.output}
        for entry in entries
    ]
    return json.dumps(said, indent=1) + "\n"


def require_ours(path: Path) -> None:
    """Refuse to replace a database that something else made, or a link to one.

    Raises:
        AieBuildError: it is not ours; with what can be done.
    """
    hint = "remove it, or move it, to get aiebuild's: `scons ide` makes it for the kernels"
    if path.is_symlink():
        raise AieBuildError("this is a link to another file, which is left alone", Location(FILE), hint)
    if not path.exists():
        return
    try:
        entries = json.loads(path.read_bytes() or b"[]")
    except (OSError, ValueError, RecursionError) as error:
        raise AieBuildError(f"this cannot be read, and is left alone: {error}", Location(FILE), hint) from None
    if not isinstance(entries, list) or not all(map(_is_ours, entries)):
        raise AieBuildError("this was made by something else, and is left alone", Location(FILE), hint)


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and _OBJECT.fullmatch(str(entry.get("output", ""))) is not None
