"""One table of everything that the command line understands: options (`name=value`) and verbs.

SCons variables, `--help`, the docs and the test that they agree come from it. A name in it cannot be used for a
parameter of a design.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiebuild.errors import OptionError, did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ARCHES = ("host", "aie2", "aie2p")
TOOLCHAINS = ("host", "peano", "chess")
MODES = ("release", "debug")
FORMATS = ("tar.gz", "zip")
GRAPHS = ("dot", "mermaid", "json", "html")
TEMPLATES = ("elementwise", "mlir", "pipeline", "python")
DIALECTS = ("A", "B", "C0", "C1", "C2")


@dataclass(frozen=True)
class Option:
    """One `name=value`: what it means, its default, and the values that it takes (any, where none are named).

    `verbs` are the ones that it means something for, each with the values that it takes there; all, where none are
    named.
    """

    name: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()
    several: bool = False
    verbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Verb:
    """One target that is a request rather than a file."""

    name: str
    help: str


OPTIONS = (
    Option("design", "the designs to build, separated by commas; all of them when left out", several=True),
    Option("arch", "what to build for, separated by commas", "host", ARCHES, several=True),
    Option("device", "the device; the contract's first one of the arch when left out"),
    Option("toolchain", "what compiles the kernels; the arch's own when left out", "", TOOLCHAINS),
    Option("variant", "a named set of parameters of the contract"),
    Option("mode", "release: optimised; debug: -O1 -g, assertions kept", "release", MODES),
    Option("build_dir", "the folder that everything is built in", "build"),
    Option("run_timeout", "seconds that a run on the host may take; the contract's when left out"),
    Option("verbose", "1 shows the whole command of each step", "0", ("0", "1")),
    Option("peano_dir", "the folder of Peano (llvm-aie); found in the environment when left out"),
    Option("mlir_aie_dir", "the folder of mlir-aie; found in the environment when left out"),
    Option("aietools_dir", "the folder of Vitis's AIE tools; found in the environment when left out"),
    Option("aiecc", "the aiecc to run; that of mlir-aie when left out"),
    Option("xclbinutil", "the xclbinutil that aiecc runs; found in the environment when left out"),
    Option("aiecc_dialect", "how aiecc spells its arguments; detected when left out", "", DIALECTS),
    Option("aiecc_jobs", "threads of each aiecc; the machine's cores divided by -j when left out"),
    Option(
        "format",
        "the form of a package [tar.gz] or of a graph [html]",
        "",
        (*FORMATS, *GRAPHS),
        verbs={"package": FORMATS, "graph": GRAPHS},
    ),
    Option("prefix", "the folder that `install` puts a package's folder into", verbs={"install": ()}),
    Option("template", "what `new` starts from [elementwise]", "", TEMPLATES, verbs={"new": TEMPLATES}),
    Option("prune", "the size that `cache` makes the build folder at most: 500M, 2G", verbs={"cache": ()}),
    Option("timing", "a file that gets a trace of the build, for Perfetto and Chrome's viewer"),
    Option("trace", "1 writes a trace of the host run, trace.json beside check.json", "0", ("0", "1")),
    Option(
        "json",
        "a file that gets the answer of `list`, `describe`, `doctor`, `explain` or `graph` for programs",
        verbs=dict.fromkeys(("list", "describe", "doctor", "explain", "graph"), ()),
    ),
)

VERBS = (
    Verb("build", "build the designs; on the host that includes running and comparing them (the default)"),
    Verb("check", "build, and run and compare on the host, whatever arch was asked for"),
    Verb("package", "one file for other machines: artifacts, manifest, loader; of builds that are checked on the host"),
    Verb("install", "the files of a package, in a folder below prefix="),
    Verb("list", "the designs of this project, what they can be built for, and what is built"),
    Verb("describe", "a design: parameters, arguments, kernels, variants, and commands to try"),
    Verb("explain", "which steps would run, and why; nothing is run"),
    Verb("graph", "the steps of the designs as a graph, with their states and times; nothing is run"),
    Verb("ide", "write the files of editors: VS Code's tasks and settings, and compile_commands.json for clangd"),
    Verb("watch", "build whenever a file is saved, until Ctrl-C; a verb of the command aiebuild"),
    Verb("doctor", "which tools were found, where, and how to get the ones that are missing"),
    Verb("new", "write a design that builds and checks as it is: new design=NAME [template=...]"),
    Verb("clean", "remove what was built for the designs and parameters that are named"),
)

COMMANDS = (
    Verb("status", "whether the designs are up to date, asked of the file system alone"),
    Verb("cache", "what the build folder holds, and its size; prune=SIZE takes out what was not used for longest"),
    Verb("completion", "the completion script of a shell: completion bash, zsh or fish"),
    Verb("verify", "whether packages are as they were made: verify FILE..."),
    Verb("inspect", "what an xclbin, insts, object, archive, manifest or package holds: inspect FILE..."),
)
"""Verbs of the command `aiebuild` alone."""

TOGETHER = (
    frozenset({"build", "check", "package", "install"}),
    frozenset({"list", "describe"}),
    frozenset({"watch", "build", "check"}),
)
"""Verbs that one command may have together; any other one stands alone."""

RESERVED = frozenset(named.name for table in (OPTIONS, VERBS, COMMANDS) for named in table)


@dataclass(frozen=True)
class Request:
    """A command line, understood: option values by name, the designs' parameters, and the verbs.

    `targets` are the words that name files of the build rather than verbs.
    """

    options: Mapping[str, str]
    parameters: Mapping[str, str]
    verbs: tuple[str, ...]
    targets: tuple[str, ...] = field(default=())

    def get(self, name: str) -> str:
        """Return the value of an option, or its default."""
        return self.options[name]

    def several(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that takes several, in the order given, none twice."""
        words = (word.strip() for word in self.options[name].split(","))
        return tuple(dict.fromkeys(word for word in words if word))


def understand(arguments: Iterable[tuple[str, str]], words: Iterable[str] = (), command: str = "") -> Request:
    """Return the request that a command line makes.

    Args:
        arguments: the `name=value` pairs, in order; names that are no options are parameters of a design.
        words: the other words: verbs, or files to build (which have a `/` or a `.` in them).
        command: the verb of the command `aiebuild` alone that they are given to, if it is one.

    Raises:
        OptionError: for a value that is not among an option's choices, a name given twice with two values, or a
            word that is neither a verb nor a file.
    """
    given: dict[str, str] = {}
    for name, value in arguments:
        if given.setdefault(name, value) != value:
            message = f"{name} is given twice: {name}={given[name]} and {name}={value}"
            raise OptionError(message, hint="give it once")
    if given.get("design", "all").strip(" ,") == "":
        raise OptionError("design= has no value", hint="leave it out for all designs")
    options = {option.name: _value(option, given.pop(option.name, option.default)) for option in OPTIONS}
    verbs, targets = _split(words)
    _refuse_together(verbs)
    for option in OPTIONS:
        _refuse_elsewhere(option, options[option.name], (*verbs, command))
    return Request(options, given, verbs, targets)


def reject_unknown(names: Iterable[str]) -> None:
    """Refuse names that no option has, where no design is asked for that could have them as parameters."""
    known = [option.name for option in OPTIONS]
    for name in names:
        hint = did_you_mean(name, known)
        raise OptionError(f"unknown option {name!r}", hint=hint)


PLACES = ("peano_dir", "mlir_aie_dir", "aietools_dir", "aiecc", "xclbinutil")
"""Options that name where a tool is."""


def help_text() -> str:
    """Return the part of `--help` that is ours."""
    lines = ["", "Options (name=value):"]
    lines += [f"  {_usage(option):<32} {option.help}" for option in OPTIONS]
    lines += ["", "Parameters of a design are given in the same way: scons design=matmul M=64 K=64 N=64", ""]
    lines += ["Verbs (targets):"]
    lines += [f"  {verb.name:<32} {verb.help}" for verb in VERBS]
    lines += ["", "Verbs of the command aiebuild alone:"]
    lines += [f"  {verb.name:<32} {verb.help}" for verb in COMMANDS]
    lines += [
        "",
        "Also: -jN (steps at a time), --no-progress (plain lines on a terminal), and with scons its own options",
    ]
    return "\n".join(lines) + "\n"


def _usage(option: Option) -> str:
    values = "|".join(option.choices) if option.choices else "…"
    default = f" [{option.default}]" if option.default else ""
    return f"{option.name}={values}{default}"


def _value(option: Option, value: str) -> str:
    if not value.strip(" ,") and option.default:
        choices = f" (choices: {', '.join(option.choices)})" if option.choices else ""
        raise OptionError(f"{option.name}= has no value", hint=f"leave it out for {option.default!r}{choices}")
    if not option.choices:
        return value
    for word in value.split(",") if option.several else [value]:
        if word and word not in option.choices:
            near = nearest(word, option.choices)
            choices = f"choices: {', '.join(option.choices)}"
            hint = f"did you mean {near!r}? ({choices})" if near else choices
            raise OptionError(f"{option.name}={word} is not a choice", hint=hint)
    return value


def _refuse_elsewhere(option: Option, value: str, verbs: tuple[str, ...]) -> None:
    """Refuse a value that means nothing for the verbs that are given."""
    asked = [verb for verb in option.verbs if verb in verbs]
    if not option.verbs or not value:
        return
    if not asked:
        *others, last = option.verbs
        hint = f"{option.name}= goes with {', '.join(others)}{' and ' if others else ''}{last}"
        raise OptionError(f"{option.name}={value} means nothing here", hint=hint)
    for verb in asked:
        if option.verbs[verb] and value not in option.verbs[verb]:
            hint = f"choices: {', '.join(option.verbs[verb])}"
            raise OptionError(f"{option.name}={value} is not a choice for {verb}", hint=hint)


def _refuse_together(verbs: tuple[str, ...]) -> None:
    """Refuse verbs of which one would be done and the others forgotten; `new` says that itself.

    Raises:
        OptionError: with two that do not go together.
    """
    for one, other in itertools.combinations(verbs, 2):
        goes = one == other or "new" in verbs or any(group >= {one, other} for group in TOGETHER)
        if not goes:
            raise OptionError(f"{other} does not go with {one}", hint="one command after the other")


def _split(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = [verb.name for verb in VERBS]
    verbs: list[str] = []
    targets: list[str] = []
    for word in words:
        if word in known:
            verbs.append(word)
        elif "/" in word or "." in word or "\\" in word:
            targets.append(word)
        elif word in {verb.name for verb in COMMANDS}:
            raise OptionError(f"{word} is a verb of the command aiebuild", hint=f"aiebuild {word} ...")
        elif word in {option.name for option in OPTIONS}:
            raise OptionError(f"{word} has no value", hint=f"{word}=VALUE, without blanks")
        else:
            listed = f"a design is asked for by design={word}; verbs: {', '.join(known)}"
            hint = did_you_mean(word, known) if nearest(word, known) else listed
            hint = "scons -h" if word == "help" else hint
            raise OptionError(f"unknown verb {word!r}", hint=hint)
    return tuple(verbs), tuple(targets)
