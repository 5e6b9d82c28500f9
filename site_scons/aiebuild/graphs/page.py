"""A graph as one page of HTML that needs nothing else: drawn as SVG, with search, states, times and reasons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from aiebuild.graphs.graph import STATES
from aiebuild.graphs.layout import lay_out

if TYPE_CHECKING:
    from aiebuild.graphs.graph import Graph, Node
    from aiebuild.graphs.layout import Box

TEMPLATE = Path(__file__).resolve().parents[1] / "data" / "graph" / "page.html.j2"


def page(graph: Graph) -> str:
    """Return the page; without JavaScript it still shows the graph, and what each node is, where it is pointed at."""
    drawing = lay_out(graph)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    states = {state: sum(node.state == state for node in graph.nodes) for state in STATES}
    edges = {(edge.start, edge.end): edge for edge in graph.edges}.values()
    return template.render(
        name=graph.name,
        width=drawing.width,
        height=drawing.height,
        nodes=[{"node": node, "box": drawing.boxes[node.id], **_said(node)} for node in graph.nodes],
        edges=[
            {"edge": edge, "path": _path(drawing.boxes[edge.start], drawing.boxes[edge.end])}
            for edge in edges
            if edge.start in drawing.boxes and edge.end in drawing.boxes
        ],
        states=[(state, STATES[state], count) for state, count in states.items() if count],
        seconds=sum(node.seconds or 0 for node in graph.nodes),
    )


def _said(node: Node) -> dict[str, Any]:
    time = "" if node.seconds is None else f"{node.seconds:.2f} s"
    lines = [node.title, STATES[node.state] + (f", {time} when it ran last" if time else "")]
    lines += [f"why: {reason}" for reason in node.why]
    lines += [f"writes {file}" for file in node.outputs]
    lines += [f"for {', '.join(node.designs)}"] if node.designs else []
    return {"time": time, "lines": lines}


def _path(start: Box, end: Box) -> str:
    """Return a curve from the right side of a box to the left side of another."""
    x, y = start.x + start.width, start.y + start.height / 2
    to_x, to_y = end.x, end.y + end.height / 2
    bend = max((to_x - x) / 2, 20)
    return f"M{x:.0f} {y:.0f}C{x + bend:.0f} {y:.0f} {to_x - bend:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
