"""Setting up an environment: the session of this run, the builders, the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import SCons.Script

from aiebuild import environment
from aiebuild.errors import AieBuildError, OptionError, RecipeError, did_you_mean
from aiebuild.files import project_path
from aiebuild.options import ARCHES
from aiebuild.scons import database, report, signatures
from aiebuild.scons.builders import add_builders
from aiebuild.scons.configure import aie_configuration
from aiebuild.scons.location import calling_line
from aiebuild.scons.scanner import install_store
from aiebuild.scons.session import Session
from aiebuild.scons.words import Configuration, add_words, guarded

SESSION = "aiebuild_session"
SIGNATURES = "signatures"
"""SCons's database in the folder of the build's state; SCons adds `.dblite` to its name."""


def generate(env: Any) -> None:
    """Give an environment the session of this run, the builders and the words.

    Variables that an environment may bring: `AIE_BUILD_DIR` (`build`), `AIE_VERBOSE` (False), `AIE_ARCH` (`host`),
    `AIE_TOOLCHAIN` (the arch's own), `AIE_MODE` (`release`).
    """
    env["AIE_SESSION"] = session_of(env)
    env["IMPLICIT_COMMAND_DEPENDENCIES"] = 0
    state: Path = env["AIE_SESSION"].state
    try:
        env["AIE_CONFIGURATION"] = _by_hand(env)
        _refuse_folder(state / f"{SIGNATURES}.dblite")
    except AieBuildError as error:
        report.tell_error(error)
        SCons.Script.Exit(2)
    state.mkdir(parents=True, exist_ok=True)
    env.SConsignFile(str(state / SIGNATURES), database)
    install_store()
    signatures.install()
    add_builders(env)
    add_words(env)
    env.AddMethod(guarded(aie_configuration), "AieConfiguration")


def _refuse_folder(database: Path) -> None:
    if database.is_dir():
        raise OptionError(
            f"{project_path(database)} is a folder, and SCons keeps its signatures in a file there", hint="move it away"
        )


def session_of(env: Any) -> Session:
    """Return the session of this run: one for all environments of one file system of SCons's."""
    found: Session | None = getattr(env.fs, SESSION, None)
    if found is None:
        root = Path(env.fs.Top.get_abspath())
        build_dir = env.get("AIE_BUILD_DIR", "build")
        found = Session(
            root,
            build_dir,
            environment.current(),
            verbose=bool(env.get("AIE_VERBOSE")),
            places=env.get("AIE_PLACES"),
            only_shows=bool(SCons.Script.GetOption("no_exec")),
            only_answers=bool(env.get("AIE_ONLY_ANSWERS")),
        )
        setattr(env.fs, SESSION, found)
    return found


def _by_hand(env: Any) -> Configuration:
    arch = env.get("AIE_ARCH", "host")
    if arch not in ARCHES:
        raise RecipeError(f"AIE_ARCH={arch} is not an arch", calling_line(), did_you_mean(arch, ARCHES))
    default = "host" if arch == "host" else "peano"
    return Configuration(
        design="",
        folder="",
        output=f"{env['AIE_SESSION'].build_dir}/{arch}",
        arch=arch,
        toolchain=env.get("AIE_TOOLCHAIN", default),
        mode=env.get("AIE_MODE", "release"),
        parameters={},
    )
