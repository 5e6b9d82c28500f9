"""Checking a package on the other side: `python -m aiebuild.verify PACKAGE...`.

Everything that can be wrong with it has its own message: a file that is cut off or changed, one that is missing or does
not belong there, a path that leads out of it, a link, a checksum file or a manifest that is not one, and a build that
was never checked. Exit status: 0 good; 1 for a package that is not, said on stderr; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import manifest, package_archive
from aiebuild.errors import AieBuildError, Location
from aiebuild.files import read_regular
from aiebuild.manifest_request import ManifestError
from aiebuild.package import LICENSE, LOADER, README, output_problems
from aiebuild.package_archive import VerifyError, VerifyErrors
from aiebuild.package_install import SUMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiebuild.manifest import Manifest

_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
_ALWAYS = (README, LICENSE, LOADER, SUMS)


@dataclass(frozen=True)
class Package:
    """A package that was found good: its name, its manifests by arch, and its files by path."""

    name: str
    manifests: Mapping[str, Manifest]
    files: Mapping[str, bytes]


def verify(path: Path) -> Package:
    """Return what a package holds, if nothing is wrong with it.

    Raises:
        VerifyErrors: with a message for each thing that is wrong.
    """
    if path.is_dir():
        message = "this is a folder, and a package is one file: scons package writes it below dist"
        raise VerifyErrors([VerifyError(message, Location(str(path)))])
    try:
        content = read_regular(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise VerifyErrors([VerifyError(message, Location(str(path)))]) from None
    return check(content, str(path))


def check(content: bytes, file: str) -> Package:
    """Return what the bytes of a package hold, if nothing is wrong with it.

    Args:
        content: the package.
        file: its name, for messages.

    Raises:
        VerifyErrors: with a message for each thing that is wrong.
    """
    where = Location(file)
    tops, files = _below(package_archive.unpack(content, file))
    if len(tops) != 1:
        found = ", ".join(sorted(tops)) or "none"
        raise VerifyErrors([VerifyError(f"a package has one folder at its top, this one has: {found}", where)])
    problems = list(_sum_problems(files))
    # Where the checksums do not fit, what the manifests say would only say it once more.
    found_manifests = {} if problems else dict(_manifests(files, problems))
    problems += [] if problems else _name_problems(tops.pop(), found_manifests)
    if problems:
        raise VerifyErrors([VerifyError(problem, where) for problem in problems])
    return Package(manifest.name_of(found_manifests.values()), found_manifests, files)


def manifests(path: Path) -> list[tuple[str, Manifest]]:
    """Return the manifests of a package that is good, by arch.

    Raises:
        VerifyErrors: as for `verify`.
    """
    return sorted(verify(path).manifests.items())


def _below(files: Mapping[str, bytes]) -> tuple[set[str], dict[str, bytes]]:
    """Return the names at the top, and the files by their paths below them."""
    tops = {path.partition("/")[0] for path in files}
    return tops, {path.partition("/")[2]: content for path, content in files.items()}


def _sum_problems(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield where the files are not those of the checksum file."""
    for name in _ALWAYS:
        if name not in files:
            yield f"{name} is missing"
    listed: dict[str, str] = {}
    for number, line in enumerate(files.get(SUMS, b"").decode("utf-8", "replace").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            yield f"line {number} of {SUMS} is not a checksum and a path: {line[:80]!r}"
            continue
        digest, path = match.groups()
        problem = package_archive.name_problem(path)
        if problem or path in listed or path == SUMS:
            yield f"line {number} of {SUMS}: {problem or f'{path!r} is named twice, or the file itself'}"
        listed.setdefault(path, digest)
    if SUMS in files:
        yield from _compared(files, listed)


def _compared(files: Mapping[str, bytes], listed: Mapping[str, str]) -> Iterator[str]:
    for path in sorted(listed.keys() - files.keys()):
        if path not in _ALWAYS:
            yield f"the file {path!r} is missing"
    for path in sorted(files.keys() - listed.keys() - {SUMS}):
        yield f"the file {path!r} does not belong in the package: {SUMS} does not name it"
    for path in sorted(files.keys() & listed.keys()):
        if hashlib.sha256(files[path]).hexdigest() != listed[path]:
            yield f"the file {path!r} was changed: its checksum differs"


def _manifests(files: Mapping[str, bytes], problems: list[str]) -> Iterator[tuple[str, Manifest]]:
    """Yield the manifests by arch; what is wrong with them and their files is added to `problems`."""
    folders = sorted({path.partition("/")[0] for path in files if "/" in path})
    if not folders:
        problems.append("there is no folder of an arch in the package")
    for folder in folders:
        path = f"{folder}/{manifest.NAME}"
        if path not in files:
            problems.append(f"the folder {folder!r} has no {manifest.NAME}")
            continue
        try:
            found = manifest.from_json(files[path].decode("utf-8", "replace"), path)
            problems += _arch_problems(found, folder, files)
            found.require_checked(Location(path))
        except ManifestError as error:
            problems.append(f"{error.where}: {error.message}")
            continue
        yield folder, found


def _arch_problems(found: Manifest, folder: str, files: Mapping[str, bytes]) -> Iterator[str]:
    if found.arch != folder:
        yield f"the manifest in the folder {folder!r} is for {found.arch!r}"
    named = {f"{folder}/{each.path}": each.path for each in found.outputs}
    for path in sorted({path for path in files if path.startswith(f"{folder}/")} - named.keys()):
        if path != f"{folder}/{manifest.NAME}":
            yield f"the manifest of {folder} does not name the file {path!r}"
    for path, name in named.items():
        if path not in files:
            yield f"the manifest of {folder} names {name!r}, which is missing"
            continue
        try:
            yield from (f"{path}: {problem}" for problem in output_problems(found, name, files[path]))
        except AieBuildError as error:
            yield f"{path}: {error.message}"


def _name_problems(top: str, found: Mapping[str, Manifest]) -> list[str]:
    kinds = {(made.design, made.version) for made in found.values()}
    if len(kinds) > 1:
        return [
            f"the manifests are of several designs: {', '.join(f'{name} {version}' for name, version in sorted(kinds))}"
        ]
    expected = manifest.name_of(found.values())
    return [] if top == expected else [f"the folder at the top is called {top!r}, it should be {expected!r}"]


def main(argv: Sequence[str], prog: str = "python -m aiebuild.verify") -> int:
    """Check packages; return the exit status."""
    parser = argparse.ArgumentParser(prog=prog, allow_abbrev=False, description="Say whether packages are as made.")
    parser.add_argument("packages", nargs="+", type=Path, metavar="PACKAGE", help="a tar.gz or zip of a design")
    parser.add_argument("--json", action="store_true", help="for programs: a list with an object for each package")
    options = parser.parse_args(argv)
    answers = [_answer(path) for path in options.packages]
    if options.json:
        sys.stdout.write(json.dumps(answers, indent=1) + "\n")
    else:
        for answer in answers:
            _report(answer)
    return 0 if all(answer["good"] for answer in answers) else 1


def _answer(path: Path) -> dict[str, Any]:
    """Return whether a package is good, with its name, archs and files, or with what is wrong."""
    try:
        found = verify(path)
    except VerifyErrors as error:
        return {"file": str(path), "good": False, "problems": [each.message for each in error.errors]}
    archs = sorted(found.manifests)
    return {"file": str(path), "good": True, "name": found.name, "archs": archs, "files": sorted(found.files)}


def _report(answer: Mapping[str, Any]) -> None:
    if answer["good"]:
        sys.stdout.write(f"{answer['file']}: good ({answer['name']}, {len(answer['files'])} files)\n")
    for problem in answer.get("problems", ()):
        sys.stderr.write(f"{answer['file']}: error: {problem}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
