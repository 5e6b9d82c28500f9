"""The fast path: is a design's configuration up to date? Asked of the file system alone, in milliseconds.

After a successful build everything that its result depended on is recorded. If nothing of it has changed, the build is
up to date and SCons's graph need not be read; any doubt (a file that is too young to be told apart by its times, a
missing, damaged or foreign record) is an answer of no, and SCons decides. Standard library only, and little of that:
this module is imported before anything else.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib

from aiebuild import __version__

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

FORM = 2
"""The form of a record; one of another form is no record."""

RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was recorded may have changed again within one tick of its clock (up to
2 s on FAT): its content is compared as well, as git does with its index."""

VARIABLES = (
    *("PATH", "CXX", "VIRTUAL_ENV", "PEANO_INSTALL_DIR", "MLIR_AIE_INSTALL_DIR", "MLIR_AIE_DIR"),
    *("AIETOOLS_ROOT", "AIETOOLS_DIR", "AIECC_PATH", "AIE_XCLBINUTIL"),
    *("HOME", "PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE"),
)
"""Environment variables that decide which tools, and which of Python's packages, are found."""

FOLDER = "fresh"

Stamp = list[int]
"""Size, mtime and ctime (ns) and inode of a file; empty for one that does not exist."""


def stamp(path: str) -> Stamp:
    """Return what tells one state of a file or folder from another."""
    try:
        status = os.stat(path)  # noqa: PTH116 - pathlib costs more than the question itself
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def stamps(names: Iterable[str]) -> dict[str, Stamp]:
    """Return the stamp of each file or folder, in the order of their names."""
    return {name: stamp(name) for name in sorted(names)}


def write(
    record: Record,
    *,
    files: dict[str, Stamp],
    folders: dict[str, Stamp],
    absent: list[str],
    variables: dict[str, str],
    answer: dict[str, object],
) -> None:
    """Write the record of a build that has just succeeded.

    Args:
        record: which.
        files: everything that was read or written, relative to the current folder or absolute.
        folders: what was searched or listed: a new name in one of them may be a new input.
        absent: files that were looked for and not there.
        variables: the environment variables that decide.
        answer: what is said of the build when it is asked for again; `output` is its folder.
    """
    now = time.time_ns()
    young = {name: _digest(name) for name, known in (files | folders).items() if known and _is_young(known, now)}
    content = {
        "form": FORM,
        "version": __version__,
        "request": record.request,
        "python": [sys.version, sys.prefix],
        "at": now,
        "files": files,
        "young": young,
        "folders": folders,
        "absent": absent,
        "variables": variables,
        "answer": answer,
    }
    os.makedirs(os.path.dirname(record.path), exist_ok=True)  # noqa: PTH103, PTH120 - see above
    _keep(record.path, content)


def _keep(path: str, content: dict[str, object]) -> None:
    """Write a record: a line with its checksum, which tells a damaged one, and the record as JSON."""
    text = json.dumps(content, separators=(",", ":")).encode()
    aside = f"{path}.{os.getpid()}.new"
    with open(aside, "wb") as stream:  # noqa: PTH123 - see above
        stream.write(b"%08x\n" % zlib.crc32(text) + text)
    os.replace(aside, path)  # noqa: PTH105 - see above


def _recall(path: str) -> dict:  # type: ignore[type-arg] # as JSON gives it
    """Return a record as it was written.

    Raises:
        ValueError: it is damaged.
        OSError: there is none.
    """
    with open(path, "rb") as stream:  # noqa: PTH123 - see above
        checksum, _, text = stream.read().partition(b"\n")
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError(path)
    known = json.loads(text)
    if not isinstance(known, dict) or not isinstance(known["answer"]["output"], str):
        raise TypeError(path)
    return known


def check(record: Record, variables: dict[str, str], *, reasons: int = 1) -> tuple[dict[str, object] | None, list[str]]:
    """Return the answer of a fresh record and no reasons, or None and the first reasons why SCons has to decide.

    Args:
        record: which.
        variables: the environment as it is now.
        reasons: how many reasons are wanted.
    """
    now = time.time_ns()
    try:
        known = _recall(record.path)
        if known["request"] != record.request:
            return None, ["there is no record of a build"]
        if known["form"] != FORM or known["version"] != __version__:
            return None, ["it was built by another version of aiebuild"]
        found = _differences(known, variables, reasons)
        answer: dict[str, object] = known["answer"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, ["there is no record of a build"]
    if found:
        return None, found
    _refresh(record.path, known, now)
    return answer, []


def _differences(known: dict, variables: dict[str, str], reasons: int) -> list[str]:  # type: ignore[type-arg] # as JSON gives it
    found: list[str] = []
    if known["python"] != [sys.version, sys.prefix]:
        found.append("another Python runs")
    for name, value in known["variables"].items():
        if variables.get(name, "") != value:
            found.append(f"the variable {name} changed")
    young = known["young"]
    for name, then in known["files"].items():
        if len(found) >= reasons:
            return found
        now = stamp(name)
        if now != then or (name in young and _digest(name) != young[name]):
            found.append(f"{name} {'is gone' if not now else 'is new' if not then else 'changed'}")
    for name, then in known["folders"].items():
        if stamp(name)[1:] != then[1:] or (name in young and _digest(name) != young[name]):
            found.append(f"names in {name or '.'} changed")
    found += [f"{name} is new" for name in known["absent"] if os.path.lexists(name)]
    return found[:reasons]


def _is_young(known: Stamp, now: int) -> bool:
    return max(known[1], known[2]) + RACY_NS > now


def _digest(name: str) -> str:
    """Return the digest of a file's content, or of the names in a folder."""
    import hashlib  # noqa: PLC0415 - only young files need it

    try:
        if os.path.isdir(name):  # noqa: PTH112 - see above
            return hashlib.sha256("\0".join(sorted(os.listdir(name))).encode()).hexdigest()  # noqa: PTH208 - see above
        with open(name, "rb") as stream:  # noqa: PTH123 - see above
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""


def _refresh(path: str, known: dict, now: int) -> None:  # type: ignore[type-arg] # as JSON gives it
    """Leave out the contents of files that have come of age: they were compared after `now` and are as recorded.

    Only where each of them was old enough *before* it was compared: what changed since would have another time.
    """
    young = known["young"]
    if not young:
        return
    known_stamps = known["files"] | known["folders"]
    if any(_is_young(known_stamps[name], now) for name in young):
        return
    known["young"] = {}
    try:
        _keep(path, known)
    except OSError:
        return


IGNORED = frozenset({"design", "arch", "verbose", "json", "run_timeout", "aiecc_jobs", "timing"})
"""Words of a command line that make no difference to what one configuration of one design is."""

DEFAULT_BUILD_DIR = "build"
DEFAULT_ARCH = "host"


def values(pairs: list[tuple[str, str]], name: str, default: str) -> list[str]:
    """Return the values of an option that takes several, from the command line as it was typed."""
    found = dict(pairs).get(name, default)
    return [word.strip() for word in found.split(",") if word.strip()]


class Record:
    """Where a record is, and what it is of."""

    def __init__(self, path: str, request: str) -> None:
        self.path = path
        self.request = request


def record_of(pairs: list[tuple[str, str]], design: str, arch: str) -> Record:
    """Return the record of one design for one arch, from the command line as it was typed.

    Two ways to say the same have two records: the second one is made by SCons, which finds nothing to do.
    """
    given = dict(pairs)
    said = sorted((name, value) for name, value in given.items() if name not in IGNORED)
    asked = json.dumps([design, arch, said], separators=(",", ":"))
    # Not a digest of a kind that cannot collide, which costs 2 ms to import: the record holds the request itself.
    name = f"{design}-{arch}-{zlib.crc32(asked.encode()):08x}"
    return Record(f"{given.get('build_dir', DEFAULT_BUILD_DIR).rstrip('/')}/.aiebuild/{FOLDER}/{name}.json", asked)


def designs(pairs: list[tuple[str, str]]) -> list[str]:
    """Return the designs that a command line asks for, without looking into them."""
    asked = values(pairs, "design", "")
    if asked or not os.path.isdir("designs"):  # noqa: PTH112 - see above
        return asked
    return sorted(name for name in os.listdir("designs") if os.path.exists(f"designs/{name}/design.yaml"))  # noqa: PTH110, PTH208 - see above


SHARED = IGNORED | {"device", "toolchain", "mode", "build_dir", "trace"}
"""Words that mean something for all designs at once; any other one is a parameter, or a matter for SCons."""


def is_plain(pairs: list[tuple[str, str]]) -> bool:
    """Return whether nothing about a command line could be wrong that a record would hide."""
    given = dict(pairs)
    if len(set(pairs)) != len(given) or not {given.get(name, "0") for name in ("verbose", "trace")} <= {"0", "1"}:
        return False
    if "timing" in given:
        # There is a file to be written, whatever was built.
        return False
    if not all(given.get(name, "1").isdigit() for name in ("run_timeout", "aiecc_jobs")):
        return False
    return bool(given.get("design")) or set(given) <= SHARED


def fresh(
    pairs: list[tuple[str, str]], variables: dict[str, str]
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Return the configurations that are up to date, with their folders, and those that SCons has to decide."""
    done: list[tuple[str, str, str]] = []
    open_: list[tuple[str, str]] = []
    plain = is_plain(pairs)
    for design in designs(pairs):
        for arch in values(pairs, "arch", DEFAULT_ARCH):
            answer = check(record_of(pairs, design, arch), variables)[0] if plain else None
            if answer is None:
                open_.append((design, arch))
            else:
                done.append((design, arch, str(answer["output"])))
    return done, open_


def said(done: list[tuple[str, str, str]], seconds: float) -> str:
    """Return the line that says that everything is up to date."""
    names = ", ".join(dict.fromkeys(design for design, _, _ in done))
    places = list(dict.fromkeys(place for _, _, place in done))
    place = places[0] if len(places) == 1 else os.path.commonpath(places)
    return f"{names}: nothing to do, {place} is up to date ({seconds:.2f} s)"
