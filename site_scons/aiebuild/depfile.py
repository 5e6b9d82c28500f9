"""What a step really read: the depfiles of compilers (make's form) and of our own Python steps (JSON).

A depfile names what was read; it cannot name a file that was not there. `candidates` says which files would have
been found first, had they existed.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

MAKE_SUFFIX = ".make"
UNSETTLED = "unsettled"


@dataclass(frozen=True)
class Reads:
    """What a step read.

    `files` are below the project's folder, relative to it; `external` are absolute. `absent` are the files that did
    not exist when the step ran and whose appearance would change its result. `folders` are the project's folders that
    were listed: a new name in one of them is a new input.
    """

    files: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def parse_make(text: str) -> tuple[str, ...]:
    r"""Return the prerequisites of the first rule of a make-style depfile, in order, none twice.

    The form is what GCC and Clang write: `target: a b \` over several lines, with a space in a name as `\ `, `#` as
    `\#` and `$` as `$$`.
    """
    rules = text.replace("\\\n", " ")
    first = rules.split("\n", 1)[0]
    _, _, prerequisites = _split_target(first)
    words = re.findall(r"(?:\\.|[^\s\\])+", prerequisites)
    return tuple(dict.fromkeys(re.sub(r"\\([ #\\:])", r"\1", word).replace("$$", "$") for word in words))


def _split_target(rule: str) -> tuple[str, str, str]:
    found = re.search(r":(?=\s|$)", rule)
    if found is None:
        return rule, "", ""
    return rule[: found.start()], ":", rule[found.end() :]


def read(path: Path) -> Reads | None:
    """Return what a finished step recorded; None where there is no record, or a damaged or unsettled one."""
    try:
        record = json.loads(path.read_bytes())
        if record.get(UNSETTLED):
            return None
        return Reads(*(tuple(record[name]) for name in ("files", "external", "absent", "folders")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write(path: Path, reads: Reads, *, is_unsettled: bool = False) -> None:
    """Record what a finished step read; for this build alone, where it is unsettled which state of a file that was."""
    record = asdict(reads) | ({UNSETTLED: True} if is_unsettled else {})
    write_atomically(path, json.dumps(record, separators=(",", ":")))


def digest_step(said: Path, root: Path, search: tuple[str, ...], *, own: frozenset[str]) -> Reads:
    """Return what a step read, from the depfile that its command wrote.

    Args:
        said: the command's depfile: make's form where it ends in `.make`, else the JSON of our own steps.
        root: the project's folder, from which the command ran.
        search: the folders that it searched for headers, in order.
        own: the files that are sources of the step already, relative to the root.
    """
    if said.suffix == MAKE_SUFFIX:
        names = parse_make(said.read_text(encoding="utf-8", errors="surrogateescape"))
        files, external = _sort_out(names, root)
        files = (*files, *_assembled(files, root, search))
        absent, folders = candidates(files, external, root, search), ()
    else:
        record = json.loads(said.read_bytes())
        files, external = _sort_out(tuple(record["files"]), root)
        absent, folders = tuple(record.get("absent", ())), tuple(record.get("folders", ()))
    kept = tuple(name for name in files if name not in own)
    missing = {name for name in absent if not (root / name).exists()}
    return Reads(tuple(sorted(kept)), tuple(sorted(external)), tuple(sorted(missing)), tuple(sorted(folders)))


def _sort_out(names: tuple[str, ...], root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names below the root, relative to it, and the other ones, absolute."""
    files: dict[str, None] = {}
    external: dict[str, None] = {}
    for name in names:
        path = _normal(root / name)
        if path.is_relative_to(root):
            files[path.relative_to(root).as_posix()] = None
        else:
            external[str(path)] = None
    return tuple(files), tuple(external)


def _normal(path: Path) -> Path:
    """Return the path without `..`: resolved where it goes through one, since a link may stand before it."""
    return path.resolve() if ".." in path.parts else path


def candidates(
    files: tuple[str, ...], external: tuple[str, ...], root: Path, search: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the places where a header would have been found before the ones that were.

    For a header found under a search folder these are the same relative name under the folders before it, and under
    the folder of each file that was read (which `#include "..."` looks in first).
    """
    folders = [_relative(root / folder, root) for folder in search]
    including = list(dict.fromkeys(Path(name).parent.as_posix() for name in files))
    places: dict[str, None] = {}
    for name in (*files, *external):
        for position, folder in enumerate(folders):
            rest = _below(name, folder)
            if rest is not None:
                before = [*including, *folders[:position]]
                places.update(dict.fromkeys(_join(place, rest) for place in before))
    for name in _asked_for(files, root):
        places.update(dict.fromkeys(_join(place, name) for place in (*including, *folders)))
    return tuple(places)


def _assembled(files: tuple[str, ...], root: Path, search: tuple[str, ...]) -> list[str]:
    """Return the files that the sources hand to the assembler with `.incbin`: no depfile ever names them."""
    found: list[str] = []
    for text in _texts(files, root):
        for name in re.findall(r"\.incbin\s*\\?\"([^\"\\]+)", text):
            places = (root / name, *(root / folder / name for folder in search))
            path = next((place for place in places if place.is_file()), None)
            if path is not None:
                found.append(_relative(path, root))
    return [name for name in found if name not in files]


def _texts(files: tuple[str, ...], root: Path) -> Iterator[str]:
    for name in files:
        path = root / name
        if path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace")


def _asked_for(files: tuple[str, ...], root: Path) -> set[str]:
    """Return the headers that the sources ask about with `__has_include`: absence is an answer there."""
    names: set[str] = set()
    for text in _texts(files, root):
        names.update(re.findall(r"__has_include(?:_next)?\s*\(\s*[<\"]([^>\"]+)[>\"]", text))
    return names


def _relative(path: Path, root: Path) -> str:
    normal = _normal(path)
    return normal.relative_to(root).as_posix() if normal.is_relative_to(root) else str(normal)


def _below(name: str, folder: str) -> str | None:
    if folder == ".":
        return None if name.startswith("/") else name
    prefix = folder.rstrip("/") + "/"
    return name[len(prefix) :] if name.startswith(prefix) else None


def _join(folder: str, rest: str) -> str:
    return rest if folder == "." else f"{folder}/{rest}"
