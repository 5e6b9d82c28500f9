"""The database of SCons's signatures: SCons's own kind, which says what is wrong where it cannot be written."""

from __future__ import annotations

import contextlib
from pathlib import Path

import SCons.dblite
import SCons.Script

from aiebuild.files import project_path
from aiebuild.scons import report

LOST = "the next build makes again what this one has made"


class Database(SCons.dblite._Dblite):
    """A database on a file; where that cannot be written the run fails at its end, and no step of it."""

    def sync(self) -> None:
        """Write it; what is wrong is said once."""
        try:
            super().sync()
        except OSError as error:
            # SCons would try again while it ends, and show where in its own text that failed.
            self._needs_sync = False
            with contextlib.suppress(OSError):
                Path(self._tmp_name).unlink()
            if SCons.Script.Main.exit_status == 0:
                report.tell(f"{project_path(self._file_name)}: error: {error.strerror}\n  {LOST}\n")
            SCons.Script.Main.exit_status = 2


def open(file: str, mode: str) -> Database:  # noqa: A001 - SCons asks a module of databases for this name
    """Return the database of a file, which is made where there is none."""
    return Database(file, mode)
