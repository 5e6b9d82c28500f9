"""The status line: what it says, how much of it fits, and that everything else stays on the screen."""

from __future__ import annotations

import io
import os
import pty
import select
import sys

import pytest
from aiebuild.environment import Environment, has_cursor
from aiebuild.status_line import CLEAR, Counts, StatusLine, fitted


class Terminal(io.StringIO):
    """A terminal that keeps all that is written to it."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override] # text streams have it as a plain attribute
        return self._encoding

    def isatty(self) -> bool:
        return True


def test_what_is_done_and_what_runs_is_counted() -> None:
    moments = iter([10.0, 10.5, 12.0, 13.25, 14.0])
    counts = Counts(4, clock=lambda: next(moments))
    assert counts.text() == ""
    counts.see("fresh.o")
    counts.begin("a.o", "compile a.cc")
    counts.begin("b.o", "compile b.cc")
    assert counts.text() == "[1/4] 0.5 s  compile a.cc, compile b.cc"
    counts.end("a.o", failed=True)
    assert counts.text() == "[2/4, 1 failed] 2.0 s  compile b.cc"
    counts.begin("c.o", "compile c.cc")
    counts.begin("d.o", "compile d.cc")
    assert counts.text().startswith("[2/5, 1 failed]")
    for name in ("b.o", "c.o", "d.o"):
        counts.end(name, failed=False)
    assert counts.text() == ""


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("compile a.cc", 12, "compile a.cc"),
        ("compile a.cc", 11, "compile a.…"),
        ("compile 漢字.cc", 15, "compile 漢字.cc"),
        ("compile 漢字.cc", 12, "compile 漢…"),
        ("compile 漢字.cc", 11, "compile 漢…"),
        ("compile 漢字.cc", 10, "compile …"),
        ("e\u0301" * 12, 12, "e\u0301" * 12),
        ("a\nb\x1b[31mc\t", 20, "a?b?[31mc?"),
        ("compile a.cc", 9, ""),
        ("compile a.cc", -1, ""),
    ],
)
def test_a_line_never_wraps(text: str, columns: int, shown: str) -> None:
    assert fitted(text, columns) == shown


def test_what_is_printed_stays_above_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    line = StatusLine(out, lambda: "[1/2] working", columns=lambda: 40)
    line.begin()
    line.draw()
    sys.stdout.write("half ")
    sys.stdout.write("a line\n")
    sys.stderr.writelines(["error\n"])
    line.end()
    line.draw()
    assert (sys.stdout, sys.stderr) == (out, err)
    drawn = "\r[1/2] working\033[K"
    assert out.getvalue().replace(drawn * 2, drawn) == f"{drawn}{CLEAR}half a line\n{drawn}{CLEAR}{drawn}{CLEAR}"
    assert err.getvalue() == "error\n"


def test_a_stream_that_is_no_terminal_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    line = StatusLine(out, lambda: "", columns=lambda: 40)
    line.begin()
    assert sys.stderr is err
    line.end()


def test_a_terminal_that_does_not_say_how_wide_it_is_has_the_usual_width() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream:
        line = StatusLine(stream, lambda: "x" * 200)
        line.draw()
        shown = os.read(ours, 1000).decode() if select.select([ours], [], [], 10)[0] else ""
    os.close(ours)
    assert shown == f"\r{'x' * 78}…\033[K"


def test_a_terminal_without_the_letters_gets_others() -> None:
    out = Terminal("ascii")
    line = StatusLine(out, lambda: "compile a_very_long_name.cc", columns=lambda: 12)
    line.draw()
    assert "compile a_?" in out.getvalue()


@pytest.mark.parametrize(("term", "has"), [("xterm", True), ("dumb", False), ("", False)])
def test_a_line_needs_a_terminal_with_a_cursor(term: str, has: bool) -> None:
    assert has_cursor(Environment.of({"TERM": term, "NO_COLOR": "1"}), Terminal()) is has
    assert not has_cursor(Environment.of({"TERM": "xterm"}), io.StringIO())
