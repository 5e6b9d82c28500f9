"""The graph of a build to look at: as text for Graphviz and Mermaid, as JSON, and as a page of its own."""
