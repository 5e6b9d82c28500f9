"""Packages: the artifacts of one design for one or several archs as a file that another machine can trust and use.

`python -m aiebuild.package MANIFEST... --license FILE --folder DIR` writes `<design>-<version>-<arch>.tar.gz`. In it,
below a folder of the same name: `README.md`, `LICENSE`, `load.py`, `SHA256SUMS`, and for each arch a folder with its
`manifest.json` and the files that it names. A build that has not been checked, whose check failed, or whose files are
not those of its manifest is not packaged; a build for the NPU is checked by the run on the host (`--checked-by`) of the
same files and parameters. Exit status: 0 good; 1 for an error of the user's, said on stderr; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import manifest, package_archive
from aiebuild.errors import AieBuildError, Location
from aiebuild.files import write_atomically
from aiebuild.inspect import insts, xclbin
from aiebuild.manifest_step import output
from aiebuild.package_archive import FORMATS, PackageError
from aiebuild.package_builds import HOST, Build, checked, load, with_reference
from aiebuild.package_install import SUMS, install
from aiebuild.package_readme import readme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiebuild.manifest import Manifest

README, LICENSE, LOADER = "README.md", "LICENSE", "load.py"
DATA = Path(__file__).with_name("data") / "package"
DEPLOYED = ("xclbin", "full-elf", "kernels")
"""Kinds of which a package needs one: without it there is nothing to run."""


def name(builds: Sequence[Build]) -> str:
    """Return the name of a package of these builds."""
    return manifest.name_of(build.manifest for build in builds)


def contents(builds: Sequence[Build], license_text: str) -> dict[str, bytes]:
    """Return the files of a package by their paths in its folder, the checksum file included.

    Args:
        builds: one for each arch, of one design.
        license_text: the licence that the artifacts are given under.

    Raises:
        PackageError: the builds do not belong together, or one of them cannot be packaged.
        ManifestError: one of them has not been checked, or its check failed.
        InspectError: an artifact is damaged.
    """
    _refuse_mixture(builds)
    ordered = sorted(builds, key=lambda build: build.manifest.arch)
    for build in ordered:
        _refuse_build(build)
    files = {
        README: readme([build.manifest for build in ordered], name(ordered)).encode(),
        LICENSE: license_text.encode(),
        LOADER: (DATA / LOADER).read_bytes(),
    }
    for build in ordered:
        arch = build.manifest.arch
        files[f"{arch}/{manifest.NAME}"] = build.manifest.to_json().encode()
        files.update({f"{arch}/{each.path}": build.files[each.path] for each in build.manifest.outputs})
    return {**files, SUMS: sums(files)}


def sums(files: Mapping[str, bytes]) -> bytes:
    """Return the checksum file of files by path, as `sha256sum -c` reads it; it does not name itself."""
    lines = [f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files) if path != SUMS]
    return "".join(lines).encode()


def pack(builds: Sequence[Build], license_text: str, form: str) -> bytes:
    """Return a package as bytes: the same for the same builds.

    Raises:
        AieBuildError: as for `contents`; there is no such format.
    """
    top = name(builds) if builds else ""
    files = contents(builds, license_text)
    return package_archive.pack({f"{top}/{path}": content for path, content in files.items()}, form)


def _refuse_mixture(builds: Sequence[Build]) -> None:
    """Refuse builds that cannot be in one package."""
    if not builds:
        raise PackageError("a package needs a build")
    first = builds[0].manifest
    archs = [build.manifest.arch for build in builds]
    for made in (build.manifest for build in builds):
        if (made.design, made.version) != (first.design, first.version):
            message = f"{made.design} {made.version} and {first.design} {first.version} cannot be in one package"
            raise PackageError(message)
        if archs.count(made.arch) > 1:
            raise PackageError(f"two builds are for {made.arch}, and a package has one for each arch")
    seen: dict[str, str] = {}
    for made in (build.manifest for build in builds):
        for each in made.of_kind("xclbin"):
            other = seen.setdefault(each.sha256, made.arch)
            if other != made.arch:
                raise PackageError(f"{made.arch} and {other} have the same xclbin: one of them was built for the other")


def _refuse_build(build: Build) -> None:
    made = build.manifest
    made.require_checked()
    if not any(each.kind in DEPLOYED for each in made.outputs):
        kinds = ", ".join(DEPLOYED)
        raise PackageError(
            f"there is nothing to run in the build of {made.design} for {made.arch}", hint=f"one of: {kinds}"
        )
    for each in made.outputs:
        for problem in output_problems(made, each.path, build.files[each.path]):
            raise PackageError(f"{made.arch}/{each.path}: {problem}", hint="build the design again")


def output_problems(made: Manifest, path: str, content: bytes) -> Iterator[str]:
    """Yield why a file is not the output of that name in a manifest.

    Raises:
        InspectError: the file is damaged.
    """
    said = next(each for each in made.outputs if each.path == path)
    if len(content) != said.size:
        yield f"it has {len(content)} bytes, the manifest says {said.size}"
        return
    if output(path, said.kind, content) != said:
        yield "its content is not the one that the manifest was made of"
        return
    if said.kind == "insts":
        yield from _stream_problems(made, path, content)
    if said.kind == "xclbin":
        found = xclbin.read(content, path)
        yield from found.problems
        names = {kernel.name for kernel in made.kernels}
        if {kernel.name for kernel in found.kernels} - names:
            yield "it has xclbin kernels that the manifest does not name"


def _stream_problems(made: Manifest, path: str, content: bytes) -> Iterator[str]:
    found = insts.read(content, path)
    if found.arch and found.arch != made.arch:
        yield f"these are instructions for {found.device} ({found.arch}), not for {made.arch}"


def main(argv: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    options = _parser().parse_args(argv)
    try:
        said = _install(options) if options.install else _write(options)
    except AieBuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(said)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m aiebuild.package", allow_abbrev=False)
    parser.add_argument("manifests", nargs="+", type=Path, metavar="MANIFEST", help="one for each arch")
    parser.add_argument("--license", type=Path, required=True, metavar="FILE", help="the licence of the artifacts")
    parser.add_argument("--format", default=FORMATS[0], help=f"one of: {', '.join(FORMATS)} (default: {FORMATS[0]})")
    parser.add_argument(
        "--file", action="append", default=[], metavar="NAME=PATH", help="an output that is not beside its manifest"
    )
    parser.add_argument(
        "--checked-by", action="append", default=[], type=Path, metavar="MANIFEST", help="that of a run on the host"
    )
    parser.add_argument("--reference", type=Path, metavar="FILE", help="the check.py for a build for the host")
    parser.add_argument("--reference-reads", type=Path, metavar="FILE", help="the record of what that has read")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", type=Path, metavar="FILE", help="the package")
    target.add_argument("--folder", type=Path, metavar="DIR", help="the folder for the package, under its own name")
    target.add_argument("--install", type=Path, metavar="DIR", help="write the files into a folder below this one")
    parser.add_argument("--list", type=Path, metavar="FILE", help="a file that gets the paths of what is installed")
    return parser


def _builds(options: argparse.Namespace) -> list[Build]:
    """Return the builds that a command line names, each with its check."""
    elsewhere = {word.partition("=")[0]: Path(word.partition("=")[2]) for word in options.file}
    runs = [manifest.read(path) for path in options.checked_by]
    builds = [checked(load(path, elsewhere), runs) for path in options.manifests]
    if not (options.reference and options.reference_reads):
        return builds
    reference = (options.reference, options.reference_reads)
    return [with_reference(build, *reference) if build.manifest.arch == HOST else build for build in builds]


def _license(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PackageError(f"cannot be read: {error.strerror or error}", Location(str(path))) from None
    except UnicodeDecodeError as error:
        raise PackageError(f"this is not text: {error.reason} at byte {error.start}", Location(str(path))) from None


def _write(options: argparse.Namespace) -> str:
    """Write the package; return its path where that was not given."""
    builds = _builds(options)
    content = pack(builds, _license(options.license), options.format)
    path: Path = options.output or options.folder / f"{name(builds)}.{options.format}"
    with _told():
        write_atomically(path, content)
    return f"{path}\n" if options.folder else ""


def _install(options: argparse.Namespace) -> str:
    """Write the package's files into their folder; return what is said of it."""
    builds = _builds(options)
    files = contents(builds, _license(options.license))
    with _told():
        made = install(files, options.install / name(builds))
        if options.list:
            write_atomically(options.list, "".join(f"{made.folder / path}\n" for path in sorted(files)))
    removed = f", {len(made.removed)} removed" if made.removed else ""
    return f"{made.folder}: {len(files)} files, {len(made.written)} written{removed}\n"


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Say as an error of the user's what the file system refuses."""
    try:
        yield
    except OSError as error:
        where = Location(str(error.filename)) if error.filename else None
        raise PackageError(f"cannot be written: {error.strerror or error}", where) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
