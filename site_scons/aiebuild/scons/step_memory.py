"""What each step was when it ran last, so that a difference can be said in words.

SCons keeps no more than a digest of a step's signature. Here the text is kept too, one small file a step, written when
the step has run; it takes part in no signature, and a missing or damaged one costs nothing but an explanation.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aiebuild.files import write_atomically
from aiebuild.fingerprint import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aiebuild.step import Step

FOLDER = "steps"
DIGEST = 64
"""Characters of a SHA-256 digest; the identity of a step with two tools is two of them."""

NAMES = ("name", "file")
"""What tells objects in a list of JSON apart."""

PAIR = 2


@dataclass(frozen=True)
class Remembered:
    """A step's signature as text, the program that it ran, whether that was a part of aiebuild, and when (ns).

    `seconds` is how long it took; None where that was not kept.
    """

    signature: str
    program: str
    is_own: bool
    at: int
    seconds: float | None = None


def as_it_is(step: Step, seconds: float | None = None) -> Remembered:
    """Return a step as it would be remembered now."""
    first = step.commands[0] if step.commands else ("",)
    return Remembered(step.signature, first[0], first[1:2] == ("-m",), time.time_ns(), seconds)


def keep(step: Step, state: Path, seconds: float) -> None:
    """Remember a step that has just run."""
    file = _file(step.outputs[0], state)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(asdict(as_it_is(step, round(seconds, 4))), separators=(",", ":")))


def recall(output: str, state: Path) -> Remembered | None:
    """Return what is remembered of the step whose first output this is, None where that is nothing."""
    try:
        said = json.loads(_file(output, state).read_bytes())
        seconds = said.get("seconds")
        took = float(seconds) if seconds is not None else None
        return Remembered(str(said["signature"]), str(said["program"]), bool(said["is_own"]), int(said["at"]), took)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _file(output: str, state: Path) -> Path:
    return state / FOLDER / f"{digest_of(output.encode())[:24]}.json"


def differences(before: Remembered, now: Remembered, renamed: Mapping[str, str]) -> list[str]:
    """Return in words what is different about a step itself: its flags, its tool, its values, its text.

    Args:
        before: the step as it was.
        now: the step as it is.
        renamed: files that are called otherwise now, which is told elsewhere: old names to new ones.
    """
    signature = before.signature
    for old, new in renamed.items():
        signature = signature.replace(old, new)
    arguments, _, identity, text, values, search, variables = json.loads(signature)
    given, _, identity_now, text_now, values_now, search_now, variables_now = json.loads(now.signature)
    return [
        *_arguments(_flat(arguments), _flat(given)),
        *([] if identity == identity_now else _tool(identity, identity_now, before.program, now)),
        *_text(text, text_now),
        *_words("value", values, values_now),
        *_words("include folder", search, search_now),
        *_variables(dict(variables), dict(variables_now)),
    ]


def _flat(commands: list[list[str]]) -> list[str]:
    return [word for command in commands for word in command]


def _arguments(old: list[str], new: list[str]) -> list[str]:
    said: list[str] = []
    gone, come = _gone_and_come(old, new)
    for word in list(gone):
        same = next((other for other in come if _name(other) and _name(other) == _name(word)), None)
        if same is not None:
            said.append(f"the flag {word} became {same}")
            gone.remove(word)
            come.remove(same)
    said += [f"the {_kind(word)} {word} was removed" for word in gone]
    said += [f"the {_kind(word)} {word} was added" for word in come]
    return said or (["its arguments stand in another order"] if old != new else [])


def _gone_and_come(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that are only in the old list and only in the new one, in their order."""
    gone: list[str] = []
    come: list[str] = []
    import difflib  # noqa: PLC0415 - only a step that is another than it was needs it

    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += old[a:b]
            come += new[c:d]
    for word in list(gone):
        if word in come:
            gone.remove(word)
            come.remove(word)
    return gone, come


def _name(word: str) -> str:
    """Return the part of a flag that stays when its value is another: `-DN=` of `-DN=4`."""
    name, equals, _ = word.partition("=")
    return name + equals if word.startswith("-") and equals else ""


def _kind(word: str) -> str:
    return "flag" if word.startswith("-") else "argument"


def _tool(old: str, new: str, program: str, now: Remembered) -> list[str]:
    if not now.is_own:
        if program != now.program:
            return [f"the tool was {program} and is {now.program}"]
        return [f"this tool is another build: {now.program}"]
    said: list[str] = []
    if old[:DIGEST] != new[:DIGEST]:
        said.append("aiebuild, Python or a package that this step imports is another build")
    if old[DIGEST:] != new[DIGEST:]:
        said.append("this tool is another build: the compiler that it runs")
    return said


def _text(old: str | None, new: str | None) -> list[str]:
    if old == new or old is None or new is None:
        return []
    try:
        before, now = json.loads(old), json.loads(new)
    except ValueError:
        return ["its text changed"]
    return _fields(before, now) or ["its text changed"]


def _fields(old: Any, new: Any, *, word: str = "value") -> list[str]:
    """Return the differences of two objects of JSON; of what a parameters file calls parameters, as such."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return []
    said: list[str] = []
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) == new.get(name) and (name in old) == (name in new):
            continue
        inner = _fields(old.get(name), new.get(name), word="parameter" if name == "parameters" else word)
        said += inner or _lists(name, old.get(name), new.get(name)) or [_field(word, name, old, new)]
    return said


def _lists(name: str, old: Any, new: Any) -> list[str]:
    """Return the differences of two lists of JSON: of words, of pairs, or of objects that have names or are files."""
    if not isinstance(old, list) or not isinstance(new, list):
        return []
    one, both = name.removesuffix("s"), [*old, *new]
    if all(isinstance(each, str) for each in both):
        return _arguments(old, new) if one == "flag" else _words(one, old, new)
    if all(isinstance(each, list) and len(each) == PAIR for each in both):
        return _fields(dict(old), dict(new), word=one) or [f"the {one}s stand in another order"]
    for key in NAMES:
        if all(isinstance(each, dict) and key in each for each in both):
            return _named(one, {each[key]: each for each in old}, {each[key]: each for each in new})
    return []


def _named(one: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    said = _words(one, list(old), list(new))
    both = [name for name in old if name in new]
    said += [f"{one} {name}: {text}" for name in both for text in _fields(old[name], new[name], word="its")]
    return said or [f"the {one}s stand in another order"]


def _field(word: str, name: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    if name == "digest":
        return "another build"
    if name not in old:
        return f"{word} {name} is new, {_shown(new[name])}"
    if name not in new:
        return f"{word} {name} is gone"
    return f"{word} {name} was {_shown(old[name])} and is {_shown(new[name])}"


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def _words(what: str, old: list[str], new: list[str]) -> list[str]:
    gone, come = _gone_and_come(old, new)
    said = [f"the {what} {word} was removed" for word in gone] + [f"the {what} {word} was added" for word in come]
    return said or ([f"the {what}s stand in another order"] if old != new else [])


def _variables(old: dict[str, str], new: dict[str, str]) -> list[str]:
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return [f"the variable {name} changed" for name in names]
