"""What is in a file that a build makes or takes: read in pure Python, without XRT and without the tools.

Known are xclbins, instruction streams (`.insts.bin`), objects and archives, manifests and packages; which one a file
is, its first bytes say.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from aiebuild.errors import Location
from aiebuild.files import read_regular
from aiebuild.inspect import insts, listing, objects, xclbin
from aiebuild.inspect.reader import InspectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from aiebuild.manifest import Manifest

__all__ = ["InspectError", "kind_of", "record", "text"]

_GZIP, _ZIP = b"\x1f\x8b", b"PK"


def kind_of(content: bytes) -> str:
    """Return `xclbin`, `insts`, `objects`, `package` or `manifest` from a file's bytes; empty for none of them."""
    if content.startswith(xclbin.MAGIC[:7]):
        return "xclbin"
    if content.startswith((objects.ELF, objects.ARCHIVE)):
        return "objects"
    if content.startswith((_GZIP, _ZIP)):
        return "package"
    if content.lstrip()[:1] == b"{":
        return "manifest"
    return "insts" if insts.looks_like(content) else ""


def text(path: Path) -> str:
    """Return what a file holds, for people; ends with a newline.

    Raises:
        InspectError: it is damaged, or of no kind that is known, with the byte; or it cannot be read.
    """
    kind, found = _read(path)
    writers: dict[str, Callable[[Any], Iterable[str]]] = {
        "xclbin": listing.of_xclbin,
        "insts": listing.of_stream,
        "objects": listing.of_objects,
        "manifest": listing.of_manifest,
        "package": _package_lines,
    }
    lines = list(writers[kind](found))
    return "\n".join([f"{path}: {lines[0]}", *lines[1:]]) + "\n"


def record(path: Path) -> dict[str, Any]:
    """Return the same for programs, as JSON values: `file`, `kind`, and what the kind's dataclass holds.

    Raises:
        InspectError: as for `text`.
    """
    kind, found = _read(path)
    if kind == "package":
        held = {"manifests": {arch: manifest.to_record() for arch, manifest in found}}
    elif kind == "manifest":
        held = found.to_record()
    else:
        held = dataclasses.asdict(found)
    return {"file": str(path), "kind": kind, **held}


def _read(path: Path) -> tuple[str, Any]:
    """Return the kind of a file and what it holds."""
    try:
        content = read_regular(path)
        kind = kind_of(content)
        if kind == "objects":
            return kind, objects.read(path)
    except OSError as error:
        raise InspectError(f"cannot be read: {error.strerror or error}", Location(str(path))) from None
    if kind == "xclbin":
        return kind, xclbin.read(content, str(path))
    if kind == "insts":
        return kind, insts.read(content, str(path))
    if kind == "manifest":
        from aiebuild import manifest  # noqa: PLC0415 - it needs this package's reader of xclbins

        return kind, manifest.from_json(content.decode("utf-8", "replace"), str(path))
    if kind == "package":
        from aiebuild.verify import manifests  # noqa: PLC0415 - the same

        return kind, manifests(path)
    known = "xclbins, instruction streams, objects, archives, manifests, packages"
    begin = content[:8].hex(" ") or "nothing: the file is empty"
    raise InspectError(f"no known kind of file begins with {begin}, at byte 0", Location(str(path)), f"known: {known}")


def _package_lines(found: list[tuple[str, Manifest]]) -> Iterator[str]:
    yield f"package with {', '.join(arch for arch, _ in found)}"
    for arch, manifest in found:
        lines = list(listing.of_manifest(manifest))
        yield f"  {arch}: {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])
