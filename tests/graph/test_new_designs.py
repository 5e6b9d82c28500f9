"""Designs from every template build and check as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.options import TEMPLATES
from projects import Project

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_design_builds_and_checks_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path / "empty folder")
    project.write("SConstruct", "from aiebuild.scons import start\nstart.main(ARGLIST, COMMAND_LINE_TARGETS)\n")
    assert "kernels/foo.cc" in project.build("-n", "new", "design=foo").out
    assert not (project.root / "designs").exists()
    for template in TEMPLATES:
        assert (
            f"scons design=my_{template} builds and checks it"
            in project.build("new", f"design=my_{template}", f"template={template}").out
        )
    said = project.build("variant=small").out
    for template in TEMPLATES:
        assert f"my_{template}: Y agrees with the reference, largest error 0" in said
