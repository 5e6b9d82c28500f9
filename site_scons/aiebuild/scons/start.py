"""What a project's `SConstruct` calls: is everything up to date? Only if not is the rest of aiebuild loaded."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import SCons.Script

from aiebuild import freshness, streams
from aiebuild.environment import variables

if TYPE_CHECKING:
    from collections.abc import Iterable

BYPASS = (
    *("clean", "no_exec", "question", "help", "interactive", "repository", "file", "site_dir", "include_dir"),
    *("tree_printers", "debug", "profile_file", "taskmastertrace_file", "memory", "cache_force", "cache_show"),
)
"""Options of SCons with which its graph is wanted, whatever the state of the files."""


def main(arguments: Iterable[tuple[str, str]], words: Iterable[str]) -> None:
    """Read the recipes that a command line asks for; the whole of this project's `SConstruct`.

    Args:
        arguments: SCons's `ARGLIST`.
        words: SCons's `COMMAND_LINE_TARGETS`.

    A fault of the user's ends the run with a message and exit status 2.
    """
    streams.tolerate(sys.stdout)
    pairs, verbs = list(arguments), list(words)
    skip: tuple[tuple[str, str], ...] = ()
    changed: set[str] = set()
    if freshness.VERBS.issuperset(verbs) and not any(map(_is_set, BYPASS)) and not unknown_options():
        started = time.monotonic()
        done, left = freshness.fresh(pairs, verbs, variables())
        if done and not left:
            streams.write(sys.stdout, freshness.said(done, time.monotonic() - started) + "\n")
            # Nothing was read and nothing is to be written: SCons's own end would only cost time.
            os._exit(0)
        skip = tuple((design, arch) for design, arch, _ in done)
        changed = {name for names in left.values() for name in names}
    from aiebuild.scons import project  # noqa: PLC0415 - everything else, which a build with nothing to do does not need

    project.main(pairs, verbs, skip, changed)


def unknown_options() -> list[str]:
    """Return the options that SCons does not know: it says so itself, once all recipes are read."""
    return [word for word in SCons.Script.Main.OptionsParser.largs if word.startswith("-")]


def _is_set(name: str) -> bool:
    try:
        return bool(SCons.Script.GetOption(name))
    except AttributeError:
        return False
