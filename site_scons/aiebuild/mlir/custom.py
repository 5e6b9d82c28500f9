"""Reading MLIR's custom syntax with xDSL and our own dialect definitions: the built-in half of the normaliser.

This module imports xDSL; nothing outside it and what it imports does.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NoReturn, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from aiebuild.errors import Location, MlirError, nearest
from aiebuild.mlir.convert import Converter
from aiebuild.mlir.cursor import line_starts
from aiebuild.mlir.dialects import aie, aiex, upstream
from aiebuild.mlir.dialects.syntax import NotBuiltInError
from aiebuild.mlir.native import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.ir import Attribute, Dialect, Operation, SSAValue
    from xdsl.parser import UnresolvedOperand
    from xdsl.utils.lexer import Span

    from aiebuild.mlir.ir import Module

# xDSL's own definitions that are used: a dialect, and its name in the module of that name.
_UPSTREAM = {
    "affine": "Affine",
    "arith": "Arith",
    "cf": "Cf",
    "func": "Func",
    "math": "Math",
    "memref": "MemRef",
    "scf": "Scf",
    "ub": "UB",
    "vector": "Vector",
}
_Type = TypeVar("_Type", bound="Attribute")
_NO_CUSTOM_FORMAT = "does not have a custom format"
_TWICE = re.compile(r"SSA value %(\S+) is already defined")
_EARLY = re.compile(r"Result %(\S+?)(?:#\d+)? is defined with type (.*), but used with type")
# xDSL's ways to say what it expected, and ours.
_WORDINGS = (
    (re.compile(r"in block definition"), "expected an op, a block `^name:` or `}`"),
    (re.compile(r"^'(.+?)' expected"), r"expected `\1`"),
    (re.compile(r"^[Ee]xpected '(.+?)'"), r"expected `\1`"),
    (re.compile(r"^(\w[^,]*) expected$"), r"expected \1"),
    (re.compile(r"^[Ee]xpected "), "expected "),
)
# xDSL says that comparing vectors or tensors gives one bit.
_COMPARED = re.compile(r"operand is used with type (?:vector|tensor)<.*xi1>, but has been .* with type i1\b")
_UNDEFINED = "values used but not defined"


def read(text: str, file: str, place: Callable[[int, int], Location]) -> Module:
    """Read a module in custom syntax; ops in generic form may stand among the others.

    Args:
        text: the whole text.
        file: the file of the module that is returned.
        place: gives the user's own place for a line and a column of the text.

    Raises:
        UnsupportedError: an op, or a form of one, that is not known here.
        MlirError: the text is wrong.
    """
    parser = _Parser(_context(), text, file)
    try:
        module = parser.parse_module()
    except NotBuiltInError as error:
        raise UnsupportedError(error.message, parser.place(error.position, place)) from None
    except ParseError as error:
        _refuse(parser, place, error)
    except RecursionError:
        raise MlirError("regions are nested too deeply", parser.place(parser.start, place)) from None
    except Exception as error:  # what xDSL raises for text it did not expect has no common class
        message = f"`{parser.op}` cannot be read: {_first_line(str(error)) or type(error).__name__}"
        raise UnsupportedError(message, parser.place(parser.start, place)) from None
    return Converter(parser.places, lambda offset: parser.place(offset, place)).module(module, file)


class _Parser(Parser):
    """xDSL's parser, with a record of where ops and names stand."""

    def __init__(self, ctx: Context, text: str, name: str) -> None:
        super().__init__(ctx, text, name)
        self.places: dict[Operation, int] = {}
        self.first_uses: dict[str, int] = {}
        self.definitions: dict[str, int] = {}
        self.op = "the text"
        self.start = 0
        self._starts = line_starts(text)

    def parse_operation(self) -> Operation:
        """Read an op and remember where it starts."""
        start = self.start = self.pos
        op = super().parse_operation()
        self.places[op] = start
        return op

    def resolve_operand(self, operand: UnresolvedOperand, type: _Type) -> SSAValue[_Type]:  # noqa: A002 - xDSL's name
        """Find a value, and remember where a name is used that is not defined yet."""
        name = operand.operand_name
        if name not in self.ssa_values:
            self.first_uses.setdefault(name, operand.span.start)
        return super().resolve_operand(operand, type)

    def place(self, offset: int, place: Callable[[int, int], Location]) -> Location:
        """Return the user's own place of an offset."""
        line = bisect_right(self._starts, offset)
        return place(line, offset - self._starts[line - 1] + 1)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        """Bind a name, and remember where."""
        super()._register_ssa_definition(name, values, span)
        self.definitions[name] = span.start

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """Find the class of an op, and remember which was asked for last."""
        self.op = name
        found = super()._get_op_by_name(name)
        # Names without their dialect are MLIR's for two dialects only; xDSL takes those of any op around.
        if "." not in name and found.name.partition(".")[0] not in ("builtin", "func"):
            self.raise_error(_NO_CUSTOM_FORMAT, self.start)
        return found


def _context() -> Context:
    """Return xDSL's table of dialects; each is imported when the text first names it."""
    # Attributes and types that are not known pass through as text; ops that are not known are refused in custom form.
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    for name, attribute in _UPSTREAM.items():
        context.register_dialect(name, _loader(name, attribute))
    context.register_dialect("aie", aie.dialect)
    context.register_dialect("aiex", aiex.dialect)
    context.register_dialect("index", upstream.index)
    return context


def _loader(name: str, attribute: str) -> Callable[[], Dialect]:
    """Return the function that imports a dialect of xDSL's."""

    def load() -> Dialect:
        dialect: Dialect = getattr(importlib.import_module(f"xdsl.dialects.{name}"), attribute)
        return upstream.extended(dialect)

    return load


def _refuse(parser: _Parser, place: Callable[[int, int], Location], error: ParseError) -> NoReturn:
    """Raise the error of text that xDSL, or a definition of ours, did not take."""
    if _NO_CUSTOM_FORMAT in error.msg:
        _unknown(parser, place)
    if _UNDEFINED in error.msg:
        _undefined(parser, place)
    twice = _TWICE.match(error.msg)
    if twice is not None:
        line = parser.place(parser.definitions[twice.group(1)], place).line
        raise MlirError(
            f"%{twice.group(1)} is defined twice, first in line {line}", parser.place(error.span.start, place)
        )
    early = _EARLY.match(error.msg)
    if early is not None:
        name, type_ = early.groups()
        hint = f"line {parser.place(error.span.start, place).line} defines it, as {type_}"
        message = f"%{name} is used before it is defined, or outside its region"
        raise MlirError(message, parser.place(parser.first_uses[name], place), hint)
    if str(error.span.text).strip() == "symbol" and parser.op.startswith("affine."):
        what = f"`symbol(...)` in {parser.op} is not known to the built-in reader"
        raise UnsupportedError(what, parser.place(error.span.start, place))
    if _COMPARED.search(error.msg):
        what = "a comparison of vectors, which gives one bit an element, is not known to the built-in reader"
        raise UnsupportedError(what, parser.place(error.span.start, place))
    message, _, hint = error.msg.partition("\n")
    raise MlirError(_in_our_words(message, error), parser.place(error.span.start, place), _first_line(hint))


def _in_our_words(message: str, error: ParseError) -> str:
    """Return a message of xDSL's as ours read: what was expected, then what was found."""
    found = str(error.span.text).strip()
    message = message.strip().rstrip(".!") or "this is not MLIR"
    if message.startswith("operand is used with type"):
        return f"{found}: {message}"
    for pattern, wording in _WORDINGS:
        if pattern.match(message):
            said = pattern.sub(wording, message)
            return f"{said}, found `{found}`" if found and "found `" not in said else said
    return message if message[:2].isupper() else message[0].lower() + message[1:]


def _unknown(parser: _Parser, place: Callable[[int, int], Location]) -> NoReturn:
    """Raise the error of an op whose custom syntax is not known."""
    near = nearest(parser.op, [op.name for op in parser.ctx.loaded_ops])
    where = parser.place(parser.start, place)
    if near is not None and near != parser.op:
        raise UnsupportedError(f"the op `{parser.op}` is not known", where, f"did you mean {near!r}?")
    raise UnsupportedError(f"the custom syntax of `{parser.op}` is not known to the built-in reader", where)


def _undefined(parser: _Parser, place: Callable[[int, int], Location]) -> NoReturn:
    """Raise the error of a value that is used and not defined."""
    awaited = {name: parser.first_uses.get(name, 0) for name in parser.forward_ssa_references}
    name = min(awaited, key=lambda each: awaited[each])
    where = parser.place(awaited[name], place)
    defined = parser.definitions.get(name)
    if defined is not None:
        line = parser.place(defined, place).line
        hint = f"%{name} of line {line} cannot be seen here: it is inside another region"
        raise MlirError(f"use of undefined value %{name}", where, hint)
    near = nearest(name, parser.definitions)
    raise MlirError(f"use of undefined value %{name}", where, f"did you mean %{near}?" if near else "")


def _first_line(text: str) -> str:
    """Return the first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
