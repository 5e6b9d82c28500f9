"""The error messages that the package can say, read from its sources: where each is raised, its code and its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from projects import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLE = "…"
"""What stands for a part of a message that is known at run time only."""

SOURCES = PACKAGE / "aiebuild"
SECOND = frozenset({"Problem", "stop", "refuse", "_refuse"})
"""Functions and classes whose second argument is the message; the first is a code, an op or a path."""

GIVING = frozenset({"verify.py", "package_archive.py", "contract_schema.py", "layouts.py", "mixing.py"})
"""Modules whose functions return or yield messages as texts, which others raise."""


@dataclass(frozen=True)
class Message:
    """A message: where it is raised, its code (or nothing), and its text with holes."""

    where: str
    code: str
    text: str


def messages() -> Iterator[Message]:
    """Give the messages of the package, in the order of its files."""
    for file in sorted(SOURCES.rglob("*.py")):
        yield from _of_file(file)


def _of_file(file: Path) -> Iterator[Message]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    place = file.relative_to(SOURCES).as_posix()
    if file.name in GIVING:
        yield from (Message(f"{place}:{line}", "", text) for line, text in _given(tree))
    for function in functions:
        known = _assigned(function)
        for call in _calls(function):
            position = 1 if _name(call) in SECOND else 0
            if len(call.args) <= position:
                continue
            before = {name: value for name, line, value in known if line <= call.lineno}
            codes = _texts(call.args[0], before) if position else [""]
            code = codes[0] if codes and codes[0].isupper() else ""
            for text in _texts(call.args[position], before):
                yield Message(f"{place}:{call.lineno}", code, text)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Give the calls that make errors, or note them."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and (_name(call) in SECOND or _name(call).endswith(("Error", "Fault"))):
            yield call


def _given(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the texts with several words that functions return or yield: alone, in a list, or first of several."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Return, ast.Yield)) or node.value is None:
            continue
        value = node.value
        while isinstance(value, (ast.Tuple, ast.List)) and value.elts:
            value = value.elts[0]
        yield from ((node.lineno, text) for text in _texts(value, {}) if text.count(" ") > 1)


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def _assigned(function: ast.FunctionDef) -> list[tuple[str, int, ast.expr]]:
    """Return what the names of a function are bound to, in the order of lines."""
    bound = [
        (target.id, node.lineno, node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    return sorted(bound, key=lambda item: item[1])


def _texts(node: ast.expr, known: dict[str, ast.expr]) -> list[str]:
    """Return what an expression may give, with holes; nothing where it is not a text that stands in the source."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)]
    if isinstance(node, ast.Name) and node.id in known:
        return _texts(known[node.id], {})
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, known), *_texts(node.orelse, known)]
    if isinstance(node, ast.BinOp):
        left, right = _texts(node.left, known) or [HOLE], _texts(node.right, known) or [HOLE]
        return [first + second for first in left for second in right]
    return []
