"""What the parent tells the child process of a run, and the files by which the child answers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

STATUS = "status"
SITES = "sites.json"
RESULT = "check.json"
DEPFILE = "depfile.json"
TRACE = "trace.jsonl"
LINE = "line"
STARTED = "started"
ENDED = "ended"
LONGER = "if it needs that long, set `run_timeout:` in design.yaml, or say it for one build: scons ... run_timeout=120"
"""What to do where a run is not over in time."""


@dataclass(frozen=True)
class Job:
    """A run. Paths are as the user gave them, relative to the current folder; `folder` is private to the run."""

    cores: str
    kernels: str
    check: str
    parameters: str
    arguments: tuple[str, ...]
    sequences: tuple[str, ...]
    timeout: float
    output: str
    folder: str
    trace: bool = False

    def to_json(self) -> str:
        """Return the job as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Return what `to_json` wrote."""
        record = json.loads(text)
        record["arguments"], record["sequences"] = tuple(record["arguments"]), tuple(record["sequences"])
        return cls(**record)

    def file(self, name: str) -> Path:
        """Return a file of the private folder."""
        return Path(self.folder) / name
