"""`scons graph` and `aiebuild graph`: the graph that builds have, with its states and times."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import browser
from projects import add_design

if TYPE_CHECKING:
    from pathlib import Path

    from projects import Project

RECIPE = 'add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])\n'
KERNEL = (
    '#include "add.h"\nextern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + ONE; }\n'
)
COMMAND = "import sys; from aiebuild.cli import main; sys.exit(main())"


def asked(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command `aiebuild`."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        cwd=project.root,
        env=project.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def states(said: str) -> dict[str, str]:
    """Return the state of each node, by its title."""
    return {node["title"]: node["state"] for node in json.loads(said)["nodes"]}


def test_the_graph_tells_what_would_run_and_how_long_it_took(project: Project, tmp_path: Path) -> None:
    project.write("kernels/add.h", "#define ONE 1\n")
    project.write("kernels/add.cc", KERNEL)
    for name in ("one", "two"):
        recipe = RECIPE + f'env.Design(mlir="{name}.mlir.j2", link_with=[add], check="check.py")'
        add_design(project, name, recipe, {"add_one": "add.o"})
    unbuilt = project.build("graph", "design=one", "json=new.json")
    assert unbuilt.steps == []
    assert not (project.root / "build").exists()
    assert states(project.read("new.json"))["compile kernels/add.cc"] == "stale"
    project.build("design=one")
    project.write("kernels/add.h", "#define  ONE 1\n")
    said = project.build("graph", "design=one").out
    place = "build/graph/one.host.html"
    assert said.strip().endswith(f" edges, in {place}")
    page = project.read(place)
    answer = asked(project, "graph", "design=one", "--json")
    assert answer.returncode == 0, answer.stderr
    graph: dict[str, Any] = json.loads(answer.stdout)
    nodes = {node["title"]: node for node in graph["nodes"]}
    assert page.count('<g class="node') == len(nodes) == len(graph["nodes"])
    assert nodes["kernels/add.h"]["state"] == "source"
    assert nodes["compile kernels/add.cc"]["why"] == ["kernels/add.h changed"]
    assert (nodes["compile kernels/add.cc"]["state"], nodes["link one.kernels.zip"]["state"]) == ("stale", "perhaps")
    assert nodes["render designs/one/one.mlir.j2"]["state"] == "fresh"
    assert all(node["seconds"] is not None for node in graph["nodes"] if node["kind"] == "step")
    ways = {(edge["from"], edge["to"]) for edge in graph["edges"]}
    compiled = nodes["compile kernels/add.cc"]["id"]
    assert {("kernels/add.h", compiled), (compiled, nodes["link one.kernels.zip"]["id"])} <= ways
    # Times are of the last run of each step, not of the last build.
    project.build("design=one")
    again = json.loads(asked(project, "graph", "design=one", "--json").stdout)
    assert {node["state"] for node in again["nodes"]} == {"source", "fresh"}
    assert all(node["seconds"] is not None for node in again["nodes"] if node["kind"] == "step")
    shown = project.build("-n", "graph", "design=one", "format=dot").out
    assert shown.strip().endswith("build/graph/one.host.dot")
    assert not (project.root / "build/graph/one.host.dot").exists()
    both = asked(project, "graph", "format=mermaid").stdout
    assert both.startswith("flowchart LR\n")
    assert both.count("compile kernels/add.cc") == 1
    assert "two.kernels.zip" in both
    wrong = asked(project, "graph", "design=one", "format=tar.gz")
    assert wrong.returncode == 2
    assert "format=tar.gz is no" in wrong.stderr or "format=tar.gz is not a choice" in wrong.stderr
    # Last, since it is skipped where there is no browser.
    names = [node["id"] for node in graph["nodes"]]
    seen = browser.look_at(page, tmp_path, "Compile kernels/add.h changed")
    assert seen["names"] == seen["visible"] == names
    assert seen["shown"] == [compiled]
