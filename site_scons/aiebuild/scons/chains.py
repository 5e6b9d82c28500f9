"""The way from a cause to the artifact: which files lie between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.scons.closure import step_of, walk

if TYPE_CHECKING:
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import DesignNodes


class Chains:
    """The ways through one design's graph, towards its last artifact."""

    def __init__(self, design: DesignNodes, session: Session) -> None:
        wanted = [design.check, *design.artifacts, design.kernels, design.generic]
        self._ends = [str(node) for node in wanted if node is not None]
        self._folders = (f"{design.output}/", f"{design.output.partition('/designs/')[0]}/", f"{session.build_dir}/")
        self._users: dict[str, dict[str, None]] = {}
        for node in walk(design.all):
            step = step_of(node)
            if step is None:
                continue
            for child in node.children(scan=0):
                self._users.setdefault(str(child), {}).update(dict.fromkeys(step.outputs))

    def short(self, name: str) -> str:
        """Return a file's name without the folders that say nothing here."""
        folder = next((folder for folder in self._folders if name.startswith(folder)), "")
        return name[len(folder) :]

    def plain(self, text: str) -> str:
        """Return a sentence whose files are called by those short names."""
        for folder in self._folders:
            text = text.replace(folder, "")
        return text

    def onward(self, outputs: tuple[str, ...]) -> list[str]:
        """Return the files from a step, whose outputs these are, to the last artifact that it reaches."""
        before: dict[str, str] = dict.fromkeys(outputs, "")
        waiting = list(outputs)
        for name in waiting:
            for user in self._users.get(name, ()):
                if user not in before:
                    before[user] = name
                    waiting.append(user)
        end = next((name for name in self._ends if name in before), outputs[0])
        way = [end]
        while before[way[0]]:
            way.insert(0, before[way[0]])
        return way
