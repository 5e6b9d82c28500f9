"""What a step really read: the depfiles of compilers (make's form) and of our own Python steps (JSON).

A depfile names what was read; it cannot name a file that was not there. `candidates` says which files would have
been found first, had they existed.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import compiler_words
from aiebuild.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aiebuild.step import Step

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


def digest_step(said: Path, root: Path, step: Step, *, own: frozenset[str]) -> Reads:
    """Return what a step read, from the depfile that its command wrote.

    Args:
        said: the command's depfile: make's form where it ends in `.make`, else the JSON of our own steps.
        root: the project's folder, from which the command ran.
        step: its command may name files that no depfile does.
        own: the files that are sources of the step already, relative to the root.
    """
    if said.suffix == MAKE_SUFFIX:
        names = parse_make(said.read_text(encoding="utf-8", errors="surrogateescape"))
        files, external, absent = _compiled(names, root, step)
        folders: tuple[str, ...] = ()
    else:
        record = json.loads(said.read_bytes())
        files, external = _sort_out(tuple(record["files"]), root)
        absent, folders = tuple(record.get("absent", ())), tuple(record.get("folders", ()))
    kept = tuple(name for name in files if name not in own)
    missing = {name for name in absent if not (root / name).exists()}
    return Reads(tuple(sorted(kept)), tuple(sorted(external)), tuple(sorted(missing)), tuple(sorted(folders)))


def _compiled(
    names: tuple[str, ...], root: Path, step: Step
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the files below the root, the other ones, and the places of headers that would have been found first."""
    words, responses = compiler_words.expanded(step.commands[0], root)
    search = (*compiler_words.header_folders(words), *step.search) if responses else step.search
    given = compiler_words.defined(words)
    files, external = _sort_out((*names, *responses, *compiler_words.named_files(words, root)), root)
    shipped = tuple(f"{folder}/" for folder in step.shipped)
    # The user's own, wherever they lie.
    own = (*files, *(name for name in external if not name.startswith(shipped)))
    others = tuple(name for name in external if name.startswith(shipped))
    files = (*files, *_assembled(own, root, search, given))
    return files, external, candidates(own, others, root, search, given)


def _sort_out(names: tuple[str, ...], root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names below the root, relative to it, and the other ones, absolute."""
    files: dict[str, None] = {}
    external: dict[str, None] = {}
    for name in names:
        path = _normal(root / name)
        if path != Path(os.path.normpath(root / name)):
            # A link stands before a `..`: where it leads is what the name says, and may come to lead elsewhere.
            external[str(root / name)] = None
        if path.is_relative_to(root):
            files[path.relative_to(root).as_posix()] = None
        else:
            external[str(path)] = None
    return tuple(files), tuple(external)


def _normal(path: Path) -> Path:
    """Return the path without `..`: resolved where it goes through one, since a link may stand before it."""
    return path.resolve() if ".." in path.parts else path


def candidates(
    files: tuple[str, ...],
    external: tuple[str, ...],
    root: Path,
    search: tuple[str, ...],
    given: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return the places where a header would have been found before the ones that were.

    For a header found under a search folder these are the same relative name under the folders before it, and under
    the folder of each of `files` (which `#include "..."` looks in first). `given` are the preprocessor's names
    that the command gives a value.
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
    for name in _asked_for(files, root, given or {}):
        places.update(dict.fromkeys(_join(place, name) for place in (*including, *folders)))
    return tuple(places)


_ASSEMBLED = re.compile(r"\.inc(?:bin|lude)\s*\\?\"([^\"\\]*)")
_ASKED = re.compile(r"__has_(?:include(?:_next)?|embed)\s*\(\s*(?:[<\"]([^>\"]+)[>\"]|(\w+))")
_QUOTED = re.compile(r"\"([^\"\\\n]+)\\?\"")


def _assembled(files: tuple[str, ...], root: Path, search: tuple[str, ...], given: Mapping[str, str]) -> list[str]:
    """Return the files that the sources hand to the assembler, by `.incbin` and `.include`: no depfile names them."""
    found: list[str] = []
    waiting = files
    while waiting:
        text = "\n".join(_texts(waiting, root))
        places = {name: _found(name, root, search) for name in _ASSEMBLED.findall(text)}
        if not all(places.values()):
            # Macros put a name together: each file that is named in quotes may be meant.
            places |= {
                name: _found(name, root, search) for name in (*_QUOTED.findall(text), *map(_bare, given.values()))
            }
        waiting = tuple(dict.fromkeys(name for name in places.values() if name and name not in (*files, *found)))
        found += waiting
    return found


def _found(name: str, root: Path, search: tuple[str, ...]) -> str:
    """Return a file of the project by its name in the current folder, or in one that is searched; empty for none."""
    places = (root / name, *(root / folder / name for folder in search)) if name.strip() else ()
    path = next((place for place in places if place.is_file()), None)
    return "" if path is None else _relative(path, root)


def _bare(value: str) -> str:
    return value.strip('\\"<>')


def _texts(files: tuple[str, ...], root: Path) -> Iterator[str]:
    for name in files:
        path = root / name
        if path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace")


def _asked_for(files: tuple[str, ...], root: Path, given: Mapping[str, str]) -> set[str]:
    """Return the files that the sources ask about with `__has_include` or `__has_embed`: absence is an answer there."""
    names: set[str] = set()
    macros: set[str] = set()
    for text in _texts(files, root):
        for name, macro in _ASKED.findall(text):
            (names if name else macros).add(name or macro)
    if macros:
        names |= {_bare(given[macro]) for macro in macros if macro in given}
        names |= {name for text in _texts(files, root) for name in _values(text, macros)}
    return names


def _values(text: str, macros: set[str]) -> Iterator[str]:
    """Yield the names of headers that a text defines macros as."""
    for macro, name in re.findall(r"#\s*define\s+(\w+)\s+[<\"]([^>\"\n]+)[>\"]", text):
        if macro in macros:
            yield name


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
