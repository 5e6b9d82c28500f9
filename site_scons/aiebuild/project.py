"""A project of designs for Python programs: what is there, whether it is up to date, and building it.

A build is that of the command line: the same words, the same records, SCons in a process of its own. So a program
and a person share what was built, and nothing of a build stays in the program.
"""

from __future__ import annotations

import dataclasses
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import answers, contract, freshness, options
from aiebuild.build_process import run_scons
from aiebuild.built import BuildError, Built
from aiebuild.contract import as_text
from aiebuild.environment import variables
from aiebuild.errors import AieBuildError, OptionError, did_you_mean
from aiebuild.record import Records, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.freshness import Record
    from aiebuild.record import Difference

    Pairs = list[tuple[str, str]]

REASONS = 3
"""How many reasons a status has at most."""


@dataclass(frozen=True)
class Status:
    """Whether a configuration is up to date, and the first reasons where it is not. It is true where it is fresh."""

    fresh: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.fresh


class Project:
    """The designs below one folder.

    Args:
        root: the folder that holds the `SConstruct`.
        build_dir: where everything is built, as on the command line; `build` when left out.
        jobs: steps that a build may run at a time.

    Several threads and processes may use one project, or several ones, at the same time: one builds, the others wait
    and say for whom (a line for `progress`).

    Raises:
        BuildError: there is no project in the folder.
    """

    def __init__(self, root: str | os.PathLike[str] = ".", *, build_dir: str = "", jobs: int = 1) -> None:
        self.root = Path(root).absolute()
        self.build_dir = build_dir
        self.jobs = jobs
        self._records = Records(str(self.root))
        if not (self.root / "SConstruct").is_file():
            hint = "name the folder of a project"
            raise BuildError(str(OptionError(f"there is no SConstruct in {self.root}", hint=hint)))

    def designs(self) -> tuple[str, ...]:
        """Return the names of the designs."""
        return tuple(contract.find(self.root))

    def describe(self, name: str) -> dict[str, Any]:
        """Return what a design is, as `aiebuild describe --json` says it.

        Raises:
            BuildError: there is no such design, or its contract is wrong.
        """
        asked = answers.Asked(self.root, build_dir=self.build_dir or freshness.DEFAULT_BUILD_DIR)
        return answers.as_record(self._contract(name), asked)

    def status(
        self,
        design: str,
        /,
        arch: str = freshness.DEFAULT_ARCH,
        *,
        variant: str | None = None,
        device: str | None = None,
        mode: str = "release",
        **parameters: object,
    ) -> Status:
        """Return whether a configuration is up to date; the arguments are those of `build`.

        It is asked of the file system alone and in this process; where the answer is no, SCons may still find that
        nothing has to be done.
        """
        pairs = self._pairs(design, arch, {"variant": variant, "device": device, "mode": mode}, parameters)
        answer, reasons = self._check(freshness.record_of(pairs, design, arch), REASONS)
        return Status(answer is not None, tuple(said(reasons)))

    def build(
        self,
        name: str,
        /,
        arch: str = freshness.DEFAULT_ARCH,
        *,
        variant: str | None = None,
        device: str | None = None,
        mode: str = "release",
        progress: Callable[[str], None] | None = None,
        **parameters: object,
    ) -> Built:
        """Build one configuration of a design, where it is not up to date, and return what was built.

        Args:
            name: the design.
            arch: `host`, `aie2` or `aie2p`; on the host, building includes running and comparing.
            variant: a named set of parameters.
            device: a device of the contract; its first one of the arch when left out.
            mode: `release` or `debug`.
            progress: is called with each line that the command would print, while it builds.
            parameters: parameters of the design, and further options of the command line (`toolchain="chess"`).

        Raises:
            BuildError: what the command says where it fails.
        """
        started = time.monotonic()
        pairs = self._pairs(name, arch, {"variant": variant, "device": device, "mode": mode}, parameters)
        record = freshness.record_of(pairs, name, arch)
        answer = self._check(record, 1)[0] if freshness.is_plain(pairs) else None
        if answer is not None:
            place = str(answer["output"])
            line = freshness.said([(name, arch, place)], time.monotonic() - started)
            return self._built(name, arch, place, f"{line}\n", was_fresh=True)
        words = [f"{key}={value}" for key, value in pairs]
        done = run_scons(self.root, [*words, *([f"-j{self.jobs}"] if self.jobs > 1 else ())], progress)
        if done.status:
            raise BuildError(done.errors.strip() or done.log.strip(), log=done.log)
        answer, _ = self._check(record, 1)
        place = str(answer["output"]) if answer is not None else self._place(name, arch, dict(pairs))
        return self._built(name, arch, place, done.log, steps=done.steps)

    def _built(
        self, name: str, arch: str, place: str, log: str, *, was_fresh: bool = False, steps: tuple[str, ...] = ()
    ) -> Built:
        return Built(name, arch, self.root, self.root / place, log, was_fresh=was_fresh, steps=steps)

    def _pairs(self, design: str, arch: str, asked: dict[str, str | None], parameters: dict[str, object]) -> Pairs:
        """Return the words of the command line that ask for the same; what is left out there is left out here."""
        if "," in f"{design}{arch}":
            message = f"one design and one arch at a time, not design={design} arch={arch}"
            raise BuildError(str(OptionError(message, hint="call build once for each")))
        given = asked | {"build_dir": self.build_dir, "mode": asked["mode"] if asked["mode"] != "release" else None}
        said = {name: value for name, value in given.items() if value}
        texts = {name: as_text(value) for name, value in parameters.items() if value is not None}  # type: ignore[arg-type] # whatever it is, the contract judges its text
        twice = next((name for name in ("design", "json", "build_dir") if name in texts), None)
        if twice is not None:
            raise BuildError(str(OptionError(f"{twice}= cannot be given here")))
        return [("design", design), ("arch", arch), *said.items(), *texts.items()]

    def _check(self, record: Record, reasons: int) -> tuple[dict[str, Any] | None, list[Difference]]:
        """Return what `freshness.check` does, for a folder that need not be the current one."""
        return self._records.check(str(self.root / record.path), record.request, variables(), reasons)

    def _relative(self, text: str) -> str:
        return text.replace(f"{self.root}{os.sep}", "")

    def _contract(self, name: str) -> contract.Contract:
        found = contract.find(self.root)
        if name not in found:
            raise BuildError(str(OptionError(f"unknown design {name!r}", hint=did_you_mean(name, found))))
        state = self.root / (self.build_dir or freshness.DEFAULT_BUILD_DIR) / ".aiebuild" / "contracts"
        try:
            loaded = contract.load(found[name], cache=state if state.is_dir() else None, reserved=options.RESERVED)
        except AieBuildError as error:
            raise BuildError(self._relative(str(error))) from None
        return dataclasses.replace(loaded, file=found[name].relative_to(self.root).as_posix())

    def _place(self, name: str, arch: str, given: dict[str, str]) -> str:
        """Return the folder of a configuration, where no record says it: an input changed while it was built."""
        own = {key: value for key, value in given.items() if key not in options.RESERVED}
        settled = self._contract(name).settle(
            arch=arch, device=given.get("device"), variant=given.get("variant"), given=own
        )
        suffix = "chess" if given.get("toolchain") == "chess" else ""
        folder = settled.configuration(suffix, debug=given.get("mode") == "debug")
        start = (self.build_dir or freshness.DEFAULT_BUILD_DIR).rstrip("/")
        return f"{start}/{arch}/designs/{name}/{folder}"
