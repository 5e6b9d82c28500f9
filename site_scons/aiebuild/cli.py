"""The command `aiebuild`: the verbs of the build, and answers for programs on standard output.

Whether there is anything to do is asked before anything else is imported.
"""

from __future__ import annotations

import errno
import os
import sys
import time

from aiebuild import freshness, streams
from aiebuild.environment import variables
from aiebuild.record import NONE, said

TYPE_CHECKING = False  # the name is what type checkers know; importing typing takes 8 ms
if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from aiebuild.options import Request

STARTED = time.time_ns()
TICK_NS = 10_000_000
"""By how much the times of files may lag behind the clock: one tick of the kernel, 10 ms at most."""

JSON = "--json"
ANSWERS = ("list", "describe")
GRAPH = "graph"
COMPLETE, COMPLETION = "--complete", "completion"
NO_PROGRESS = "--no-progress"
STATUS = "status"
EXPLAIN = "explain"
NEW = "new"
CACHE = "cache"
WATCH = "watch"
AGAIN = "--again"
"""What `watch` puts behind the words of the program that it starts in its own place."""
INTERRUPTED, NOT_READ = 130, 141
"""What shells report for a program that Ctrl-C ended, or that wrote for nobody: 128 and the number of the signal."""
CANNOT_TAKE_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
FILES = ("verify", "inspect")
"""Verbs that are about files, and need no project."""


def main() -> int:
    """Run `aiebuild VERB [name=value ...] [SCons's own options]` in the current folder's project."""
    streams.tolerate(sys.stdout)
    try:
        status = answered(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        streams.silence(sys.stdout)
        return NOT_READ
    except OSError as error:
        if error.errno not in CANNOT_TAKE_MORE:
            raise
        streams.silence(sys.stdout)
        sys.stderr.write(f"error: the answer cannot be written: {error.strerror}\n")
        return 2
    return status


def answered(argv: list[str]) -> int:
    """Do what the words say, and say what is wrong with them; return the exit status."""
    quick = _quick(argv)
    if quick is not None:
        return quick
    from pathlib import Path  # noqa: PLC0415 - not needed where there is nothing to do

    from aiebuild.errors import AieBuildError  # noqa: PLC0415 - the same

    try:
        if argv[:1] in ([COMPLETE], [COMPLETION]):
            return completion(argv, Path.cwd())
        if WATCH in argv and argv[-1] == AGAIN:
            watch_on(argv[:-1])
        return run(argv, Path.cwd())
    except AieBuildError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except OSError as error:
        if error.filename is None:
            raise
        sys.stderr.write(f"{error.filename}: error: {error.strerror}\n")
        return 2


def _pairs(argv: list[str]) -> list[tuple[str, str]]:
    split = (word.partition("=") for word in argv if "=" in word and not word.startswith("-"))
    return [(name, value) for name, _, value in split]


def _words(argv: list[str]) -> list[str]:
    return [word for word in argv if "=" not in word and not word.startswith("-")]


def _refuse_dashes(argv: list[str], *known: str, scons: bool = False) -> None:
    """Refuse words that begin with a dash, but for some.

    Args:
        argv: the command line.
        known: those that mean something.
        scons: whether SCons gets the words, whose own options may have one dash.

    Raises:
        OptionError: with what would be right.
    """
    from aiebuild import options  # noqa: PLC0415 - not needed where there is nothing to do
    from aiebuild.errors import OptionError, nearest  # noqa: PLC0415 - the same

    for word in argv:
        name, equals, value = word.lstrip("-").partition("=")
        is_ours = bool(equals) and name in {option.name for option in options.OPTIONS}
        if not word.startswith("-") or word in known or (scons and not is_ours and not word.startswith("--")):
            continue
        near = nearest(word, known)
        others = f"did you mean {near!r}?" if near else "SCons's own options go with the command scons"
        raise OptionError(f"unknown option {word!r}", hint=f"without dashes: {name}={value}" if is_ours else others)


def _quick(argv: list[str]) -> int | None:
    """Return 0 where `build` or `check` has nothing to do, the answer of `status`, and None where more is needed."""
    verbs = [word for word in argv if not word.startswith("-j") and ("=" not in word or word.startswith("-"))]
    pairs = _pairs(argv)
    if STATUS in verbs and set(verbs) <= {STATUS, JSON}:
        return _status(pairs, as_json=JSON in verbs)
    if not verbs or not freshness.VERBS.issuperset(verbs):
        return None
    started = time.monotonic()
    done, left = freshness.fresh(pairs, verbs, variables())
    if left or not done:
        return None
    sys.stdout.write(freshness.said(done, time.monotonic() - started) + "\n")
    return 0


def _status(pairs: list[tuple[str, str]], *, as_json: bool) -> int:
    """Print whether each configuration that is asked for is fresh, with the first reasons where it is not."""
    rows: list[tuple[str, str, list[str]]] = []
    for design in freshness.designs(pairs):
        for arch in freshness.values(pairs, "arch", freshness.DEFAULT_ARCH):
            record = freshness.record_of(pairs, design, arch)
            rows.append((design, arch, said(freshness.check(record, variables(), reasons=3)[1])))
    complaint = _complaint(pairs) if not rows or any(NONE in row[2] for row in rows) else ""
    if complaint:
        sys.stderr.write(f"{complaint}\n")
        return 2
    if as_json:
        import json  # noqa: PLC0415 - people do not need it

        answers = [{"design": row[0], "arch": row[1], "fresh": not row[2], "reasons": row[2]} for row in rows]
        sys.stdout.write(json.dumps(answers, indent=1) + "\n")
    else:
        for design, arch, reasons in rows:
            sys.stdout.write(f"{design} ({arch}): {'stale: ' + '; '.join(reasons) if reasons else 'fresh'}\n")
    return 0 if rows and not any(reasons for _, _, reasons in rows) else 1


def _complaint(pairs: list[tuple[str, str]]) -> str:
    """Return what is wrong with words that nothing could be built from, so that no record says anything; else empty."""
    from aiebuild.errors import AieBuildError  # noqa: PLC0415 - not needed where there is a record

    try:
        _require_known(pairs)
    except AieBuildError as error:
        return str(error)
    return ""


def _require_known(pairs: list[tuple[str, str]]) -> None:
    from pathlib import Path  # noqa: PLC0415 - not needed where there is a record

    from aiebuild import contract, options  # noqa: PLC0415 - the same

    _require_project(Path.cwd())
    request = options.understand(pairs, command=STATUS)
    found, names = contract.find(Path.cwd()), request.several("design")
    contract.require(names, found)
    if not names:
        options.reject_unknown(request.parameters)
    device, variant = request.get("device") or None, request.get("variant") or None
    for name in names:
        known = contract.load(found[name].relative_to(Path.cwd()), reserved=options.RESERVED)
        for arch in request.several("arch"):
            known.settle(arch=arch, device=device, variant=variant, given=request.parameters)


def _require_project(root: Path) -> None:
    from aiebuild import new  # noqa: PLC0415 - not needed where there is a record
    from aiebuild.errors import OptionError  # noqa: PLC0415 - not needed where there is a record

    if not (root / "SConstruct").is_file():
        around = new.project_around(root)
        begin = "run it in the folder of a project, or begin one: aiebuild new NAME"
        hint = f"the project is in {around}: cd {around}" if around else begin
        raise OptionError("there is no SConstruct here", hint=hint)


def run(argv: list[str], root: Path) -> int:
    """Do what the words say; return the exit status.

    Raises:
        AieBuildError: a word is wrong, or there is no project in the folder.
    """
    from aiebuild import __version__, options  # noqa: PLC0415 - not needed where there is nothing to do
    from aiebuild.errors import OptionError  # noqa: PLC0415 - the same

    words = _words(argv)
    first = words[0] if words else ""
    if not argv or first == "help" or (first not in FILES and not {"-h", "--help"}.isdisjoint(argv)):
        sys.stdout.write("aiebuild VERB [name=value ...] [-jN] [--json]\n" + options.help_text())
        return 0
    if argv == ["--version"]:
        sys.stdout.write(f"aiebuild {__version__}\n")
        return 0
    if first == STATUS:
        _refuse_dashes(argv)
        other = next(word for word in argv if word not in {STATUS, JSON} and "=" not in word)
        raise OptionError(f"{other!r} means nothing for status", hint="aiebuild status design=NAME [name=value ...]")
    if first in {*FILES, NEW, CACHE}:
        return without_project(first, argv, root)
    _require_project(root)
    request = options.understand(_pairs(argv), words)
    _refuse_dashes(argv, JSON, NO_PROGRESS, scons=True)
    if not request.verbs:
        raise OptionError("no verb is given", hint=f"one of: {', '.join(verb.name for verb in options.VERBS)}")
    if set(request.verbs) <= set(ANSWERS):
        return answer(request, root, as_json=JSON in argv)
    if request.verbs == ("doctor",):
        return doctor(request, as_json=JSON in argv)
    if request.verbs == (GRAPH,) and (JSON in argv or request.get("format")):
        return graph(argv, "json" if JSON in argv else request.get("format"), root)
    if JSON in argv:
        if request.verbs == (EXPLAIN,):
            return explain(argv, root)
        raise OptionError(f"{JSON} goes with {', '.join((*ANSWERS, 'doctor', EXPLAIN, GRAPH, STATUS))}")
    return by_scons(request, argv, root)


def by_scons(request: Request, argv: list[str], root: Path) -> int:
    """Do what the words say with SCons; return its exit status."""
    if WATCH in request.verbs:
        # A SConstruct that is being edited is waited for.
        return watch(request, argv, root)
    _require_designs(root)
    command = [sys.executable, "-m", "SCons", "-Q", *argv]
    if os.name == "nt":
        import subprocess  # noqa: PLC0415 - not needed where there is nothing to do

        return subprocess.run(command, cwd=root, check=False).returncode
    # In the place of this program: a signal to it, of whatever kind, is one to SCons.
    sys.stdout.flush()
    os.chdir(root)
    return os.execv(sys.executable, command)  # noqa: S606 - SCons, by this Python


def _require_designs(root: Path) -> None:
    """Refuse a project whose `SConstruct` takes no verbs: SCons would take them for files to build.

    Raises:
        OptionError: it does not call `aiebuild.scons.start`.
    """
    from aiebuild.errors import OptionError  # noqa: PLC0415 - not needed where there is nothing to do

    text = (root / "SConstruct").read_text(encoding="utf-8", errors="replace")
    if "aiebuild" not in text or "start" not in text:
        hint = "it uses aiebuild in another way: build it with the command scons, by its own targets"
        raise OptionError(
            "the SConstruct of this project takes no verbs: it does not call aiebuild.scons.start", hint=hint
        )


def without_project(verb: str, argv: list[str], root: Path) -> int:
    """Do what a verb says that needs no designs, or no project at all; return the exit status."""
    position = argv.index(verb)
    others = [*argv[:position], *argv[position + 1 :]]
    if verb in FILES:
        return about_files(verb, others)
    return write_new(others, root) if verb == NEW else cache(others, root)


def about_files(verb: str, words: list[str]) -> int:
    """Do what a verb about files says; no project is needed. Return the exit status."""
    import importlib  # noqa: PLC0415 - not needed where there is nothing to do

    module = importlib.import_module("aiebuild.verify" if verb == "verify" else "aiebuild.inspect.__main__")
    status: int = module.main(words, prog=f"aiebuild {verb}")
    return status


def cache(argv: list[str], root: Path) -> int:
    """Print what the build folder holds, or make it smaller; return 0."""
    from aiebuild import cache, options  # noqa: PLC0415 - not needed where there is nothing to do
    from aiebuild.errors import OptionError  # noqa: PLC0415 - the same

    _refuse_dashes(argv, JSON)
    unknown = [word for word in argv if word != JSON and word.partition("=")[0] not in {"prune", "build_dir"}]
    if unknown:
        raise OptionError(f"{unknown[0]!r} means nothing for cache", hint=f"prune=SIZE, build_dir=DIR, {JSON}")
    request = options.understand(_pairs(argv), command=CACHE)
    if "prune" in {word.partition("=")[0] for word in argv} and not request.get("prune"):
        raise OptionError("prune has no value", hint="the size that the build folder may have: prune=500M")
    said = request.get("build_dir")
    as_json = JSON in argv
    sys.stdout.write(cache.run(root / said, said, request.get("prune"), _warn, as_json=as_json))
    return 0


def _warn(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def write_new(argv: list[str], root: Path) -> int:
    """Write a new design, and a project around it where there is none; return 0.

    The design may be named without `design=`: nothing else could be meant.
    """
    from aiebuild import new, options  # noqa: PLC0415 - not needed where there is nothing to do

    _refuse_dashes(argv)
    pairs, words = _pairs(argv), _words(argv)
    verbs = [verb.name for verb in options.VERBS if verb.name in words]
    names = [word for word in words if word not in verbs]
    named = [("design", ",".join(names))] if names else []
    for design in new.asked(options.understand([*pairs, *named], [NEW, *verbs]), root):
        design.write(root)
        sys.stdout.write(f"{design.said}\n")
    note = new.note_on(root)
    sys.stderr.write(f"warning: {note}\n" if note else "")
    return 0


def answer(request: Request, root: Path, *, as_json: bool) -> int:
    """Print what `list` or `describe` say; SCons is not needed for that."""
    from aiebuild import answers, contract, options  # noqa: PLC0415 - not needed where there is nothing to do

    found = contract.find(root)
    names = request.several("design")
    if request.parameters and not names:
        options.reject_unknown(request.parameters)
    contract.require(names, found)
    contracts = [contract.load(found[name].relative_to(root), reserved=options.RESERVED) for name in names or found]
    asked = answers.Asked.of(request, root)
    text = answers.answer(request.verbs, contracts, asked) + "\n"
    if request.get("json"):
        from aiebuild.answer_file import write_answer  # noqa: PLC0415 - the same

        write_answer(request.get("json"), answers.as_json(request.verbs, contracts, asked))
        return 0
    sys.stdout.write(answers.as_json(request.verbs, contracts, asked) if as_json else text)
    return 0


def doctor(request: Request, *, as_json: bool) -> int:
    """Print which tools are found, and where; return 0."""
    import json  # noqa: PLC0415 - not needed where there is nothing to do

    from aiebuild import options  # noqa: PLC0415 - the same
    from aiebuild.environment import current  # noqa: PLC0415 - the same
    from aiebuild.toolchains.discover import Places  # noqa: PLC0415 - the same
    from aiebuild.toolchains.doctor import inspect  # noqa: PLC0415 - the same

    named = {name: request.get(name) for name in options.PLACES if request.get(name)}
    found = inspect(Places(current(), tuple(sys.path), sys.executable, named), request.get("aiecc_dialect"))
    if request.get("json"):
        from aiebuild.answer_file import write_answer  # noqa: PLC0415 - the same

        write_answer(request.get("json"), json.dumps(found.to_json(), indent=1) + "\n")
        return 0
    sys.stdout.write(json.dumps(found.to_json(), indent=1) + "\n" if as_json else found.text() + "\n")
    return 0


def completion(argv: list[str], root: Path) -> int:
    """Print the completion script of a shell, or, for that script, what may follow in a command line."""
    from aiebuild import completion as shells  # noqa: PLC0415 - not needed where there is nothing to do
    from aiebuild.errors import OptionError  # noqa: PLC0415 - the same

    if argv[0] == COMPLETION and len(argv[1:]) > 1:
        raise OptionError(f"{argv[2]!r} means nothing for completion", hint="one shell at a time")
    if argv[0] == COMPLETION:
        sys.stdout.write(shells.script(argv[1] if len(argv) > 1 else ""))
        return 0
    command, current, *words = (*argv[1:], "", "")[: max(len(argv) - 1, 2)]
    for candidate in shells.complete(command, current, words, root):
        sys.stdout.write(f"{candidate}\n")
    return 0


def watch(request: Request, argv: list[str], root: Path) -> int:
    """Build whenever a file is saved; never returns.

    Raises:
        OptionError: there is no such design, or another verb does not go with it.
    """
    from aiebuild import contract  # noqa: PLC0415 - not needed where there is nothing to do
    from aiebuild.errors import OptionError  # noqa: PLC0415 - the same

    others = [verb for verb in request.verbs if verb not in {WATCH, "build", "check"}]
    if others or request.targets:
        raise OptionError(f"{(*others, *request.targets)[0]} does not go with watch", hint="build or check does")
    contract.require(request.several("design"), contract.find(root))
    watch_on(argv)


def watch_on(words: list[str]) -> NoReturn:
    """Watch with words that are known to be right; a project, or a design, that is not there is waited for."""
    from aiebuild.scons.watch import main as begin  # noqa: PLC0415 - it loads SCons

    begin(words, STARTED - TICK_NS)


def explain(argv: list[str], root: Path) -> int:
    """Print as JSON which steps would run, and why; return SCons's exit status."""
    status, said = _asked(argv, root)
    sys.stdout.write(said)
    return status


def graph(argv: list[str], form: str, root: Path) -> int:
    """Print the graph of the designs that are asked for, in one of its forms; return SCons's exit status."""
    from aiebuild.graphs import write  # noqa: PLC0415 - not needed where there is nothing to do
    from aiebuild.graphs.graph import Graph  # noqa: PLC0415 - the same

    write.require_form(form)
    status, said = _asked(argv, root)
    if said:
        sys.stdout.write(write.written(Graph.from_json(said), form))
    return status


def _asked(argv: list[str], root: Path) -> tuple[int, str]:
    """Run SCons for an answer to programs; return its exit status and the answer, empty where there is none."""
    import subprocess  # noqa: PLC0415 - not needed where there is nothing to do
    import tempfile  # noqa: PLC0415 - the same
    from pathlib import Path as RealPath  # noqa: PLC0415 - the same

    with tempfile.TemporaryDirectory(prefix="aiebuild-") as folder:
        # SCons and the tools print on standard output: the answer takes another way.
        answer = RealPath(folder) / "answer.json"
        words = [word for word in argv if word != JSON]
        command = [sys.executable, "-m", "SCons", "-Q", *words, f"json={answer}"]
        done = subprocess.run(command, cwd=root, check=False, stdout=sys.stderr)
        return done.returncode, answer.read_text(encoding="utf-8") if answer.is_file() else ""
