"""What is true of every document, and that the reader of documents notices what is not as they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from aiebuild import options
from documents import Block, Comment, Reader, agrees, commands, documents, read
from projects import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
INDENTED = re.compile(r"^(?:    |\t)(?:\$ |scons |aiebuild |python3? )", re.MULTILINE)


def name_of(document: Path) -> str:
    return document.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_block_of_commands_is_run_or_says_why_not(document: Path) -> None:
    started = False
    silent = []
    for part in read(document.read_text(encoding="utf-8")):
        if isinstance(part, Comment):
            started |= part.kind == "start"
        elif part.is_commands and not part.reason and not (started and part.language):
            silent.append(part.line)
    assert silent == []


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_commands_stand_in_fences(document: Path) -> None:
    outside = re.sub(r"^ *```.*?^ *```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert INDENTED.findall(outside) == []


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_relative_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    dead = []
    for link in LINK.findall(text):
        file, _, heading = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = document.parent / file if file else document
        if not target.exists() or (heading and heading not in anchors(target)):
            dead.append(link)
    assert dead == []


def anchors(document: Path) -> set[str]:
    """Return what links to headings may name, as the usual renderers spell it."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


INLINE = re.compile(r"`(scons|aiebuild) ([^`]*)`")
PLAIN = re.compile(r"^(scons|aiebuild) ([^#|\n]*)", re.MULTILINE)
WRONG = frozenset({"status", "M=64"})
"""What the page of messages shows as mistakes."""


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_commands_that_are_not_run_have_words_that_are_known(document: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    blocks = [part for part in read(document.read_text(encoding="utf-8")) if isinstance(part, Block) and part.reason]
    left_out = [line for block in blocks for line in commands(block)]
    found = INLINE.findall(text) + PLAIN.findall("\n".join(command.text for command in left_out))
    unknown = [
        f"{program} {words}"
        for program, words in found
        for word in words.split()
        if words not in WRONG and not is_known(program, word, words)
    ]
    assert unknown == []


def is_known(program: str, word: str, words: str) -> bool:
    """Whether a word of a command is a verb, an option, or a parameter of a design that is named with it."""
    if word.startswith(("-", "…")) or "|" in word or words.startswith("completion "):
        return True
    name, is_pair, _ = word.partition("=")
    if not is_pair:
        if program == "aiebuild" and words.startswith("new "):
            return True
        verbs = options.VERBS if program == "scons" else (*options.VERBS, *options.COMMANDS)
        return word in {verb.name for verb in verbs} or word.isupper()
    if name in {option.name for option in options.OPTIONS}:
        return True
    design = re.search(r"design=(\w+)", words)
    contract = REPOSITORY / "designs" / (design[1] if design else "") / "design.yaml"
    return contract.is_file() and f"  {name}: {{" in contract.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", ["biuld design=matmul", "dseign=matmul", "design=matmul Q=4", "status design=matmul"])
def test_a_command_with_an_unknown_word_is_noticed(words: str) -> None:
    assert not all(is_known("scons", word, words) for word in words.split())


TEXT = """\
<!-- start: empty folder -->

Write `a/b.txt`:

```text
hello
```

<!-- not run: it needs a printer -->

```console
$ lpr a/b.txt
```

```console
$ cat a/b.txt
hello
$ echo one; \\
  echo 1.5 s
one
0.2 s
```

```sh
test -f a/b.txt
```
"""


def follow(tmp_path: Path, text: str) -> list[str]:
    return Reader(tmp_path / "reader").follow(text)


def test_a_document_that_is_right_is_followed(tmp_path: Path) -> None:
    blocks = [part for part in read(TEXT) if isinstance(part, Block)]
    assert [(block.line, block.name, block.reason) for block in blocks] == [
        (5, "a/b.txt", ""),
        (11, "", "it needs a printer"),
        (15, "", ""),
        (24, "", ""),
    ]
    assert follow(tmp_path, TEXT) == []


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("hello\n$ echo", "hullo\n$ echo", "line 16: $ cat a/b.txt\nsays\nhello\n"),
        ("one\n0.2 s", "one", "line 18: $ echo one"),
        ("test -f", "test -d", "line 25: $ test -d a/b.txt\nends with status 1"),
        ("<!-- not run: it needs a printer -->", "", "line 12: $ lpr a/b.txt\nends with status"),
    ],
)
def test_what_is_not_as_a_document_says_is_told_with_its_line(
    tmp_path: Path, right: str, wrong: str, fault: str
) -> None:
    assert right in TEXT
    (said,) = follow(tmp_path, TEXT.replace(right, wrong).replace("lpr ", "no-such-program "))[:1]
    assert said.replace("no-such-program", "lpr").startswith(fault)


def test_a_failure_must_be_shown(tmp_path: Path) -> None:
    shown = "<!-- start: empty folder -->\n\n```console\n$ echo {word}; false\n{word}\n```\n"
    assert follow(tmp_path / "1", shown.format(word="error: no")) == []
    assert follow(tmp_path / "2", shown.format(word="fine")) != []


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    text = "<!-- start: empty folder -->\n\n```console\n$ sleep 100; touch late\n```\n"
    reader = Reader(tmp_path / "reader", seconds=0.2)
    assert reader.follow(text) == ["line 4: $ sleep 100; touch late\ndoes not end by itself"]


def test_a_misspelt_comment_is_noticed() -> None:
    with pytest.raises(AssertionError, match="line 1: <!-- start: clon -->"):
        list(read("<!-- start: clon -->\n"))


@pytest.mark.parametrize(
    ("shown", "said", "expected"),
    [
        (["a", "...", "z"], "a\nb\nc\nz\n", True),
        (["a", "…", "z"], "a\nz\n", True),
        (["a", "...", "z"], "a\nb\n", False),
        (["x-….o took 3 s"], "x-12ab.o took 0.4 s\n", True),
        (["x-….o"], "x-12ab.a\n", False),
        ([], "", True),
        ([], "a\n", False),
    ],
)
def test_dots_stand_for_anything(shown: list[str], said: str, *, expected: bool) -> None:
    assert agrees(shown, said) is expected
