"""Options of the test suite."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that rewrites expected texts from what is seen now."""
    parser.addoption("--rewrite", action="store_true", help="rewrite the expected texts from what is seen now")


# How long an example takes says nothing where others use the machine too.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# Some shells set it. The tests start Python thousands of times: each start would compile all of aiebuild anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


LONGEST = (
    "test_every_shipped_design_builds_for_both_archs_with_every_dialect",
    "test_incremental_equals_clean",
    "TestEdits",
    "TestWatchedEdits",
    "test_documents.py",
)
"""What takes longest, by parts of the tests' names: it comes first, so that no worker is left with it at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest tests begin first; all others keep their order."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONGEST))
