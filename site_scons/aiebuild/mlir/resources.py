"""The sections behind a module, `{-# dialect_resources: {...} #-}`: read, joined, and written again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir.problems import stop
from aiebuild.mlir.scan import ScanError, closing, split, squeeze

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.mlir.ir import Op

Sections = dict[str, dict[str, dict[str, str]]]
"""Section to dialect to key to the text of the value."""
_DENSE = re.compile(r'"(?:[^"\\\n]|\\.)*"|\bdense_resource<\s*([\w$.\-]+|"(?:[^"\\\n]|\\.)*")\s*>')


def read_resources(text: str) -> Sections:
    """Return the sections of `{-# ... #-}`; none for an empty text.

    Raises:
        MlirError: the text is not of that form.
    """
    body = text.strip().removeprefix("{-#").removesuffix("#-}")
    return {
        name: {group: _entries(entries) for group, entries in _entries(groups).items()}
        for name, groups in _entries("{" + body + "}").items()
    }


def write_resources(sections: Sections) -> str:
    """Return `{-# ... #-}`, an empty text for no sections."""
    if not any(sections.values()):
        return ""
    lines = ["{-#"]
    parts = [
        f"  {name}: {{\n"
        + ",\n".join(
            f"    {group}: {{\n" + ",\n".join(f"      {key}: {value}" for key, value in entries.items()) + "\n    }"
            for group, entries in groups.items()
        )
        + "\n  }"
        for name, groups in sections.items()
    ]
    return "\n".join([*lines, ",\n".join(parts), "#-}"])


def join_resources(main: str, code: str, key: str, label: str) -> tuple[str, dict[str, str]]:
    """Return both sections as one, and which keys of `code` have to be renamed for it.

    Only blobs of `dense_resource<...>` can be renamed: what refers to others is not known.

    Args:
        main: the sections of one module.
        code: those of the other.
        key: what new names end with.
        label: the other module, for messages.

    Raises:
        ProblemsError: two resources that cannot be renamed have one name and differ.
    """
    if not code:
        return main, {}
    joined, renamed = read_resources(main), {}
    for section, groups in read_resources(code).items():
        for group, entries in groups.items():
            target = joined.setdefault(section, {}).setdefault(group, {})
            for name, value in entries.items():
                if target.get(name, value) == value:
                    target[name] = value
                elif section == "dialect_resources" and group == "builtin":
                    renamed[name] = f"{name}_{key}"
                    target[renamed[name]] = value
                else:
                    stop("E-LINK-RESOURCE", f"the resource {name!r} of {group} differs in {label}")
    return write_resources(joined), renamed


def rename_blobs(op: Op, names: Mapping[str, str]) -> None:
    """Rename the keys of `dense_resource<...>` in an op and all that is nested in it."""
    if not names:
        return

    def replaced(match: re.Match[str]) -> str:
        new = names.get(match.group(1) or "")
        return match.group() if new is None else f"dense_resource<{new}>"

    for inner in op.walk():
        for entries in (inner.properties, inner.attributes):
            for name, text in entries.items():
                if "dense_resource<" in text:
                    entries[name] = _DENSE.sub(replaced, text)


def _entries(text: str) -> dict[str, str]:
    """Return key to text of `{key: value, ...}`."""
    stripped = text.strip()
    try:
        if not stripped.startswith("{") or closing(stripped, 0) != len(stripped):
            raise MlirError(f"expected `{{key: value}}` in the resources, found `{squeeze(stripped)[:60]}`")
        pairs = [piece.partition(":") for piece in split(stripped[1:-1])]
    except ScanError as error:
        raise MlirError(f"the resources cannot be read: {error.message}") from None
    return {key.strip(): value.strip() for key, _, value in pairs}
