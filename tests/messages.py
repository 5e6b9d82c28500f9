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


@dataclass(frozen=True)
class Message:
    """A message: where it is raised, its code (or nothing), and its text with holes."""

    where: str
    code: str
    text: str


def messages(*names: str) -> Iterator[Message]:
    """Give the messages of modules and folders of the package, in order."""
    for name in names:
        path = SOURCES / name
        assert path.exists(), name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield from _of_file(file)


def _of_file(file: Path) -> Iterator[Message]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
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
                yield Message(f"{file.relative_to(SOURCES).as_posix()}:{call.lineno}", code, text)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Give the calls that make errors, or note them."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and (_name(call) in SECOND or _name(call).endswith("Error")):
            yield call


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
