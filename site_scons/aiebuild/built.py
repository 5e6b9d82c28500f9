"""What a build left, for Python programs: files, the manifest, and running it on the host with arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aiebuild.errors import AieBuildError, OptionError, RunError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from aiebuild.contract import Contract
    from aiebuild.manifest import Sequence

KINDS = {
    "mlir": ".mlir",
    "generic": ".generic.mlir",
    "facts": ".facts.json",
    "parameters": ".parameters.json",
    "cores": ".cores.py",
    "kernels": ".kernels.zip",
    "xclbin": ".xclbin",
    "insts": ".insts.bin",
    "pdi": ".pdi",
    "elf": ".insts.elf",
    "full_elf": ".full.elf",
    "cdo": ".cdo.zip",
    "txn": ".txn.mlir",
    "ctrlpkt": ".ctrlpkt.bin",
    "core_elfs": ".core_elfs.zip",
    "physical_mlir": ".physical.mlir",
}
"""The kinds of artifacts, and what their files add to the design's name."""

BY_SEQUENCE = ("insts", "elf", "full_elf")
"""Kinds of which there is one for each runtime sequence, where there are several: `insts.<sequence>`."""

CHECK = "check.json"
MANIFEST = "manifest.json"


class BuildError(AieBuildError):
    """A build failed; its text is what the command prints on standard error.

    Args:
        text: that.
        log: everything that the command printed.
    """

    def __init__(self, text: str, *, log: str = "") -> None:
        super().__init__(text)
        self.log = log

    def __str__(self) -> str:
        """Return the text of the command."""
        return self.message


@dataclass(frozen=True)
class Built:
    """One configuration of a design that is up to date.

    Attributes:
        design: its name.
        arch: what it was built for.
        root: the folder of the project.
        folder: that of the artifacts.
        log: what the command printed.
        was_fresh: whether nothing had to be done, and SCons was not even asked.
        steps: the steps that were run, as the command shows them: `compile kernels/mm.cc`.
    """

    design: str
    arch: str
    root: Path
    folder: Path
    log: str
    was_fresh: bool = False
    steps: tuple[str, ...] = ()

    @property
    def compiled(self) -> tuple[str, ...]:
        """The sources that were compiled in this build."""
        return tuple(step.split(" ", 1)[1] for step in self.steps if step.startswith("compile "))

    @cached_property
    def artifacts(self) -> Mapping[str, Path]:
        """The files that were built, absolute, by their kind.

        On the host: `mlir`, `generic`, `facts`, `parameters`, `cores`, `kernels` and, where the design has a check,
        `check`. For the NPU `xclbin`, `insts` and what else the recipe asks for; with several runtime sequences,
        `insts.<sequence>` for each.
        """
        names = sorted(path.name for path in self.folder.iterdir())
        found = {kind: f"{self.design}{suffix}" for kind, suffix in KINDS.items()} | {"check": CHECK}
        for kind in BY_SEQUENCE:
            start, end = f"{self.design}.", KINDS[kind]
            several = [name for name in names if name.startswith(start) and name.endswith(end)]
            found |= {
                f"{kind}.{name[len(start) : -len(end)]}": name for name in several if name != f"{self.design}{end}"
            }
        return {kind: self.folder / name for kind, name in found.items() if name in names}

    @property
    def manifest(self) -> dict[str, Any] | None:
        """What the manifest says; None where there is none."""
        path = self.folder / MANIFEST
        return json.loads(path.read_bytes()) if path.is_file() else None

    @cached_property
    def sequences(self) -> tuple[Sequence, ...]:
        """The runtime sequences, with the name, direction, type and shape of each argument."""
        from aiebuild import manifest_arguments  # noqa: PLC0415 - only running needs it
        from aiebuild.mlir.parse import parse  # noqa: PLC0415 - the same

        file = self.artifacts["generic"]
        module = parse(file.read_text(encoding="utf-8"), str(file))
        return manifest_arguments.sequences(module, self._contract.arguments)

    @cached_property
    def _contract(self) -> Contract:
        from aiebuild import contract  # noqa: PLC0415 - only running needs it

        return contract.load(self.root / "designs" / self.design / "design.yaml")

    def run(
        self, *arrays: NDArray[Any] | None, sequence: str | None = None, timeout: float | None = None
    ) -> tuple[NDArray[Any], ...]:
        """Run the design on the host, in a process of its own, on a freshly configured array.

        Args:
            arrays: the arguments of the runtime sequence, in its order: all of them, or those that the design reads.
                Those that are left out, or None, start as zeros. Shapes may differ where the number of elements is
                right. An array given for an argument that the design writes gets the result.
            sequence: the runtime sequence; the first one when left out.
            timeout: seconds that the run may take; the contract's when left out.

        Returns:
            The arguments that the sequence writes, in their order: the array that was given, or a new one.

        Raises:
            RunError: the arrays do not fit, or the design failed: with the text that the command prints.
            BuildError: it was built for the NPU.
        """
        from aiebuild.built_run import run  # noqa: PLC0415 - NumPy is slow to import

        return run(self, arrays, self._sequence(sequence), self._limit(timeout))

    def trace(
        self, *arrays: NDArray[Any] | None, sequence: str | None = None, timeout: float | None = None
    ) -> list[dict[str, Any]]:
        """Run the design like `run`, and return the events of the run in their order."""
        from aiebuild.built_run import trace  # noqa: PLC0415 - NumPy is slow to import

        return trace(self, arrays, self._sequence(sequence), self._limit(timeout))

    def _limit(self, timeout: float | None) -> float:
        return self._contract.run_timeout if timeout is None else timeout

    def _sequence(self, name: str | None) -> Sequence:
        if self.arch != "host":
            message = f"{self.design} was built for {self.arch}, which this machine cannot run"
            raise BuildError(str(OptionError(message, hint='build it with arch="host"')))
        known = {each.name: each for each in self.sequences}
        if not known:
            raise RunError(f"{self.design} has no runtime sequence")
        if name is None:
            return self.sequences[0]
        if name not in known:
            raise RunError(f"there is no runtime sequence {name!r}", hint=did_you_mean(name, known))
        return known[name]
