"""After a build: `last-run.json` beside the artifacts says what ran, why, and how long it took.

It is written last, and takes part in nothing: no signature, no record of what is up to date.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiebuild.files import write_atomically
from aiebuild.scons import step_memory
from aiebuild.scons.chains import Chains
from aiebuild.scons.closure import walk
from aiebuild.scons.reasons import Reason, reasons

if TYPE_CHECKING:
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import DesignNodes
    from aiebuild.step import Step

FILE = "last-run.json"
FORM = 1


@dataclass(frozen=True)
class Ran:
    """A step that ran: one of its nodes, why it ran, when it started (ns) and took (seconds), and its exit status."""

    step: Step
    node: Any
    why: tuple[Reason, ...]
    started: int
    seconds: float
    status: int


class Watch:
    """Notes one step: made before it runs, ended after it."""

    def __init__(self, step: Step, node: Any, session: Session, started: int) -> None:
        self._session = session
        # Now, while SCons still knows what the last run was made of.
        self._ran = (step, node, tuple(reasons(node, session)), started)

    def end(self, status: int, ended: int) -> None:
        """Note how the step ended, with its exit status and the moment (ns)."""
        step, _, _, started = self._ran
        self._session.ran.append(Ran(*self._ran, (ended - started) / 1e9, status))
        if status == 0:
            step_memory.keep(step, self._session.state, (ended - started) / 1e9)


def file_of(design: DesignNodes) -> str:
    """Return the file that tells of a design's configuration."""
    return f"{design.output}/{FILE}"


def write(session: Session) -> None:
    """Write the file of each configuration of which a step ran; the other ones keep theirs."""
    if not session.ran:
        return
    for design in session.designs:
        made = set(walk(design.all))
        ran = [one for one in session.ran if one.node in made]
        if ran:
            said = json.dumps(to_json(design, ran, session), indent=1) + "\n"
            try:
                write_atomically(session.root / file_of(design), said)
            except OSError as error:
                session.warn(f"{file_of(design)} cannot be written: {error.strerror}")


def to_json(design: DesignNodes, ran: list[Ran], session: Session) -> dict[str, Any]:
    """Return what a run did for one configuration, its steps in the order in which they started."""
    way = _Way(Chains(design, session), {output: one for one in ran for output in one.step.outputs})
    ended = max(one.started / 1e9 + one.seconds for one in ran)
    return {
        "form": FORM,
        "design": design.name,
        "output": design.output,
        "start": _moment(session.started_at),
        "seconds": round(ended - session.started_at / 1e9, 4),
        "failed": any(one.status for one in ran),
        "steps": [_step(one, way) for one in sorted(ran, key=lambda one: one.started)],
    }


def _step(one: Ran, way: _Way) -> dict[str, Any]:
    why = [
        {"kind": reason.kind, "cause": reason.cause, "text": reason.text, "chain": way.whole(reason, one)}
        for reason in one.why
    ]
    return {
        "step": " ".join(one.step.label.split()),
        "outputs": list(one.step.outputs),
        "why": why,
        "start": _moment(one.started),
        "seconds": round(one.seconds, 4),
        "status": one.status,
    }


@dataclass(frozen=True)
class _Way:
    """Ways through a run: to a step through the ones that ran before it, and on from it."""

    chains: Chains
    makers: dict[str, Ran]

    def whole(self, reason: Reason, one: Ran) -> list[str]:
        """Return the files from the first cause of a step to the artifact."""
        return [*self.before(reason, one), *self.chains.onward(one.step.outputs)]

    def before(self, reason: Reason, one: Ran) -> list[str]:
        """Return the files from the first cause to a step."""
        maker = self.makers.get(reason.cause)
        if maker is one or not reason.cause:
            return []
        first = self.before(maker.why[0], maker) if maker is not None and maker.why else []
        return [*first, reason.cause]


def _moment(nanoseconds: int) -> str:
    from datetime import datetime, timezone  # noqa: PLC0415 - after the build

    return datetime.fromtimestamp(nanoseconds / 1e9, timezone.utc).isoformat(timespec="milliseconds")
