"""The depfile of a step that is our own Python: the files it read, and those it looked for in vain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def text(files: Iterable[str], absent: Iterable[str] = ()) -> str:
    """Return a depfile: `{"files": [...], "absent": [...]}`, sorted.

    Args:
        files: every project file that was read, as `aiebuild.files.project_path` writes it; no outputs.
        absent: files that did not exist, and whose appearance would change what the step does.
    """
    return json.dumps({"files": sorted(set(files)), "absent": sorted(set(absent))}, indent=1) + "\n"
