"""A marked part of an array or object in JSON with comments: what is ours is replaced, all else stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.ide import jsonc
from aiebuild.ide.jsonc import Comment, Document, JsoncError, Member, Value

if TYPE_CHECKING:
    from collections.abc import Callable

BEGIN = "// >>> aiebuild: written by `scons ide`; changes between these marks are lost"
END = "// <<< aiebuild"
_BEGINS, _ENDS = "// >>> aiebuild", "// <<< aiebuild"
INDENT = "  "


@dataclass(frozen=True)
class Part:
    """Where our part of a container is: from the start of its first mark to the end of its last one."""

    start: int
    end: int

    def holds(self, member: Member) -> bool:
        """Return whether a member is ours."""
        return self.start < member.start < self.end


def opened(text: str, empty: str, file: str) -> Document:
    """Return a text as a document; where there is nothing in it but comments, with `empty` behind them.

    Raises:
        JsoncError: it is no JSON with comments.
    """
    document = jsonc.read(text, file)
    if document.value is not None:
        return document
    head = text.rstrip()
    between = _newline(text) if head.strip(jsonc.BOM) else ""
    return jsonc.read(head + between + empty.replace("\n", _newline(text)), file)


def root(document: Document, file: str) -> Value:
    """Return the object that a document must be.

    Raises:
        JsoncError: it is something else.
    """
    if document.value is None or document.value.kind != "object":
        start = document.value.start if document.value else 0
        raise JsoncError("expected an object: {...}", jsonc.location(document.text, start, file))
    return document.value


def find(document: Document, container: Value, file: str) -> Part | None:
    """Return our part of an array or object, None where it has none.

    Raises:
        JsoncError: a mark has no partner.
    """
    marks = [comment for comment in document.comments if _is_in(comment, container)]
    begins = [comment for comment in marks if comment.text.startswith(_BEGINS)]
    ends = [comment for comment in marks if comment.text.startswith(_ENDS)]
    if not begins and not ends:
        return None
    if (len(begins), len(ends)) == (1, 1) and begins[0].end < ends[0].start:
        return Part(begins[0].start, ends[0].end)
    where = jsonc.location(document.text, (begins + ends)[-1].start, file)
    hint = f"there must be one `{_BEGINS}` and, after it, one `{_ENDS}`: remove them, and what is between them"
    raise JsoncError("the marks of aiebuild's part do not match", where, hint)


def _is_in(comment: Comment, container: Value) -> bool:
    """Return whether a comment stands in a container itself, not in one of its members."""
    inside = container.start < comment.start and comment.end < container.end
    return inside and not any(member.start < comment.start < member.end for member in container.members)


def others(document: Document, container: Value, file: str) -> tuple[Member, ...]:
    """Return the members of a container that are not ours."""
    part = find(document, container, file)
    return tuple(member for member in container.members if part is None or not part.holds(member))


def put(document: Document, container: Value, items: list[str], file: str) -> str:
    """Return the text with our part of a container replaced, added, or (without items) removed.

    Args:
        document: the text and what it says.
        container: the array or object in it.
        items: the members of our part as JSON; lines after the first one are indented relative to it.
        file: its name, for messages.

    Raises:
        JsoncError: the marks of our part do not match.
    """
    part = find(document, container, file)
    if part is None:
        return _add(document, container, items) if items else document.text
    text = document.text
    before, after = text[: part.start], text[part.end :]
    if not items:
        return before[: len(before.rstrip(" \t"))].removesuffix("\n").removesuffix("\r") + after
    newline, indent = _newline(text), _indent_of(text, part.start)
    behind = [member for member in container.members if member.start > part.end]
    has_comma = bool(behind) and _has_comma(document, part.end, behind[0].start)
    body = _body(items, newline, indent, comma=bool(behind) and not has_comma)
    return _with_comma(before, container, part) + body + after


def add(document: Document, container: Value, item: str) -> str:
    """Return the text with one more member at the end of a container, without marks: from now on it is the user's."""
    return _at_the_end(document, container, lambda newline, indent: item.replace("\n", newline + indent))


def _add(document: Document, container: Value, items: list[str]) -> str:
    return _at_the_end(document, container, lambda newline, indent: _body(items, newline, indent, comma=False))


def _at_the_end(document: Document, container: Value, body: Callable[[str, str], str]) -> str:
    """Add something at the end of a container, behind the comments that stand there."""
    text, newline = document.text, _newline(document.text)
    outer = _indent_of(text, container.start)
    first = container.members[0].start if container.members else None
    indent = outer + INDENT
    if first is not None and not text[_line_start(text, first) : first].strip():
        indent = _indent_of(text, first)
    closing = container.end - 1
    # Not more: spaces at the end of a comment are the user's.
    comments = [comment.end for comment in document.comments if comment.end <= closing]
    before = text[: max([len(text[:closing].rstrip()), *comments[-1:]])]
    head = _with_comma(before, container, Part(closing, closing))
    return f"{head}{newline}{indent}{body(newline, indent)}{newline}{outer}{text[closing:]}"


def _body(items: list[str], newline: str, indent: str, *, comma: bool) -> str:
    lines = [BEGIN]
    for number, item in enumerate(items):
        last = number == len(items) - 1
        lines += f"{item}{',' if comma or not last else ''}".split("\n")
    return (newline + indent).join([*lines, END])


def _with_comma(before: str, container: Value, part: Part) -> str:
    """Return the text before our part, with a comma behind the last member in it."""
    ahead = [member for member in container.members if member.end <= part.start]
    if not ahead or (ahead[-1].comma is not None and ahead[-1].comma < part.start):
        return before
    return f"{before[: ahead[-1].end]},{before[ahead[-1].end :]}"


def _has_comma(document: Document, start: int, end: int) -> bool:
    """Return whether there is a comma outside comments."""
    spans = [(comment.start, comment.end) for comment in document.comments]
    places = (at for at in range(start, end) if document.text[at] == ",")
    return any(not any(first <= at < last for first, last in spans) for at in places)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _indent_of(text: str, at: int) -> str:
    """Return the white space at the start of the line of a character."""
    start = _line_start(text, at)
    line = text[start:].removeprefix(jsonc.BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]
