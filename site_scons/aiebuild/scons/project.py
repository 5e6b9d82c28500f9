"""A project of designs as SCons sees it: options, one environment, and the recipes that were asked for."""

from __future__ import annotations

import atexit
import errno
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Script

from aiebuild import contract, lock, options, timing
from aiebuild.errors import AieBuildError, ContractError, Location, OptionError, RecipeError, did_you_mean
from aiebuild.files import in_the_way, project_path
from aiebuild.scons import aie, last_run, progress, remember, report
from aiebuild.scons.configure import Choice, choose_toolchain, configure, seconds
from aiebuild.scons.recipe import read_recipe
from aiebuild.scons.recipe_reads import RecipeReads
from aiebuild.scons.urgent import urgent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.options import Request
    from aiebuild.scons.recipe_reads import Seen
    from aiebuild.scons.session import Session
    from aiebuild.scons.words import DesignNodes
    from aiebuild.settle import Settled

PACKAGING = frozenset({"package", "install"})
"""Verbs that make something of the designs; with `build` or `check` beside them the designs themselves are made too."""

ANSWERS = frozenset({"list", "describe", "doctor", "new"})
"""Verbs that need no steps: they leave nothing in the build folder."""

READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
"""What the system says of folders that cannot be written."""

EXPLAIN = "explain"
"""The verb that runs nothing, like `-n`, and tells why."""

WATCH = "watch"
"""The verb that waits for changes."""

PLANNING = frozenset({EXPLAIN, "graph", "ide"})
"""Verbs that need the steps of the recipes and run none of them."""

QUESTIONS = PLANNING | {"doctor", "list", "describe"}
"""Verbs that answer, and end the run."""


def main(
    arguments: Iterable[tuple[str, str]],
    words: Iterable[str],
    fresh: tuple[tuple[str, str], ...] = (),
    changed: Iterable[str] = (),
) -> None:
    """Read the recipes that a command line asks for.

    Args:
        arguments: SCons's `ARGLIST`.
        words: SCons's `COMMAND_LINE_TARGETS`.
        fresh: designs, each with its arch, that are known to be up to date: their recipes are not read.
        changed: files that are known to have changed: what reads them is built first.

    A fault of the user's ends the run with a message and exit status 2.
    """
    # First of all: any of SCons's global functions would make a default environment with every tool, in 40 ms.
    SCons.Script.DefaultEnvironment(tools=[])
    SCons.Script.Help(options.help_text(), append=True)
    progress.add_option()
    try:
        pairs = list(arguments)
        request = options.understand(pairs, words)
        project = Project(Path.cwd(), request)
        project.typed = pairs
        project.fresh = frozenset(fresh)
        project.changed = frozenset(changed)
        project.read()
    except AieBuildError as error:
        report.tell_error(error)
        SCons.Script.Exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        report.tell(f"{error.filename}: error: {error.strerror}\n{elsewhere(error, request)}")
        SCons.Script.Exit(2)


def _only_answers(request: Request) -> bool:
    is_question = any(SCons.Script.GetOption(name) for name in ("help", "question"))
    return is_question or bool(ANSWERS & set(request.verbs))


def elsewhere(error: OSError, request: Request) -> str:
    """Return the hint where the build folder cannot be written."""
    build_dir = Path.cwd() / request.get("build_dir")
    if error.errno not in READ_ONLY or not Path(error.filename).absolute().is_relative_to(build_dir):
        return ""
    return "  what is built can go into a folder elsewhere: build_dir=DIR\n"


class Project:
    """The designs below one folder, and what a command line asks of them."""

    def __init__(self, root: Path, request: Request) -> None:
        self.root = root
        self.request = request
        self.planned: dict[tuple[str, str], list[DesignNodes]] = {}
        self._read: dict[str, list[DesignNodes]] = {}
        self._made: list[Any] = []
        self.typed: list[tuple[str, str]] = []
        self.fresh: frozenset[tuple[str, str]] = frozenset()
        self.changed: frozenset[str] = frozenset()
        self.recipe_reads = RecipeReads(root, request.get("build_dir"))
        self.seen: dict[tuple[str, str], Seen] = {}
        self.contracts = contract.find(root)
        set_up_scons()
        self.writes = not SCons.Script.GetOption("no_exec")
        if PLANNING & set(request.verbs):
            SCons.Script.SetOption("no_exec", True)
        check_build_dir(request.get("build_dir"), root)
        self.env = SCons.Script.Environment(
            tools=[aie],
            ENV={},
            AIE_BUILD_DIR=request.get("build_dir"),
            AIE_ONLY_ANSWERS=_only_answers(request),
            AIE_VERBOSE=request.get("verbose") == "1",
            AIE_PLACES={name: request.get(name) for name in options.PLACES if request.get(name)},
        )
        self.session: Session = self.env["AIE_SESSION"]
        self.session.manages_errors = True
        self.session.timing = request.get("timing")
        if self.session.timing:
            timing.require_writable(self.session.timing)

    def read(self) -> None:
        """Answer the verbs that ask, or read the recipes of the designs that are to be built."""
        verbs = set(self.request.verbs)
        if SCons.Script.GetOption("help"):
            self._ask("help")
            return
        if "new" in verbs:
            self._ask("new")
        names = self.names()
        if self.request.get("trace") == "1" and "host" not in self.arches():
            self.session.warn("trace=1 traces runs on the host, and this build has none: arch=host has")
        for verb in self.request.verbs:
            if verb in QUESTIONS:
                self._ask(verb)
        if "clean" in verbs:
            SCons.Script.SetOption("clean", True)
        if not SCons.Script.GetOption("no_exec"):
            self.session.lock = lock.hold(self.session.lock_file, report.note)
        self.read_recipes(names)
        if PACKAGING & set(self.request.verbs):
            self._plan_packages(names)
        if WATCH in self.request.verbs:
            self._watch()
        self._choose_targets()
        self.session.read_at = time.time_ns()
        report.at_exit(self.session)
        progress.begin(self.session, SCons.Script.BUILD_TARGETS)
        self._remember_at_exit()

    def _ask(self, verb: str) -> None:
        from aiebuild.scons import questions  # noqa: PLC0415 - a build does not need it

        questions.ANSWERS[verb](self)

    def read_recipes(self, names: tuple[str, ...]) -> None:
        """Read the recipes of designs, for each arch that they are not known to be fresh for."""
        for name in names:
            for arch in self.arches():
                if (name, arch) not in self.fresh:
                    self.read_recipe_of(name, arch)

    def _watch(self) -> None:
        """Wait until something has to be built; then return, in a process that builds that and no more."""
        from aiebuild.scons import watch  # noqa: PLC0415 - a build does not need it

        watching = watch.of_this_process()
        if watching is None:
            raise OptionError("watch goes with the command aiebuild", hint="aiebuild watch design=<name>")
        work, self.changed = watch.Loop(watching, self).run()
        self.planned = {key: nodes for key, nodes in self.planned.items() if key in work}
        self.session.designs = [design for nodes in self.planned.values() for design in nodes]
        self.session.lock = lock.hold(self.session.lock_file, report.note)

    def _remember_at_exit(self) -> None:
        """Record what was built, once all of it is, so that the next start can do without SCons's graph."""
        whole = not self.request.targets and set(self.request.verbs) <= {"build", "check", WATCH}
        if whole and remember.is_fit():
            atexit.register(remember.remember, self.session, self.typed, self.planned, self.seen)

    def names(self) -> tuple[str, ...]:
        """Return the designs that are asked for: those that are named, else all."""
        asked = self.request.several("design")
        contract.require(asked, self.contracts)
        if not asked and self.request.parameters:
            self._refuse_parameters()
        return asked or tuple(self.contracts)

    def _refuse_parameters(self) -> None:
        """Say which word is wrong: a misspelt option, or a parameter without its design."""
        name = next(iter(self.request.parameters))
        known = [option.name for option in options.OPTIONS]
        having = [design for design in self.contracts if name in self._parameter_names(design)]
        if having:
            hint = f"say whose it is: scons design={having[0]} {name}={self.request.parameters[name]}"
            raise OptionError(f"{name}= is a parameter of a design, and no design is named", hint=hint)
        raise OptionError(f"unknown option {name!r}", hint=did_you_mean(name, known))

    def _parameter_names(self, name: str) -> list[str]:
        try:
            return [parameter.name for parameter in self.contract(name).parameters]
        except ContractError:
            return []

    def contract(self, name: str) -> contract.Contract:
        """Return the contract of a design."""
        shown = self.contracts[name].relative_to(self.root)
        return contract.load(shown, cache=self.session.state / "contracts", reserved=options.RESERVED)

    def arches(self) -> tuple[str, ...]:
        """Return the arches that are asked for, with the host where `check` adds it."""
        asked = self.request.several("arch")
        if "check" in self.request.verbs and "host" not in asked:
            return (*asked, "host")
        return asked

    def read_recipe_of(self, name: str, arch: str) -> None:
        """Read the recipe of a design for one arch."""
        with self.recipe_reads.watch() as self.seen[name, arch]:
            self.planned[name, arch] = self._plan(name, self._settle(name, arch))

    def _plan(self, name: str, settled: Settled) -> list[DesignNodes]:
        """Return the designs that a recipe asks for in one configuration; the recipe is read once for each."""
        env = configure(self.env, self.contract(name), settled, self._choice(settled.arch))
        output = env["AIE_CONFIGURATION"].output
        if output not in self._read:
            self._read[output] = self._designs_of(name, env, settled)
        return self._read[output]

    def _designs_of(self, name: str, env: Any, settled: Settled) -> list[DesignNodes]:
        recipe = f"designs/{name}/SConscript"
        if not (self.root / recipe).is_file():
            raise RecipeError(
                f"design {name!r} has no recipe",
                Location(recipe),
                "write its SConscript: docs/glossary.md, recipe",
            )
        before = len(self.session.designs)
        read_recipe(recipe, {"env": env, "p": settled.namespace(self.request.get("mode"))})
        made = self.session.designs[before:]
        if not made:
            raise RecipeError(
                "this recipe asks for no Design", Location(recipe), 'env.Design(mlir="<name>.mlir.j2", ...)'
            )
        return made

    def _plan_packages(self, names: tuple[str, ...]) -> None:
        """Plan packages, each with the run on the host that its builds are checked by."""
        from aiebuild.scons.packages import plan_packages  # noqa: PLC0415 - few builds make a package

        arches = self.request.several("arch")
        for name in names:
            runs = {arch: self._plan(name, self._settle_run(name, arch)) for arch in arches}
            planned = {arch: self.planned[name, arch] for arch in arches}
            self._made += plan_packages(self.env, self.request, planned, runs)

    def _settle_run(self, name: str, arch: str) -> Settled:
        """Return the configuration on the host with the device and the very parameters of that of an arch."""
        settled = self._settle(name, arch)
        if arch == "host":
            return settled
        given = {parameter: contract.as_text(value) for parameter, value in settled.parameters.items()}
        return self.contract(name).settle(arch="host", device=settled.device, variant=None, given=given)

    def _choice(self, arch: str) -> Choice:
        request = self.request
        timeout = request.get("run_timeout")
        return Choice(
            toolchain=choose_toolchain(self._toolchain(arch), arch),
            mode=request.get("mode"),
            run_timeout=seconds(timeout) if timeout else None,
            aiecc_dialect=request.get("aiecc_dialect"),
            aiecc_jobs=self._aiecc_jobs(),
            trace=request.get("trace") == "1",
        )

    def _toolchain(self, arch: str) -> str:
        """Return what was asked for; that is not meant for a run on the host which a verb adds."""
        is_added = arch == "host" and "host" not in self.request.several("arch")
        return "" if is_added else self.request.get("toolchain")

    def _aiecc_jobs(self) -> int:
        """Return the threads of each aiecc: together with SCons's jobs, not more than the machine has cores."""
        asked = self.request.get("aiecc_jobs")
        if asked and not (asked.isdigit() and int(asked) > 0):
            raise OptionError(f"aiecc_jobs={asked} is not a number of threads", hint="1 or more")
        cores = os.cpu_count() or 1
        return int(asked) if asked else max(1, cores // max(1, int(SCons.Script.GetOption("num_jobs"))))

    def _settle(self, name: str, arch: str) -> Settled:
        request = self.request
        return self.contract(name).settle(
            arch=arch,
            device=request.get("device") or None,
            variant=request.get("variant") or None,
            given=request.parameters,
        )

    def _choose_targets(self) -> None:
        """Tell SCons what to build: the files that were named, else the designs."""
        for name in self.request.targets:
            if (self.root / name).is_dir():
                raise OptionError(
                    f"{name} is a folder", hint="name a file of the build, or a design: scons design=<name>"
                )
        targets: list[Any] = [self.env.File(f"#{name}") for name in self.request.targets]
        for node in targets:
            if not node.has_builder() and not SCons.Script.GetOption("clean"):
                names = [str(made) for design in self.session.designs for made in design.all]
                raise OptionError(f"nothing builds {node}", hint=did_you_mean(str(node), names))
        for design in self.session.designs:
            told = [design.plan.trace_file] if design.plan is not None else []
            self.env.Clean(design.all, [last_run.file_of(design), *told])
        if not targets and self._made:
            targets = list(self._made)
        if (not targets or self._builds()) and not self.request.targets:
            targets += urgent(self.changed, self.session)
            made = [node for design in self.session.designs for node in design.all]
            # SCons would say of a prebuilt object, which nothing builds, that there is nothing to be done for it.
            targets += [node for node in made if node.has_builder()] + self.session.chains
        self.session.named = list(self.request.targets)
        SCons.Script.BUILD_TARGETS[:] = targets

    def _builds(self) -> bool:
        return bool({"build", "check"} & set(self.request.verbs))


def set_up_scons() -> None:
    """Set SCons's own options: content signatures, always; what a command line says of them counts for nothing."""
    for name in ("hash_format", "max_drift", "no_progress", "implicit_cache", "implicit_deps_unchanged"):
        vars(SCons.Script.Main.OptionsParser.values).pop(name, None)
    SCons.Script.SetOption("hash_format", "sha256")
    SCons.Script.SetOption("max_drift", -1)
    SCons.Script.SetOption("no_progress", True)
    SCons.Script.SetOption("implicit_cache", False)


def check_build_dir(build_dir: str, root: Path) -> None:
    """Refuse a build folder that holds the project's own files.

    Raises:
        OptionError: it is the project's folder, one above it, or one of its source folders, or a file is in the way.
    """
    folder = (root / build_dir).resolve()
    taken = [root / name for name in ("designs", "kernels", "templates", "site_scons", ".git")]
    inside = next((path for path in taken if folder.is_relative_to(path.resolve())), None)
    if root.resolve().is_relative_to(folder) or inside is not None:
        hint = "a folder of its own: build_dir=build, or one outside the project"
        raise OptionError(f"build_dir={build_dir} holds the project's own files", hint=hint)
    file = in_the_way(root / build_dir)
    if file is not None:
        name = project_path(file)
        raise OptionError(f"build_dir={build_dir} cannot be a folder: {name} is a file", hint="move it away")
