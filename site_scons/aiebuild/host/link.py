"""From core objects to the kernel library: one shared library for each distinct set of files that cores link.

The result is a zip that depends on its inputs alone: members in order, not compressed, with fixed dates. `index.json`
in it says which core uses which library.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, RunError, ToolchainError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aiebuild.errors import Location
    from aiebuild.mlir.facts import Core, Facts

INDEX = "index.json"
FORMAT = 1
_UNDEFINED = re.compile(r"undefined reference to [`'\"](.+?)['`\"]")
_FLAGS = ("-Wl,--build-id=none", "-Wl,--no-undefined")


def link(
    facts: Facts,
    objects: Mapping[str, Path],
    compiler: str,
    folder: Path,
    *,
    promises: Mapping[str, Sequence[str]] | None = None,
    recipe: Location | None = None,
) -> bytes:
    """Return the zip of the kernel libraries of a design.

    Args:
        facts: of the module.
        objects: the file of each name that `link_with` uses.
        compiler: the C++ compiler that links, a command line.
        folder: where a private work folder may be made; it is removed.
        promises: the functions that files must define beside those that are called, by the names of `link_with`.
        recipe: the line of the recipe that promises them.

    Raises:
        CheckError: an object does not fit the design; the message has all errors, one after the other.
        RunError: the linker refused, with what it said.
        ToolchainError: there is no such compiler.
    """
    _check(facts, objects, promises or {}, recipe)
    groups: dict[tuple[str, ...], list[Core]] = {}
    for core in facts.cores:
        if core.calls:
            groups.setdefault(core.link_files, []).append(core)
    members: dict[str, bytes] = {}
    cores: dict[str, str] = {}
    for number, (names, users) in enumerate(sorted(groups.items())):
        member = f"kernels_{number}.so"
        called = sorted({name for core in users for name in core.calls})
        with tempfile.TemporaryDirectory(prefix=".link-", dir=folder) as work:
            members[member] = _library(names, called, objects, compiler, Path(work))
        cores.update({f"{core.column},{core.row}": member for core in users})
    index = {"format": FORMAT, "cores": cores}
    members[INDEX] = (json.dumps(index, indent=1, sort_keys=True) + "\n").encode()
    return archive(members)


def _check(
    facts: Facts, objects: Mapping[str, Path], promises: Mapping[str, Sequence[str]], recipe: Location | None
) -> None:
    from aiebuild.mlir.objects import check_objects, check_promises  # noqa: PLC0415 - ELF files: running needs none

    needed = sorted({name for core in facts.cores for name in core.link_files})
    missing = [name for name in needed if name not in objects]
    if missing:
        raise CheckError(f"no file was given for {missing[0]!r}", hint=did_you_mean(missing[0], objects))
    errors = [*check_objects(facts, objects, arch="host"), *check_promises(promises, objects, recipe)]
    if errors:
        raise _SeveralError(errors)


class _SeveralError(CheckError):
    """All that is wrong with the objects of a design."""

    def __init__(self, errors: Iterable[CheckError]) -> None:
        found = list(errors)
        super().__init__(found[0].message, found[0].where, found[0].hint)
        self.errors = found

    def __str__(self) -> str:
        """Return one message after the other."""
        return "\n".join(str(error) for error in self.errors)


def _library(
    names: tuple[str, ...], called: list[str], objects: Mapping[str, Path], compiler: str, work: Path
) -> bytes:
    """Link one library in a folder that holds its files and nothing else, under the names that the MLIR uses."""
    files = {name: linker_name(name, names) for name in names}
    for name, file in files.items():
        shutil.copyfile(objects[name], work / file)
    run = subprocess.run(
        command(files.values(), called, compiler), cwd=work, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise _refused(run.stderr.strip() or run.stdout.strip(), called)
    return (work / "kernels.so").read_bytes()


def linker_name(name: str, others: Iterable[str]) -> str:
    """Return the name under which a file is linked: compilers would take `add.ll` for a source to compile."""
    taken = set(others)
    file = name
    while not file.endswith((".o", ".a")) or (file != name and file in taken):
        file += ".o"
    return file


def command(names: Iterable[str], called: Iterable[str], compiler: str) -> tuple[str, ...]:
    """Return the command line of the linker: objects before archives, each called function wanted from them."""
    objects = [name for name in names if not name.endswith(".a")]
    archives = [name for name in names if name.endswith(".a")]
    wanted = [f"-Wl,-u,{name}" for name in called]
    words = shlex.split(compiler)
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise ToolchainError(f"there is no C++ compiler {compiler!r}", hint="set CXX to one, for example CXX=g++")
    # Absolute: the command runs in another folder.
    start = str(Path(program).absolute())
    return (start, *words[1:], "-shared", "-o", "kernels.so", *wanted, *objects, *archives, *_FLAGS)


def _refused(said: str, called: list[str]) -> RunError:
    undefined = sorted(set(_UNDEFINED.findall(said)))
    hint = f"not defined anywhere: {', '.join(undefined)}" if undefined else ""
    return RunError(f"the kernels of {', '.join(called)} cannot be linked\n{said}", hint=hint)


def archive(members: Mapping[str, bytes]) -> bytes:
    """Return a zip that depends on the members alone."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as target:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            target.writestr(entry, members[name])
    return stream.getvalue()


def unpack(path: Path, folder: Path) -> dict[tuple[int, int], Path]:
    """Unpack the libraries into a folder; return that of each core, by (column, row).

    Raises:
        RunError: the file is not a kernel library of this version.
    """
    try:
        with zipfile.ZipFile(path) as source:
            index = json.loads(source.read(INDEX))
            cores = {_tile(core): folder / member for core, member in index["cores"].items()}
            for member in {target.name for target in cores.values()}:
                (folder / member).write_bytes(source.read(member))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise RunError(f"{path} is not a kernel library: {error}") from error
    return cores


def _tile(text: str) -> tuple[int, int]:
    column, row = text.split(",")
    return int(column), int(row)
