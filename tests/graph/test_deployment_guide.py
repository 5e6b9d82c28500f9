"""The guide on deployment: its commands do what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guides import commands, run
from installations import install
from projects import Project

if TYPE_CHECKING:
    from pathlib import Path


def test_the_commands_print_what_the_guide_shows(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    project = Project(folder, install(tmp_path / "tools", "C2").variables)
    shown = commands("deployment.md")
    assert len(shown) > 10
    for each in shown:
        said = run(each.command, project, folder)
        assert each.fits(said), f"$ {each.command}\n{said}"
        if "there is no licence" in said:
            project.write("LICENSE", "Do what you like.\n")
