"""A build's graph as text and as a page: nothing is lost, nothing overlaps, and no name breaks the form."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING

import browser
from aiebuild.graphs import layout, text, write
from aiebuild.graphs.graph import Edge, Graph, Node
from aiebuild.graphs.page import page
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = """a "b" </title><script>alert(1)</script> & {{ x }} \\ | [c] #d; ü"""
NODES = (
    Node("kernels/a.cc", "kernels/a.cc", "source", designs=("one", "two")),
    Node("build/a.o", "compile kernels/a.cc", "stale", 1.25, ("build/a.o",), ("kernels/a.cc changed",), ("one",)),
    Node("hostile", HOSTILE, "fresh", outputs=("x", "y"), designs=("two",)),
    Node("build/check.json", "run one", "perhaps", 0.5, ("build/check.json",), (), ("one",)),
)
EDGES = (
    Edge("kernels/a.cc", "build/a.o", "kernels/a.cc"),
    Edge("build/a.o", "build/check.json", "build/a.o"),
    Edge("build/a.o", "build/check.json", "build/a.map"),
    Edge("hostile", "build/check.json", "x"),
)
GRAPH = Graph("one & <two>", NODES, EDGES)


def test_json_loses_nothing() -> None:
    said = json.loads(GRAPH.to_json())
    assert [node["kind"] for node in said["nodes"]] == ["source", "step", "step", "step"]
    assert said["edges"][1] == {"from": "build/a.o", "to": "build/check.json", "file": "build/a.o"}
    assert Graph.from_json(GRAPH.to_json()) == GRAPH


def test_dot_has_every_node_and_each_edge_once() -> None:
    said = write.written(GRAPH, "dot")
    assert len(re.findall(r"^  .* \[label=", said, re.MULTILINE)) == len(NODES)
    assert re.findall(r'^  ("[^"]*" -> "[^"]*");$', said, re.MULTILINE) == [
        '"kernels/a.cc" -> "build/a.o"',
        '"build/a.o" -> "build/check.json"',
        '"hostile" -> "build/check.json"',
    ]
    assert '[label="compile kernels/a.cc\\n1.25 s", fillcolor="#f6c9c4"]' in said
    assert r"a \"b\" </title>" in said
    # Outside of strings there is nothing but the form itself.
    assert not re.search(r"[<>&]", re.sub(r'"(?:[^"\\]|\\.)*"|->', "", said))


def test_mermaid_has_every_node_and_letters_alone_in_its_labels() -> None:
    said = write.written(GRAPH, "mermaid")
    labels = re.findall(r'^  n\d+(?:\(\[|\[)"(.*)"(?:\]\)|\]):::\w+$', said, re.MULTILINE)
    assert len(labels) == len(NODES)
    assert labels[1] == "compile kernels/a.cc<br/>1.25 s"
    assert not re.search(r'["<>{}|]', labels[2].replace("<br/>", ""))
    assert re.sub(r"#(\d+);", lambda found: chr(int(found[1])), labels[2]) == HOSTILE
    assert re.findall(r"^  (n\d --> n\d)$", said, re.MULTILINE) == ["n0 --> n1", "n1 --> n3", "n2 --> n3"]


def test_every_state_has_a_colour() -> None:
    for node in NODES:
        assert node.state in text.COLOURS


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw any graph without cycles."""
    count = draw(st.integers(0, 9))
    states = st.sampled_from(["source", "fresh", "stale"])
    nodes = [Node(f"n{number}", "x" * draw(st.integers(0, 30)), draw(states)) for number in range(count)]
    pairs = [pair for pair in combinations(range(count), 2) if nodes[pair[1]].state != "source" and draw(st.booleans())]
    return Graph("g", tuple(nodes), tuple(Edge(f"n{first}", f"n{second}", "f") for first, second in pairs))


@limits(deadline=None, max_examples=60)
@given(graphs())
def test_boxes_never_overlap_and_edges_go_to_the_right(graph: Graph) -> None:
    drawing = layout.lay_out(graph)
    assert set(drawing.boxes) == {node.id for node in graph.nodes}
    for one, other in combinations(drawing.boxes.values(), 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y
    for edge in graph.edges:
        assert drawing.boxes[edge.start].x + drawing.boxes[edge.start].width < drawing.boxes[edge.end].x
    for box in drawing.boxes.values():
        assert box.x >= 0
        assert box.x + box.width <= drawing.width
        assert box.y >= 0
        assert box.y + box.height <= drawing.height


def test_a_source_stands_just_before_the_first_step_that_reads_it() -> None:
    names = {"a": "source", "b": "fresh", "c": "fresh", "late": "source"}
    nodes = tuple(Node(name, name, state) for name, state in names.items())
    edges = tuple(Edge(first, second, first) for first, second in (("a", "b"), ("b", "c"), ("late", "c")))
    boxes = layout.lay_out(Graph("g", nodes, edges)).boxes
    assert boxes["late"].x == boxes["b"].x > boxes["a"].x


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing_of_a_name() -> None:
    said = page(GRAPH)
    assert not re.search(r"""(?:src|href)=|url\((?!#tip)|@import|https?:""", said)
    assert said.count("<script>") == 1
    assert said.count('<g class="node') == len(NODES)
    assert "one &amp; &lt;two&gt;" in said
    assert page(Graph("empty", (), ()))


def test_a_browser_shows_every_node_and_finds_them(tmp_path: Path) -> None:
    found = browser.look_at(page(GRAPH), tmp_path, "KERNELS/a.cc changed")
    names = [node.id for node in NODES]
    assert found["names"] == found["visible"] == names
    assert found["texts"][1:3] == [["compile kernels/a.cc", "1.25 s"], [HOSTILE]]
    assert (found["shown"], found["said"]) == (["build/a.o"], "1 of 4")
    assert found["without"] == ["kernels/a.cc"]
    assert found["told"].startswith(
        "compile kernels/a.cc\nwill run, 1.25 s when it ran last\nwhy: kernels/a.cc changed"
    )
    assert found["edges"] == 2
