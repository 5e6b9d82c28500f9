"""The manifest of a build: what was made, from what, with which tools, and how it is called.

Two builds of the same inputs have the same manifest, byte for byte: it holds no time, no user and no path of the
machine, and the digest of an xclbin leaves out the UUIDs and times that a rebuild changes. `manifest.schema.json` is
its form. `aiebuild.manifest_step` makes it from a request and files, as a step of the graph.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.errors import Location
from aiebuild.manifest_request import ManifestError, Object, Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FORMAT = 1
SCHEMA = Path(__file__).with_name("manifest.schema.json")
NAME = "manifest.json"
NO_VERSION = "0.0.0"
"""The version of a design whose contract has none."""


@dataclass(frozen=True)
class Argument:
    """An argument of a runtime sequence.

    Attributes:
        direction: `in` where the array reads it, `out` where it writes it, `inout`; empty where that is not known.
        element: MLIR's name of the element type.
        shape: sizes, outermost first.
    """

    name: str
    direction: str
    element: str
    shape: tuple[int, ...]
    bytes: int
    meaning: str = ""


@dataclass(frozen=True)
class Sequence:
    """A runtime sequence; `insts` is the output with its instruction stream, empty where there is none."""

    name: str
    insts: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Kernel:
    """What XRT opens; `id` is a hexadecimal text."""

    name: str
    id: str
    instances: tuple[str, ...] = ()


@dataclass(frozen=True)
class Input:
    """A file of the project, relative to it."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Output:
    """A file beside the manifest; `masked` says that the digest leaves out what a rebuild changes."""

    path: str
    kind: str
    sha256: str
    size: int
    masked: bool = False


@dataclass(frozen=True)
class Checked:
    """An output of a run, compared with its reference."""

    sequence: str
    name: str
    ok: bool


@dataclass(frozen=True)
class Check:
    """A run that was compared with the reference."""

    arch: str
    device: str
    ok: bool
    outputs: tuple[Checked, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """All of it.

    Attributes:
        configuration: what sets this build apart from the arch's default one, as packages and folders name it: a
            device, `chess`, `debug`, a variant or parameters; empty for the default one.
        variant: the contract's name for these parameters, whichever way they were asked for.
        parameters: the declared ones.
        derived: those that the contract computes from them.
        external: one digest of what was read outside the project, empty for nothing.
    """

    design: str
    version: str
    description: str
    arch: str
    device: str
    toolchain: str
    mode: str
    variant: str | None
    parameters: Mapping[str, bool | int | float | str]
    derived: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    configuration: str = ""
    sequences: tuple[Sequence, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    inputs: tuple[Input, ...] = ()
    external: str = ""
    objects: tuple[Object, ...] = ()
    tools: tuple[Tool, ...] = ()
    outputs: tuple[Output, ...] = ()
    check: Check | None = None
    format: int = field(default=FORMAT)

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON values."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return found

    def to_json(self) -> str:
        """Return the file's text: the same for the same content, in ASCII, with a newline at the end."""
        return json.dumps(asdict(self), indent=1, sort_keys=True, allow_nan=False) + "\n"

    def of_kind(self, kind: str) -> tuple[Output, ...]:
        """Return the outputs of a kind."""
        return tuple(output for output in self.outputs if output.kind == kind)

    def require_checked(self, where: Location | None = None) -> Check:
        """Return the check, which was good.

        Raises:
            ManifestError: the design has not been checked, or its check failed.
        """
        if self.check is None:
            hint = "give the design a check.py (Design(check=...)), and build it again"
            raise ManifestError(f"{self.design} for {self.arch} has not been checked", where, hint)
        if not self.check.ok:
            wrong = ", ".join(each.name for each in self.check.outputs if not each.ok)
            what = f": {wrong} differs from the reference" if wrong else ""
            raise ManifestError(f"the check of {self.design} for {self.arch} failed{what}", where)
        return self.check


def package_name(design: str, version: str, labels: Mapping[str, str]) -> str:
    """Return the name of a package: `matmul-1.0.0-aie2`, `matmul-1.0.0-aie2+aie2p`, `matmul-1.0.0-aie2p-small`.

    Args:
        design: the design's name.
        version: its version.
        labels: by arch, what sets the build apart from the default one (`Manifest.configuration`), so that another
            configuration never takes the place of the default one's package.
    """
    parts = (design, version, "+".join(sorted(labels)), "+".join(sorted(set(filter(None, labels.values())))))
    return "-".join(filter(None, parts))


def name_of(manifests: Iterable[Manifest]) -> str:
    """Return the name of the package of some builds, one for each arch, of one design."""
    made = list(manifests)
    return package_name(made[0].design, made[0].version, {each.arch: each.configuration for each in made})


def from_json(text: str, file: str) -> Manifest:
    """Return the manifest that a text holds.

    Args:
        text: the file's content.
        file: its name, for messages.

    Raises:
        ManifestError: it is not JSON, not of the schema's form, or contradicts itself.
    """
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise ManifestError(f"this is not JSON: {error.msg}", Location(file, error.lineno, error.colno)) from None
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"this is not JSON that can be read: {error}", Location(file)) from None
    _refuse_other_format(record, file)
    for problem in schema_problems(record):
        raise ManifestError(f"this is not a manifest: {problem}", Location(file))
    found = _from_record(record)
    for problem in _contradictions(found):
        raise ManifestError(problem, Location(file))
    return found


def read(path: Path) -> Manifest:
    """Return the manifest of a file.

    Raises:
        ManifestError: it cannot be read, or is not one.
    """
    try:
        return from_json(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ManifestError(f"cannot be read: {error.strerror or error}", Location(str(path))) from None
    except UnicodeDecodeError as error:
        raise ManifestError(f"this is not text: {error.reason} at byte {error.start}", Location(str(path))) from None


def schema_problems(record: object) -> Iterator[str]:
    """Yield what a record has wrong, by the schema: the place in it, then the fault."""
    import jsonschema  # noqa: PLC0415 - slow to import, needed where a manifest is read only

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(record)
    for error in sorted(errors, key=lambda each: [str(part) for part in each.absolute_path]):
        place = "/".join(str(part) for part in error.absolute_path)
        yield f"{place}: {error.message}" if place else error.message


def _refuse_other_format(record: object, file: str) -> None:
    made = record.get("format") if isinstance(record, dict) else None
    if isinstance(made, int) and made > FORMAT:
        message = f"this is a manifest of format {made}, and only those up to {FORMAT} are known"
        raise ManifestError(message, Location(file), "install a newer aiebuild")


def _contradictions(found: Manifest) -> Iterator[str]:
    names = [output.path for output in found.outputs]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two outputs are called {name!r}"
    for sequence in found.sequences:
        if sequence.insts and sequence.insts not in names:
            yield f"the instructions of sequence {sequence.name!r} are no output: {sequence.insts!r}"


def _from_record(record: dict[str, Any]) -> Manifest:
    """Return the manifest of a record that the schema has found right."""
    check = record["check"]
    lists = {
        "sequences": tuple(_sequence(each) for each in record["sequences"]),
        "kernels": tuple(Kernel(each["name"], each["id"], tuple(each["instances"])) for each in record["kernels"]),
        "inputs": tuple(Input(**each) for each in record["inputs"]),
        "objects": tuple(
            Object(each["name"], tuple(each["sources"]), tuple(each["flags"])) for each in record["objects"]
        ),
        "tools": tuple(Tool(**each) for each in record["tools"]),
        "outputs": tuple(Output(**each) for each in record["outputs"]),
        "check": check and Check(**{**check, "outputs": tuple(Checked(**each) for each in check["outputs"])}),
    }
    return Manifest(**{**record, **lists})


def _sequence(record: dict[str, Any]) -> Sequence:
    arguments = tuple(Argument(**{**each, "shape": tuple(each["shape"])}) for each in record["arguments"])
    return Sequence(record["name"], record["insts"], arguments)
