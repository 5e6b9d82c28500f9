"""Making a manifest as a step: `python -m aiebuild.manifest_step REQUEST.json --module X.generic.mlir -o FILE`.

The request holds what is known when a build is planned; digests and sizes come from the files, the arguments of the
runtime sequences from the module, xclbin kernels from the xclbin, and the check from `check.json`. It runs from the
project's folder, and all paths in a request are relative to it. Exit status: 0 good; 1 for an error of the user's, said
on stderr, with no output left; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from aiebuild import step_process
from aiebuild.errors import AieBuildError, Location
from aiebuild.files import write_atomically
from aiebuild.manifest import (
    NO_VERSION,
    Check,
    Checked,
    Input,
    Kernel,
    Manifest,
    Output,
    schema_problems,
)
from aiebuild.manifest_request import ManifestError, Product, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from collections.abc import Sequence as Words

    from aiebuild.manifest import Sequence


@dataclass(frozen=True)
class Contents:
    """What the files hold: digests of inputs by path, the bytes of outputs by path."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, bytes]
    external: str = ""


def build(request: Request, contents: Contents, sequences: tuple[Sequence, ...], check: Check | None) -> Manifest:
    """Return the manifest of a build; nothing is read here.

    Args:
        request: what was planned.
        contents: what the files hold.
        sequences: the runtime sequences, as `aiebuild.manifest_arguments.sequences` gives them.
        check: the comparison with the reference; None for a design without one.

    Raises:
        ManifestError: two outputs have one name, a value does not fit the schema, or the check is another design's.
        InspectError: an xclbin is damaged.
    """
    made = Manifest(
        design=request.design,
        version=request.version or NO_VERSION,
        description=request.description,
        arch=request.arch,
        device=request.device,
        toolchain=request.toolchain or request.arch,
        mode=request.mode,
        variant=request.variant,
        parameters=request.parameters,
        derived=request.derived,
        configuration=request.configuration,
        sequences=sequences,
        kernels=tuple(kernel for it in request.outputs for kernel in _kernels(it, contents.outputs[it.file])),
        inputs=tuple(Input(path, contents.inputs[path]) for path in sorted(set(contents.inputs))),
        external=contents.external,
        objects=request.objects,
        tools=tuple(sorted(request.tools, key=lambda tool: tool.name)),
        outputs=tuple(sorted((_output(it, contents.outputs[it.file]) for it in request.outputs), key=lambda o: o.path)),
        check=check,
    )
    _refuse(made)
    return made


def read_check(text: str, request: Request, file: str) -> Check:
    """Return the check of a `check.json`.

    Raises:
        ManifestError: it is not one, or is that of another design or device.
    """
    try:
        record = json.loads(text)
        design, device = record["design"], record["device"]
        outputs = tuple(
            Checked(sequence["name"], each["name"], each["ok"])
            for sequence in record["sequences"]
            for each in sequence["outputs"]
        )
        found = Check("host", device, bool(record["ok"]), outputs)
    except (ValueError, KeyError, TypeError):
        raise ManifestError("this is not the result of a check", Location(file)) from None
    if (design, device) != (request.recipe or request.design, request.device):
        message = f"this is the check of {design} for {device}, not of {request.design} for {request.device}"
        raise ManifestError(message, Location(file))
    return found


def _kernels(product: Product, content: bytes) -> Iterator[Kernel]:
    if product.kind == "xclbin":
        from aiebuild.inspect import xclbin  # noqa: PLC0415 - the host's builds have none

        for kernel in xclbin.read(content, product.file).kernels:
            yield Kernel(kernel.name, kernel.id, kernel.instances)


def _output(product: Product, content: bytes) -> Output:
    return output(product.name, product.kind, content)


def output(name: str, kind: str, content: bytes) -> Output:
    """Return what a manifest says of a file.

    Raises:
        InspectError: it is an xclbin, and damaged.
    """
    mask = _mask(kind)
    digest = hashlib.sha256(mask(content, name) if mask else content).hexdigest()
    return Output(name, kind, digest, len(content), mask is not None)


def _mask(kind: str) -> Callable[[bytes, str], bytes] | None:
    """Return what takes from a file what a rebuild of the same inputs changes, for the kinds that have such a part."""
    if kind not in {"xclbin", "pdi"}:
        return None
    from aiebuild.inspect import xclbin  # noqa: PLC0415 - the host's builds have none

    return xclbin.masked if kind == "xclbin" else xclbin.masked_image


def _refuse(made: Manifest) -> None:
    """Refuse a manifest that nobody could read back, or that names the machine."""
    names = [each.path for each in made.outputs]
    for name in names:
        if names.count(name) > 1:
            raise ManifestError(f"two outputs are called {name!r}", hint="give one of them another file name")
    for problem in schema_problems(made.to_record()):
        raise ManifestError(f"the manifest of {made.design} for {made.arch} would be wrong: {problem}")


def refuse_machine(made: Manifest, root: str) -> None:
    """Refuse a manifest that holds the path of the project on this machine.

    Raises:
        ManifestError: with the text that does.
    """
    # Alone, after an option (`-I/src`), or in a list: `lib/src/a.cc` in a project at `/src` is none.
    place = re.compile(
        rf"""(?:^|^-[A-Za-z]|^-(?:isystem|iquote|idirafter)|[\s=:,;"'(]){re.escape(root)}(?:$|[/\s:,;"')])"""
    )
    for text in _texts(made.to_record()):
        if root != "/" and place.search(text):
            hint = "give flags and files relative to the project"
            raise ManifestError(f"the manifest would hold a path of this machine: {text!r}", hint=hint)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def main(argv: Words[str]) -> int:
    """Run the command and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m aiebuild.manifest_step", allow_abbrev=False)
    parser.add_argument("request", type=Path, help="what was planned, JSON")
    parser.add_argument("--module", type=Path, required=True, metavar="FILE", help="the checked module, generic form")
    parser.add_argument("--check", type=Path, metavar="FILE", help="the check's result, JSON")
    parser.add_argument(
        "--reads", type=Path, action="append", default=[], metavar="FILE", help="a record of files that a step has read"
    )
    parser.add_argument(
        "--made-in", default="", metavar="DIR", help="the folder of files that are no inputs: steps made them"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the manifest")
    parser.add_argument("--depfile", type=Path, metavar="FILE", help="the files that were read, JSON")
    options = parser.parse_args(argv)
    for path in (options.output, options.depfile):
        if path is not None:
            path.unlink(missing_ok=True)
    try:
        made, seen = _make(options)
    except AieBuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if options.depfile:
        write_atomically(options.depfile, json.dumps({key: sorted(names) for key, names in vars(seen).items()}) + "\n")
    write_atomically(options.output, made.to_json())
    return 0


def _make(options: argparse.Namespace) -> tuple[Manifest, _Seen]:
    """Return the manifest, and what it depends on besides the files of the command line."""
    from aiebuild.manifest_arguments import sequences  # noqa: PLC0415 - it needs the reader of MLIR
    from aiebuild.mlir.parse import parse  # noqa: PLC0415 - the same

    request = Request.from_json(_text(options.request), str(options.request))
    seen = _seen(options.reads)
    own, outside = _sort_out(seen.files)
    if options.made_in:
        own = {path for path in own if not PurePosixPath(path).is_relative_to(options.made_in)}
    inputs = {path: _digest(path) for path in sorted({*request.inputs, *own})}
    outputs = {product.file: _bytes(product.file) for product in request.outputs}
    insts = {product.sequence: product.name for product in request.outputs if product.sequence is not None}
    module = parse(_text(options.module), str(options.module))
    check = read_check(_text(options.check), request, str(options.check)) if options.check else None
    contents = Contents(inputs, outputs, _digest_of_all(outside))
    made = build(request, contents, sequences(module, request.arguments, insts), check)
    refuse_machine(made, str(Path.cwd()))
    seen.files |= set(inputs)
    return made, seen


@dataclass
class _Seen:
    """What steps have read (`external` files are among `files`), looked for in vain, and listed: as depfiles say it.

    All of it counts for the manifest too: where a file that was not there appears, a step reads another one.
    """

    files: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)


def _seen(records: Iterable[Path]) -> _Seen:
    """Return what the steps of some records have seen."""
    seen = _Seen()
    for record in records:
        _add(seen, record)
    return seen


def _add(seen: _Seen, record: Path) -> None:
    try:
        said = json.loads(_text(record))
        seen.files |= {*said["files"], *said.get("external", [])}
        seen.absent |= {*said.get("absent", [])}
        seen.folders |= {*said.get("folders", [])}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ManifestError("this is not a record of files that were read", Location(str(record))) from None


def _sort_out(files: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the files of the project, and those outside."""
    known = set(files)
    outside = {file for file in known if Path(file).is_absolute() or ".." in Path(file).parts}
    return known - outside, outside


def _text(path: Path) -> str:
    return _bytes(str(path)).decode("utf-8", "replace")


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ManifestError(f"cannot be read: {error.strerror or error}", Location(path)) from None


def _digest(path: str) -> str:
    return hashlib.sha256(_bytes(path)).hexdigest()


def _digest_of_all(paths: Iterable[str]) -> str:
    """Return one digest of the contents of files whose places do not count; empty for none."""
    digests = sorted(f"{_digest(path)} {Path(path).name}" for path in paths)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest() if digests else ""


if __name__ == "__main__":
    step_process.run(main)
