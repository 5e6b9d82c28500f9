"""The custom syntax of the dialects that xDSL does not know, or does not know well enough."""
