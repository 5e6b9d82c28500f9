"""What to build first: the steps that read what has changed.

SCons looks at the nodes of a graph one after the other until it finds one that has to be built. Which files changed is
known already, from the record of the last build: their steps are put before everything else, so that the first of them
starts at once. The order makes no difference to what is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiebuild import depfile
from aiebuild.scons.scanner import record_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from aiebuild.scons.session import Session


def urgent(changed: Collection[str], session: Session) -> list[Any]:
    """Return the targets of the steps that have one of the files among their sources; else one that read one of them.

    Args:
        changed: files, relative to the project.
        session: what was planned in this run.
    """
    if not changed:
        return []
    found = [node for planned, node in session.planned if not set(planned.sources).isdisjoint(changed)]
    return found or _reader(changed, session)


def _reader(changed: Collection[str], session: Session) -> list[Any]:
    """Return the first target whose step read one of the files when it ran last: finding all would take long."""
    for planned, node in session.planned:
        step = planned.step
        reads = depfile.read(session.root / record_of(step)) if step.depfile else None
        if reads is not None and not set(reads.files).isdisjoint(changed):
            return [node]
    return []
