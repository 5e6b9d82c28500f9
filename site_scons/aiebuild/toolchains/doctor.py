"""What is installed for building for the NPU: each tool, where it is and which, or what was tried and how to get it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError
from aiebuild.toolchains import peano
from aiebuild.toolchains.aiecc_dialect import Dialect, detect, dialect_named, revision_of
from aiebuild.toolchains.asking import ask
from aiebuild.toolchains.discover import (
    BY_NAME,
    MLIR_AIE,
    TOOLS,
    Found,
    Missing,
    Places,
    Tool,
    find,
    find_root,
    python_interpreter,
)
from aiebuild.toolchains.known_bad import Versions, warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCHES = ("aie2", "aie2p")
ANSWER_VERSION = frozenset({"clang++", "llvm-ar", "llvm-nm", "llvm-objcopy", "ld.lld", "aie-opt", "xclbinutil"})
"""Tools that answer `--version`; the others are asked otherwise, or say nothing of it."""


@dataclass(frozen=True)
class Line:
    """What is known of one tool.

    Args:
        name: of the tool.
        purpose: what it is needed for.
        path: where it is, empty where it is nowhere.
        how: which entry of its search list found it.
        version: the line that it says of itself.
        tried: the places that were looked at in vain.
        hint: how to get it, or what to mend.
        problem: why it cannot be used though it is named or there.
    """

    name: str
    purpose: str
    path: str = ""
    how: str = ""
    version: str = ""
    tried: tuple[str, ...] = ()
    hint: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Report:
    """The state of the NPU toolchain.

    Args:
        tools: one entry a tool, in the order of the table of tools.
        dialect: of aiecc; empty where there is none.
        targets: for each arch, whether the Peano that was found compiles for it.
        python: the Python that generators run in, and why that one.
        warnings: versions that do not fit each other.
    """

    tools: tuple[Line, ...]
    dialect: str
    targets: Mapping[str, bool]
    python: Found
    warnings: tuple[str, ...] = ()

    @property
    def can_build(self) -> tuple[str, ...]:
        """The arches that can be built for with Peano: kernels and xclbins."""
        there = {line.name for line in self.tools if line.path and not line.problem}
        return tuple(arch for arch, is_there in self.targets.items() if is_there and {"aiecc", "llvm-ar"} <= there)

    def to_json(self) -> dict[str, object]:
        """Return the same for programs: names, texts, lists and booleans."""
        return {
            "tools": [asdict(line) | {"tried": list(line.tried)} for line in self.tools],
            "dialect": self.dialect,
            "targets": dict(self.targets),
            "can_build": list(self.can_build),
            "python": asdict(self.python),
            "warnings": list(self.warnings),
        }

    def text(self) -> str:
        """Return the same for people."""
        lines = [text for line in self.tools for text in _say(line)]
        hints = dict.fromkeys(line.hint for line in self.tools if line.hint)
        lines += ["", *(f"to mend: {hint}" for hint in hints)] if hints else []
        lines += ["", f"aiecc dialect: {self.dialect or 'unknown'}"]
        lines += [f"Peano for {arch}: {'yes' if there else 'no'}" for arch, there in self.targets.items()]
        lines += [f"Python of generators: {self.python.path} ({self.python.how})"]
        lines += [f"can build for: {', '.join(('host', *self.can_build))}"]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines) + "\n"


def _say(line: Line) -> list[str]:
    name = f"{line.name:<17}"
    if line.problem:
        return [f"{name} unusable: {line.problem}"]
    if line.path:
        version = f"  {line.version}" if line.version else ""
        return [f"{name} {line.path}{version}", f"{'':<17}   found by {line.how}; {line.purpose}"]
    return [f"{name} not found; {line.purpose}", f"{'':<17}   tried {'; '.join(line.tried)}"]


def inspect(places: Places, dialect: str = "") -> Report:
    """Return the state of the NPU toolchain; no problem of it is raised, each is in the report.

    Args:
        places: where tools are looked for.
        dialect: of aiecc, where it is not to be detected.
    """
    variables = places.environment.for_steps()
    found = {tool.name: _look(tool, places) for tool in TOOLS}
    spoken = ""
    if isinstance(aiecc := found["aiecc"], Found):
        spoken, found["aiecc"] = _aiecc(aiecc, variables, dialect)
    lines = tuple(
        item if isinstance(item, Line) else _line(BY_NAME[name], item, variables) for name, item in found.items()
    )
    clang = next(line for line in lines if line.name == "clang++")
    targets = {arch: _has_target(clang, arch, variables) for arch in ARCHES}
    return Report(lines, spoken, targets, _python(places), _warnings(lines, spoken, places))


def _look(tool: Tool, places: Places) -> Found | Missing | Line:
    try:
        return find(tool.name, places)
    except ToolchainError as error:
        return Line(tool.name, tool.purpose, problem=error.message, hint=error.hint)


def _line(tool: Tool, found: Found | Missing, variables: dict[str, str]) -> Line:
    if isinstance(found, Missing):
        return Line(tool.name, tool.purpose, tried=found.tried, hint=found.hint)
    line = Line(tool.name, tool.purpose, found.path, found.how)
    if tool.name not in ANSWER_VERSION:
        return line
    try:
        answer = ask((found.path, "--version"), variables)
    except ToolchainError as error:
        return Line(tool.name, tool.purpose, found.path, found.how, problem=error.message, hint=tool.hint)
    return Line(tool.name, tool.purpose, found.path, found.how, version=_version(answer.text))


def _version(said: str) -> str:
    """Return the line of a version text that has a number in it: LLVM's tools say their project's name first."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    numbered = (line for line in lines if re.search(r"\d+\.\d+|version", line))
    return next(numbered, lines[0] if lines else "")


def _aiecc(found: Found, variables: dict[str, str], dialect: str) -> tuple[str, Line]:
    purpose = BY_NAME["aiecc"].purpose
    try:
        texts = [ask((found.path, option), variables).text for option in ("--aie-version", "--version", "--help")]
        spoken = dialect_named(dialect) if dialect else detect(*texts, program=found.path)
    except ToolchainError as error:
        return "", Line("aiecc", purpose, found.path, found.how, problem=error.message, hint=error.hint)
    said = texts[1] if spoken is Dialect.A else texts[0]
    first = next((line.strip() for line in said.splitlines() if line.strip()), "")
    revision = revision_of(said)
    version = first if not revision or revision in first else f"{first} {revision}"
    return str(spoken), Line("aiecc", purpose, found.path, found.how, version=version)


def _has_target(clang: Line, arch: str, variables: dict[str, str]) -> bool:
    if not clang.path or clang.problem:
        return False
    try:
        return peano.lacks_target(clang.path, arch, variables) is None
    except ToolchainError:
        return False


def _python(places: Places) -> Found:
    try:
        return python_interpreter(places)
    except ToolchainError:
        return Found(places.interpreter, "the running Python")


def _warnings(lines: tuple[Line, ...], spoken: str, places: Places) -> tuple[str, ...]:
    by_name = {line.name: line for line in lines}
    clang, aiecc = by_name["clang++"], by_name["aiecc"]
    versions = Versions(
        dialect=Dialect(spoken) if spoken else None,
        peano=clang.version,
        peano_wheel=wheel_version(clang.path, "llvm_aie"),
        aiecc_is_wheel=aiecc.how.startswith("wheel in"),
        same_python=_python(places).path == places.interpreter,
    )
    return warnings(versions)


def wheel_version(program: str, distribution: str) -> str:
    """Return the version of the wheel that a program is in: `<site-packages>/<wheel>/bin/<program>`; empty for none."""
    if not program:
        return ""
    packages = Path(program).parents[2] if len(Path(program).parents) > 2 else Path(program).parent
    found = sorted(packages.glob(f"{distribution}*-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").partition("-")[2] if found else ""


def mlir_aie_version(places: Places) -> str:
    """Return the version of the mlir_aie wheel, with or without its `_no_rtti`; empty where it is no wheel."""
    root = find_root(MLIR_AIE, places)
    return wheel_version(f"{root.path}/bin/aiecc", "mlir_aie") if isinstance(root, Found) else ""
