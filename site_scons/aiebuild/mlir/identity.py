"""What a module or a function is, apart from names of values, blanks, comments and places."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from aiebuild.mlir.copying import Copier
from aiebuild.mlir.ir import Module
from aiebuild.mlir.write import write

if TYPE_CHECKING:
    from collections.abc import Collection

    from aiebuild.mlir.ir import Op

_LENGTH = 16
"""Hexadecimal digits of a key."""
# Blanks between two words mean something, and so do those in strings.
_BLANK = re.compile(r'("(?:[^"\\\n]|\\.)*")|\s+(?!\w)|(?<!\w)\s+')
NAMES_OF_STAGES = ("stage_name", "op_name", "loop_name", "name", "from", "to")
"""Entries that name a part of a program for people and for transformations, and change nothing that it does."""


def key_of(module: Module) -> str:
    """Return the key of a module: the beginning of the SHA-256 of its canonical text, without places and blanks."""
    text = _BLANK.sub(r"\1", write(module))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_LENGTH]


def fingerprint(op: Op, without: Collection[str] = ()) -> str:
    """Return the canonical text of an op without its name and these entries, where their values are strings.

    An entry of that name with another value means something: `name = @g` of `memref.get_global`.
    """
    copy = Copier().op(op)
    copy.properties.pop("sym_name", None)
    for inner in copy.walk():
        for entries in (inner.attributes, inner.properties):
            for name in without:
                if entries.get(name, "").startswith('"'):
                    del entries[name]
    return write(Module(copy))
