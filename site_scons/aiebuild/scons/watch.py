"""`aiebuild watch`: builds whenever a file is saved.

SCons stays loaded, with the recipes read. Each build is a fork of this process, which goes on where `scons` itself
would after reading the recipes: it does the same, and what it learns about files ends with it. What the reading
depended on is compared before each fork; where any of it changed, this program starts anew in the same process.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import SCons.Node.FS
import SCons.Script

from aiebuild import lock, tree
from aiebuild.cli import AGAIN
from aiebuild.environment import variables
from aiebuild.errors import OptionError
from aiebuild.freshness import DEFAULT_BUILD_DIR, VARIABLES, record_of
from aiebuild.record import Known, Records, content, said
from aiebuild.scons import report
from aiebuild.scons.closure import closure
from aiebuild.scons.recipe import Told
from aiebuild.scons.recipe_reads import own_modules
from aiebuild.stamps import Moment, listings, stamp, stamps
from aiebuild.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.record import Difference
    from aiebuild.scons.project import Project
    from aiebuild.stamps import Stamp

    Key = tuple[str, str]

WATCH = "watch"
"""The verb; also what this module's `Watch` is called among the attributes of SCons's file system."""

NEAR_SECONDS = 0.04
"""How often the project's own files are looked at, where that costs no more than a tenth of the time."""

FAR_SECONDS = 1.0
"""How often everything else is: outputs, tools, what is outside the project."""

SETTLE_SECONDS = 0.02
"""How long a build waits for more after a change: a save is often several changes, a checkout is many."""

TICK_NS = 10_000_000
"""By how much the times of files may lag behind the clock: one tick of the kernel, 10 ms at most."""

IN_A_ROW = 2
"""How many builds may follow each other because files changed meanwhile of which nobody knows that they are inputs."""

NAMED = 3
"""How many changes are named."""

ENDING = (signal.SIGTERM, signal.SIGINT)
ENDED = 128 + signal.SIGTERM


def main(words: Sequence[str], started: int) -> NoReturn:
    """Watch the project in the current folder; Ctrl-C ends it, with exit status 0.

    Where the project cannot be read, or is gone for a while, a change in it starts this program anew.

    Args:
        words: of a command line of SCons.
        started: the moment (ns) before which nothing of aiebuild or of the project was read.
    """
    if not hasattr(os, "fork"):
        raise OptionError("watch needs a system that can fork", hint="scons design=<name> builds once")
    watch = Watch(Path.cwd(), words, started)
    for number in ENDING:
        signal.signal(number, watch.end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    setattr(SCons.Node.FS.get_default_fs(), WATCH, watch)
    sys.argv = ["scons", "-Q", *words]
    before = watch.files.look()
    if (watch.root / "SConstruct").is_file():
        _read_and_build(watch)
    report.note("the project could not be read; watching its files, Ctrl-C ends it")
    while not (changed := tree.differences(before, watch.files.look())):
        watch.sleep(NEAR_SECONDS)
    watch.start_anew(changed)


def _read_and_build(watch: Watch) -> None:
    """Go on for as long as the project can be read; what is wrong with it is said then."""
    try:
        SCons.Script.main()
    except SystemExit as end:
        if watch.is_build:
            raise
        watch.leave()
        if not end.code:
            raise


def of_this_process() -> Watch | None:
    """Return what watches in this process, if that was asked for."""
    return getattr(SCons.Node.FS.get_default_fs(), WATCH, None)


class Watch:
    """A process that watches: its project, how it ends, and whether it is one of the builds that were forked off."""

    def __init__(self, root: Path, words: Sequence[str], started: int) -> None:
        given = dict(word.split("=", 1) for word in words if "=" in word)
        self.root = root
        self.started = started
        self.files = Tree(root, root / given.get("build_dir", DEFAULT_BUILD_DIR))
        self.is_build = False
        self._status: int | None = None

    def end(self, number: int, frame: object) -> None:
        """End this process when a signal says so."""
        del frame
        self._status = ENDED if number == signal.SIGTERM else 0
        raise Told(self._status)

    def leave(self) -> None:
        """End this process if a signal said so."""
        if self._status is not None:
            raise Told(self._status)

    def sleep(self, seconds: float) -> None:
        """Do nothing for a while, unless the process is to end."""
        self.leave()
        time.sleep(seconds)

    def fork(self) -> int:
        """Return 0 in a new process that is a build, and its id in this one."""
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            self.is_build = True
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return child

    def wait(self, child: int) -> int:
        """Return the exit status of a build; where this process is to end, the build ends first."""
        try:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except SystemExit as end:
            # Ctrl-C reaches the build as well.
            if end.code == ENDED:
                os.kill(child, signal.SIGTERM)
            return self.wait(child)

    def start_anew(self, changed: Sequence[Difference]) -> NoReturn:
        """Put a new program in the place of this one: its command line, in the project's folder."""
        report.note(f"{_named(changed)}: reading the project again")
        while not self.root.is_dir():
            self.sleep(NEAR_SECONDS)
        os.chdir(self.root)
        words = [word for word in sys.orig_argv[1:] if word != AGAIN]
        # Whoever takes this one's place lets them in again, once it knows what they mean.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        os.execv(sys.executable, [sys.executable, *words, AGAIN])  # noqa: S606 - this very program


class Loop:
    """Looks at the files of a project whose recipes are read, and forks a build for what a change reaches."""

    def __init__(self, watch: Watch, project: Project) -> None:
        self._watch = watch
        self._project = project
        self._session = project.session
        self._records = Records()
        self._stuck: dict[Key, dict[str, Stamp]] = {}
        self._in_a_row = 0
        self._has_built = False
        self._unknown: set[str] = set()
        self._written: set[str] = set()
        self._reading = self._read()
        self._sources = self._present()

    def run(self) -> tuple[set[Key], frozenset[str]]:
        """Return, in a process that is a build, what it has to build, and the files that changed; never in this one."""
        self._prepare()
        quiet = False
        while True:
            moment = time.time_ns() - TICK_NS
            look = Moment()
            changed = self._reading.differences(variables(), NAMED + 1, look)
            if changed:
                self._watch.start_anew(changed)
            work, reasons = self._work(look)
            if not work:
                if not quiet:
                    names = ", ".join(dict.fromkeys(name for name, _ in self._project.planned))
                    report.note(f"watching {names}; Ctrl-C ends it")
                quiet = not self._idle(look)
                continue
            if self._has_built and self._is_in_doubt(work):
                self._watch.start_anew(reasons)
            if gone := [(name, event) for name, event in reasons if event == "is gone" and name in self._sources]:
                self._watch.start_anew(gone)
            report.note(_named(reasons))
            child = self._watch.fork()
            if child == 0:
                self._session.start(moment)
                return work, frozenset(name for name, _ in reasons)
            status = self._watch.wait(child)
            self._watch.leave()
            self._after(work, moment, status)
            quiet = False

    def _prepare(self) -> None:
        """Forget what was seen of files while recipes were read, and all that a build need not go through again."""
        if self._session.lock is not None:
            self._session.lock.close()
        forget_files()
        gc.collect()
        gc.freeze()

    def _read(self) -> Known:
        """Return what the reading of the recipes depended on.

        What changed while they were read may have been read before or after: then they are read again.
        """
        project, session = self._project, self._session
        scripts = {"SConstruct", *map(str, SCons.Node.SConscriptNodes), *own_modules(session.root)}
        for name, _ in project.planned:
            scripts |= {f"designs/{name}/design.yaml", f"designs/{name}/SConscript"}
        found = closure((), session, scripts)
        for seen in project.seen.values():
            found.files |= seen.files
            found.folders |= seen.folders
            found.absent |= seen.absent
        folders = Path("designs")
        found.folders.add(str(folders))
        found.absent |= {
            str(each / "design.yaml")
            for each in folders.iterdir()
            if each.is_dir() and each.name not in project.contracts
        }
        names, files = listings(found.folders), stamps(found.files)
        late = [name for name, known in files.items() if known and self._watch.started < known[2] <= time.time_ns()]
        if late:
            self._watch.sleep(SETTLE_SECONDS)
            self._watch.start_anew([(name, "changed") for name in late])
        record = content(
            "",
            files=files,
            folders=stamps(found.folders),
            names=names,
            absent=sorted(found.absent),
            variables=session.environment.values(VARIABLES),
            answer={},
        )
        return Known("", record)

    def _present(self) -> set[str]:
        """Return the sources that no step makes and that are there: where one goes, recipes may find another."""
        planned = [each for each, _ in self._session.planned]
        made = {name for each in planned for name in each.step.outputs}
        return {name for each in planned for name in each.sources if name not in made and Path(name).exists()}

    def _work(self, look: Moment) -> tuple[set[Key], list[Difference]]:
        """Return which designs and arches have to be built, and why."""
        now = self._watch.files.look() if self._stuck else {}
        work: set[Key] = set()
        why: list[Difference] = []
        for key in self._project.planned:
            record = record_of(self._project.typed, *key)
            answer, reasons = self._records.check(record.path, record.request, variables(), NAMED + 1, look)
            if answer is not None:
                self._stuck.pop(key, None)
                continue
            if key in self._stuck:
                reasons = tree.differences(self._stuck[key], now)
            if reasons:
                work.add(key)
                why += reasons
        return work, why

    def _after(self, work: set[Key], moment: int, status: int) -> None:
        """After a build: where it left no record, only another change starts the next one."""
        self._has_built = True
        self._session.fingerprints.reread()
        now = self._watch.files.look()
        changed = tree.changed_since(moment, now, time.time_ns())
        unknown = changed - self._inputs()
        self._written, self._unknown = self._unknown & unknown, unknown
        again = changed != unknown
        # Or what changed may yet be an input, or the build was only too quick after the change to leave a record.
        may_settle = self._session.is_repeatable and not self._is_in_doubt(work)
        if not again and (changed or (status == 0 and may_settle)):
            self._in_a_row += 1
            again = self._in_a_row < IN_A_ROW
        for key in work:
            if again:
                self._stuck.pop(key, None)
            else:
                self._stuck[key] = now

    def _is_in_doubt(self, work: set[Key]) -> bool:
        """Return whether a recipe may say something else each time that it is read: then each build reads it."""
        return any(self._project.seen[key].doubt for key in work)

    def _inputs(self) -> set[str]:
        """Return the project's files that are known to take part."""
        return {*self._near(), *(name for planned, _ in self._session.planned for name in planned.sources)}

    def _idle(self, look: Moment) -> bool:
        """Wait until something changed near by, and settled; return False where it is only time to look farther."""
        self._in_a_row = 0
        seen = {name: look(name) for name in self._near()}
        stuck = next(iter(self._stuck.values()), None)
        until = time.monotonic() + FAR_SECONDS
        while time.monotonic() < until:
            started = time.monotonic()
            changed = any(stamp(name) != then for name, then in seen.items())
            if changed or (stuck is not None and self._look_around(stuck) != stuck):
                self._watch.sleep(SETTLE_SECONDS)
                return True
            self._watch.sleep(max(NEAR_SECONDS, 10 * (time.monotonic() - started)))
        return False

    def _look_around(self, stuck: dict[str, Stamp]) -> dict[str, Stamp]:
        """Return the files as they are now.

        What builds write beside their sources counts for no change while somebody else builds, who has written it as
        the last two builds of this process did: two that watch would start each other for ever.
        """
        now = self._watch.files.look()
        if any(now.get(name) != stuck.get(name) for name in self._written) and lock.is_held(self._session.lock_file):
            stuck.update({name: now[name] for name in self._written & now.keys()})
        return now

    def _near(self) -> list[str]:
        """Return the project's own files and folders that take part, without what is built."""
        built = f"{self._session.build_dir}/"
        known = [self._reading, *self._records.known()]
        names = {name for each in known for name in each.names()}
        return [name for name in names if not os.path.isabs(name) and not name.startswith(built)]  # noqa: PTH117 - many


def forget_files() -> None:
    """Forget what nodes remember of the file system, as if each of them had just been made."""
    for root in SCons.Node.FS.get_default_fs().Root.values():
        for node in root._lookupDict.values():
            node.clear_memoized_values()
            _forget_listing(node)


def _forget_listing(node: Any) -> None:
    try:
        del node.on_disk_entries
    except AttributeError:
        return


def _named(found: Sequence[Difference]) -> str:
    changes = said(found)
    more = f" and {len(changes) - NAMED} more"
    return f"{'; '.join(changes[:NAMED])}{more if len(changes) > NAMED else ''}"
