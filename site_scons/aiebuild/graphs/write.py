"""A graph in the form that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import OptionError

if TYPE_CHECKING:
    from aiebuild.graphs.graph import Graph

SUFFIXES = {"dot": ".dot", "mermaid": ".mmd", "json": ".json", "html": ".html"}
DEFAULT = "html"


def require_form(form: str) -> None:
    """Refuse a form that graphs do not have.

    Raises:
        OptionError: it is that of something else.
    """
    if form not in SUFFIXES:
        raise OptionError(f"format={form} is no form of a graph", hint=f"one of: {', '.join(SUFFIXES)}")


def written(graph: Graph, form: str) -> str:
    """Return a graph as text, in one of the forms."""
    if form == "json":
        return graph.to_json()
    if form == "html":
        from aiebuild.graphs.page import page  # noqa: PLC0415 - Jinja2 is slow to import

        return page(graph)
    from aiebuild.graphs import text  # noqa: PLC0415 - only these two need it

    return text.dot(graph) if form == "dot" else text.mermaid(graph)
