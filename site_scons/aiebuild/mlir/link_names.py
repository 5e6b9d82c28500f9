"""How linked symbols are called."""

from __future__ import annotations

from dataclasses import dataclass

from aiebuild.errors import OptionError
from aiebuild.mlir.attributes import quote, string

ORIGIN = "link.origin"
"""The entry that says where an op came from: `"KEY:old name"`."""


@dataclass(frozen=True)
class Naming:
    """A way to name: `hash`, `keep` or `namespace`.

    Attributes:
        way: which.
        space: of `namespace`: the name; empty for the name of the module that is linked.
        merge: whether equal public definitions of one name are one.
    """

    way: str
    space: str = ""
    merge: bool = False

    @classmethod
    def read(cls, text: str, *, merge_identical: bool = False) -> Naming:
        """Return what `hash`, `keep`, `namespace` or `namespace:NS` means.

        Raises:
            OptionError: it is none of these.
        """
        way, _, space = text.partition(":")
        if way not in ("hash", "keep", "namespace") or (space and way != "namespace"):
            raise OptionError(f"names={text!r} is not known", None, "one of: hash, keep, namespace:NAME")
        return cls(way, space, merge_identical)


def origin_text(key: str, name: str) -> str:
    """Return the text of `link.origin`."""
    return quote(f"{key}:{name}")


def read_origin(text: str | None) -> tuple[str, str] | None:
    """Return the key and the old name that `link.origin` holds."""
    if text is None or not text.startswith('"'):
        return None
    key, colon, name = string(text).partition(":")
    return (key, name) if colon else None
