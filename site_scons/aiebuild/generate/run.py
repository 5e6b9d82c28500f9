"""Running a Python generator in a process of its own: its MLIR, and all that it was made from."""

from __future__ import annotations

import marshal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.errors import Location, ToolchainError, did_you_mean
from aiebuild.files import project_path
from aiebuild.generate import mapping, report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiebuild.contract import Generator
    from aiebuild.expression_tree import Scalar

RECORDER = Path(__file__).with_name("recorder.py")
OLDEST = (3, 8)


@dataclass(frozen=True)
class Request:
    """What to run.

    Args:
        script: the Python file, relative to the current folder, which is the project's.
        function: its function that makes the MLIR; empty where the script itself does.
        words: the script's command line.
        keywords: what the function is called with.
        offers: what the function is also called with, each only where it has a parameter of that name.
        output: the option that names the file to write; empty for a script that prints.
        search: folders that modules are imported from, after the script's own.
        interpreter: the Python that runs it.
        generator: the contract's section, for messages.
    """

    script: str
    interpreter: str
    function: str = ""
    words: tuple[str, ...] = ()
    keywords: Mapping[str, Scalar] = field(default_factory=dict)
    offers: Mapping[str, Scalar] = field(default_factory=dict)
    output: str = ""
    search: tuple[str, ...] = ()
    generator: Generator | None = None


@dataclass(frozen=True)
class Generated:
    """MLIR and what it was made from.

    `files` were read or imported, `absent` would have been, `folders` were listed: relative to the current folder
    where they are below it. `said` is what the generator wrote besides its MLIR, and warnings of ours.
    """

    mlir: bytes
    files: tuple[str, ...]
    absent: tuple[str, ...]
    folders: tuple[str, ...]
    said: str


def generate(request: Request, target: Path, variables: Mapping[str, str], where: Location | None = None) -> Generated:
    """Run a generator and return what it made.

    Args:
        request: what to run.
        target: the file that the MLIR is for; a script that writes a file is given a name beside it.
        variables: the environment, whole.
        where: the line that asks for it.

    Raises:
        GeneratorError: it failed, or made nothing.
        ToolchainError: the interpreter does not run, or is too old.
    """
    _require_script(request.script, where)
    aside = target.absolute().with_name(f".generated-{target.name}")
    try:
        with tempfile.TemporaryDirectory(prefix="aiebuild-") as folder:
            done, record = _run(request, aside, variables, Path(folder))
        if record is None:
            _require_version(request.interpreter, variables)
        if record is None or done.returncode != 0:
            raise report.failure(request, record, done)
        mlir = _made(record, aside if request.output else None, done)
        if not mlir.strip():
            raise report.nothing(request, done)
    finally:
        aside.unlink(missing_ok=True)
    files, absent, folders = (tuple(map(project_path, record[name])) for name in ("files", "absent", "folders"))
    besides = done.stderr if mlir is done.stdout else done.stdout + done.stderr
    said = besides.decode("utf-8", "replace") + report.warnings(record["warnings"])
    return Generated(mlir, files, absent, folders, said)


def _run(
    request: Request, aside: Path, variables: Mapping[str, str], folder: Path
) -> tuple[subprocess.CompletedProcess[bytes], dict[str, Any] | None]:
    """Run the recorder; return how it ended and what it recorded, None where it could not."""
    job, record = folder / "job", folder / "record"
    words = (*request.words, *mapping.output_option(request.output, project_path(aside)))
    said = {
        "root": str(Path.cwd()),
        "script": request.script,
        "function": request.function,
        "argv": words,
        "keywords": dict(request.keywords),
        "offers": dict(request.offers),
        "search": request.search,
        "output": str(aside),
        "record": str(record),
    }
    job.write_bytes(marshal.dumps(said, 2))
    aside.parent.mkdir(parents=True, exist_ok=True)
    aside.unlink(missing_ok=True)
    command = (request.interpreter, "-X", "faulthandler", str(RECORDER), str(job))
    # Not the option -B: the variable also holds for what the generator may start.
    full = {**variables, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, env=full, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise ToolchainError(f"the interpreter {request.interpreter} does not run: {error.strerror}") from None
    try:
        return done, marshal.loads(record.read_bytes())  # noqa: S302 - our own recorder wrote it
    except (OSError, ValueError, EOFError, TypeError):
        return done, None


def _made(record: Mapping[str, Any], written: Path | None, done: subprocess.CompletedProcess[bytes]) -> bytes:
    """Return the MLIR: what the function returned, what the script wrote, or what was printed."""
    returned: str | bytes | None = record.get("text")
    if returned is not None:
        return returned if isinstance(returned, bytes) else returned.encode("utf-8", "surrogatepass")
    if written is not None:
        return written.read_bytes() if written.is_file() else b""
    return done.stdout


def _require_script(script: str, where: Location | None) -> None:
    path = Path(script)
    if path.is_file():
        return
    beside = [other.name for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
    hint = did_you_mean(path.name, beside)
    raise report.GeneratorError(f"there is no file {script}", where, hint)


def _require_version(interpreter: str, variables: Mapping[str, str]) -> None:
    """Refuse an interpreter that is too old to record anything."""
    command = (interpreter, "-c", "import sys; print('%d %d' % sys.version_info[:2])")
    done = subprocess.run(command, env=dict(variables), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    words = done.stdout.split()
    if done.returncode == 0 and len(words) == 2 and (version := (int(words[0]), int(words[1]))) < OLDEST:
        is_, needs = (".".join(map(str, found)) for found in (version, OLDEST))
        raise ToolchainError(f"{interpreter} is Python {is_}; generators need {needs} or later")
