"""What the build folder holds, how large it is, and making it smaller: `aiebuild cache [prune=SIZE] [--json]`.

The build folder is the cache: configurations side by side, and core objects that designs share by key. Taking something
out of it costs time and nothing else, since what is missing is made again. Only files that a build writes are taken:
those of the records of what is up to date, and those with a name that a step gives.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import freshness, lock
from aiebuild.errors import OptionError
from aiebuild.record import recall
from aiebuild.stamps import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CONFIGURATION, OBJECT = "configuration", "object"
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kMGT]?)B?", re.IGNORECASE)
_OWN = re.compile(r"(.*\.)?(manifest|check|last-run|trace)\.json(\.reads\.json)?")
"""Files of a configuration that do not bear the design's name."""
_KEY = re.compile(r"(.+-[0-9a-f]{12})\..*|(lib.+-[0-9a-f]{12})\.a")
"""Files of one object: its key, then what they are."""


@dataclass(frozen=True)
class Entry:
    """Something that is kept or taken as a whole.

    Attributes:
        kind: `configuration` or `object`.
        name: where it is, below the build folder.
        files: its files.
        size: bytes of all of them.
        used: when it was built last, or was part of something that was (ns).
        is_known: whether a build that is remembered has it.
    """

    kind: str
    name: str
    files: tuple[Path, ...]
    size: int
    used: int
    is_known: bool


def survey(build_dir: Path) -> list[Entry]:
    """Return what a build folder holds, what was used last first."""
    known = dict(_remembered(build_dir))
    used: dict[str, int] = {}
    for files, moment in known.values():
        used.update({name: max(moment, used.get(name, 0)) for name in files})
    found = [*_configurations(build_dir, used), *_objects(build_dir, used)]
    return sorted(found, key=lambda entry: (-entry.used, entry.name))


def _remembered(build_dir: Path) -> Iterator[tuple[str, tuple[list[str], int]]]:
    """Yield the files of each build that is remembered, absolute, with the moment of the record (ns)."""
    for path in sorted((build_dir / ".aiebuild" / freshness.FOLDER).glob("*.json")):
        try:
            record = recall(str(path))
            files = [str(Path(name).absolute()) for name in Table(record["files"]).names()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        yield path.name, (files, path.stat().st_mtime_ns)


def _configurations(build_dir: Path, used: dict[str, int]) -> Iterator[Entry]:
    for folder in build_dir.glob("*/designs/*/*"):
        if folder.is_dir() and not folder.is_symlink():
            design = folder.parent.name
            files = [path for path in _files(folder) if _is_ours(path, design) or str(path.absolute()) in used]
            yield _entry(CONFIGURATION, folder.relative_to(build_dir).as_posix(), files, used)


def _is_ours(path: Path, design: str) -> bool:
    return path.name.startswith(f"{design}.") or _OWN.fullmatch(path.name) is not None


def _objects(build_dir: Path, used: dict[str, int]) -> Iterator[Entry]:
    for folder in build_dir.glob("*/objects"):
        groups: dict[str, list[Path]] = {}
        for path in _files(folder):
            match = _KEY.fullmatch(path.name)
            if match:
                groups.setdefault(match[1] or match[2], []).append(path)
        for name, files in groups.items():
            yield _entry(OBJECT, f"{folder.relative_to(build_dir).as_posix()}/{name}", files, used)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _entry(kind: str, name: str, files: list[Path], used: dict[str, int]) -> Entry:
    statuses = [path.stat() for path in files]
    moments = [used.get(str(path.absolute()), 0) for path in files]
    latest = max([*moments, *(status.st_mtime_ns for status in statuses)], default=0)
    return Entry(kind, name, tuple(files), sum(status.st_size for status in statuses), latest, any(moments))


def prune(build_dir: Path, size: int, tell: Callable[[str], None]) -> list[Entry]:
    """Take out what was not used for the longest time, until the rest has at most `size` bytes; return it.

    Waits for a build that is running in the folder, and says so by `tell`.
    """
    held = lock.hold(build_dir / ".aiebuild" / "lock", tell)
    try:
        entries = survey(build_dir)
        total = sum(entry.size for entry in entries)
        taken = []
        for entry in reversed(entries):
            if total <= size:
                break
            _take(entry, build_dir)
            taken.append(entry)
            total -= entry.size
        return taken
    finally:
        if held is not None:
            held.close()


def _take(entry: Entry, build_dir: Path) -> None:
    for path in entry.files:
        path.unlink(missing_ok=True)
    folder = build_dir / entry.name
    # A folder with something of somebody else's in it stays.
    while entry.kind == CONFIGURATION and folder != build_dir and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def bytes_of(text: str) -> int:
    """Return a size: `500M`, `2G`, `1.5GB`, `0`.

    Raises:
        OptionError: it is none.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise OptionError(f"prune={text} is not a size", hint="bytes, or with k, M, G or T: prune=500M")
    unit = next(value for name, value in UNITS.items() if name.lower() == match[2].lower())
    return int(float(match[1]) * unit)


def shown(size: int) -> str:
    """Return a size as people read it."""
    unit = next((name for name, value in reversed(UNITS.items()) if size >= value), "")
    return f"{size} bytes" if not unit else f"{size / UNITS[unit]:.1f} {unit}B"


def text(entries: Iterable[Entry], build_dir: str) -> str:
    """Return what people are told of a build folder."""
    found = list(entries)
    configurations = [entry for entry in found if entry.kind == CONFIGURATION]
    objects = [entry for entry in found if entry.kind == OBJECT]
    lines = [
        f"{build_dir}: {shown(_total(found))} in {_count(configurations, CONFIGURATION)} and {_count(objects, OBJECT)}"
    ]
    width = max((len(entry.name) for entry in configurations), default=0)
    lines += [f"  {entry.name:<{width}}  {shown(entry.size)}" for entry in configurations]
    alone = [entry for entry in objects if not entry.is_known]
    if alone:
        lines.append(f"  {_count(alone, OBJECT)} of no build that is remembered: {shown(_total(alone))}")
    return "\n".join(lines)


def _total(entries: Iterable[Entry]) -> int:
    return sum(entry.size for entry in entries)


def _count(entries: list[Entry], kind: str) -> str:
    return f"{len(entries)} {kind}{'' if len(entries) == 1 else 's'}"


def as_records(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return entries for programs; `used` is in nanoseconds since 1970."""
    return [
        {"kind": one.kind, "name": one.name, "size": one.size, "used": one.used, "known": one.is_known}
        for one in entries
    ]


def run(build_dir: Path, said: str, wanted: str, tell: Callable[[str], None], *, as_json: bool) -> str:
    """Do what `aiebuild cache` is asked for; return what is printed.

    Args:
        build_dir: the build folder.
        said: how the command line calls it.
        wanted: the size that it shall have at most; empty for a report alone.
        tell: is called with a line where another build is waited for.
        as_json: whether a program reads it.

    Raises:
        OptionError: the size is none, or there is no build folder.
    """
    size = bytes_of(wanted) if wanted else None
    if not (build_dir / ".aiebuild").is_dir():
        raise OptionError(f"nothing was built in {said} yet", hint="scons builds every design")
    taken = prune(build_dir, size, tell) if size is not None else []
    left = survey(build_dir)
    if as_json:
        return json.dumps({"entries": as_records(left), "removed": as_records(taken)}, indent=1) + "\n"
    lines = [f"removed {entry.name}: {shown(entry.size)}" for entry in taken]
    return "\n".join([*lines, text(left, said)]) + "\n"
