"""Reading YAML with the line of every key and entry, and with nothing guessed.

Of YAML's plain scalars only those of the core schema have a meaning here: `true` and `false`, whole numbers
(decimal, 0x hexadecimal), floats, `null`. So `on`, `yes` and `1:30` are strings.
A key given twice is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from aiebuild.errors import ContractError, Location

Path = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """Resolves the plain scalars of the core schema, and no others."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own hook


for _tag, _form, _first in (
    ("null", r"~|null|Null|NULL|", ["", *"~nN"]),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,38})|0x[0-9a-fA-F]{1,32}", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(_TAG + _tag, re.compile(f"(?:{_form})$"), list(_first))


@dataclass(frozen=True)
class Document:
    """What a YAML file says: the data, the line of each value by its path, and what is wrong so far."""

    file: str
    data: object
    lines: dict[Path, int]
    errors: list[ContractError] = field(default_factory=list)

    def where(self, path: Path) -> Location:
        """Return the line of a value, or of the nearest one that holds it."""
        while path and path not in self.lines:
            path = path[:-1]
        return Location(self.file, self.lines.get(path))

    def refuse(self, path: Path, message: str, hint: str = "") -> None:
        """Note that something is wrong at a value."""
        self.errors.append(ContractError(message, self.where(path), hint))


def read(content: bytes, file: str) -> Document:
    """Read a YAML file.

    Raises:
        ContractError: it is not YAML. Keys that are given twice are noted in the document instead.
    """
    try:
        root = yaml.compose(content, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, content, file) from None
    except yaml.reader.ReaderError as error:
        line = content[: error.position].count(b"\n") + 1
        raise ContractError("is not a text file", Location(file, line), "a contract is YAML, in UTF-8") from None
    reader = _Reader(Document(file, None, {(): 1}))
    data = None if root is None else reader.value(root, ())
    return Document(file, data, reader.document.lines, reader.document.errors)


_HOLDS_MORE = re.compile(r"while (?:parsing a flow|scanning a quoted)")
"""What PyYAML was at when a `[`, a `{` or a quotation mark had begun something."""


def _not_yaml(error: yaml.MarkedYAMLError, content: bytes, file: str) -> ContractError:
    """Return the error of a text that is not YAML: where it is, or where what it broke begins, in an earlier line."""
    mark, opening = error.problem_mark or error.context_mark, error.context_mark
    message = " ".join(part for part in (error.context, error.problem) if part)
    if mark is None:
        return ContractError(f"not YAML: {message}", Location(file))
    where = Location(file, mark.line + 1, mark.column + 1)
    if _is_tab(content, mark):
        return ContractError("not YAML: a tab", where, "use spaces, not tabs")
    if opening is None or opening.line >= mark.line or not _HOLDS_MORE.match(error.context or ""):
        return ContractError(f"not YAML: {message}", where)
    begun = _line(content, opening)[opening.column :][:1]
    opened = Location(file, opening.line + 1, opening.column + 1)
    return ContractError(f"not YAML: {begun} is not closed", opened, f"line {where.line}: {error.problem}")


def _line(content: bytes, mark: yaml.Mark) -> str:
    """Return the line of a mark; nothing behind the last one."""
    return "".join(content.decode(errors="replace").splitlines()[mark.line : mark.line + 1])


def _is_tab(content: bytes, mark: yaml.Mark) -> bool:
    """Tell whether a tab stands where the text went wrong, or indents that line."""
    line = _line(content, mark)
    return "\t" in line[: len(line) - len(line.lstrip())] or line[mark.column : mark.column + 1] == "\t"


class _Reader:
    """Turns YAML's nodes into plain data. All keys are strings, as they are written."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._open: set[int] = set()

    def value(self, node: yaml.Node, path: Path) -> object:
        self.document.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if id(node) in self._open:
            self.document.refuse(path, "an alias stands for something that holds it")
            return None
        self._open.add(id(node))
        data = self._list(node, path) if isinstance(node, yaml.SequenceNode) else self._mapping(node, path)
        self._open.remove(id(node))
        return data

    def _list(self, node: yaml.SequenceNode, path: Path) -> list[object]:
        return [self.value(entry, (*path, position)) for position, entry in enumerate(node.value)]

    def _mapping(self, node: yaml.Node, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, entry in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self._refuse_at(line, "a key must be a word, not a list or a mapping")
                continue
            name = str(key.value)
            if name in found:
                first = self.document.lines[(*path, name)]
                self._refuse_at(line, f"{name!r} is given twice", f"the first time in line {first}")
                continue
            self.document.lines[(*path, name)] = line
            found[name] = self.value(entry, (*path, name))
        return found

    def _refuse_at(self, line: int, message: str, hint: str = "") -> None:
        self.document.errors.append(ContractError(message, Location(self.document.file, line), hint))

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> object:
        text = str(node.value)
        kind = node.tag.removeprefix(_TAG)
        if kind == "str":
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        try:
            if kind == "int":
                return int(text, 16 if "x" in text else 10)
            if kind == "float" and abs(number := float(text)) != float("inf"):
                return number
        except ValueError:
            pass
        self.document.refuse(path, f"{text!r} cannot be read as {node.tag.replace(_TAG, '!!')}")
        return None
