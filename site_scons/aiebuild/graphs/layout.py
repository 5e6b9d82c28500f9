"""Where the nodes of a graph are drawn: in layers from left to right, each step to the right of what it is made from.

The way is Sugiyama's: layers by the longest path, then the order within a layer by the mean place of the neighbours.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.graphs.graph import Graph

HEIGHT, GAP, BETWEEN, LETTER, MARGIN = 44, 12, 70, 7.2, 16
"""Pixels: a box's height, between boxes, between layers, a letter's width, and around everything."""

SWEEPS = 6


@dataclass(frozen=True)
class Box:
    """The rectangle of a node, in pixels."""

    x: float
    y: float
    width: float
    height: float = HEIGHT


@dataclass(frozen=True)
class Drawing:
    """The boxes of all nodes by their ids, and the size of the whole."""

    boxes: Mapping[str, Box]
    width: float
    height: float


def lay_out(graph: Graph) -> Drawing:
    """Return where each node of a graph is drawn; no two boxes overlap."""
    layers = _layers(graph)
    rows = _ordered(graph, layers)
    widths = {node.id: max(110.0, LETTER * len(node.title) + 20) for node in graph.nodes}
    tallest = max((len(row) for row in rows), default=0) * (HEIGHT + GAP)
    boxes: dict[str, Box] = {}
    x = float(MARGIN)
    for row in rows:
        y = MARGIN + (tallest - len(row) * (HEIGHT + GAP)) / 2
        for name in row:
            boxes[name] = Box(round(x, 1), round(y, 1), round(widths[name], 1))
            y += HEIGHT + GAP
        x += max(widths[name] for name in row) + BETWEEN
    return Drawing(boxes, max(x - BETWEEN, 0.0) + MARGIN, tallest + 2.0 * MARGIN)


def _layers(graph: Graph) -> dict[str, int]:
    """Return the layer of each node; a source stands just before the first step that reads it."""
    layers: dict[str, int] = {}
    before, after = _neighbours(graph)
    for node in graph.nodes:
        layers[node.id] = 1 + max((layers[name] for name in before[node.id] if name in layers), default=-1)
    for node in graph.nodes:
        if node.state == "source" and after[node.id]:
            layers[node.id] = min(layers[name] for name in after[node.id]) - 1
    lowest = min(layers.values(), default=0)
    return {name: layer - lowest for name, layer in layers.items()}


def _neighbours(graph: Graph) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    before: dict[str, set[str]] = defaultdict(set)
    after: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        before[edge.end].add(edge.start)
        after[edge.start].add(edge.end)
    return before, after


def _ordered(graph: Graph, layers: Mapping[str, int]) -> list[list[str]]:
    rows: list[list[str]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for node in graph.nodes:
        rows[layers[node.id]].append(node.id)
    before, after = _neighbours(graph)
    place = {name: float(number) for row in rows for number, name in enumerate(row)}
    for sweep in range(SWEEPS):
        around = before if sweep % 2 == 0 else after
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda name: (_mean(name, around, place), name))
            place.update({name: number - len(row) / 2 for number, name in enumerate(row)})
    return [row for row in rows if row]


def _mean(name: str, around: Mapping[str, set[str]], place: Mapping[str, float]) -> float:
    near = [place[each] for each in around.get(name, ())]
    return sum(near) / len(near) if near else place[name]
