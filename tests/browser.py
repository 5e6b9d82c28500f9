"""A page of a build's graph, as a real browser shows it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROBE = """
<script>
search.value = SEARCHED;
search.dispatchEvent(new Event("input"));
const found = {
  names: nodes.map(node => node.dataset.id),
  shown: nodes.filter(node => !node.classList.contains("away")).map(node => node.dataset.id),
  said: document.getElementById("found").textContent,
};
search.value = "";
boxes.find(box => box.dataset.state === "source").click();
found.without = nodes.filter(node => node.classList.contains("away")).map(node => node.dataset.id);
boxes.find(box => box.dataset.state === "source").click();
nodes[1].dispatchEvent(new MouseEvent("click", { bubbles: true }));
found.told = told.hidden ? null : told.textContent;
found.edges = edges.filter(edge => edge.classList.contains("chosen")).length;
const frame = svg.getBoundingClientRect();
found.visible = nodes.filter(node => {
  const box = node.getBoundingClientRect(), style = getComputedStyle(node);
  return box.width > 20 && box.height > 10 && style.visibility === "visible" && Number(style.opacity) === 1 &&
    box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
}).map(node => node.dataset.id);
found.texts = nodes.map(node => [...node.querySelectorAll("text")].map(text => text.textContent));
document.body.dataset.probe = JSON.stringify(found);
</script>
"""


def look_at(said: str, folder: Path, search: str) -> dict[str, Any]:
    """Return what a browser shows of a page, before and after something is searched in it."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: the page of a graph was seen by no browser")
    file = folder / "page.html"
    file.write_text(
        said.replace("</body>", f"{PROBE.replace('SEARCHED', json.dumps(search))}</body>"), encoding="utf-8"
    )
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,700",
        f"--user-data-dir={folder}/data",
    )
    command = [CHROMIUM, *options, "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    probe = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert probe is not None, done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(html.unescape(probe[1]))
    return found
