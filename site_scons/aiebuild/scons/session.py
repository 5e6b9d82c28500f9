"""What one SCons run of ours holds: the project's folder, options, remembered digests, and what was done."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import SCons.Script

from aiebuild.errors import AieBuildBug, Location, RecipeError, ToolchainError
from aiebuild.fingerprint import Fingerprints
from aiebuild.scons.running import Running
from aiebuild.toolchains.discover import Places
from aiebuild.toolchains.python import VARIABLES, python_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.environment import Environment
    from aiebuild.flow import NativeReader, Planned
    from aiebuild.model import MlirModule
    from aiebuild.scons.last_run import Ran
    from aiebuild.scons.progress import Progress
    from aiebuild.scons.words import DesignNodes
    from aiebuild.step import Step
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.mlir_tools import MlirTools, NoMlirTools
    from aiebuild.toolchains.npu import NpuTools
    from aiebuild.toolchains.python import PythonTool

STATE = ".aiebuild"
"""The folder inside the build folder that holds what aiebuild remembers."""

SAVE_AFTER = 2.0
"""Seconds of work after which the signatures are written, so that a kill loses no more than that."""

NEEDS = {
    "mlir": ("jinja2", "markupsafe", "xdsl"),
    "host": ("ml_dtypes", "numpy"),
    "generate": (),
    "npu": ("pyelftools",),
    "manifest_step": ("jsonschema",),
    "package": ("jsonschema",),
}


class Session:
    """One run in one project.

    Args:
        root: the folder of the `SConstruct`.
        build_dir: where everything is built, relative to the root unless absolute.
        environment: the snapshot of the process's variables.
        verbose: whether whole commands are shown.
        places: options that name where tools are.
        only_shows: whether commands are shown and not run (`-n`).
        only_answers: whether no step is run for another reason.
    """

    def __init__(
        self,
        root: Path,
        build_dir: str,
        environment: Environment,
        *,
        verbose: bool = False,
        places: Mapping[str, str] | None = None,
        only_shows: bool = False,
        only_answers: bool = False,
    ) -> None:
        self.root = root
        self.build_dir = build_dir.rstrip("/")
        self.environment = environment
        self.places = Places(environment, tuple(sys.path), sys.executable, places or {})
        self.verbose = verbose
        self.step_variables = environment.for_steps() | VARIABLES
        self.state = root / build_dir / STATE
        self.only_shows = only_shows
        if (only_shows or only_answers) and not self.state.exists():
            # An answer writes nothing, not even what would be remembered.
            self._nowhere = tempfile.TemporaryDirectory(prefix="aiebuild-")
            self.state = Path(self._nowhere.name)
        self.lock_file = self.state / "lock"
        self.fingerprints = Fingerprints(self.state / "fingerprints.json")
        self.manages_errors = False
        self.started = time.monotonic()
        self.started_at = time.time_ns()
        self.opened_at = int(SCons.Script.start_time * 1e9)
        self.unrecorded = 0
        self.unsettled: set[str] = set()
        self.is_repeatable = True
        self._unsaved = 0.0
        self.done: list[Step] = []
        self.fresh: set[str] = set()
        self.present: set[str] = set()
        self.ran: list[Ran] = []
        self.predecessors: dict[str, list[str]] | None = None
        self.headers_in: dict[tuple[Any, int], bool] = {}
        self.failed: list[Step] = []
        self.shown: list[Step] = []
        self.designs: list[DesignNodes] = []
        self.chains: list[Any] = []
        self.packages: list[Any] = []
        self.running = Running()
        self.installed: list[str] = []
        self.modules: dict[str, list[MlirModule]] = {}
        self.lock: IO[str] | None = None
        self.progress: Progress | None = None
        self.timing = ""
        self.named: list[str] = []
        self.read_at = 0
        self._toolchains: dict[tuple[str, str, str], Toolchain] = {}
        self._tools: dict[str, PythonTool] = {}
        self._mlir_tools: MlirTools | NoMlirTools | None = None
        self._npu_tools: dict[tuple[str, str], NpuTools] = {}
        self._warned: set[str] = set()
        self._mutexes: dict[str, threading.Lock] = {}
        self._folders: dict[str, Path] = {}
        self._listings: dict[str, frozenset[str]] = {}
        self.planned: list[tuple[Planned, Any]] = []
        self._planned: dict[str, tuple[str, Location | None]] = {}

    def start(self, moment: int) -> None:
        """Begin a build in a process that was forked off: files are as they were at `moment` (ns) or later."""
        self.started, self.started_at = time.monotonic(), time.time_ns()
        self.opened_at = moment
        self._listings.clear()

    def toolchain(self, name: str, arch: str, mode: str) -> Toolchain:
        """Return a toolchain, found and identified once a run."""
        key = (name, arch, mode)
        if key not in self._toolchains:
            self._toolchains[key] = self._find_toolchain(*key)
        return self._toolchains[key]

    def mlir_tools(self) -> MlirTools | NoMlirTools:
        """Return MLIR's own tools on this machine, looked for once a run."""
        from aiebuild.toolchains.mlir_tools import find_mlir_tools  # noqa: PLC0415 - only kernels that are MLIR need it

        if self._mlir_tools is None:
            memory = self.state / "mlir-tools.json"
            self._mlir_tools = find_mlir_tools(self.environment, self.fingerprints, memory)
        return self._mlir_tools

    def native_reader(self) -> NativeReader:
        """Return MLIR's own mlir-opt as what reads modules that the built-in reader does not know."""
        from aiebuild.flow import NativeReader  # noqa: PLC0415 - only modules and kernels that are MLIR need it
        from aiebuild.toolchains.mlir_tools import NoMlirTools  # noqa: PLC0415 - the same

        tools = self.mlir_tools()
        if isinstance(tools, NoMlirTools):
            return NativeReader()
        return NativeReader(("--mlir-opt", tools.mlir_opt), tools.identity)

    def printer(self, where: Location | None) -> NativeReader:
        """Return aie-opt as what verifies and prints modules of designs.

        Raises:
            ToolchainError: it is not installed.
        """
        from aiebuild.flow import NativeReader  # noqa: PLC0415 - only designs that ask for it need it
        from aiebuild.toolchains.discover import require  # noqa: PLC0415 - the same

        found = require("aie-opt", self.places, where)
        return NativeReader(("--aie-opt", found), self.fingerprints.of_all((found,)))

    def npu_tools(self, toolchain: str, dialect: str) -> NpuTools:
        """Return aiecc and what it runs, found and identified once a run."""
        key = (toolchain, dialect)
        if key not in self._npu_tools:
            self._npu_tools[key] = self._find_npu_tools(*key)
        return self._npu_tools[key]

    def python(self, part: str) -> PythonTool:
        """Return a part of aiebuild as a tool, identified once a run."""
        if part not in self._tools:
            self._tools[part] = python_tool(part, NEEDS[part], self.fingerprints)
        return self._tools[part]

    def exists(self, name: str) -> bool:
        """Return whether a file exists; each folder is listed once a run."""
        folder, _, base = str(self.root / name).rpartition("/")
        names = self._listings.get(folder)
        if names is None:
            names = self._listings[folder] = _names(folder)
        return base in names

    def folder_of(self, file: str) -> Path:
        """Return the folder of a file that is named relative to the project."""
        found = self._folders.get(file)
        if found is None:
            found = self._folders[file] = self.root / Path(file).parent
        return found

    def names_in(self, folder: str) -> list[str]:
        """Return the names in a folder of the project that a step may have listed, sorted."""
        return sorted(name for name in _names(str(self.root / folder)) if name != "__pycache__")

    def forget_listings(self) -> None:
        """Look at folders anew: a step may have written into them."""
        self._listings.clear()

    def is_planned(self, step: Step) -> bool:
        """Return whether this very step is planned already.

        Raises:
            RecipeError: where another recipe makes a different step for the same file.
        """
        known = self._planned.get(step.outputs[0])
        if known is None:
            self._planned[step.outputs[0]] = (step.signature, step.where)
            return False
        if known[0] != step.signature:
            message = f"two different recipes for {step.outputs[0]}: the other one is at {known[1]}"
            raise RecipeError(message, step.where, "give one of them another target, or say the same in both")
        return True

    @property
    def searched(self) -> list[str]:
        """The folders in which tools and Python's packages are looked for."""
        return [*self.environment.get("PATH").split(os.pathsep), *sys.path]

    def warn(self, text: str) -> None:
        """Say something that is no error, once a run."""
        if text not in self._warned:
            self._warned.add(text)
            sys.stderr.write(f"warning: {text}\n")

    def alone(self, word: str) -> contextlib.AbstractContextManager[object]:
        """Return what keeps steps with the same word from running at the same time; no word keeps nothing."""
        if not word:
            return contextlib.nullcontext()
        return self._mutexes.setdefault(word, threading.Lock())

    def title(self, step: Step) -> str:
        """Return a step in few words: what it does, and the file, without the folders of what is built."""
        word, _, rest = " ".join(step.label.split()).partition(" ")
        return f"{word} {rest.rpartition('/')[2] if rest.startswith(f'{self.build_dir}/') else rest}"

    def count(self, step: Step, seconds: float) -> None:
        """Note a step that was run to its end."""
        self._unsaved += seconds
        self.done.append(step)
        self.fresh.add(step.outputs[0])
        self.forget_listings()

    def close(self) -> None:
        """Keep what was learnt in this run; nothing, where commands were only shown."""
        if self.only_shows:
            return
        try:
            self.fingerprints.save()
        except OSError as error:
            self.warn(f"{project_path(Path(error.filename), self.root)} cannot be written: {error.strerror}")

    def should_save(self) -> bool:
        """Return whether so much work was done since the last time that losing it would hurt; then start anew."""
        if self._unsaved < SAVE_AFTER:
            return False
        self._unsaved = 0.0
        return True

    def _find_npu_tools(self, toolchain: str, dialect: str) -> NpuTools:
        from aiebuild.toolchains import npu  # noqa: PLC0415 - only the toolchain in use is loaded

        memory = self.state / "aiecc.json"
        try:
            return npu.find_tools(toolchain, dialect, self.places, self.fingerprints, memory)
        except ToolchainError as error:
            if not self.only_shows:
                raise
            return npu.nominal_tools(toolchain, dialect, error)

    def _find_toolchain(self, name: str, arch: str, mode: str) -> Toolchain:
        memory = self.state / f"toolchain-{name}.json"
        if name == "host":
            from aiebuild.toolchains import host  # noqa: PLC0415 - only the toolchain in use is loaded

            return host.find_toolchain(self.environment, mode, self.fingerprints, memory)
        if name not in ("peano", "chess"):
            raise AieBuildBug(f"no toolchain is called {name}")
        from aiebuild.toolchains import chess, peano  # noqa: PLC0415 - the host needs neither

        find, nominal = (
            (peano.find_toolchain, peano.nominal_toolchain)
            if name == "peano"
            else (chess.find_toolchain, chess.nominal_toolchain)
        )
        try:
            return find(self.environment, arch, mode, self.fingerprints, memory, places=self.places)
        except ToolchainError as error:
            if not self.only_shows:
                raise
            return nominal(arch, mode, error)


def _names(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208 - names alone; Path objects would cost five times as much
    except OSError:
        return frozenset()


def project_path(path: Path, root: Path) -> str:
    """Return a path relative to the project where it is below it, with forward slashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
