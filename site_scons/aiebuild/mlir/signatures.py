"""What a function takes and gives, whatever dialect it is of, and how two such lists differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir import attributes
from aiebuild.mlir.scan import closing, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Op

_LLVM_FUNCTION = "!llvm.func<"


@dataclass(frozen=True)
class Signature:
    """The types of a function, as texts; `open` where more arguments may follow (`...`)."""

    inputs: tuple[str, ...]
    results: tuple[str, ...]
    open: bool = False
    text: str = ""

    def __str__(self) -> str:
        """Return the text that the type was written as."""
        return self.text or f"({', '.join(self.inputs)}) -> ({', '.join(self.results)})"


@dataclass(frozen=True)
class Difference:
    """A place where given types are not those of a function: the message, and a cast that may help."""

    message: str
    cast: str = ""


def signature(op: Op) -> Signature | None:
    """Return the types of a function; None where its type is in a form that is not known here."""
    text = op.get("function_type")
    return None if text is None else read_signature(text)


def read_signature(text: str) -> Signature | None:
    """Return what `(i32) -> i32` or `!llvm.func<i32 (ptr, ...)>` says; None for any other text."""
    stripped = text.strip()
    if stripped.startswith(_LLVM_FUNCTION):
        return _llvm_signature(stripped)
    try:
        inputs, results = attributes.function_type(stripped)
    except MlirError:
        return None
    return Signature(tuple(inputs), tuple(results), text=stripped)


def same_type(one: str, other: str) -> bool:
    """Tell whether two texts are the same type: blanks mean nothing, `!llvm.` may be left out inside `!llvm` types."""
    return one == other or squeezed(one) == squeezed(other)


def squeezed(type_: str) -> str:
    """Return a type's text without what means nothing in it."""
    return "".join(type_.split()).replace("!llvm.", "")


def differences(name: str, wanted: Signature, inputs: Sequence[str], results: Sequence[str]) -> Iterator[Difference]:
    """Yield where a call of `name` with these types does not fit; positions count from 0, as in MLIR's messages."""
    if not (wanted.open and len(inputs) > len(wanted.inputs)):
        yield from _differences(name, "argument", wanted.inputs, inputs)
    yield from _differences(name, "result", wanted.results, results)


def _differences(name: str, what: str, wanted: Sequence[str], given: Sequence[str]) -> Iterator[Difference]:
    """Yield where two lists of types differ."""
    if len(wanted) != len(given):
        yield Difference(f"@{name} has {_count(len(wanted), what)}, the call {len(given)}")
        return
    for position, (want, have) in enumerate(zip(wanted, given, strict=True)):
        if not same_type(want, have):
            message = f"{what} {position} of @{name} is {have} in the call, but {want} in its declaration"
            yield Difference(message, cast_hint(want, have))


def cast_hint(want: str, have: str) -> str:
    """Name the op that turns one type into the other, where there is one."""
    if want.startswith("tensor<") and have.startswith("tensor<"):
        return "tensor.cast forgets or restores sizes" if "?" in want + have else ""
    if not (want.startswith("memref<") and have.startswith("memref<")):
        return ""
    try:
        wanted, given = attributes.memref(want), attributes.memref(have)
    except MlirError:
        return "memref.cast gives and takes ranks" if "*" in want + have else ""
    if wanted.element != given.element:
        return ""
    if len(wanted.shape) < len(given.shape):
        return "memref.collapse_shape joins dimensions"
    if len(wanted.shape) > len(given.shape):
        return "memref.expand_shape divides a dimension"
    return "memref.cast forgets or restores sizes" if None in (*wanted.shape, *given.shape) else ""


def _llvm_signature(text: str) -> Signature | None:
    """Read `!llvm.func<result (inputs)>`."""
    inside = text[len(_LLVM_FUNCTION) : -1]
    position = 0
    while position < len(inside) and inside[position] != "(":
        position = closing(inside, position) if inside[position] in "<[{" else position + 1
    if position >= len(inside):
        return None
    inputs = split(inside[position + 1 : closing(inside, position) - 1])
    result = inside[:position].strip()
    types = tuple(type_ for type_ in inputs if type_ != "...")
    return Signature(types, () if result == "void" else (result,), inputs[-1:] == ["..."], text)


def _count(count: int, what: str) -> str:
    """Return `1 argument`, `2 arguments`."""
    return f"{count} {what}{'' if count == 1 else 's'}"
