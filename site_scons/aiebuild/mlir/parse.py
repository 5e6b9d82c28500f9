"""Reading MLIR's generic form: any op of any dialect; attributes and types stay text.

The grammar is that of the MLIR language reference ("Generic Operation" and what it refers to). Aliases are replaced by
what they stand for; comments, and locations other than those of ops, are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn, TypeVar

from aiebuild.errors import Location
from aiebuild.mlir.cursor import GAP, STRING, Cursor, CustomSyntaxError
from aiebuild.mlir.ir import Block, Module, Op, Region, Successor, Value
from aiebuild.mlir.locations import file_line_column
from aiebuild.mlir.scan import ScanError
from aiebuild.mlir.scopes import Names

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_ID = r"[\w$.\-]+"
_RESULT = re.compile(rf"//[^\n]*|%({_ID})(?:{GAP}:{GAP}(\d+))?")
_RESULTS = rf"%{_ID}(?:{GAP}:{GAP}\d+)?(?:{GAP},{GAP}%{_ID}(?:{GAP}:{GAP}\d+)?)*"
_OP = re.compile(rf"{GAP}(?:({_RESULTS}){GAP}={GAP})?({STRING}){GAP}\(")
_USE = rf"%{_ID}(?:#\d+)?"
_OPERANDS = re.compile(rf"{GAP}((?:{_USE}{GAP},{GAP})*{_USE})?{GAP}\)")
_OPERAND = re.compile(rf"//[^\n]*|%({_ID})(?:#(\d+))?")
_NEXT = re.compile(rf"{GAP}(\[|<\{{|\(|\{{|:)?")
_LABEL = re.compile(rf"{GAP}\^({_ID})")
_ARGUMENT = re.compile(rf"{GAP}%({_ID}){GAP}:")
_PASSED = re.compile(rf"{GAP}:?{GAP}\(")
_CUSTOM_OP = re.compile(rf"(?:{_RESULTS}\s*=\s*)?([A-Za-z_]\w*(?:\.[\w.]+)?)\b")
_END_OF_RESOURCES = re.compile(rf"{STRING}|#-\}}")
_PARTS = ("[", "<{", "(", "{", ":")


def parse(text: str, file: str = "") -> Module:
    """Read a module in the generic form.

    Args:
        text: the whole text. Several ops at its top become the body of one `builtin.module`.
        file: where the text came from: named in messages, and the file of ops that have no `loc(...)`.

    Raises:
        MlirError: the text is not in the generic form, a value or block is used that is not defined, or types do not
            agree; with file, line and column, and what was expected.
    """
    reader = _Reader(Cursor(text, file))
    try:
        return reader.module()
    except ScanError as error:
        reader.cursor.fail(error.position, error.message)
    except RecursionError:
        reader.cursor.fail(reader.cursor.position, "regions are nested too deeply")


class _Reader:
    """One reading of one text."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._names = Names(cursor)
        self._located: list[Op] = []

    def module(self) -> Module:
        """Read all of it."""
        cursor, block, resources = self.cursor, Block(), ""
        while True:
            cursor.skip()
            if cursor.position >= len(cursor.text):
                break
            if cursor.text.startswith("{-#", cursor.position):
                resources = self._resources()
            elif not cursor.alias():
                self._append(block, self._op('an op in quotes, such as `"builtin.module"() (`'))
        self._names.finish()
        self._place()
        return Module(_module_op(block), resources, cursor.file)

    def _resources(self) -> str:
        """Read `{-# ... #-}`."""
        start = self.cursor.position
        ends = _END_OF_RESOURCES.finditer(self.cursor.text, start)
        end = next((match.end() for match in ends if match.group() == "#-}"), None)
        if end is None:
            self.cursor.fail(start, "expected `#-}` that closes `{-#`")
        self.cursor.position = end
        return self.cursor.text[start:end]

    def _place(self) -> None:
        """Replace aliases in locations, which may be defined at the text's end; take line and column from them."""
        for op in self._located:
            op.location = self.cursor.inlined(op.location or "", in_location=True)
            place = file_line_column(op.location)
            if place is not None:
                op.line, op.column = place.line, place.column

    # --- ops ---

    def _op(self, wanted: str) -> Op:
        """Read one op."""
        cursor = self.cursor
        match = _OP.match(cursor.text, cursor.position)
        if match is None:
            self._not_an_op(wanted)
        names, name = match.groups()
        start = match.start(1 if names else 2)
        line, column = cursor.line_column(start)
        op = Op(name[1:-1], line=line, column=column)
        cursor.position = match.end()
        operands = self._operands()
        self._between(op)
        cursor.skip()
        signature_at = cursor.position
        inputs, outputs = cursor.signature()
        if len(inputs) != len(operands):
            message = f'"{op.name}" has {len(operands)} operands, but its type names {len(inputs)}'
            cursor.fail(signature_at, message)
        op.operands = [self._names.use(*operand, type_) for operand, type_ in zip(operands, inputs, strict=True)]
        self._results(op, names, start, outputs)
        if op.name == "builtin.module":
            self._check_module(op, start)
        op.location = cursor.location()
        if op.location is not None:
            self._located.append(op)
        return op

    def _check_module(self, op: Op, start: int) -> None:
        """Check that a module is one list of ops."""
        blocks = [block for region in op.regions for block in region.blocks]
        if len(op.regions) != 1 or len(blocks) > 1 or any(block.arguments for block in blocks):
            self.cursor.fail(start, "a builtin.module has one region with one block, which has no arguments")

    def _not_an_op(self, wanted: str) -> NoReturn:
        """Raise the error of text that is no op of the generic form."""
        cursor = self.cursor
        found = cursor.found()
        custom = _CUSTOM_OP.match(cursor.text, cursor.position)
        if custom is None:
            cursor.expected(wanted)
        where = Location(cursor.file, *cursor.line_column(cursor.position))
        hint = f"`{custom.group(1)}` is custom syntax, which the normaliser reads"
        raise CustomSyntaxError(f"expected {wanted}, found {found}", where, hint)

    def _operands(self) -> list[tuple[str, int, int]]:
        """Read the names up to and with `)`: name, number and offset of each."""
        text = self.cursor.text
        match = _OPERANDS.match(text, self.cursor.position)
        if match is None:
            self.cursor.expected("operands such as `%a, %b` and `)`")
        self.cursor.position = match.end()
        if match.group(1) is None:
            return []
        return _operands_in(text, match.start(1), match.end(1))

    def _between(self, op: Op) -> None:
        """Read successors, properties, regions and attributes, up to and with the `:` before the type."""
        cursor, first = self.cursor, 0
        while True:
            match = _NEXT.match(cursor.text, cursor.position)
            mark = match.group(1) if match else None
            if match is None or mark is None or mark not in _PARTS[first:]:
                cursor.expected(f'`:` and the type of "{op.name}"')
            first = _PARTS.index(mark) + 1
            cursor.position = match.end()
            if mark == ":":
                return
            if mark == "[":
                op.successors = self._list("]", "after a block", self._successor)
            elif mark == "<{":
                op.properties = cursor.entries()
                cursor.expect(">", "that closes the properties")
            elif mark == "(":
                op.regions = self._list(")", "after a region", lambda: self._region(op))
            else:
                op.attributes = cursor.entries()

    def _results(self, op: Op, names: str | None, start: int, types: list[str]) -> None:
        """Give the op its results and bind the names to them."""
        if names is None:
            op.results = [Value(type_, "", op, index) for index, type_ in enumerate(types)]
            return
        found = (match for match in _RESULT.finditer(names) if match.group(1))
        counted = [(match.group(1), int(match.group(2) or 1), match.start()) for match in found]
        named = sum(count for _, count, _ in counted)
        if named != len(types):
            self.cursor.fail(start, f'"{op.name}" has {len(types)} results, but {named} are named')
        for name, count, offset in counted:
            first = len(op.results)
            op.results += self._names.define(name, start + offset, types[first : first + count], op, first)

    # --- regions and blocks ---

    def _list(self, closer: str, where: str, read: Callable[[], _T]) -> list[_T]:
        """Read a list up to and with its closing bracket."""
        found = [read()]
        while self.cursor.take(","):
            found.append(read())
        if not self.cursor.take(closer):
            self.cursor.expected(f"`,` or `{closer}` {where}")
        return found

    def _region(self, op: Op) -> Region:
        """Read `{`, the blocks of a region and `}`."""
        cursor, region = self.cursor, Region(parent=op)
        cursor.expect("{", "of a region")
        self._names.enter()
        block: Block | None = None
        while not cursor.take("}"):
            if cursor.ahead("^"):
                block = self._block(region)
                continue
            if block is None:
                block = Block(parent=region)
                region.blocks.append(block)
            self._append(block, self._op("an op in quotes, a block `^name:` or `}`"))
        self._names.leave()
        return region

    def _block(self, region: Region) -> Block:
        """Read the label and the arguments of a block."""
        label, position = self._label()
        block = self._names.block(label, position)
        if block.parent is not None:
            self.cursor.fail(position, f"block ^{label} is defined twice in this region")
        block.parent = region
        region.blocks.append(block)
        if self.cursor.take("(") and not self.cursor.take(")"):
            self._list(")", "after a block argument", lambda: self._argument(block))
        self.cursor.expect(":", f"behind block ^{label}")
        return block

    def _argument(self, block: Block) -> None:
        """Read `%name: type`."""
        cursor = self.cursor
        match = _ARGUMENT.match(cursor.text, cursor.position)
        if match is None:
            cursor.expected("a block argument such as `%a: i32`")
        cursor.position = match.end()
        types, position = [cursor.type()], match.start(1) - 1
        block.arguments += self._names.define(match.group(1), position, types, block, len(block.arguments))
        cursor.location()

    def _label(self) -> tuple[str, int]:
        """Read `^name`: the name and its offset."""
        match = _LABEL.match(self.cursor.text, self.cursor.position)
        if match is None:
            self.cursor.expected("a block such as `^bb1`")
        self.cursor.position = match.end()
        return match.group(1), match.start(1) - 1

    def _successor(self) -> Successor:
        """Read a branch target: `^bb1`, `^bb1(%a : i32)`, `^bb1(%a, %b : i32, i32)` or `^bb1:(%a : i32)`."""
        cursor = self.cursor
        successor = Successor(self._names.block(*self._label()))
        match = _PASSED.match(cursor.text, cursor.position)
        if match is None:
            return successor
        cursor.position = match.end()
        start, end = cursor.enclosed()
        colon = cursor.text.find(":", start, end)
        if colon < 0:
            cursor.fail(end, "expected `:` and the types of the values that are passed")
        operands, given = _operands_in(cursor.text, start, colon), cursor.types(colon + 1, end)
        if len(given) != len(operands):
            cursor.fail(start, f"{len(operands)} values are passed, but {len(given)} types are given")
        successor.operands = [self._names.use(*operand, type_) for operand, type_ in zip(operands, given, strict=True)]
        return successor

    def _append(self, block: Block, op: Op) -> None:
        """Put the op at the end of the block."""
        op.parent = block
        block.ops.append(op)


def _operands_in(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Return name, number and offset of each use of a value in a stretch of the text."""
    uses = _OPERAND.finditer(text, start, end)
    return [(use.group(1), int(use.group(2) or 0), use.start()) for use in uses if use.group(1)]


def _module_op(top: Block) -> Op:
    """Return the one module at the top of a text, or a new one around what is there."""
    if len(top.ops) == 1 and top.ops[0].name == "builtin.module":
        top.ops[0].parent = None
        return top.ops[0]
    module = Op("builtin.module", line=1, column=1)
    region = Region([top], module)
    module.regions, top.parent = [region], region
    return module
