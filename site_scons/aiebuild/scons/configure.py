"""From a contract and what was asked for to the environment that a recipe sees."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import contract, options
from aiebuild.errors import OptionError
from aiebuild.scons.session import project_path
from aiebuild.scons.words import Configuration

if TYPE_CHECKING:
    from aiebuild.scons.session import Session
    from aiebuild.settle import Settled

DEFAULT_TOOLCHAINS = {"host": "host", "aie2": "peano", "aie2p": "peano"}


@dataclass(frozen=True)
class Choice:
    """How a configuration is built, beside its parameters; no `run_timeout` stands for the contract's."""

    toolchain: str
    mode: str = "release"
    run_timeout: float | None = None
    aiecc_dialect: str = ""
    aiecc_jobs: int = 0
    trace: bool = False


def configure(env: Any, design: contract.Contract, settled: Settled, choice: Choice) -> Any:
    """Return the environment that one recipe sees, for one configuration."""
    suffix = "" if choice.toolchain == DEFAULT_TOOLCHAINS[settled.arch] else f"-{choice.toolchain}"
    name = settled.configuration(suffix, debug=choice.mode == "debug")
    session: Session = env["AIE_SESSION"]
    configuration = Configuration(
        design=design.name,
        folder=Path(design.file).parent.as_posix(),
        output=f"{session.build_dir}/{settled.arch}/designs/{design.name}/{name}",
        arch=settled.arch,
        toolchain=choice.toolchain,
        mode=choice.mode,
        parameters=settled.to_json(choice.mode),
        arguments=tuple(design.arguments),
        meanings=design.arguments,
        version=design.version,
        description=design.description,
        derived=tuple(settled.derived),
        variant=settled.known_as(design),
        label=settled.label(design, suffix, debug=choice.mode == "debug"),
        sequences=design.sequences,
        run_timeout=choice.run_timeout or design.run_timeout,
        search=("templates",),
        generator=design.generator,
        aiecc_dialect=choice.aiecc_dialect,
        aiecc_jobs=choice.aiecc_jobs,
        trace=choice.trace,
    )
    return env.Clone(AIE_CONFIGURATION=configuration)


def choose_toolchain(asked: str, arch: str) -> str:
    """Return the toolchain for an arch: the one that was asked for, where it can compile for it.

    Raises:
        OptionError: where it cannot.
    """
    fitting = ("host",) if arch == "host" else ("peano", "chess")
    if asked and asked not in fitting:
        hint = f"for {arch}: {', '.join(fitting)}"
        raise OptionError(f"toolchain={asked} does not compile for arch={arch}", hint=hint)
    return asked or DEFAULT_TOOLCHAINS[arch]


def seconds(text: str) -> float:
    """Return a time limit.

    Raises:
        OptionError: where the text is not a number above zero.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if value > 0:
        return value
    raise OptionError(f"run_timeout={text} is not a time", hint="seconds, more than 0: run_timeout=120")


_KEYWORDS = ("arch", "device", "variant", "mode")
"""What `AieConfiguration` takes besides parameters."""


def aie_configuration(
    env: Any,
    folder: str,
    *,
    arch: str = "host",
    device: str = "",
    variant: str = "",
    mode: str = "release",
    **given: Any,
) -> tuple[Any, Any]:
    """Return the environment and the parameters that the recipe of a design's folder expects, in any project.

    Args:
        env: an environment with the tool `aie`.
        folder: the folder that holds `design.yaml`, relative to the `SConscript` that calls, or with `#`.
        arch: as on the command line of a project of designs.
        device: the same.
        variant: the same.
        mode: the same.
        given: values of parameters.

    Raises:
        ContractError: the contract is wrong, or a value does not fit it.
    """
    session: Session = env["AIE_SESSION"]
    path = Path(str(env.Dir(folder).get_abspath())) / "design.yaml"
    shown = Path(project_path(path, session.root))
    loaded = contract.load(session.root / shown, cache=session.state / "contracts", reserved=options.RESERVED)
    design = dataclasses.replace(loaded, file=shown.as_posix())
    settled = design.settle(
        arch=arch,
        device=device or None,
        variant=variant or None,
        given={name: _as_text(value) for name, value in given.items()},
        said_by="AieConfiguration",
        reserved=_KEYWORDS,
    )
    choice = Choice(choose_toolchain("", arch), mode)
    return configure(env, design, settled, choice), settled.namespace(mode)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
