"""The file that `json=` names: an answer for programs, which never takes the place of something else."""

from __future__ import annotations

import json
from pathlib import Path

from aiebuild.errors import OptionError
from aiebuild.files import write_atomically


def write_answer(file: str, text: str) -> None:
    """Write an answer to the file that was named.

    Raises:
        OptionError: there is a folder, or a file that is no answer.
    """
    path = Path(file)
    hint = "give another name: json=build/answer.json"
    if path.is_dir():
        raise OptionError(f"json={file} is a folder", hint=hint)
    if path.is_file() and not _is_answer(path):
        raise OptionError(f"json={file} is a file that is no answer of aiebuild's", hint=hint)
    write_atomically(path, text)


def _is_answer(path: Path) -> bool:
    """Return whether a file is empty, or JSON to the letter as answers are written, which people do not write."""
    try:
        text = path.read_text(encoding="utf-8")
        return not text or json.dumps(json.loads(text), indent=1) + "\n" == text
    except (ValueError, RecursionError):
        return False
