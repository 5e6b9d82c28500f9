"""Completion in shells: the scripts, and what may follow in a command line of `scons` or `aiebuild`.

The scripts ask `aiebuild --complete`, which looks at the project in the current folder: at contracts and the table of
options, never at SCons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import contract, devices, options
from aiebuild.contract import EVERYWHERE, Contract, as_text
from aiebuild.errors import AieBuildError, OptionError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SHELLS = ("bash", "zsh", "fish")
SCRIPTS = Path(__file__).resolve().parent / "data" / "completion"

FILES = ":files"
"""What stands for the names of files: shells know them better."""

PATHS = (*options.PLACES, "json", "timing", "build_dir", "prefix")
"""Options whose value is a file or folder."""

SCONS_FLAGS = {
    "-c": "remove what was built",
    "-h": "every option",
    "-j": "steps at a time: -j2",
    "-k": "keep going after a failure",
    "-n": "show the commands, run nothing",
    "-q": "is anything to do?",
    "-s": "say nothing",
    "--no-progress": "plain lines on a terminal",
}
OWN_FLAGS = {
    "-j": "steps at a time: -j2",
    "--json": "the answer for programs",
    "--no-progress": "plain lines on a terminal",
    "--help": "every option",
    "--version": "the version",
}


@dataclass(frozen=True)
class Candidate:
    """A word that may stand there, and what it means."""

    word: str
    help: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether a shell takes the word as it stands: a folder's name may be `$(...)`."""
        return re.fullmatch(r"[\w.,=+:/@%-]+", self.word, re.ASCII) is not None

    def __str__(self) -> str:
        """Return the line that the scripts read; what a terminal would take for a command is left out."""
        return f"{self.word}\t{''.join(letter for letter in ' '.join(self.help.split()) if letter.isprintable())}"


def script(shell: str) -> str:
    """Return the script that a shell has to read.

    Raises:
        OptionError: there is none for this shell.
    """
    if shell not in SHELLS:
        every = f"choices: {', '.join(SHELLS)}"
        if not shell:
            raise OptionError("completion needs the name of a shell", hint=every)
        near = nearest(shell, SHELLS)
        hint = f"did you mean {near!r}? ({every})" if near else every
        raise OptionError(f"there is no completion for the shell {shell!r}", hint=hint)
    return (SCRIPTS / f"aiebuild.{shell}").read_text(encoding="utf-8")


FEW = 40
"""Designs up to which all contracts are read for an answer; with more of them it would come late."""


def complete(command: str, current: str, words: Sequence[str], root: Path) -> list[Candidate]:
    """Return what the word that is being typed may become; nothing outside of a project.

    Args:
        command: `scons` or `aiebuild`, by whatever path.
        current: the word, as far as it is typed.
        words: those before it, without the command.
        root: the current folder.
    """
    return [each for each in _complete(command, current, words, root) if each.is_plain]


def _complete(command: str, current: str, words: Sequence[str], root: Path) -> list[Candidate]:
    is_own = Path(command).name == "aiebuild"
    line = Line(words, root, is_own=is_own)
    if line.verb in {"verify", "inspect"} and is_own:
        return [Candidate(FILES)]
    if line.verb == "completion" and is_own:
        return _starting(current, (Candidate(shell) for shell in SHELLS))
    if not line.is_project:
        return _starting(current, _verbs(line)) if is_own else []
    if current.startswith("-"):
        flags = OWN_FLAGS if is_own else SCONS_FLAGS
        return _starting(current, (Candidate(*each) for each in flags.items()))
    name, equals, value = current.partition("=")
    if equals:
        return _values(line, name, value)
    return _starting(current, (*_verbs(line), *_names(line)))


@dataclass
class Line:
    """A command line as far as it is typed."""

    words: Sequence[str]
    root: Path
    is_own: bool
    given: dict[str, str] = field(init=False)
    verb: str = field(init=False)

    def __post_init__(self) -> None:
        pairs = (word.partition("=") for word in self.words if "=" in word and not word.startswith("-"))
        self.given = {name: value for name, _, value in pairs}
        self.verb = next((word for word in self.words if "=" not in word and not word.startswith("-")), "")

    @property
    def is_project(self) -> bool:
        """Whether there are designs in the current folder."""
        return (self.root / "SConstruct").is_file() and (self.root / "designs").is_dir()

    @property
    def contracts(self) -> list[Contract]:
        """Those of the designs that are named, or of all; one that is wrong is left out."""
        found = contract.find(self.root)
        names = (
            [name for name in self.given["design"].split(",") if name in found] if self.given.get("design") else found
        )
        return list(filter(None, (self._load(found[name]) for name in names)))

    @property
    def arches(self) -> list[str]:
        """What is asked for: that, or what the designs can be built for."""
        asked = [arch for arch in self.given.get("arch", "").split(",") if arch in options.ARCHES]
        return asked or self.possible_arches

    @property
    def possible_arches(self) -> list[str]:
        """What the designs can be built for."""
        if not self.given.get("design") and len(contract.find(self.root)) > FEW:
            return list(options.ARCHES)
        own = {devices.find(device).arch for each in self.contracts for device in each.devices}
        return [arch for arch in options.ARCHES if arch == "host" or arch in own]

    def _load(self, file: Path) -> Contract | None:
        state = self.root / self.given.get("build_dir", "build") / ".aiebuild" / "contracts"
        try:
            return contract.load(file, cache=state if state.is_dir() else None)
        except (AieBuildError, OSError):
            return None


def _starting(start: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    return [each for each in candidates if each.word.startswith(start)]


def _verbs(line: Line) -> Iterator[Candidate]:
    if line.verb:
        return
    for verb in (*options.VERBS, *(options.COMMANDS if line.is_own else ())):
        yield Candidate(verb.name, verb.help)


def _names(line: Line) -> Iterator[Candidate]:
    """Yield the options and parameters that are not given yet."""
    if "design" in line.given:
        for each in line.contracts:
            for parameter in each.parameters:
                if parameter.name not in line.given:
                    yield Candidate(f"{parameter.name}=", parameter.help)
    for option in options.OPTIONS:
        if option.name not in line.given and (not option.verbs or line.verb in option.verbs):
            yield Candidate(f"{option.name}=", option.help)


def _values(line: Line, name: str, value: str) -> list[Candidate]:
    """Return what may follow the equals sign, each as the whole word."""
    if name in PATHS:
        return [Candidate(FILES)]
    known = {option.name: option for option in options.OPTIONS}
    head = value.rpartition(",")[0] if name in known and known[name].several else ""
    taken = set(head.split(","))
    start = f"{name}={head}," if head else f"{name}="
    found = {each.word: each for each in _choices(line, name) if each.word not in taken or not head}
    return _starting(f"{name}={value}", (Candidate(start + each.word, each.help) for each in found.values()))


def _choices(line: Line, name: str) -> Iterator[Candidate]:
    if name == "design":
        # All of them: the ones that are named so far are no choice any more.
        found = contract.find(line.root)
        every = Line([], line.root, is_own=line.is_own).contracts if len(found) <= FEW else []
        about = {each.name: each.description for each in every}
        yield from (Candidate(name, about.get(name, "")) for name in found)
    elif name == "arch":
        yield from map(Candidate, line.possible_arches)
    elif name == "device":
        yield from _devices(line)
    elif name == "variant":
        yield from (
            Candidate(variant.name, " ".join(f"{key}={as_text(value)}" for key, value in variant.values.items()))
            for each in line.contracts
            for variant in each.variants
        )
    elif option := next((option for option in options.OPTIONS if option.name == name), None):
        yield from map(Candidate, option.verbs.get(line.verb) or option.choices)
    else:
        yield from _of_parameter(line, name)


def _devices(line: Line) -> Iterator[Candidate]:
    for each in line.contracts:
        for device in each.devices:
            arch = devices.find(device).arch
            if "host" in line.arches or arch in line.arches:
                yield Candidate(device, arch)


def _of_parameter(line: Line, name: str) -> Iterator[Candidate]:
    for each in line.contracts if "design" in line.given else ():
        for parameter in each.parameters:
            if parameter.name != name:
                continue
            default = parameter.defaults.get(EVERYWHERE)
            choices = parameter.choices or ((True, False) if parameter.type == "bool" else ())
            for choice in choices or ((default,) if default is not None else ()):
                yield Candidate(as_text(choice), "the default" if choice == default else "")
