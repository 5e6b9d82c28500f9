"""Kernels that are merged into the core that calls them: their LLVM IR, made ready for that.

Each exported function becomes `linkonce_odr` (the core of a module with several callers has it once) and
`alwaysinline`. The text is Clang's own, so a function's definition is one line that ends in `{`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, did_you_mean

if TYPE_CHECKING:
    from aiebuild.errors import Location
    from aiebuild.toolchains.compiler import Command, Toolchain

DEFINE = re.compile(r'^define (?P<before>[^@\n]*)@(?P<name>"[^"\n]+"|[\w.$-]+)\(', re.MULTILINE)
GROUP = re.compile(r"^attributes #(?P<number>\d+) = \{(?P<words>[^\n]*)\}$", re.MULTILINE)
LINKAGES = ("weak_odr", "weak", "linkonce_odr", "linkonce", "internal", "private", "common", "external")
AGAINST = ("noinline", "optnone")
"""Attributes that a function which is always inlined may not have (LLVM's verifier)."""


def patch(text: str, functions: tuple[str, ...], file: str, where: Location | None = None) -> str:
    """Return LLVM IR in which functions are `linkonce_odr` and `alwaysinline`; patching it again changes nothing.

    Args:
        text: LLVM IR as text, of one translation unit.
        functions: the names of the external functions, as MLIR declares them.
        file: the source, for messages.
        where: the line of the recipe.

    Raises:
        CheckError: a function is not defined in the text, or only inside its translation unit.
    """
    for name in functions:
        text = _patch_one(text, name, file, where)
    return text


def _patch_one(text: str, name: str, file: str, where: Location | None) -> str:
    found = next((match for match in DEFINE.finditer(text) if match["name"].strip('"') == name), None)
    if found is None:
        defined = [match["name"].strip('"') for match in DEFINE.finditer(text)]
        hint = did_you_mean(name, defined) or "it defines nothing"
        mangled = next((other for other in defined if re.match(rf"_ZN?\d*{len(name)}{re.escape(name)}", other)), None)
        hint = f'declare it extern "C": it is there as {mangled}' if mangled else hint
        raise CheckError(f"{file} does not define {name!r}", where, hint)
    if re.search(r"\b(?:internal|private)\b", found["before"]):
        raise CheckError(f"{name!r} is static in {file}", where, "a function that MLIR declares must be exported")
    end = text.index("\n", found.start()) if "\n" in text[found.start() :] else len(text)
    line = text[found.start() : end]
    closing = _closing(line, line.index("(", found.end() - found.start() - 1))
    head, tail = line[: closing + 1], line[closing + 1 :]
    tail, text_after = _always_inline(tail, text[end:])
    return text[: found.start()] + _once(head) + tail + text_after


def _once(head: str) -> str:
    """Return the beginning of a definition with the linkage that lets a module have it several times."""
    words = head.split(" ", 2)
    if words[1] in LINKAGES:
        return f"define linkonce_odr {words[2]}"
    return f"define linkonce_odr {head.removeprefix('define ')}"


def _closing(line: str, opening: int) -> int:
    """Return the position of the bracket that closes a parameter list; types and attributes have some of their own."""
    depth = 0
    for position in range(opening, len(line)):
        depth += {"(": 1, ")": -1}.get(line[position], 0)
        if depth == 0:
            return position
    return len(line) - 1


def _always_inline(tail: str, rest: str) -> tuple[str, str]:
    """Return what follows a parameter list with `alwaysinline` in it, and the rest of the text with a new group."""
    if "alwaysinline" in tail:
        return tail, rest
    used = re.search(r"#(\d+)", tail)
    group = next((match for match in GROUP.finditer(rest) if used and match["number"] == used[1]), None)
    if group is None or used is None:
        named = re.match(r"(?: (?:local_)?unnamed_addr)?", tail)
        place = named.end() if named else 0
        return f"{tail[:place]} alwaysinline{tail[place:]}", rest
    words = [word for word in group["words"].split() if word not in AGAINST]
    if "alwaysinline" in words:
        return tail, rest
    number = 1 + max(int(match["number"]) for match in GROUP.finditer(rest))
    added = f"attributes #{number} = {{ alwaysinline {' '.join(words)} }}"
    rest = f"{rest[: group.end()]}\n{added}{rest[group.end() :]}"
    return tail.replace(used[0], f"#{number}", 1), rest


def bitcode_command(toolchain: Toolchain, output: str) -> Command:
    """Return the argv that reads LLVM IR as text from its standard input and writes bitcode: llvm-as is in no wheel."""
    return (
        toolchain.compiler,
        *("-x", "ir", "-", "-c", "-emit-llvm", "-O0", "-Xclang", "-disable-llvm-passes"),
        *(f"--target={toolchain.arch}-none-unknown-elf", "-o", output),
    )
