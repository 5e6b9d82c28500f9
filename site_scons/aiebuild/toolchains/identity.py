"""Which build of a compiler this is: the digest of the programs that make its objects.

A compiler's driver is a small program: the code that compiles is in `cc1plus` (GCC) or in shared libraries (Clang of
some distributions). All of them are digested, so that an upgrade of any of them is noticed.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.files import write_atomically
from aiebuild.fingerprint import digest_of

if TYPE_CHECKING:
    from aiebuild.environment import Environment
    from aiebuild.fingerprint import Fingerprints

HELPERS = ("cc1plus", "as", "ld", "collect2")
PROBE_SECONDS = 60


@dataclass(frozen=True)
class Probe:
    """What a compiler said of itself: its version line, the files that make it up, and where it looks for headers."""

    identity: str
    version: str
    parts: tuple[str, ...]
    system_dirs: tuple[str, ...]


def identify(
    compiler: str,
    environment: Environment,
    fingerprints: Fingerprints,
    memory: Path,
    *,
    extra: tuple[str, ...] = (),
) -> Probe:
    """Return the probe of a compiler; it is asked again only when one of its files has changed.

    Args:
        compiler: the absolute path of the driver.
        environment: what the driver is run with.
        fingerprints: digests of files, remembered.
        memory: the JSON file that remembers what the driver said.
        extra: further programs that the same steps run (an archiver, objcopy).

    Raises:
        ToolchainError: where the program does not run, or is no C++ compiler.
    """
    asked = [compiler, environment.get("LD_LIBRARY_PATH")]
    known = _recall(memory, asked, fingerprints)
    if known is not None:
        return known
    probe = _ask(compiler, environment.for_steps(), fingerprints, extra)
    write_atomically(memory, json.dumps({"asked": asked} | asdict(probe)))
    return probe


def _recall(memory: Path, asked: list[str], fingerprints: Fingerprints) -> Probe | None:
    try:
        known = json.loads(memory.read_bytes())
        probe = Probe(known["identity"], known["version"], tuple(known["parts"]), tuple(known["system_dirs"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if known.get("asked") != asked or probe.identity != _digest(probe.version, probe.parts, fingerprints):
        return None
    return probe


def _ask(compiler: str, variables: dict[str, str], fingerprints: Fingerprints, extra: tuple[str, ...]) -> Probe:
    version = _run((compiler, "--version"), variables)
    searched = _run((compiler, "-E", "-v", "-x", "c++", "-"), variables)
    parts = {str(Path(compiler).resolve()), *extra}
    for helper in HELPERS:
        answer = _run((compiler, f"-print-prog-name={helper}"), variables).strip()
        if Path(answer).is_absolute() and Path(answer).is_file():
            parts.add(str(Path(answer).resolve()))
    parts.update(_libraries(compiler, variables))
    ordered = tuple(sorted(parts))
    first_line = version.splitlines()[0] if version else ""
    return Probe(_digest(first_line, ordered, fingerprints), first_line, ordered, _system_dirs(searched))


def _digest(version: str, parts: tuple[str, ...], fingerprints: Fingerprints) -> str:
    return digest_of(f"{version}\n{fingerprints.of_all(parts)}".encode())


def _system_dirs(said: str) -> tuple[str, ...]:
    """Return the folders that `-E -v` lists between `<...> search starts here` and `End of search list`."""
    found = re.search(r"#include <\.\.\.>[^\n]*\n(.*?)\nEnd of search list", said, re.DOTALL)
    if found is None:
        return ()
    lines = (line.strip().removesuffix(" (framework directory)") for line in found[1].splitlines())
    return tuple(str(Path(line).resolve()) for line in lines)


def _libraries(compiler: str, variables: dict[str, str]) -> set[str]:
    """Return the shared libraries that hold a Clang's code, where it is linked that way."""
    try:
        said = _run(("ldd", str(Path(compiler).resolve())), variables)
    except ToolchainError:
        return set()
    found = re.findall(r"=> (\S*lib(?:LLVM|clang)\S*)", said)
    return {str(Path(path).resolve()) for path in found}


def _run(argv: tuple[str, ...], variables: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            argv, env=variables, input="", capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise ToolchainError(f"{argv[0]} does not run: {problem}") from problem
    if done.returncode != 0:
        detail = (done.stderr or done.stdout).strip().splitlines()
        raise ToolchainError(f"{' '.join(argv)} failed: {detail[0] if detail else done.returncode}")
    return done.stdout + done.stderr
