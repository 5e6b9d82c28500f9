"""Every document does what it says: its files are written, its commands run, its outputs are the ones that come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from documents import Comment, Reader, documents, read
from projects import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

FOLLOWED = [
    document
    for document in documents()
    if any(isinstance(part, Comment) for part in read(document.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("document", FOLLOWED, ids=lambda document: document.relative_to(REPOSITORY).as_posix())
def test_a_document_does_what_it_says(document: Path, tmp_path: Path) -> None:
    wrong = Reader(tmp_path / "reader").follow(document.read_text(encoding="utf-8"))
    assert not wrong, "\n\n".join(wrong)
