"""The one action of the graph: it runs a step, writes outputs aside, renames them, and records what was read."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import SCons.Action

from aiebuild import depfile, streams
from aiebuild.environment import RECIPE_VARIABLE
from aiebuild.scons import last_run, report, scanner

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from aiebuild.scons.session import Session
    from aiebuild.step import Command, Step

PART = ".new-"
"""Put before the name of an output while it is written: what has the output's own name is always whole."""


class StepAction(SCons.Action._ActionAction):
    """Runs the step that the builder's call put into `AIE_STEP`; the step's signature is the action's."""

    def __init__(self) -> None:
        super().__init__()
        self.strfunction = describe

    def __str__(self) -> str:
        """Return what `--debug=explain` shows where no step is known."""
        return "aiebuild step"

    def genstring(self, target: Sequence[Any], source: Sequence[Any], env: Any, executor: Any = None) -> str:
        """Return the text that SCons compares and shows when it explains a rebuild."""
        del target, source, executor
        step: Step = env["AIE_STEP"]
        return step.command_lines or step.label

    def get_presig(self, target: Sequence[Any], source: Sequence[Any], env: Any, executor: Any = None) -> bytes:
        """Return the bytes of the signature."""
        del target, source, executor
        step: Step = env["AIE_STEP"]
        return step.signature.encode()

    def get_implicit_deps(
        self, target: Sequence[Any], source: Sequence[Any], env: Any, executor: Any = None
    ) -> list[Any]:
        """Return nothing: the identity of a program is a value in the signature."""
        del target, source, env, executor
        return []

    def execute(self, target: Sequence[Any], source: Sequence[Any], env: Any, executor: Any = None) -> int:
        """Run the step; return 0, or the exit status that failed."""
        del source
        # Under `-s` nothing is shown, and SCons gives the targets to the executor alone.
        targets = executor.get_all_targets() if executor is not None else target
        step: Step = env["AIE_STEP"]
        session: Session = env["AIE_SESSION"]
        if step.refused:
            report.tell(f"{step.refused}\n{step.where}: error: {step.asked_by}: `{step.label}` cannot run\n")
            session.failed.append(step)
            return 1
        if step.is_final and session.unsettled:
            report.tell(
                f"{step.where}: error: {step.asked_by}: `{step.label}` cannot run: {report.unsettled(session)}\n"
            )
            session.failed.append(step)
            return 1
        started = time.time_ns()
        watch = last_run.Watch(step, targets[0], session, started)
        with session.alone(step.mutex):
            status = _run_shown(step, session)
        watch.end(status, time.time_ns())
        if status != 0:
            return status
        own = frozenset(str(node) for node in targets[0].sources)
        record(step, session, own, started)
        session.count(step, (time.time_ns() - started) / 1e9)
        return 0


def describe(target: Sequence[Any], source: Sequence[Any], env: Any) -> str:
    """Return the line that people see: short, or the whole command under `verbose=1` and `-n`."""
    del target, source
    step: Step = env["AIE_STEP"]
    session: Session = env["AIE_SESSION"]
    session.shown.append(step)
    if session.progress is not None and not session.verbose:
        return ""
    if session.verbose or not SCons.Action.execute_actions:
        return step.command_lines or f"# write {step.outputs[0]}"
    return f"  {step.label}"


def _run_shown(step: Step, session: Session) -> int:
    """Run a step, and show on a terminal that it runs."""
    if session.progress is None:
        return run(step, session)
    status = 1
    session.progress.begin(step)
    try:
        status = run(step, session)
    finally:
        session.progress.end(step, failed=status != 0)
    return status


def run(step: Step, session: Session) -> int:
    """Run a step's commands from the project's folder; on failure none of its outputs is left."""
    parts = {output: part_of(output) for output in step.outputs}
    for output in step.outputs:
        (session.root / output).parent.mkdir(parents=True, exist_ok=True)
    try:
        status = write_text(step, session, parts) or run_commands(step, session, parts)
        if status == 0:
            for output, part in parts.items():
                (session.root / part).replace(session.root / output)
    finally:
        for part in parts.values():
            (session.root / part).unlink(missing_ok=True)
    return status


def part_of(output: str) -> str:
    """Return the name under which an output is written until it is whole."""
    folder, _, name = output.rpartition("/")
    return f"{folder}/{PART}{name}" if folder else f"{PART}{name}"


def write_text(step: Step, session: Session, parts: dict[str, str]) -> int:
    """Write the text of a step without commands."""
    if step.text is not None:
        (session.root / parts[step.outputs[0]]).write_text(step.text, encoding="utf-8")
    return 0


def run_commands(step: Step, session: Session, parts: dict[str, str]) -> int:
    """Run the commands one after the other and pass on what they print, whole, when each has ended."""
    # The recipe's line is for messages alone: were it in the signature, a moved line would run the step again.
    variables = {**session.step_variables, **dict(step.variables), RECIPE_VARIABLE: str(step.where or "")}
    for command in step.commands:
        status = run_command(tuple(parts.get(word, word) for word in command), variables, session)
        if status != 0:
            complain(step, session, status)
            return status
    empty = [out for out, part in parts.items() if not _has_content(session.root / part, step)]
    if empty:
        report.tell(f"{step.where}: error: {step.asked_by}: `{step.label}` ended well but did not write {empty[0]}\n")
        return 1
    return 0


def _has_content(path: Path, step: Step) -> bool:
    if step.text is not None:
        return True
    return path.is_file() and path.stat().st_size > 0


def run_command(command: Command, variables: dict[str, str], session: Session) -> int:
    """Run one command; its output appears in one piece, so that parallel steps do not mix theirs."""
    try:
        done = session.running.run(command, session.root, variables)
    except OSError as problem:
        report.tell(f"error: {command[0]} does not run: {problem.strerror}\n")
        return 127
    if not session.running.has_ended(done.returncode):
        pass_on(done)
    return done.returncode


def pass_on(done: subprocess.CompletedProcess[bytes]) -> None:
    """Pass on what a program printed."""
    if done.stdout:
        streams.write(sys.stdout, done.stdout.decode("utf-8", "replace"))
    if done.stderr:
        report.tell(done.stderr.decode("utf-8", "replace"))


def complain(step: Step, session: Session, status: int) -> None:
    """Say which line of which recipe asked for the step that failed, unless it was ended with the build."""
    session.failed.append(step)
    if session.running.has_ended(status):
        session.running.interrupt()
        return
    died = f"was ended by signal {-status}" if status < 0 else "failed"
    report.tell(f"{step.where}: error: {step.asked_by}: `{step.label}` {died}\n")


def record(step: Step, session: Session, own: frozenset[str], started: int) -> None:
    """Keep what the step read; SCons gets it when it stores the target (`scanner.store`).

    Where one of the files changed while the step ran, or will have changed by its time, nobody can say which state of
    the file the result was made of: the record is for this build alone, and the next one makes the result again.
    """
    if not step.depfile:
        return
    said = session.root / step.depfile
    reads = depfile.digest_step(said, session.root, step, own=own)
    said.unlink()
    kept = session.root / scanner.record_of(step)
    changed = [name for name in (*reads.files, *reads.external, *own) if _changed_since(session.root / name, started)]
    session.unsettled.update(changed)
    depfile.write(kept, reads, is_unsettled=bool(changed))


def _changed_since(path: Path, started: int) -> bool:
    """Return whether a file changed after `started` (ns), by its change time: that one cannot be set back."""
    try:
        status = path.stat()
    except OSError:
        return True
    return status.st_ctime_ns > started
