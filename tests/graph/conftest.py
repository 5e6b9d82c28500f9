"""Projects for the tests of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from projects import Project, new_project

if TYPE_CHECKING:
    from pathlib import Path

BY_HAND = """\
from aiebuild.scons import aie

DefaultEnvironment(tools=[])
env = Environment(tools=[aie])
{body}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project with the repository's own `SConstruct`."""
    return new_project(tmp_path / "project")


class HandMade(Project):
    """A project whose `SConstruct` uses the builders by hand, at explicit targets."""

    def script(self, body: str) -> None:
        """Write the `SConstruct`: `env` has the builders."""
        self.write("SConstruct", BY_HAND.format(body=body))


@pytest.fixture
def hand_made(tmp_path: Path) -> HandMade:
    """A project of objects and an archive, without designs: `a` includes `h.h`, `b` does not."""
    project = HandMade(tmp_path / "hand made")
    project.write("src/h.h", "#define ONE 1\n")
    project.write("src/a.cc", '#include "h.h"\nextern "C" int a() { return ONE; }\n')
    project.write("src/b.cc", 'extern "C" int b() { return 2; }\n')
    project.script(TWO_OBJECTS)
    return project


TWO_OBJECTS = """\
a = env.AieObject("out/a.o", "src/a.cc")
b = env.AieObject("out/b.o", "src/b.cc")
env.AieArchive("out/libab.a", [a, b])
"""
