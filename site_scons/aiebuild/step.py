"""A step of the graph as a value: its commands, what it writes, and everything that its signature is made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiebuild.errors import Location

Command = tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One step.

    Args:
        label: what people read: the tool and the file, for example `c++ kernels/mm.cc`.
        commands: argv tuples, run one after the other from the project's folder; no shell is involved.
        outputs: the files that the commands write, relative to the project's folder.
        identity: the digest of the programs that are run.
        text: what is written to the only output, for a step without commands.
        values: further inputs that no file holds.
        depfile: the file in which the commands list what they read; its form is make's where it ends in `.d.make`,
            else JSON.
        search: the folders that were searched for headers, in order: a new file in one of them may hide another.
        shipped: those of them that come with the compiler, whose headers look for nothing of the user's.
        variables: environment variables that this step adds, beside those of all steps.
        signed: what stands for the commands in the signature, where that is not they themselves.
        shown: what is shown for them, where a command is a wrapper around what people would type.
        scans: whether headers are found by scanning the sources, for a compiler that writes no depfile.
        mutex: steps with the same word here never run at the same time.
        always: whether the result differs each time, so that it is never taken for up to date.
        is_final: whether it hands out what was built, which must not be of inputs that changed meanwhile.
        refused: the message of a step that cannot run, because its tool is missing; it can still be shown.
        where: the line of the recipe that asked for it.
        asked_by: the recipe's word, for the message of a failure.
    """

    label: str
    commands: tuple[Command, ...]
    outputs: tuple[str, ...]
    identity: str = ""
    text: str | None = None
    values: tuple[str, ...] = ()
    depfile: str = ""
    search: tuple[str, ...] = ()
    shipped: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    signed: tuple[Command, ...] = ()
    shown: tuple[Command, ...] = ()
    scans: bool = False
    mutex: str = ""
    always: bool = False
    is_final: bool = False
    refused: str = ""
    where: Location | None = None
    asked_by: str = ""

    @property
    def signature(self) -> str:
        """The text that changes whenever the step must run again for another reason than a changed file.

        The program's own path is left out: its identity says which build of it this is.
        """
        arguments = self.signed or [command[1:] for command in self.commands]
        parts = [arguments, self.outputs, self.identity, self.text, self.values, self.search, self.variables]
        return json.dumps(parts, separators=(",", ":"))

    @property
    def command_lines(self) -> str:
        """The commands as people can paste them into a shell."""
        return "\n".join(" ".join(_quote(word) for word in command) for command in self.shown or self.commands)


def _quote(word: str) -> str:
    """Return a word as a POSIX shell reads it back; `shlex` is not needed at start-up for this."""
    if word and all(character.isalnum() or character in "@%+=:,./-_" for character in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
