"""A superficial look at a module's custom text: devices, sequences, functions, cores and whom they call."""

from __future__ import annotations

import re
from dataclasses import dataclass

DEVICE = re.compile(r"\baie\.device\s*\(\s*(\w+)\s*\)\s*(?:@(\w+)\s*)?")
SEQUENCE = re.compile(r"\baiex?\.runtime_sequence\s*(?:@(\w+)\s*)?\(")
FUNCTION = re.compile(r"\bfunc\.func\s+(?:private\s+|public\s+)?@([\w.$]+)\s*\(")
CORE = re.compile(r"\baie\.core\s*\(\s*(%[\w$.-]+)\s*\)[^{\n]*\{")
TILE = re.compile(r"(%[\w$.-]+)\s*=\s*aie\.tile\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)")
CALL = re.compile(r"\b(?:func\.)?call\s+@([\w.$]+)")
LINK = re.compile(r'\blink_with\s*=\s*"([^"]+)"')


class ModuleTextError(Exception):
    """The text is wrong, as the real tools would say it."""


@dataclass(frozen=True)
class Function:
    """A function that is declared (`body` is None) or defined."""

    name: str
    body: str | None = None
    link_with: str = ""
    merged: bool = False


@dataclass(frozen=True)
class Core:
    """A core: where it is, and the names of the functions that are called in it."""

    column: int
    row: int
    calls: tuple[str, ...]


@dataclass(frozen=True)
class Sequence:
    """A runtime sequence, with its text, white space folded."""

    name: str
    text: str


@dataclass(frozen=True)
class Device:
    """A device of a module."""

    name: str
    symbol: str
    functions: tuple[Function, ...]
    cores: tuple[Core, ...]
    sequences: tuple[Sequence, ...]
    text: str


def read_module(text: str, file: str) -> tuple[Device, ...]:
    """Return the devices of a module.

    Raises:
        ModuleTextError: brackets do not match, there is no device, or a core calls what nobody declares.
    """
    plain = re.sub(r"//[^\n]*", "", text)
    if plain.count("{") != plain.count("}"):
        raise ModuleTextError(f"{file}:1:1: error: expected '}}'")
    devices = []
    for found in DEVICE.finditer(plain):
        body = block(plain, plain.index("{", found.end() - 1))
        devices.append(read_device(found[1], found[2] or "main", body))
    if not devices:
        raise ModuleTextError(f"{file}:1:1: error: no aie.device in the module")
    for device in devices:
        check_calls(device, plain, file)
    return tuple(devices)


def read_device(name: str, symbol: str, body: str) -> Device:
    """Return a device from its body."""
    tiles = {found[1]: (int(found[2]), int(found[3])) for found in TILE.finditer(body)}
    cores = [
        Core(*tiles.get(found[1], (0, 0)), tuple(sorted(set(CALL.findall(block(body, found.end() - 1))))))
        for found in CORE.finditer(body)
    ]
    sequences = [
        Sequence(found[1] or "sequence", fold(block(body, body.index("{", closing(body, found.end() - 1)))))
        for found in SEQUENCE.finditer(body)
    ]
    return Device(name, symbol, tuple(functions(body)), tuple(cores), tuple(sequences), fold(body))


def functions(body: str) -> list[Function]:
    """Return the functions of a device."""
    found: list[Function] = []
    for match in FUNCTION.finditer(body):
        line = body[match.start() : body.find("\n", match.start())]
        link = LINK.search(line)
        after = body[closing(body, match.end() - 1) + 1 :]
        defined = re.match(r"[ ]*(?:->[^{\n]*?)?(?:attributes\s*\{[^{}\n]*\}\s*?)?[ ]*\{", after)
        inner = block(after, defined.end() - 1) if defined else None
        merged = 'link_with_mode = "merge"' in line
        found.append(Function(match[1], inner, link[1] if link else "", merged))
    return found


def check_calls(device: Device, text: str, file: str) -> None:
    """Refuse the first call of a function that is not there, as the real driver does."""
    known = {function.name for function in device.functions}
    for core in device.cores:
        for name in core.calls:
            if name not in known:
                line = 1 + text[: text.index(f"@{name}")].count("\n")
                message = f"error: 'func.call' op '{name}' does not reference a valid function"
                raise ModuleTextError(f'loc("{file}":{line}:9): {message}')


def external_calls(device: Device, core: Core) -> list[Function]:
    """Return the declared functions that a core calls, also through functions with bodies."""
    by_name = {function.name: function for function in device.functions}
    waiting, seen = list(core.calls), set[str]()
    found: list[Function] = []
    while waiting:
        name = waiting.pop(0)
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        function = by_name[name]
        if function.body is None:
            found.append(function)
        else:
            waiting += CALL.findall(function.body)
    return found


def closing(text: str, opening: int) -> int:
    """Return the position of the bracket that closes the one at `opening`."""
    pairs = {"(": ")", "{": "}"}
    left, right = text[opening], pairs[text[opening]]
    depth = 0
    for position in range(opening, len(text)):
        depth += {left: 1, right: -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise ModuleTextError(f"error: expected '{right}'")


def block(text: str, opening: int) -> str:
    """Return what is between a brace and the one that closes it."""
    return text[opening + 1 : closing(text, opening)]


def fold(text: str) -> str:
    """Return a text with all white space as single spaces."""
    return " ".join(text.split())
