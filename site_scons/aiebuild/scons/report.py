"""What people read: errors, notes, and the last line of a build."""

from __future__ import annotations

import atexit
import sys
import time
from typing import TYPE_CHECKING, Any

import SCons.Script

from aiebuild import streams, timing
from aiebuild.environment import current, wants_colour
from aiebuild.errors import OptionError
from aiebuild.files import write_atomically
from aiebuild.scons import last_run
from aiebuild.scons.start import unknown_options

if TYPE_CHECKING:
    from aiebuild.errors import AieBuildError
    from aiebuild.scons.session import Session

RED, GREEN, PLAIN = "\033[1;31m", "\033[32m", "\033[0m"


def tell_error(error: AieBuildError) -> None:
    """Write an error to standard error."""
    tell(f"{error}\n")


def tell(text: str) -> None:
    """Write to standard error, after everything that was said before it; on a terminal `error:` is red."""
    streams.write(sys.stdout, "")
    if wants_colour(current(), sys.stderr):
        text = text.replace("error:", f"{RED}error:{PLAIN}")
    streams.write(sys.stderr, text)


def note(text: str, *, good: bool = False) -> None:
    """Write a line of information at once; on a terminal good news is green."""
    if good and wants_colour(current(), sys.stdout):
        text = f"{GREEN}{text}{PLAIN}"
    streams.write(sys.stdout, f"{text}\n")


def unsettled(session: Session) -> str:
    """Return the sentence about inputs of which nobody can say in which state they were built."""
    names = sorted(session.unsettled, key=lambda name: (name.startswith(f"{session.build_dir}/"), name))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"inputs changed while they were built, or have times in the future ({names[0]}{more}): "
        "the next build makes anew what reads them"
    )


class _WithoutUpToDate:
    """SCons's display without its line for each target that is up to date: our last line says it once."""

    def __init__(self, display: Any) -> None:
        self._display = display

    def __call__(self, text: str, *arguments: Any, **keywords: Any) -> None:
        if not text.endswith("is up to date."):
            self._display(text, *arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._display, name)


def at_exit(session: Session) -> None:
    """Arrange for the last line, and for what was learnt to be kept."""
    SCons.Script.Main.display = _WithoutUpToDate(SCons.Script.Main.display)
    session.running.end_with_the_build()
    if not unknown_options():
        atexit.register(_finish, session)
    else:
        atexit.register(session.close)


def _finish(session: Session) -> None:
    if session.progress is not None:
        session.progress.close()
    streams.write(sys.stdout, "")
    session.close()
    last_run.write(session)
    if session.packages and (session.failed or SCons.Script.GetBuildFailures()) and not session.only_shows:
        _withdraw(session)
    _write_timing(session)
    if any(SCons.Script.GetOption(name) for name in ("question", "help")):
        return
    if session.unsettled and not session.failed:
        tell(f"warning: {unsettled(session)}\n")
    text = _last_line(session)
    seconds = time.monotonic() - session.started
    if session.ran and (session.timing or (session.progress and timing.is_worth_telling(_spans(session), seconds))):
        note(timing.slowest(_spans(session)))
    if text:
        note(text, good=not (session.failed or SCons.Script.GetBuildFailures()))


def _withdraw(session: Session) -> None:
    """Remove packages of an earlier state: a build that has failed leaves nothing to deploy."""
    from aiebuild.scons.packages import withdraw  # noqa: PLC0415 - few builds make a package

    for name in withdraw(session):
        tell(f"{name} is removed: it is of an earlier state of the design\n")


def _spans(session: Session) -> list[timing.Span]:
    """Return the steps that ran, each with why it did."""
    return [
        timing.Span(
            session.title(one.step),
            one.started,
            one.seconds,
            {
                "why": [reason.text for reason in one.why],
                "outputs": list(one.step.outputs),
                "status": one.status,
                "asked for by": f"{one.step.where}: {one.step.asked_by}",
            },
        )
        for one in session.ran
    ]


def _write_timing(session: Session) -> None:
    if not session.timing or session.only_shows or SCons.Script.GetOption("clean"):
        return
    ended = session.read_at or time.time_ns()
    reading = timing.Span("read the recipes", session.started_at, (ended - session.started_at) / 1e9)
    designs = [f"{design.name} ({design.output})" for design in session.designs]
    try:
        timing.require_writable(session.timing)
        write_atomically(session.timing, timing.text(reading, _spans(session), {"designs": designs}))
    except OSError as error:
        tell(f"error: timing={session.timing} cannot be written: {error.strerror}\n")
    except OptionError as error:
        tell_error(error)


def _last_line(session: Session) -> str:
    seconds = time.monotonic() - session.started
    names = ", ".join(dict.fromkeys(design.name for design in session.designs))
    if SCons.Script.GetOption("clean"):
        return f"{names}: removed what was built"
    failures: list[Any] = SCons.Script.GetBuildFailures()
    labels = "; ".join(" ".join(step.label.split()) for step in session.failed)
    if session.running.is_interrupted:
        return f"interrupted after {seconds:.1f} s{': ' if labels else ''}{labels}"
    if failures or session.failed:
        return f"failed after {seconds:.1f} s: {labels or 'see above'}"
    if session.named:
        return _of_files(session, seconds)
    made = [*map(str, session.packages), *session.installed]
    places, verb = ", ".join(made) or _places(session), "are" if len(made) > 1 else "is"
    if session.only_shows:
        return "" if session.shown else f"{names}: nothing to do, {places} {verb} up to date"
    if not session.done:
        return f"{names}: nothing to do, {places} {verb} up to date ({seconds:.2f} s)"
    count = len(session.done)
    return f"{names}: {count} step{'s' if count > 1 else ''} run, {_done(session)} {places} ({seconds:.1f} s)"


def _of_files(session: Session, seconds: float) -> str:
    """Return the last line where only files were asked for: nothing is known of their designs as a whole."""
    if session.only_shows and session.shown:
        return ""
    count = len(session.done)
    said = f"{count} step{'s' if count > 1 else ''} run" if count else "nothing to do"
    return f"{', '.join(session.named)}: {said} ({seconds:.2f} s)"


def _done(session: Session) -> str:
    if session.packages and session.installed:
        return "packaged and installed as"
    return "packaged as" if session.packages else "installed as" if session.installed else "built in"


def _places(session: Session) -> str:
    outputs = list(dict.fromkeys(design.output for design in session.designs))
    return outputs[0] if len(outputs) == 1 else session.build_dir
