"""Check this package and find what is in it. Needs Python 3.8 or newer, and nothing else.

    from load import load

    built = load("aie2")              # the arch may be left out where the package has only one
    built.xclbin                      # paths
    built.insts["sequence"]           # the instructions of a runtime sequence
    built.arguments("sequence")       # name, direction, element, shape, bytes, meaning of each argument

`load` compares every file with SHA256SUMS first, and raises PackageError where one differs, is missing or is not
listed.
`python3 load.py` does the same, and prints what is there.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

SUMS = "SHA256SUMS"
MANIFEST = "manifest.json"


class PackageError(Exception):
    """The package is not as it was made, or has not what was asked for."""


class Built:
    """What the package has for one arch; `manifest` is the content of its manifest.json."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest

    @property
    def xclbin(self) -> Path:
        """The xclbin, which XRT loads."""
        return self.file("xclbin")

    @property
    def kernels(self) -> list[str]:
        """The names of the xclbin kernels, which XRT opens."""
        return [kernel["name"] for kernel in self.manifest["kernels"]]

    @property
    def insts(self) -> dict[str, Path]:
        """The instructions of each runtime sequence, by its name."""
        return {each["name"]: self.folder / each["insts"] for each in self.manifest["sequences"] if each["insts"]}

    def arguments(self, sequence: str | None = None) -> list[dict[str, Any]]:
        """Return the arguments of a runtime sequence in their order; the name may be left out where there is one."""
        sequences = {each["name"]: each["arguments"] for each in self.manifest["sequences"]}
        if sequence is None and len(sequences) == 1:
            (sequence,) = sequences
        if sequence not in sequences:
            known = ", ".join(sequences)
            raise PackageError(f"no runtime sequence {sequence!r}; there are: {known}")
        return list(sequences[sequence])

    def file(self, kind: str) -> Path:
        """Return the only file of a kind (xclbin, insts, kernels, ...)."""
        found = [each["path"] for each in self.manifest["outputs"] if each["kind"] == kind]
        if len(found) != 1:
            raise PackageError(f"there are {len(found)} files of kind {kind!r}, not one")
        return self.folder / str(found[0])


def load(arch: str | None = None, folder: str | os.PathLike[str] | None = None) -> Built:
    """Check the package in a folder (this file's own when left out), and return what it has for an arch."""
    top = Path(folder) if folder is not None else Path(__file__).resolve().parent
    check(top)
    archs = sorted(path.parent.name for path in top.glob("*/" + MANIFEST))
    if arch is None and len(archs) == 1:
        arch = archs[0]
    if arch not in archs:
        known = ", ".join(archs)
        raise PackageError(f"say for which arch: {known}")
    return Built(top / arch, json.loads((top / arch / MANIFEST).read_text(encoding="utf-8")))


def check(top: Path) -> None:
    """Compare every file below a folder with its SHA256SUMS."""
    listed = _listed(top)
    problems = []
    for name, digest in listed.items():
        path = top / name
        if path.is_symlink() or not path.is_file():
            problems.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            problems.append(f"{name} was changed")
    extra = sorted(_files(top) - set(listed) - {SUMS})
    problems += [f"{name} does not belong here" for name in extra]
    if problems:
        raise PackageError("; ".join(problems))


def _listed(top: Path) -> dict[str, str]:
    try:
        lines = (top / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise PackageError(f"{SUMS} cannot be read: {error}") from None
    listed = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name or name.startswith("/") or ".." in name.split("/"):
            raise PackageError(f"{SUMS} has a line that is not a checksum: {line!r}")
        listed[name] = digest
    return listed


def _files(top: Path) -> set[str]:
    """Return the files below a folder, without the byte code that Python may have left of this one."""
    found = {path.relative_to(top).as_posix() for path in top.rglob("*") if not path.is_dir()}
    return {name for name in found if not name.startswith("__pycache__/")}


def main() -> int:
    """Print what is in the package; return the exit status."""
    top = Path(__file__).resolve().parent
    try:
        check(top)
        for path in sorted(top.glob("*/" + MANIFEST)):
            _show(load(path.parent.name))
    except PackageError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _show(built: Built) -> None:
    said = built.manifest
    sys.stdout.write("{design} {version} for {arch} ({device}): good\n".format(**said))
    for each in said["outputs"]:
        sys.stdout.write("  {:<10} {}\n".format(each["kind"], built.folder / each["path"]))
    for sequence in said["sequences"]:
        sys.stdout.write("  arguments of {!r}:\n".format(sequence["name"]))
        for each in sequence["arguments"]:
            shape = "x".join(str(size) for size in each["shape"]) or "1"
            line = "    {:<8} {:<6} {} {}, {} bytes  {}".format(
                each["name"], each["direction"] or "?", shape, each["element"], each["bytes"], each["meaning"]
            )
            sys.stdout.write(line.rstrip() + "\n")


if __name__ == "__main__":
    sys.exit(main())
