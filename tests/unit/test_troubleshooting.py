"""The page of messages: every message that the sources can say, every failing case and every code has its row."""

from __future__ import annotations

import functools
import re

import pytest
from messages import HOLE, SOURCES, Message, messages
from projects import REPOSITORY

PAGE = (REPOSITORY / "docs" / "guides" / "troubleshooting.md").read_text(encoding="utf-8")
FAILING = REPOSITORY / "tests" / "recipes" / "failing"
CODE = re.compile(r"[EWI](?:-[A-Z]+)+")

NO_MESSAGES = (
    "divide it: … x …",
    "build the design with toolchain=…, or compile that file anew: one compiler for all of a design",
    "the string …",
    "the number …",
    " in …",
)
"""Texts that functions return and that are parts of messages, or hints."""


def rows() -> list[str]:
    """Return the messages in the first cells of the tables."""
    cells = re.findall(r"^\| (`.*?) \| ", PAGE, re.MULTILINE)
    shown = [text for cell in cells for text in re.findall(r"`([^`]+)`", cell) if not CODE.fullmatch(text)]
    assert len(shown) > 300
    return [text for text in shown if text != HOLE]


def letters(text: str) -> int:
    return len(re.sub(r"[^A-Za-z]", "", text))


ROWS = [(re.compile(".*".join(map(re.escape, row.split(HOLE))), re.DOTALL), letters(row)) for row in rows()]
"""What is a row's message with something in its holes, and how many letters the row has of its own."""


def has_row(text: str, least: int = 0) -> bool:
    """Whether a row is about a message, of those that have at least so many letters of their own."""
    return any(own >= least and row.fullmatch(text) for row, own in ROWS)


@functools.cache
def all_messages() -> tuple[Message, ...]:
    return tuple(messages())


def said(message: Message) -> str:
    """Return a message as it may be said, with something in its holes."""
    return message.text.replace(HOLE, "<x>")


def is_own(message: Message) -> bool:
    """Whether a message has words of its own, and is not only another one with something before it."""
    return re.search(r"[a-z]{2}", message.text) is not None and message.text not in NO_MESSAGES


def test_every_message_of_the_sources_has_a_row() -> None:
    found = {said(message): message for message in all_messages() if is_own(message)}
    assert len(found) > 400
    # A row that is nearly all holes is not about a message that has many words.
    missing = [text for text in sorted(found) if not has_row(text, letters(found[text].text) // 2)]
    assert [f"{found[text].where}: {text}" for text in missing] == []


@pytest.mark.parametrize("case", sorted(path.name for path in FAILING.iterdir()))
def test_every_failing_case_has_a_row(case: str) -> None:
    lines = (FAILING / case / "expected").read_text(encoding="utf-8").splitlines()
    told = [line.partition("error: ")[2] for line in lines if "error: " in line]
    assert told
    assert [text for text in told if not has_row(text)] == []


def codes() -> set[str]:
    """Return the codes of the services, as the sources write them."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((SOURCES / "mlir").glob("*.py"))]
    whole = {code for text in texts for code in re.findall(r'"([EWI](?:-[A-Z]+)+)"', text)}
    outlining = [message.code for message in all_messages()]
    return whole | {f"E-OUTLINE-{code}" for code in outlining if code and not CODE.fullmatch(code)}


def test_every_code_of_the_services_has_a_row() -> None:
    assert {"E-CALL-UNDEF", "E-OUTLINE-VIEW", "W-DECL-UNDEF", "I-RECURSION"} <= codes()
    listed = set(re.findall(rf"`({CODE.pattern})`", "\n".join(re.findall(r"^\| .*", PAGE, re.MULTILINE))))
    assert codes() - listed == set()


def test_a_message_without_a_row_is_noticed() -> None:
    assert has_row("unknown verb 'biuld'")
    assert not has_row("the moon is in the wrong quarter")


def test_messages_are_read_from_the_sources() -> None:
    texts = {message.text: message for message in all_messages()}
    assert texts["CoreArchive … has no sources"].where.startswith("model.py:")
    assert texts["@… has no stage …"].code == "NOSTAGE"
