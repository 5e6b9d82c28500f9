"""Recipes type-check against `recipe.pyi`, and a wrong one does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

REPOSITORY = Path(__file__).resolve().parents[2]
PRELUDE = "from aiebuild.recipe import *\n"
RECIPES = sorted((REPOSITORY / "designs").glob("*/SConscript"))


def checked(tmp_path: Path, texts: dict[str, str]) -> str:
    """Return what mypy says of recipes, given by the name of their design."""
    for name, text in texts.items():
        (tmp_path / f"recipe_{name}.py").write_text(PRELUDE + text, encoding="utf-8")
    said, problems, _ = api.run(
        [
            "--strict",
            f"--config-file={REPOSITORY / 'pyproject.toml'}",
            f"--cache-dir={tmp_path / 'cache'}",
            *(str(tmp_path / f"recipe_{name}.py") for name in texts),
        ]
    )
    assert not problems
    return said


def test_every_shipped_recipe_type_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert len(RECIPES) >= 4
    said = checked(tmp_path, {path.parent.name: path.read_text(encoding="utf-8") for path in RECIPES})
    assert "Success" in said, said


def test_a_wrong_recipe_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    said = checked(
        tmp_path, {"bad": 'env.Design(mlir="x.mlir", link_whith=[])\nenv.CoreObject("a", functions="f()", sorce="x")\n'}
    )
    assert 'Unexpected keyword argument "link_whith"' in said
    assert 'Unexpected keyword argument "sorce"' in said


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.parent.name)
def test_a_recipe_is_short_and_has_no_conditions(recipe: Path) -> None:
    lines = recipe.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 25
    assert not [line for line in lines if line.lstrip().startswith(("if ", "for ", "while "))]
