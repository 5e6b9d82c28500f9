"""What is known of a manifest when a build is planned: the request that `aiebuild.manifest_step` is given as a file.

Planning needs no more of manifests than this, so that it need not load the rest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aiebuild.errors import AieBuildError, Location, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS = frozenset(
    {
        *("design", "version", "description", "arch", "device", "toolchain", "mode", "variant", "parameters"),
        *("derived", "configuration", "recipe", "arguments", "objects", "tools", "inputs", "outputs"),
    }
)


class ManifestError(AieBuildError):
    """A manifest cannot be made, or is not one."""


@dataclass(frozen=True)
class Object:
    """A core object or an archive by its `link_with` name; the flags are in the compiler's order."""

    name: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Tool:
    """A program that took part. `digest` says which build of it; `dialect` how it is called, where that differs."""

    name: str
    version: str = ""
    dialect: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Product:
    """An output that a request names: its file, its kind, and the runtime sequence whose instructions it holds."""

    file: str
    kind: str
    sequence: str | None = None

    @property
    def name(self) -> str:
        """Its name beside the manifest."""
        return PurePosixPath(self.file).name


@dataclass(frozen=True)
class Request:
    """What is known when a build is planned.

    Attributes:
        recipe: the design whose recipe it is of, which is what its run calls it; `design` itself when left out.
        arguments: names and meanings of the runtime sequences' arguments, in their order.
        inputs: the project's files, relative to it.
        outputs: what the manifest is about; each file's own name must be another one.
        The others are those of `aiebuild.manifest.Manifest`.
    """

    design: str
    arch: str
    device: str
    outputs: tuple[Product, ...]
    version: str = ""
    description: str = ""
    toolchain: str = ""
    mode: str = "release"
    variant: str | None = None
    parameters: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    derived: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    configuration: str = ""
    recipe: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[Object, ...] = ()
    tools: tuple[Tool, ...] = ()
    inputs: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the text of the request file, which `from_json` reads."""
        record = {
            **{key: getattr(self, key) for key in _KEYS - {"arguments", "objects", "tools", "outputs", "inputs"}},
            "parameters": dict(self.parameters),
            "derived": dict(self.derived),
            "arguments": list(self.arguments.items()),
            "objects": [{"name": it.name, "sources": it.sources, "flags": it.flags} for it in self.objects],
            "tools": [vars(tool) for tool in self.tools],
            "inputs": self.inputs,
            "outputs": [vars(product) for product in self.outputs],
        }
        return json.dumps(record, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, file: str) -> Request:
        """Return the request that a text holds.

        Raises:
            ManifestError: it is not one.
        """
        try:
            record = json.loads(text)
            for key in record:
                if key not in _KEYS:
                    raise ManifestError(f"a request has no {key!r}", Location(file), did_you_mean(key, _KEYS))
            made = {
                **record,
                "arguments": dict(record.get("arguments", [])),
                "objects": tuple(
                    Object(it["name"], tuple(it["sources"]), tuple(it["flags"])) for it in record.get("objects", [])
                ),
                "tools": tuple(Tool(**it) for it in record.get("tools", [])),
                "inputs": tuple(record.get("inputs", [])),
                "outputs": tuple(Product(**it) for it in record["outputs"]),
            }
            return cls(**made)
        except (ValueError, KeyError, TypeError) as error:
            raise ManifestError(f"this is not a request for a manifest: {error}", Location(file)) from None
