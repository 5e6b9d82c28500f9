"""The fast path: is a design's configuration up to date? Asked of the file system alone, in milliseconds.

After a successful build everything that its result depended on is recorded. If nothing of it has changed, the build is
up to date and SCons's graph need not be read; any doubt (a file that is too young to be told apart by its times, a
missing, damaged or foreign record) is an answer of no, and SCons decides. Standard library only, and little of that:
this module is imported before anything else.
"""

from __future__ import annotations

import json
import os
import zlib

from aiebuild.record import Records, content, keep
from aiebuild.stamps import Moment

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiebuild.record import Difference
    from aiebuild.stamps import Stamp

VARIABLES = (
    *("PATH", "CXX", "VIRTUAL_ENV", "PEANO_INSTALL_DIR", "MLIR_AIE_INSTALL_DIR", "MLIR_AIE_DIR"),
    *("AIETOOLS_ROOT", "AIETOOLS_DIR", "AIECC_PATH", "AIE_XCLBINUTIL"),
    *("HOME", "PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "PYTHONOPTIMIZE", "LD_LIBRARY_PATH"),
)
"""Environment variables that decide which tools, their libraries and Python's packages are found, and how it runs."""

NAMED = 8
"""How many changed files are named to SCons, which begins with what reads them."""

FOLDER = "fresh"


def write(
    record: Record,
    *,
    files: dict[str, Stamp],
    folders: dict[str, Stamp],
    names: dict[str, str],
    absent: list[str],
    variables: dict[str, str | None],
    answer: dict[str, object],
    doubt: str = "",
) -> None:
    """Write the record of a build that has just succeeded; the arguments are those of `record.content`."""
    said = content(
        record.request,
        files=files,
        folders=folders,
        names=names,
        absent=absent,
        variables=variables,
        answer=answer,
        doubt=doubt,
    )
    os.makedirs(os.path.dirname(record.path), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib costs more than the question
    keep(record.path, said)


def check(
    record: Record,
    variables: dict[str, str],
    *,
    reasons: int = 1,
    look: Callable[[str], Stamp] | None = None,
    forks: bool = False,
) -> tuple[dict[str, object] | None, list[Difference]]:
    """Return the answer of a fresh record and no reasons, or None and the first reasons why SCons has to decide.

    Args:
        record: which.
        variables: the environment as it is now.
        reasons: how many reasons are wanted.
        look: gives the stamp of a file; each file is looked at when left out.
        forks: as for `Table`.
    """
    return Records(forks=forks).check(record.path, record.request, variables, reasons, look)


IGNORED = frozenset({"design", "arch", "verbose", "run_timeout", "aiecc_jobs", "timing"})
"""Words of a command line that make no difference to what one configuration of one design is."""

CHECK = "check"
VERBS = frozenset({"build", CHECK})
"""Verbs that do nothing where everything is up to date; `check` adds a run on the host."""

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

    Two ways to say the same have two records: the second one is made by SCons, which finds nothing to do. An arch that
    is not asked for is the run on the host that `check` adds; the toolchain is not meant for that.
    """
    given = dict(pairs)
    if arch not in values(pairs, "arch", DEFAULT_ARCH):
        given.pop("toolchain", None)
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
    if not given.get("design", "all").strip(" ,"):
        return False
    if "timing" in given:
        # There is a file to be written, whatever was built.
        return False
    if not all(given.get(name, "1").lstrip("0").isdigit() for name in ("run_timeout", "aiecc_jobs")):
        return False
    return bool(given.get("design")) or set(given) <= SHARED


def fresh(
    pairs: list[tuple[str, str]], verbs: Iterable[str], variables: dict[str, str]
) -> tuple[list[tuple[str, str, str]], dict[tuple[str, str], list[str]]]:
    """Return the configurations that are up to date, with their folders, and those that SCons has to decide.

    The latter with files that are not as they were: the first ones, none where another reason was found first.
    Of many files a second process looks at half: this is for a process that has just started.
    """
    done: list[tuple[str, str, str]] = []
    open_: dict[tuple[str, str], list[str]] = {}
    plain = is_plain(pairs)
    archs = values(pairs, "arch", DEFAULT_ARCH)
    if CHECK in verbs and DEFAULT_ARCH not in archs:
        archs.append(DEFAULT_ARCH)
    asked = [(design, arch) for design in designs(pairs) for arch in archs]
    look = Moment() if len(asked) > 1 else None
    for design, arch in asked:
        record = record_of(pairs, design, arch)
        answer, found = check(record, variables, reasons=NAMED, look=look, forks=True) if plain else (None, [])
        if answer is None:
            open_[design, arch] = [name for name, _ in found if name]
        else:
            done.append((design, arch, str(answer["output"])))
    return done, open_


def said(done: list[tuple[str, str, str]], seconds: float) -> str:
    """Return the line that says that everything is up to date."""
    names = ", ".join(dict.fromkeys(design for design, _, _ in done))
    places = list(dict.fromkeys(place for _, _, place in done))
    place = places[0] if len(places) == 1 else os.path.commonpath(places)
    return f"{names}: nothing to do, {place} is up to date ({seconds:.2f} s)"
