"""`scons graph`: the steps of designs as a graph, with what would run and how long each took. Nothing is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import SCons.Node.FS

from aiebuild.graphs.graph import Edge, Graph, Node
from aiebuild.scons import explain, step_memory
from aiebuild.scons.closure import step_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.scons.explain import Explained
    from aiebuild.scons.session import Session
    from aiebuild.step import Step


def graph(session: Session, name: str) -> Graph:
    """Return the graph of all designs whose recipes were read; `name` is what it is called."""
    found = {one.step.outputs[0]: one for design in session.designs for one in explain.explain(design, session)}
    walk = _Walk(session, found)
    for design in session.designs:
        walk.design = design.name
        for node in design.all:
            walk.visit(node)
    return Graph(name, tuple(each.node for each in walk.found.values()), tuple(dict.fromkeys(walk.edges)))


@dataclass
class _Found:
    """A step or a source, for the designs that were seen to need it."""

    name: str
    title: str
    state: str
    seconds: float | None = None
    outputs: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    designs: dict[str, None] = field(default_factory=dict)

    @property
    def node(self) -> Node:
        return Node(self.name, self.title, self.state, self.seconds, self.outputs, self.why, tuple(self.designs))


class _Walk:
    """Goes through a graph from its sources on."""

    def __init__(self, session: Session, explained: dict[str, Explained]) -> None:
        self._session = session
        self._explained = explained
        self._seen: set[tuple[str, Any]] = set()
        self.design = ""
        self.found: dict[str, _Found] = {}
        self.edges: list[Edge] = []

    def visit(self, node: Any) -> str:
        """Note a file, and everything before it; return the name of its node in the graph."""
        step = step_of(node)
        name = step.outputs[0] if step is not None else str(node)
        if (self.design, name) in self._seen:
            return name
        self._seen.add((self.design, name))
        targets = node.get_executor().get_all_targets() if step is not None else [node]
        for child in _files(targets):
            before = self.visit(child)
            if before != name:
                self.edges.append(Edge(before, name, str(child)))
        if name not in self.found:
            kind = "foreign" if node.has_builder() else "source"
            self.found[name] = _Found(name, name, kind) if step is None else self._step(step)
        self.found[name].designs[self.design] = None
        return name

    def _step(self, step: Step) -> _Found:
        one = self._explained.get(step.outputs[0])
        state = "fresh" if one is None else "stale" if one.why else "perhaps"
        why = tuple(reason.text for reason in one.why) if one is not None else ()
        known = step_memory.recall(step.outputs[0], self._session.state)
        seconds = known.seconds if known is not None else None
        return _Found(step.outputs[0], self._session.title(step), state, seconds, step.outputs, why)


def _files(targets: Iterable[Any]) -> list[Any]:
    """Return the files that some targets are made from, each once; not values, nor targets among themselves."""
    children = {child: None for target in targets for child in target.children()}
    own = set(targets)
    return [child for child in children if isinstance(child, SCons.Node.FS.Base) and child not in own]
