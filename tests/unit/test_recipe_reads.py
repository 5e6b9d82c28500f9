"""What a recipe reads, where Python's own folder is above the project's, as in a container."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

import pytest
from aiebuild.scons.recipe_reads import RecipeReads, own_modules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project below the folder that Python is installed in."""
    root = tmp_path / "src/app"
    root.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.syspath_prepend(root)
    return root


def test_a_module_of_the_project_is_its_own(root: Path) -> None:
    (root / "own_of_this_test.py").touch()
    importlib.import_module("own_of_this_test")
    assert "own_of_this_test.py" in own_modules(root)


def test_files_of_the_project_are_noted_and_those_of_a_virtual_environment_in_it_are_not(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("data.txt", "build/made.txt", ".venv/lib/library.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()

    def seen() -> set[str]:
        with RecipeReads(root, "build").watch() as noted:
            for name in ("data.txt", "build/made.txt", ".venv/lib/library.txt"):
                (root / name).read_text()
            os.environ.get("HOME")
        return noted.files

    assert seen() == {"data.txt", ".venv/lib/library.txt"}
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    assert seen() == {"data.txt"}
