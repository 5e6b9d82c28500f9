"""A build's graph as a value: steps and the sources that they read, with states, times and reasons."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FORM = 1

STATES = {
    "source": "a file of yours",
    "fresh": "up to date",
    "stale": "will run",
    "foreign": "made by another builder",
    "perhaps": "may run, after steps before it",
}
"""What a node can be, and what that means to people."""


@dataclass(frozen=True)
class Node:
    """A step, or a source that steps read.

    Args:
        id: the first file that a step writes; the path of a source.
        title: what people read.
        state: one of `STATES`.
        seconds: how long the step took when it ran last; None where that is not known.
        outputs: the files that it writes.
        why: the reasons why it will run.
        designs: the names of the designs that it is for.
    """

    id: str
    title: str
    state: str
    seconds: float | None = None
    outputs: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    designs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """A file that goes from the node that is or makes it into a step."""

    start: str
    end: str
    file: str


@dataclass(frozen=True)
class Graph:
    """All nodes, each after those that it is made from, and the edges between them; `name` is what it is of."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def to_json(self) -> str:
        """Return the graph as text for programs."""
        nodes = [{**asdict(node), "kind": "source" if node.state == "source" else "step"} for node in self.nodes]
        edges = [{"from": edge.start, "to": edge.end, "file": edge.file} for edge in self.edges]
        return json.dumps({"form": FORM, "name": self.name, "nodes": nodes, "edges": edges}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Graph:
        """Return what `to_json` wrote."""
        said = json.loads(text)
        edges = tuple(Edge(edge["from"], edge["to"], edge["file"]) for edge in said["edges"])
        return cls(said["name"], tuple(map(_node, said["nodes"])), edges)


def _node(said: Mapping[str, Any]) -> Node:
    outputs, why, designs = (tuple(said[key]) for key in ("outputs", "why", "designs"))
    return Node(said["id"], said["title"], said["state"], said["seconds"], outputs, why, designs)
