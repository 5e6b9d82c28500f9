"""Running aiecc: in a private, emptied folder that holds the module and the declared objects, and nothing else.

aiecc looks for `link_with` files in its current folder first, where a stale object of the same name would win; and
it writes there. What it leaves is checked: it may end well with nothing written.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.npu.bundle import bundle
from aiebuild.toolchains.aiecc import command, needs_cores
from aiebuild.toolchains.aiecc_options import FOLDERS
from aiebuild.toolchains.aiecc_results import fetch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aiebuild.npu.job import Job
    from aiebuild.toolchains.aiecc_options import AieccRequest


def run(job: Job, outputs: Mapping[str, Path], work: Path) -> None:
    """Make the outputs, by kind; the work folder is removed afterwards, and kept on failure.

    Raises:
        ToolchainError: aiecc failed, or an output is missing or empty; the message names the folder and the command.
    """
    prepare(job, work)
    made = {kind: work / "made" / path.name for kind, path in outputs.items()}
    request = job.request(str(work), {kind: str(path) for kind, path in made.items()})
    argv = command(job.aiecc.dialect, job.aiecc.path, request, listed=job.aiecc.listed)
    _verify(job, work)
    done = subprocess.run(argv, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        died = f"was ended by signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
        raise ToolchainError(f"aiecc failed ({died})", hint=_again(argv, work))
    _fetch(job, request, argv, work)
    if job.stable_uuid:
        from aiebuild.npu import stable_uuid  # noqa: PLC0415 - few designs ask for it

        stable_uuid.give(made["xclbin"], job.xclbinutil)
    for kind, path in outputs.items():
        if kind in FOLDERS:
            bundle(made[kind], path)
        else:
            shutil.move(made[kind], path)
    shutil.rmtree(work)


def prepare(job: Job, work: Path) -> None:
    """Empty the work folder, and put the module and the objects into it, under the names that the module uses."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "made").mkdir(parents=True)
    (work / "aiecc").mkdir()
    shutil.copyfile(job.mlir, work / f"{job.name}.mlir")
    for name, file in job.links.items():
        shutil.copyfile(file, work / name)


def _fetch(job: Job, request: AieccRequest, argv: tuple[str, ...], work: Path) -> None:
    try:
        fetch(job.aiecc.dialect, request)
    except ToolchainError as error:
        raise ToolchainError(error.message, hint=f"{error.hint}\n  {_again(argv, work)}") from None


def _verify(job: Job, work: Path) -> None:
    """Let aie-opt verify the module, where it is installed: it names the op, and aiecc stops at the first error."""
    if not job.aie_opt:
        return
    argv = (job.aie_opt, f"{job.name}.mlir", "-o", "/dev/null" if sys.platform != "win32" else "NUL")
    done = subprocess.run(argv, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise ToolchainError("aie-opt does not accept the module", hint=_again(argv, work))


def _again(argv: tuple[str, ...], work: Path) -> str:
    words = " ".join(f"'{word}'" if " " in word else word for word in argv)
    return f"its folder is kept; to repeat: cd '{work}' && {words}"


def shown_commands(job: Job, outputs: Mapping[str, str], work: str) -> tuple[tuple[str, ...], ...]:
    """Return the argvs as people can read them, before anything is run."""
    request = job.request(work, outputs)
    driver = command(job.aiecc.dialect, job.aiecc.path, request, listed=job.aiecc.listed)
    if not job.stable_uuid:
        return (driver,)
    from aiebuild.npu import stable_uuid  # noqa: PLC0415 - few designs ask for it

    made = outputs["xclbin"]
    return (driver, stable_uuid.command(job.xclbinutil or "<xclbinutil>", made, made, "<uuid of the content>"))


def compiles_cores(job: Job) -> bool:
    """Return whether this run compiles and links the cores."""
    outputs = {kind: f"/{kind}" for kind in job.kinds}
    return needs_cores(job.request("/work", outputs), job.aiecc.listed)
