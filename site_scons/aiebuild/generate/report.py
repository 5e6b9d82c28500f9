"""What is said when a generator fails: the line of the user's own file first, then its traceback without ours."""

from __future__ import annotations

import linecache
import re
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.errors import AieBuildError, ContractError, Location, did_you_mean

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from aiebuild.contract import Generator
    from aiebuild.generate.run import Request

MOST_FRAMES = 20
UNKNOWN = re.compile(r"unexpected keyword argument '(\w+)'")
SUGGESTED = re.compile(r"\. Did you mean '\w+'\?$")
"""What Python 3.13 says beside it; the hint says it for every version."""

Frame = tuple[str, int, str]


class GeneratorError(AieBuildError):
    """A generator failed, or made no MLIR."""

    def __init__(self, message: str, where: Location | None = None, hint: str = "", said: bytes = b"") -> None:
        super().__init__(message, where, hint)
        self.said = said.decode("utf-8", "replace").rstrip()

    def __str__(self) -> str:
        """Return the message, then what the generator itself wrote."""
        return "\n".join(part for part in (super().__str__(), self.said) if part)


def warnings(found: Sequence[tuple[str, str, int]]) -> str:
    """Return a line for each thing that a generator did and that nobody keeps track of."""
    lines = []
    for what, file, line in found:
        wrong = (
            "the build does not see that file"
            if what.startswith("writes")
            else "the build does not see what that reads"
        )
        lines.append(f"{Location(file, line)}: warning: the generator {what}: {wrong}\n")
    return "".join(lines)


def nothing(request: Request, done: subprocess.CompletedProcess[bytes]) -> GeneratorError:
    """Return the error for a generator that ended well and made nothing."""
    if request.function:
        message = f"{request.function}() returned and printed no MLIR"
        return GeneratorError(message, Location(request.script), "return the text, or print it", done.stderr)
    if not request.output:
        message, hint = "the script printed no MLIR", _was_run(request)
    else:
        message = f"the script wrote no MLIR to its {request.output.rstrip('=')}"
        hint = "it printed something: leave 'output' of 'generator' out" if done.stdout.strip() else _was_run(request)
    return GeneratorError(message, Location(request.script), hint, done.stderr)


def failure(
    request: Request, record: Mapping[str, Any] | None, done: subprocess.CompletedProcess[bytes]
) -> AieBuildError:
    """Return the error for a generator that failed; without a record of why, it did not end as Python does."""
    script = Location(request.script)
    if record is None or "failure" not in record:
        return GeneratorError(_died(done.returncode), script, _was_run(request), done.stderr)
    found = record["failure"]
    if found["kind"] == "missing":
        message = f"the file has no function {request.function!r}"
        return GeneratorError(message, script, did_you_mean(request.function, found["names"]), done.stderr)
    if found["kind"] == "not callable":
        message = f"{request.function!r} is not a function, but of type {found['type']}"
        return GeneratorError(message, script, "", done.stderr)
    if found["kind"] == "call":
        return _misfit(request, found)
    return _raised(request, found, done.stderr)


def _died(status: int) -> str:
    if status < 0:
        return f"the generator was ended by {signal.Signals(-status).name}"
    return f"the generator left at once with exit status {status}, so that what it read is not known"


def _was_run(request: Request) -> str:
    if request.function:
        keywords = ", ".join(f"{name}={value!r}" for name, value in request.keywords.items())
        return f"it was called as {request.function}({keywords})"
    words = " ".join(shlex.quote(word) for word in request.words)
    given = f"it was given: {words}" if words else "it was given no options"
    if request.generator is None or not request.generator.file:
        return given
    return f"{given} ('generator' in {request.generator.file} says so)"


def _raised(request: Request, found: Mapping[str, Any], said: bytes) -> GeneratorError:
    last = found["chain"][-1]
    where = _where(last) or next(filter(None, map(_where, reversed(found["chain"]))), Location(request.script))
    if found["kind"] == "exit":
        code = found["code"]
        if isinstance(code, str):
            return GeneratorError(code, where, "", said)
        return GeneratorError(f"the generator ended with exit status {code}", where, _was_run(request), said)
    first, *more = last["message"].splitlines() or [""]
    hint = "\n  ".join([*more, *_traceback(found["chain"])])
    return GeneratorError(f"{last['type']}: {first}" if first else last["type"], where, hint, said)


def _where(told: Mapping[str, Any]) -> Location | None:
    if "syntax" in told:
        file, line, column = told["syntax"]
        return Location(file, line or None, column or None)
    if told["frames"]:
        file, line, _ = told["frames"][-1]
        return Location(file, line)
    return None


def _traceback(chain: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a traceback as Python writes them, of the user's own files; none where they say nothing."""
    if len(chain) == 1 and len(chain[0]["frames"]) <= 1:
        return []
    lines: list[str] = []
    for position, told in enumerate(chain):
        if position:
            lines.append("which caused:" if told["from"] else "while that was handled:")
        lines.append("Traceback (most recent call last):")
        lines += [line for frame in _cut(told["frames"]) for line in _frame(frame)]
        lines.append(f"{told['type']}: {told['message'].partition(chr(10))[0]}")
    return lines


def _cut(frames: Sequence[Frame]) -> Sequence[Frame | int]:
    left_out = len(frames) - MOST_FRAMES
    half = MOST_FRAMES // 2
    return [*frames[:half], left_out, *frames[-half:]] if left_out > 0 else frames


def _frame(frame: Frame | int) -> list[str]:
    if isinstance(frame, int):
        return [f"  ... {frame} more ..."]
    file, line, name = frame
    source = linecache.getline(file, line).strip()
    return [f'  File "{file}", line {line}, in {name}', *([f"    {source}"] if source else [])]


def _misfit(request: Request, found: Mapping[str, Any]) -> ContractError:
    """Return the error for a function that does not take what the contract gives: the contract's line is to mend."""
    place = f" ({Location(request.script, found['line'])})" if found["line"] else ""
    said = SUGGESTED.sub("", found["message"])
    unknown = UNKNOWN.search(said)
    keyword = unknown[1] if unknown else ""
    hint = did_you_mean(keyword, found["names"]) if keyword else f"it is given: {', '.join(request.keywords)}"
    where = _line_of(request.generator, keyword) if request.generator else None
    return ContractError(f"{said}{place}", where or Location(request.script, found["line"] or None), hint)


def _line_of(generator: Generator, keyword: str) -> Location | None:
    """Return the contract's line that passes a keyword on; it is looked for only now, so that it can move freely."""
    from aiebuild import contract_yaml  # noqa: PLC0415 - slow to import, and needed for a message only

    if not generator.file:
        return None
    try:
        document = contract_yaml.read(Path(generator.file).read_bytes(), generator.file)
    except (OSError, ContractError):
        return Location(generator.file)
    names = [name for name, passed in (generator.keywords or {}).items() if passed == keyword]
    places: list[contract_yaml.Path] = [("generator", "keywords", name) for name in names]
    places += [(section, keyword) for section in ("parameters", "derive")] if generator.keywords is None else []
    return next((document.where(place) for place in (*places, ("generator",)) if place in document.lines), None)
