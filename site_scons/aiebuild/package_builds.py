"""What goes into a package: builds, read from their manifests, with the run on the host that they are trusted for."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from aiebuild import manifest, package_archive
from aiebuild.errors import Location
from aiebuild.manifest_step import output
from aiebuild.package_archive import PackageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiebuild.manifest import Manifest

HOST = "host"


@dataclass(frozen=True)
class Build:
    """A build for one arch: its manifest, and the contents of the outputs that it names, by their names."""

    manifest: Manifest
    files: Mapping[str, bytes]


def load(path: Path, elsewhere: Mapping[str, Path] | None = None) -> Build:
    """Return the build whose manifest a file holds, with its outputs.

    Args:
        path: the manifest; its outputs lie beside it.
        elsewhere: the files of outputs that do not, by name.

    Raises:
        ManifestError: the manifest is missing or damaged.
        PackageError: an output is missing.
    """
    found = manifest.read(path)
    files = {}
    for each in found.outputs:
        file = (elsewhere or {}).get(each.path, path.with_name(each.path))
        try:
            files[each.path] = file.read_bytes()
        except OSError as error:
            message = f"{each.path}, which the manifest names, cannot be read: {error.strerror or error}"
            raise PackageError(message, Location(str(path)), "build the design again") from None
    return Build(found, files)


def checked(build: Build, runs: Sequence[Manifest]) -> Build:
    """Return a build for the NPU with the check of the run on the host that is of the same design.

    Args:
        build: what is to be packaged; one that has a check of its own is returned as it is.
        runs: the manifests of runs on the host.

    Raises:
        PackageError: none of the runs is of this device, these parameters and this mode, or the one that is was made
            from other files or has other arguments.
    """
    made = build.manifest
    if made.check is not None or made.arch == HOST:
        return build
    for run in runs:
        if (run.design, run.device) == (made.design, made.device):
            for problem in _differences(made, run):
                message = f"the run on the host is not one of what was built for {made.arch}: {problem}"
                raise PackageError(message, hint="build both again")
            return Build(replace(made, check=run.check), build.files)
    return build


def _differences(made: Manifest, run: Manifest) -> Iterator[str]:
    """Yield what a run on the host has different from a build, where it has to be the same."""
    if run.version != made.version:
        yield f"its version is {run.version}, not {made.version}"
    if run.mode != made.mode:
        yield f"its mode is {run.mode}, not {made.mode}"
    for name in sorted({*run.parameters, *made.parameters}):
        if run.parameters.get(name) != made.parameters.get(name):
            yield f"{name}={run.parameters.get(name)}, not {name}={made.parameters.get(name)}"
    files = {each.path: each.sha256 for each in run.inputs}
    for each in made.inputs:
        if files.get(each.path, each.sha256) != each.sha256:
            yield f"{each.path} has another content"
    if _arguments(run) != _arguments(made):
        yield "the arguments of its runtime sequences differ"


def _arguments(made: Manifest) -> list[tuple[str, list[tuple[str, str, tuple[int, ...]]]]]:
    return [(each.name, [(it.name, it.element, it.shape) for it in each.arguments]) for each in made.sequences]


def with_reference(build: Build, check: Path, record: Path) -> Build:
    """Return a build for the host with the design's check beside it, by which the run can be repeated elsewhere.

    Args:
        build: the build.
        check: the design's `check.py`, relative to the current folder.
        record: what it has read: modules and data beside it come along. A check that needs files elsewhere in the
            project is left out, since it would not run.

    Raises:
        PackageError: a file cannot be read.
    """
    try:
        needs = [PurePosixPath(name) for name in json.loads(record.read_text(encoding="utf-8"))["files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PackageError(f"this is not a record of what a check has read: {error}", Location(str(record))) from None
    beside = PurePosixPath(check.as_posix()).parent
    names = [check.name, *(path.name for path in needs)]
    if any(path.parent != beside for path in needs) or any(map(package_archive.name_problem, names)):
        return build
    try:
        files = {name: check.with_name(name).read_bytes() for name in names}
    except OSError as error:
        raise PackageError(f"cannot be read: {error.strerror or error}", Location(str(error.filename))) from None
    added = [output(name, "reference" if name == check.name else "other", content) for name, content in files.items()]
    outputs = tuple(sorted((*build.manifest.outputs, *added), key=lambda each: each.path))
    return Build(replace(build.manifest, outputs=outputs), {**build.files, **files})
