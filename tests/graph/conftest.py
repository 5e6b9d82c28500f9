"""Projects for the tests of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from projects import TWO_OBJECTS, HandMade, Project, new_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project with the repository's own `SConstruct`."""
    return new_project(tmp_path / "project")


@pytest.fixture
def hand_made(tmp_path: Path) -> HandMade:
    """A project of objects and an archive, without designs: `a` includes `h.h`, `b` does not."""
    project = HandMade(tmp_path / "hand made")
    project.write("src/h.h", "#define ONE 1\n")
    project.write("src/a.cc", '#include "h.h"\nextern "C" int a() { return ONE; }\n')
    project.write("src/b.cc", 'extern "C" int b() { return 2; }\n')
    project.script(TWO_OBJECTS)
    return project
