"""How an editor finds problems in the output of a build: regular expressions that JavaScript and Python both read.

A problem matcher is what VS Code calls "problem matcher" in the schema 2.0.0 of its tasks. All lines that tell of a
place have one form, whoever writes them: `file:line:column: error: message` is that of GCC and Clang, of MLIR's own
tools and of aiebuild, where the column may be left out. Python's traceback is the exception.
"""

from __future__ import annotations

from typing import Any

LOCATED = r"^(\S.*?):(\d+)(?::(\d+))?:\s+(?:fatal )?(error|warning|note):\s+(.*)$"
"""A place, how bad it is, and what is wrong; a line that is indented is a quotation of something."""

TRACEBACK = r'^\s*File "(.+?)", line (\d+)(?:, in (.+))?$'
"""A line of a Python traceback: of a check, or of a script that makes MLIR."""

_PLACES = ["autoDetect", "${workspaceFolder}"]


def matchers() -> list[dict[str, Any]]:
    """Return the problem matchers of a task."""
    located = {"regexp": LOCATED, "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5}
    traceback = {"regexp": TRACEBACK, "file": 1, "line": 2, "message": 3}
    return [
        {"owner": "aiebuild", "source": "aiebuild", "fileLocation": _PLACES, "pattern": located},
        {
            "owner": "aiebuild-python",
            "source": "Python",
            "severity": "info",
            "fileLocation": _PLACES,
            "pattern": traceback,
        },
    ]
