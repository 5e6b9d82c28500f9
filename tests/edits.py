"""Edits of a project, in any order, whose results must be those of a clean build."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from fast_path import NOT_MINDED, NOTICED, artifacts, is_never_wrong, restore, sources, status, whole_project
from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

COMPARED = 3
"""Every how many edits the artifacts are compared with those of a clean build."""

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""A few edits that fail are told as they were found: to look for fewer would take longer than all other tests."""


class Edits(RuleBasedStateMachine):
    """Edits of a project; after each, what is taken for up to date is, and the artifacts are those of a clean build."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="aiebuild-fast-"))
        self.project = whole_project(self.folder / "project")
        self.edits = 0
        self.git("init")
        self.git("add", "-A")
        self.git("commit", "-m", "first")
        self.project.build("design=one")

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=self.project.root, check=True, capture_output=True)

    def teardown(self) -> None:
        """Remove the project."""
        shutil.rmtree(self.folder)

    @rule(name=st.sampled_from([*NOTICED, *NOT_MINDED]))
    def edit(self, name: str) -> None:
        (NOTICED | NOT_MINDED)[name](self.project)

    @rule(first=st.sampled_from(list(NOTICED)), second=st.sampled_from(list(NOTICED)))
    def edit_twice(self, first: str, second: str) -> None:
        for name in (first, second):
            NOTICED[name](self.project)

    @rule()
    def check_out_the_first_version(self) -> None:
        self.git("checkout", "-q", "--", ".")
        self.git("clean", "-fdq")

    @rule(name=st.sampled_from(list(NOTICED)))
    def edit_and_undo(self, name: str) -> None:
        kept = sources(self.project)
        NOTICED[name](self.project)
        restore(self.project, kept)

    @invariant()
    def never_wrong(self) -> None:
        """Ask, build, ask again, and now and then compare with a clean build."""
        is_never_wrong(self.project)
        if not self.build():
            assert not status(self.project)[0]
            self.check_out_the_first_version()
            assert self.build()
        assert status(self.project) == (True, [])
        self.edits += 1
        if self.edits % COMPARED == 0:
            self.compare()

    def build(self) -> bool:
        """Build what the last edit reached; return whether that succeeded."""
        built = self.project.scons("design=one")
        assert "Traceback" not in built.err
        return built.status == 0

    def compare(self) -> None:
        copy = self.project.copy(self.folder / "clean")
        copy.build("design=one")
        assert artifacts(self.project) == artifacts(copy)
        shutil.rmtree(copy.root)
