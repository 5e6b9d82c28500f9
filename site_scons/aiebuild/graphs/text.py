"""A graph for Graphviz (`dot`) and for Mermaid, which many pages of documentation draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiebuild.graphs.graph import Edge, Graph, Node

COLOURS = {"source": "#e8e8e8", "fresh": "#cfe8cf", "stale": "#f6c9c4", "foreign": "#d9dff0", "perhaps": "#f9e4b4"}
"""The fill of a node by its state."""


def dot(graph: Graph) -> str:
    """Return the graph in Graphviz's language."""
    lines = [f"digraph {_quoted(graph.name)} {{", "  rankdir=LR;", '  node [shape=box, style=filled, fontname="sans"];']
    for node in graph.nodes:
        shape = ", shape=note" if node.state == "source" else ""
        label = _quoted("\n".join((node.title, *_time(node))))
        lines.append(f'  {_quoted(node.id)} [label={label}, fillcolor="{COLOURS[node.state]}"{shape}];')
    lines += [f"  {_quoted(edge.start)} -> {_quoted(edge.end)};" for edge in _once(graph)]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(graph: Graph) -> str:
    """Return the graph as a flowchart of Mermaid."""
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        text = "<br/>".join(map(_entities, (node.title, *_time(node))))
        left, right = ("([", "])") if node.state == "source" else ("[", "]")
        lines.append(f'  {names[node.id]}{left}"{text}"{right}:::{node.state}')
    lines += [f"  {names[edge.start]} --> {names[edge.end]}" for edge in _once(graph)]
    lines += [f"  classDef {state} fill:{colour},stroke:#666,color:#111" for state, colour in COLOURS.items()]
    return "\n".join(lines) + "\n"


def _once(graph: Graph) -> list[Edge]:
    """Return the edges without those between the same nodes as an earlier one."""
    return list({(edge.start, edge.end): edge for edge in reversed(graph.edges)}.values())[::-1]


def _time(node: Node) -> tuple[str, ...]:
    return () if node.seconds is None else (f"{node.seconds:.2f} s",)


def _quoted(text: str) -> str:
    inside = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inside}"'


def _entities(text: str) -> str:
    """Return a text with Mermaid's entities for all that means something in its labels."""
    return "".join(letter if letter.isalnum() or letter in " ./_-(),=+" else f"#{ord(letter)};" for letter in text)
