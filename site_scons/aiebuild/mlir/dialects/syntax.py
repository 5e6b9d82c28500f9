"""How our own dialect definitions read custom syntax: small words over xDSL's parser, and ops whose entries are text.

Only the reader of custom syntax imports this package: it costs the import of xDSL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NoReturn

from xdsl.dialects.builtin import IndexType, MemRefType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import traits_def

from aiebuild.errors import did_you_mean
from aiebuild.mlir.attributes import quote
from aiebuild.mlir.dialects.text import attribute_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from xdsl.parser import Parser, UnresolvedOperand

# What the text of an entry must look like, and an example for the message.
_KINDS = {
    "i8": (re.compile(r"-?\d+ : i8"), "`1 : i8`"),
    "i32": (re.compile(r"-?\d+ : i32"), "`1 : i32`"),
    "i64": (re.compile(r"-?\d+ : i64"), "`1 : i64`"),
    "ui8": (re.compile(r"\d+ : ui8"), "`1 : ui8`"),
    "ui32": (re.compile(r"\d+ : ui32"), "`1 : ui32`"),
    "ui64": (re.compile(r"\d+ : ui64"), "`1 : ui64`"),
    "bool": (re.compile(r"true|false"), "`true` or `false`"),
    "string": (re.compile(r'".*"', re.DOTALL), '`"text"`'),
    "symbol": (re.compile(r"@.*", re.DOTALL), "`@name`"),
    "any": (re.compile(r".*", re.DOTALL), "a value"),
}


class NotBuiltInError(Exception):
    """Correct MLIR that the built-in normaliser cannot read; `position` is its offset in the text."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


@dataclass
class Built:
    """What the reader of an op found; properties and attributes are MLIR text."""

    operands: list[SSAValue] = field(default_factory=list)
    results: list[Attribute] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    successors: list[Block] = field(default_factory=list)
    # The op's name in the generic form, where it is not that of the custom form.
    name: str = ""


class TextOp(Operation):
    """An op of ours: `built` holds its properties and attributes as text; None where it was read in generic form."""

    traits = traits_def()
    reader: ClassVar[Callable[[Syntax], Built]]
    built: Built | None = None

    @classmethod
    def parse(cls, parser: Parser) -> TextOp:
        """Read the op's custom syntax behind its name."""
        built = cls.reader(Syntax(parser, cls.name))
        op = cls.create(
            operands=built.operands,
            result_types=built.results,
            regions=built.regions,
            successors=built.successors,
        )
        op.built = built
        return op


def define(readers: Mapping[str, Callable[[Syntax], Built]]) -> list[type[Operation]]:
    """Return one xDSL op class for each reader; the keys are the full names of the ops."""
    return [type(name, (TextOp,), {"name": name, "reader": staticmethod(reader)}) for name, reader in readers.items()]


class Syntax:
    """The words that readers of ops use.

    Args:
        parser: xDSL's parser, behind the op's name.
        op: the op's name, for messages.
    """

    def __init__(self, parser: Parser, op: str) -> None:
        self.parser = parser
        self.op = op

    @property
    def ahead(self) -> str:
        """The text of the next token; empty at the end of the text."""
        return self.parser._current_token.text

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        """Raise an error of the user's text: here, or at an offset. A hint may follow on a second line."""
        self.parser.raise_error(message, self.parser.pos if position is None else position)

    def expected(self, wanted: str) -> NoReturn:
        """Raise the error that something else is here than what was expected."""
        self.fail(f"expected {wanted}, found {f'`{self.ahead}`' if self.ahead else 'the end of the text'}")

    # --- marks, words, numbers ---

    def has(self, mark: str) -> bool:
        """Go behind this mark or word, if it comes next."""
        return self.parser.parse_optional_characters(mark) is not None

    def mark(self, *marks: str) -> None:
        """Go behind these marks or words, one after the other."""
        for mark in marks:
            if not self.has(mark):
                self.expected(f"`{mark}`")

    def choice(self, choices: Mapping[str, int], what: str) -> str:
        """Read one of the words, in quotes or not, and return its number as `1 : i32`."""
        position = self.parser.pos
        word = self.parser.parse_optional_identifier_or_str_literal()
        if word is None:
            self.expected(f"{what} ({', '.join(choices)})")
        if word not in choices:
            self.fail(f"`{word}` is not {what}\n{did_you_mean(word, choices)}", position)
        return f"{choices[word]} : i32"

    def word(self, what: str) -> str:
        """Read a word, in quotes or not."""
        word = self.parser.parse_optional_identifier_or_str_literal()
        return self.expected(what) if word is None else word

    def integer(self, kind: str = "") -> str:
        """Read an integer, with or without its type, and return it with the type: `1 : i32`."""
        value = self.parser.parse_optional_integer(allow_boolean=False)
        if value is None:
            self.expected("an integer")
        if kind and self.has(":"):
            self.mark(kind)
        return f"{value} : {kind}" if kind else str(value)

    def integers(self, what: str) -> list[str]:
        """Read `[0, 64]`, with or without types."""
        found: list[str] = []

        def entry() -> None:
            self.no_variable(what)
            found.append(self.integer())
            if self.has(":"):
                self.parser.parse_type()

        self.list("[", "]", entry)
        return found

    def no_variable(self, what: str, *, known: bool = True) -> None:
        """Refuse a value where the built-in normaliser takes numbers only."""
        if self.ahead.startswith("%") or not known:
            raise NotBuiltInError(f"{what} is a value, not a number", self.parser.pos)

    def symbol(self) -> str:
        """Read a reference and return its text: `@name`, `@a::@b`."""
        if not self.ahead.startswith("@"):
            self.expected("a symbol such as `@name`")
        return attribute_text(self.parser.parse_attribute())

    def symbol_name(self, default: str | None = None) -> str:
        """Read `@name` where an op defines it, and return the text of the string."""
        if not self.ahead.startswith("@"):
            return self.expected("a symbol such as `@name`") if default is None else quote(default)
        return quote(self.parser.parse_symbol_name().data)

    # --- values, types, blocks, regions ---

    def name(self) -> UnresolvedOperand:
        """Read `%name`, whose type comes later."""
        unresolved = self.parser.parse_optional_unresolved_operand()
        return self.expected("a value such as `%name`") if unresolved is None else unresolved

    def value(self, type_: Attribute | None = None) -> SSAValue:
        """Read `%name`, a value of this type; `index` where none is given."""
        return self.parser.resolve_operand(self.name(), IndexType() if type_ is None else type_)

    def typed_value(self) -> SSAValue:
        """Read `%name : type`."""
        name = self.name()
        self.mark(":")
        return self.resolve(name, self.parser.parse_type())

    def resolve(self, name: UnresolvedOperand, type_: Attribute) -> SSAValue:
        """Return the value of this name, which must have this type."""
        return self.parser.resolve_operand(name, type_)

    def resolve_all(self, names: list[UnresolvedOperand], types: list[Attribute], position: int) -> list[SSAValue]:
        """Return the values of these names; there must be one type for each."""
        if len(names) != len(types):
            self.fail(f"{len(names)} values, but {len(types)} types", position)
        return [self.resolve(name, type_) for name, type_ in zip(names, types, strict=True)]

    def names(self, opener: str, closer: str) -> list[UnresolvedOperand]:
        """Read a list of values whose types come later, with its brackets."""
        names: list[UnresolvedOperand] = []
        self.list(opener, closer, lambda: names.append(self.name()))
        return names

    def types(self, opener: str, closer: str) -> list[Attribute]:
        """Read a list of types with its brackets."""
        types: list[Attribute] = []
        self.list(opener, closer, lambda: types.append(self.parser.parse_type()))
        return types

    def type_list(self) -> list[Attribute]:
        """Read types separated by commas."""
        types: list[Attribute] = [self.parser.parse_type()]
        while self.has(","):
            types.append(self.parser.parse_type())
        return types

    def arguments(self) -> list[Parser.Argument]:
        """Read `(%a: type, ...)`."""
        found: list[Parser.Argument] = []
        self.list("(", ")", lambda: found.append(self.parser.parse_argument()))
        return found

    def block(self) -> Block:
        """Read `^name`."""
        block = self.parser.parse_optional_successor()
        return self.expected("a block such as `^bb1`") if block is None else block

    def region(self, arguments: list[Parser.Argument] | None = None) -> Region:
        """Read `{ ops }`; an empty one has one block without ops."""
        if self.ahead != "{":
            self.expected("`{` of a region")
        region = self.parser.parse_region(arguments)
        if not region.blocks:
            region.add_block(Block())
        return region

    def list(self, opener: str, closer: str, read: Callable[[], object]) -> None:
        """Read a list with its brackets, elements separated by commas."""
        self.mark(opener)
        if self.has(closer):
            return
        read()
        while self.has(","):
            read()
        if not self.has(closer):
            self.expected(f"`,` or `{closer}`")

    # --- attributes ---

    def attribute(self) -> str:
        """Read any attribute and return its text."""
        return attribute_text(self.parser.parse_attribute())

    def dictionary(self) -> dict[str, str]:
        """Read `{name = value, ...}`, if it comes next."""
        return {name: attribute_text(value) for name, value in self.parser.parse_optional_attr_dict().items()}

    def entries(self, built: Built, kinds: Mapping[str, str], required: Iterable[str] = ()) -> Built:
        """Read the op's dictionary, if it comes next, into its properties (the names of `kinds`) and attributes."""
        position = self.parser.pos
        for name, text in self.dictionary().items():
            if name not in kinds:
                built.attributes[name] = text
                continue
            pattern, example = _KINDS[kinds[name]]
            if not pattern.fullmatch(text):
                self.fail(f"`{name}` of {self.op} must be written like {example}, found `{text}`", position)
            built.properties[name] = text
        for name in required:
            if name not in built.properties:
                self.fail(f"{self.op} must have `{name}` in its `{{...}}`", position)
        return built

    def elements(self, type_: Attribute) -> str:
        """Read `dense<...>` of this memref's shape; the text ends with the type written behind it, else a tensor's."""
        if not isinstance(type_, MemRefType):
            self.fail(f"{attribute_text(type_)} cannot have an initial value")
        tensor = TensorType(type_.element_type, type_.shape)
        self.mark("dense")
        value = attribute_text(self.parser.parse_dense_int_or_fp_elements_attr(tensor))
        written = attribute_text(self.parser.parse_type()) if self.has(":") else attribute_text(tensor)
        return f"{value.removesuffix(attribute_text(tensor))}{written}"
