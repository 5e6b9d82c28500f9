"""Content digests of files outside the graph, remembered by size, mtime, ctime and inode."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.files import write_atomically

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was hashed may change again within one tick of its clock."""

Stamp = tuple[int, int, int, int]


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what tells one state of a file from another: size, mtime, ctime (both in ns) and inode."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def digest_of(data: bytes) -> str:
    """Return the digest that signatures and keys use."""
    return hashlib.sha256(data).hexdigest()


class Fingerprints:
    """Digests of files, computed at most once for each state of a file.

    Args:
        store: the JSON file that remembers them between runs; a missing or damaged one is an empty one.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self._known = _read(store)
        self._changed = False
        self._settled: dict[str, str] = {}

    def of(self, path: str) -> str:
        """Return the digest of a file's content; `missing` where there is no such file."""
        if path not in self._settled:
            self._settled[path] = self._look_up(path)
        return self._settled[path]

    def of_all(self, paths: Iterable[str]) -> str:
        """Return one digest of several files: their names and their contents, in the order of the names."""
        lines = [f"{path} {self.of(path)}" for path in sorted(paths)]
        return digest_of("\n".join(lines).encode())

    def is_missing(self, path: str) -> bool:
        """Return whether a file was not there when its digest was asked for."""
        return self._settled.get(path) == "missing"

    @property
    def settled(self) -> list[str]:
        """The files whose digests were asked for in this run."""
        return sorted(self._settled)

    def save(self) -> None:
        """Write what was learnt in this run."""
        if self._changed:
            write_atomically(self._store, json.dumps(self._known, separators=(",", ":")))
            self._changed = False

    def reread(self) -> None:
        """Take over what another process has learnt meanwhile."""
        self._known = _read(self._store)

    def _look_up(self, path: str) -> str:
        try:
            stamp = list(stamp_of(Path(path).stat()))
        except OSError:
            return "missing"
        known = self._known.get(path)
        if known is not None and known[:4] == stamp:
            return str(known[4])
        return self._hash(path, stamp)

    def _hash(self, path: str, stamp: list[int]) -> str:
        now = time.time_ns()
        try:
            digest = digest_of(Path(path).read_bytes())
        except OSError:
            return "missing"
        if max(stamp[1], stamp[2]) + RACY_NS < now:
            self._known[path] = [*stamp, digest]
            self._changed = True
        return digest


def _read(store: Path) -> dict[str, list[int | str]]:
    try:
        known = json.loads(store.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {path: entry for path, entry in known.items() if isinstance(entry, list) and len(entry) == 5}
