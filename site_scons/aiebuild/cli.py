"""The command `aiebuild`: the verbs of the build, and answers for programs on standard output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from aiebuild import answers, contract, options
from aiebuild.errors import AieBuildError, OptionError

JSON = "--json"
ANSWERS = ("list", "describe")


def main() -> int:
    """Run `aiebuild VERB [name=value ...] [SCons's own options]` in the current folder's project."""
    try:
        return run(sys.argv[1:], Path.cwd())
    except AieBuildError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def run(argv: list[str], root: Path) -> int:
    """Do what the words say; return the exit status.

    Raises:
        AieBuildError: a word is wrong, or there is no project in the folder.
    """
    if not argv or argv[0] in {"-h", "--help", "help"}:
        sys.stdout.write("aiebuild VERB [name=value ...] [-jN] [--json]\n" + options.help_text())
        return 0
    if not (root / "SConstruct").is_file():
        raise OptionError("there is no SConstruct here", hint="run it in the folder of a project")
    words = [word for word in argv if "=" not in word and not word.startswith("-")]
    pairs = [
        (name, value) for name, _, value in (word.partition("=") for word in argv if "=" in word and word[0] != "-")
    ]
    request = options.understand(pairs, words)
    if not request.verbs:
        raise OptionError("no verb is given", hint=f"one of: {', '.join(verb.name for verb in options.VERBS)}")
    if set(request.verbs) <= set(ANSWERS):
        return answer(request, root, as_json=JSON in argv)
    if JSON in argv:
        raise OptionError(f"{JSON} goes with {' and '.join(ANSWERS)}")
    return subprocess.run([sys.executable, "-m", "SCons", "-Q", *argv], cwd=root, check=False).returncode


def answer(request: options.Request, root: Path, *, as_json: bool) -> int:
    """Print what `list` or `describe` say; SCons is not needed for that."""
    if request.parameters:
        options.reject_unknown(request.parameters)
    found = contract.find(root)
    asked = request.several("design")
    contract.require(asked, found)
    contracts = [contract.load(found[name].relative_to(root), reserved=options.RESERVED) for name in asked or found]
    text = answers.as_json(contracts) if as_json else answers.answer(request.verbs, contracts) + "\n"
    sys.stdout.write(text)
    return 0
