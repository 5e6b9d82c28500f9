"""The attributes of the `aie` dialect that have a short form: access patterns, padding, packet headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiebuild.mlir.dialects.syntax import Syntax


def dimensions(s: Syntax) -> str:
    """Read `[<size = 16, stride = 1>, ...]` and return it as the inner text of a `bd_dim_layout_array`."""
    return _array(s, ("size", "stride"))


def dimensions_attribute(s: Syntax) -> str:
    """Read an access pattern and return `#aie<bd_dim_layout_array[...]>`."""
    return f"#aie<bd_dim_layout_array{dimensions(s)}>"


def padding_attribute(s: Syntax) -> str:
    """Read `[<const_pad_before = 1, const_pad_after = 0>, ...]` and return `#aie<bd_pad_layout_array[...]>`."""
    return f"#aie<bd_pad_layout_array{_array(s, ('const_pad_before', 'const_pad_after'))}>"


def packet_attribute(s: Syntax) -> str:
    """Read `<pkt_type = 0, pkt_id = 2>`, or the whole attribute, and return `#aie.packet_info<...>`."""
    if s.ahead != "<":
        return s.attribute()
    return f"#aie.packet_info{_struct(s, ('pkt_type', 'pkt_id'))}"


def _array(s: Syntax, fields: tuple[str, ...]) -> str:
    """Read a list of structs."""
    entries: list[str] = []
    s.list("[", "]", lambda: entries.append(_struct(s, fields)))
    return f"[{', '.join(entries)}]"


def _struct(s: Syntax, fields: tuple[str, ...]) -> str:
    """Read `<field = integer, ...>`; the fields may come in any order."""
    example = f"`<{', '.join(f'{name} = 1' for name in fields)}>`"
    values: dict[str, str] = {}

    def entry() -> None:
        position = s.parser.pos
        name = s.word(example)
        if name not in fields or name in values:
            s.fail(f"expected {example}, found `{name}`", position)
        s.mark("=")
        values[name] = s.integer()

    s.list("<", ">", entry)
    missing = [name for name in fields if name not in values]
    if missing:
        s.fail(f"`{missing[0]}` is missing: expected {example}")
    return f"<{', '.join(f'{name} = {values[name]}' for name in fields)}>"
