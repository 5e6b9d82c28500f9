"""`scons ide`: the files of editors, from the contracts and from the steps that compile kernels. Nothing is run."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.errors import AieBuildError
from aiebuild.ide import database, files, settings, tasks
from aiebuild.ide.database import Entry
from aiebuild.scons.closure import step_of, walk
from aiebuild.scons.session import project_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aiebuild.contract import Contract
    from aiebuild.scons.session import Session

SCHEMA = "design.schema.json"
COPY = ".vscode/aiebuild.design.schema.json"
"""Where the schema is put for a project that does not hold aiebuild itself: a path that is right on each machine."""


class Writer:
    """Writes one file after the other, and keeps what there is to say."""

    def __init__(self, session: Session, *, writes: bool = True) -> None:
        self._session = session
        self._writes = writes
        self.said: list[str] = []
        self.notes: list[str] = []
        self.errors: list[AieBuildError] = []

    @contextlib.contextmanager
    def leaving_out(self, design: str) -> Iterator[None]:
        """Go on without a design where it is wrong."""
        try:
            yield
        except AieBuildError as error:
            self.errors.append(error)
            self.said.append(f"{design}: left out, see below")

    def write(self, contracts: Sequence[Contract], arches: Sequence[str]) -> None:
        """Write all of them.

        Args:
            contracts: those of all designs.
            arches: what the recipes were read for; where a kernel is compiled for several, clangd takes the first.
        """
        root = self._session.root
        self._update(tasks.FILE, lambda text: self._tasks(text, contracts))
        schema = self._schema(root)
        self._update(settings.FILE, lambda text: settings.merge(text, schema))
        self._database(sorted(entries(self._session), key=lambda entry: _order(entry, arches)), root)

    def _tasks(self, text: str, contracts: Sequence[Contract]) -> str:
        merged, notes = tasks.merge(text, tasks.tasks(contracts, command(self._session.root)))
        self.said += notes
        return merged

    def _schema(self, root: Path) -> str:
        """Return the schema of contracts as a path from the project's folder; put a copy there where it is outside."""
        shipped = Path(__file__).resolve().parents[1] / SCHEMA
        if shipped.is_relative_to(root.resolve()):
            return f"./{shipped.relative_to(root.resolve()).as_posix()}"
        self._update(COPY, lambda _: shipped.read_text(encoding="utf-8"))
        return f"./{COPY}"

    def _database(self, found: Sequence[Entry], root: Path) -> None:
        try:
            database.require_ours(root / database.FILE)
        except AieBuildError as error:
            self.errors.append(error)
            return
        self._update(database.FILE, lambda _: database.text(found, root))
        for missing in dict.fromkeys(entry.missing for entry in found if entry.missing):
            self.notes.append(f"{database.FILE}: a toolchain is not here, and its place is left open\n{missing}")

    def _update(self, file: str, change: Callable[[str], str]) -> None:
        try:
            changed = files.update(self._session.root, file, change, writes=self._writes)
        except AieBuildError as error:
            if str(error) not in map(str, self.errors):
                self.errors.append(error)
            return
        done = "written" if self._writes else "would be written"
        self.said.append(f"{file}: {done if changed else 'up to date'}")


def command(root: Path) -> tuple[str, ...]:
    """Return what starts SCons in an editor: the project's own Python, or else the `scons` that is on the PATH.

    No path of this machine goes into a file that people share.
    """
    # Not resolved: the Python of a virtual environment is a link to the one that it was made with.
    shown = project_path(Path(sys.executable), root)
    if Path(shown).is_absolute():
        return ("scons",)
    return (f"${{workspaceFolder}}/{shown}", "-m", "SCons")


def entries(session: Session) -> Iterator[Entry]:
    """Yield each source of the project that a planned step compiles, with the very argv of that step."""
    seen: set[str] = set()
    for node in walk(made for design in session.designs for made in design.all):
        step = step_of(node)
        if step is None or not step.label.startswith("compile ") or step.outputs[0] in seen:
            continue
        seen.add(step.outputs[0])
        source = _source(node, session)
        if source:
            yield Entry(source, step.commands[0], step.outputs[0], step.refused)


def _order(entry: Entry, arches: Sequence[str]) -> tuple[int, str, str]:
    arch = Path(entry.output).parts[-3]
    return arches.index(arch) if arch in arches else len(arches), entry.source, entry.output


def _source(node: Any, session: Session) -> str:
    """Return the source of an object; nothing for one that the build writes itself."""
    name = project_path(Path(str(node.sources[0].get_abspath())), session.root)
    return "" if name.startswith(f"{session.build_dir}/") else name
