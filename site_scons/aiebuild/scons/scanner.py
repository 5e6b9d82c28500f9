"""The dependencies that a step found out while it ran, given to SCons by a target scanner.

SCons's own `ParseDepends` reads depfiles before the build and therefore builds everything twice. Here the scanner
reads the record of the last run; right after a step the action sets the same list on the target, so that the list
that is stored is the one that the next run's scan returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import SCons.Node
import SCons.Scanner
import SCons.Scanner.C
import SCons.SConsign

from aiebuild import depfile
from aiebuild.scons.signatures import SOURCE

if TYPE_CHECKING:
    from aiebuild.scons.session import Session
    from aiebuild.step import Step

RECORD = ".reads.json"
CHANGED = " was changed by something else"
SHADOWING = "new files that may be found first"
OUTSIDE = "files outside the project"
NAMES = "names in "
UNRECORDED = "no record "
"""What the values among a step's inputs begin or end with; `reasons` tells people what they mean."""

BUILT = (SCons.Node.executing, SCons.Node.executed)

HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".cc", ".cpp", ".cxx", ".c")


def record_of(step: Step) -> str:
    """Return the file that remembers what a step read."""
    return step.outputs[0] + RECORD


def target_scanner() -> Any:
    """Return the scanner that builders use for their targets."""
    return SCons.Scanner.ScannerBase(function=_scan, name="aiebuild reads", node_class=SCons.Node.Node)


def no_scanner() -> Any:
    """Return a scanner that finds nothing: sources are not searched by patterns, the compiler says what it read."""
    return SCons.Scanner.ScannerBase(function=lambda node, env, path: [], name="aiebuild none")  # noqa: ARG005 - SCons's signature


def _scan(node: Any, env: Any, path: Any) -> list[Any]:
    del path
    return [*dependencies(env["AIE_STEP"], env, node), *_changed_from_outside(node, env)]


def _changed_from_outside(node: Any, env: Any) -> list[Any]:
    """Return a value, so that the step runs again, where an output is not what the step wrote.

    SCons compares inputs only: it would take a truncated or edited output for good.
    """
    session: Session = env["AIE_SESSION"]
    if env["AIE_STEP"].outputs[0] in session.fresh or not node.exists():
        return []
    session.present.add(str(node))
    stored = node.get_stored_info()
    written = getattr(getattr(stored, "ninfo", None), "csig", None)
    if written is None or written == node.get_csig():
        return []
    return [env.Value(f"{node}{CHANGED}")]


def dependencies(step: Step, env: Any, target: Any) -> list[Any]:
    """Return the nodes of everything that the step read in its last run, beside its sources.

    Files of the project are nodes; files outside it (the compiler's own headers) are one value, the digest of their
    contents; files that were absent and now exist are a value that names them. Headers that the project generates
    are found by scanning too, since there is no record before the first run.
    """
    if step.scans:
        return _scanned_headers(step, env, target)
    if not step.depfile:
        return []
    session: Session = env["AIE_SESSION"]
    reads = depfile.read(session.root / record_of(step))
    top = env.fs.Top
    generated = _generated_headers(step, env, target)
    if reads is None:
        session.unrecorded += 1
        return [
            *generated,
            env.Value(f"{UNRECORDED}{session.unrecorded} of what {step.outputs[0]} read, {session.started_at}"),
        ]
    nodes = [top.File(name) for name in reads.files if session.exists(name)]
    for node in nodes:
        if not node.has_builder():
            node.store_info = SOURCE
    nodes += [node for node in generated if node not in nodes]
    if reads.external:
        nodes.append(env.Value(f"{OUTSIDE}: {session.fingerprints.of_all(reads.external)}"))
    nodes += [env.Value(f"{NAMES}{name}: {' '.join(session.names_in(name))}") for name in reads.folders]
    appeared = [name for name in reads.absent if session.exists(name)]
    if appeared:
        nodes.append(env.Value(f"{SHADOWING}: {', '.join(appeared)}"))
    return nodes


STORE = 2
"""Our entry in SCons's table of ways to store what is known of a node (0: not at all, 1: as SCons does)."""


def install_store() -> None:
    """Add our entry to the table; SCons calls it under the lock of its scheduler, once a target is built."""
    SCons.Node.store_info_map[STORE] = _store


def _store(node: Any) -> None:
    """Store a target, with the dependencies that its step found out in this run."""
    if node.executor is None or not node.has_builder():
        SCons.Node.store_info_file(node)
        return
    env = node.get_build_env()
    step: Step = env["AIE_STEP"]
    session: Session = env["AIE_SESSION"]
    if node.get_state() not in BUILT:
        # It is up to date: what is stored is what would be stored again.
        return
    if step.outputs[0] in session.fresh:
        _set_dependencies(node, step, env)
    SCons.Node.store_info_file(node)
    if session.should_save():
        _save_signatures()


def _save_signatures() -> None:
    """Write SCons's database now, as its interactive mode does after each build: a kill then loses little."""
    for file in SCons.SConsign.sig_files:
        file.write(sync=0)
    for database in SCons.SConsign.DB_sync_list:
        database.sync()


def _set_dependencies(node: Any, step: Step, env: Any) -> None:
    found = dependencies(step, env, node)
    for dependency in found:
        dependency.get_ninfo().csig = dependency.get_csig()
    node.implicit = found
    node.implicit_set = set(found)
    node._children_reset()


def _scanned_headers(step: Step, env: Any, target: Any) -> list[Any]:
    """Return the headers that the sources include, found by their text: for a compiler that writes no depfile."""
    folders = tuple(env.fs.Top.Dir(name) for name in step.search)
    c_scanner = SCons.Scanner.C.CScanner()
    found = [node for source in target.sources for node in source.get_implicit_deps(env, c_scanner, lambda _: folders)]
    inside = env.fs.Top.get_abspath()
    kept = {node for node in found if node.has_builder() or node.get_abspath().startswith(inside)}
    return sorted(kept, key=lambda node: str(node.get_abspath()))


def _generated_headers(step: Step, env: Any, target: Any) -> list[Any]:
    """Return the headers that other steps of the graph make and that the sources include, by scanning."""
    if not step.search:
        return []
    folders = tuple(env.fs.Top.Dir(name) for name in step.search)
    near = {node.dir for node in target.sources} | set(folders)
    session: Session = env["AIE_SESSION"]
    if not any(_makes_headers(folder, session) for folder in near):
        return []
    c_scanner = SCons.Scanner.C.CScanner()
    found: list[Any] = []
    for source in target.sources:
        found += source.get_implicit_deps(env, c_scanner, lambda _: folders)
    return sorted({node for node in found if node.has_builder()}, key=str)


def _makes_headers(folder: Any, session: Session) -> bool:
    """Return whether a step makes headers in a folder; looked at anew only where there are other names in it."""
    entries = getattr(folder, "entries", {})
    key = (folder, len(entries))
    if key not in session.headers_in:
        session.headers_in[key] = any(
            name.endswith(HEADERS) and hasattr(node, "has_builder") and node.has_builder()
            for name, node in entries.items()
        )
    return session.headers_in[key]
