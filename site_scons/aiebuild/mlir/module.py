"""Building a module in Python, and calling other modules' functions in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import Location, MlirError
from aiebuild.mlir.attributes import quote
from aiebuild.mlir.copying import body_of
from aiebuild.mlir.ir import Block, Module, Op, Region, Value
from aiebuild.mlir.link import link_into
from aiebuild.mlir.problems import stop
from aiebuild.mlir.symbols import is_table, reference_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiebuild.mlir.native import NativeTool

_CALLS = {"func.func": "func.call", "llvm.func": "llvm.call", "tt.func": "tt.call", "async.func": "async.call"}


class Builder:
    """A module that ops are added to.

    Args:
        module: what is added to; a new, empty one if there is none.
        native: tools that read the text of called modules where the built-in reader does not know an op.
    """

    def __init__(self, module: Module | None = None, native: tuple[NativeTool, ...] = ()) -> None:
        self._native = native
        self.module = module or Module(Op("builtin.module"))
        self._block = body_of(self.module.op)

    def at(self, block: Block) -> None:
        """Go on at the end of a block of the module."""
        self._block = block

    def function(self, name: str, inputs: Sequence[str], results: Sequence[str] = ()) -> tuple[Value, ...]:
        """Begin a function in the module, and return its arguments; what follows goes into it until `returns`."""
        block = Block()
        block.arguments = [Value(type_, "", block, index) for index, type_ in enumerate(inputs)]
        type_ = f"({', '.join(inputs)}) -> ({', '.join(results)})"
        op = Op("func.func", properties={"sym_name": quote(name), "function_type": type_})
        op.regions = [Region([block], op)]
        block.parent = op.regions[0]
        self._append(op)
        self._block = block
        return tuple(block.arguments)

    def returns(self, *values: Value) -> None:
        """End the function that was begun last."""
        self.op("func.return", values)
        function = self._block.parent.parent if self._block.parent else None
        self._block = function.parent if function is not None and function.parent is not None else self._block

    def op(
        self,
        name: str,
        operands: Sequence[Value] = (),
        results: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
    ) -> tuple[Value, ...]:
        """Add an op without regions; return its results."""
        op = Op(name, list(operands), properties=dict(properties or {}))
        op.results = [Value(type_, "", op, index) for index, type_ in enumerate(results)]
        self._append(op)
        return tuple(op.results)

    def call(
        self,
        code: Module | str,
        *operands: Value,
        entry: str = "main",
        dummy_arguments: bool = False,
        where: Location | None = None,
    ) -> tuple[Value, ...]:
        """Call a function of another module; that module is linked in once, however often it is called.

        Args:
            code: a module, or its text, custom or generic.
            operands: the arguments; their types are exactly those of the function.
            entry: the function.
            dummy_arguments: call it with zeros, which optimisers cannot see, in place of `operands`.
            where: the place of the call, for messages.

        Returns:
            The results, always as a tuple: also one, and none.

        Raises:
            ProblemsError: something is wrong (E-LINK-...); the module is as it was.
            MlirError: the text of `code` is wrong.
        """
        module = _read(code, self._native)
        table = self._table()
        types = None if dummy_arguments else [value.type for value in operands]
        (result,), _ = link_into(self.module, [module], entry, table=table, types=types, where=where)
        given = self._dummies(result.inputs) if dummy_arguments else operands
        kind = next(op.name for op in table.body if op.get("sym_name") == quote(result.entry))
        name = _CALLS.get(kind)
        if name is None:
            stop("E-LINK-ENTRY", f"a {kind} cannot be called", where, f"one of: {', '.join(sorted(_CALLS))}")
        return self.op(name, given, result.results, {"callee": reference_text(result.entry)})

    def _dummies(self, types: Sequence[str]) -> tuple[Value, ...]:
        """Return zeros of these tensor types, behind a barrier for optimisers."""
        zeros: list[Value] = []
        for type_ in types:
            element = type_.removeprefix("tensor<").removesuffix(">").rpartition("x")[2]
            zero = "0.000000e+00" if element.startswith(("f", "bf")) else "false" if element == "i1" else "0"
            zeros += self.op("stablehlo.constant", (), [type_], {"value": f"dense<{zero}> : {type_}"})
        return self.op("stablehlo.optimization_barrier", zeros, types) if zeros else ()

    def _table(self) -> Op:
        """Return the symbol table in which a call at this place looks up its callee."""
        op = self._block.parent.parent if self._block.parent else None
        while op is not None and not is_table(op):
            op = op.parent_op
        return op or self.module.op

    def _append(self, op: Op) -> None:
        op.parent = self._block
        self._block.ops.append(op)


def _read(code: Module | str, native: tuple[NativeTool, ...]) -> Module:
    """Return the module that is meant."""
    if isinstance(code, Module):
        return code
    from aiebuild.mlir.normalise import normalise  # noqa: PLC0415 - only text needs it

    try:
        return normalise(code, "code", native=native)
    except MlirError as error:
        raise MlirError(f"the code that is called cannot be read: {error.message}", error.where, error.hint) from None
