"""Cutting ops out of a function: what they need becomes arguments, what they leave behind results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.mlir.attributes import quote
from aiebuild.mlir.copying import Copier, adopt
from aiebuild.mlir.effects import ALLOCATIONS, INDICES, REMADE, VIEWS, base_of, is_pure, written_by
from aiebuild.mlir.ir import Block, Op, Region, Value
from aiebuild.mlir.problems import Problem
from aiebuild.mlir.symbols import reference_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aiebuild.mlir.effects import Written
    from aiebuild.mlir.ir import Module
    from aiebuild.mlir.outline_find import Part


class Cut:
    """One part of a function, and what it will take to call it.

    Attributes:
        hoisted: ops of the part that stay before the call, since their results are used after it.
        arguments: values that are passed, in order.
        results: values that come back, in order.
        problems: what cannot be done.
        warnings: what deserves a look.
    """

    def __init__(self, module: Module, function: Op, part: Part, written: Written, *, local: bool, views: str) -> None:
        self._module, self._function, self._part = module, function, part
        self._written = written
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._inside = set(_defined(part.ops))
        self._ops = list(part.ops)
        self._after = self._used_outside()
        self.hoisted = self._hoisted(views)
        self._ops = [op for op in part.ops if op not in self.hoisted]
        self._inside -= {value for op in self.hoisted for value in op.results}
        self._after = self._used_outside()
        self._local = self._movable() if local else []
        self._inside.update(value for op in self._local for value in op.results)
        self._remade: dict[Op, None] = {}
        self.arguments = self._arguments()
        self.results = [value for op in self._ops for value in op.results if value in self._after]
        self._check()

    def function(self, name: str) -> Op:
        """Return the new function, which is not put anywhere yet."""
        block = Block()
        block.arguments = [Value(each.type, each.hint, block, number) for number, each in enumerate(self.arguments)]
        copier = Copier(dict(zip(self.arguments, block.arguments, strict=True)))
        copies = copier.ops([*self._remade, *self._local, *self._ops])
        end = Op("func.return", [copier.values[value] for value in self.results])
        adopt(block, 0, *copies, end)
        inputs = ", ".join(value.type for value in self.arguments)
        results = [value.type for value in self.results]
        outputs = results[0] if len(results) == 1 and results[0][0] != "(" else f"({', '.join(results)})"
        op = Op(
            "func.func",
            properties={
                "function_type": f"({inputs}) -> {outputs}",
                "sym_name": quote(name),
                "sym_visibility": '"private"',
            },
        )
        op.regions = [Region([block], op)]
        block.parent = op.regions[0]
        self._place(op)
        self._place(end)
        return op

    def replace(self, callee: str, stage: str) -> Op:
        """Put a call of a function in the place of the part, and return it."""
        block = self._part.ops[0].parent
        assert block is not None  # a stage is inside a function
        call = Op("func.call", list(self.arguments), properties={"callee": reference_text(callee)})
        call.attributes["stage_name"] = quote(stage)
        call.results = [Value(value.type, value.hint, call, number) for number, value in enumerate(self.results)]
        self._place(call)
        at = block.ops.index(self._part.ops[0])
        gone = set(self._part.ops)
        block.ops = [op for op in block.ops if op not in gone]
        adopt(block, at, *self.hoisted, call)
        for op in self._local:
            block.ops.remove(op)
        self._redirect(dict(zip(self.results, call.results, strict=True)))
        return call

    # --- what is used where ---

    def _used_outside(self) -> set[Value]:
        """Return the values of the part that other ops of the function use."""
        own = set(self._ops)
        return {value for op in _walk_without(self._function, own) for value in _uses(op) if value in self._inside}

    def _hoisted(self, views: str) -> list[Op]:
        """Return the ops of the part that stay before the call, in order."""
        kept: set[Op] = set()
        for op in self._part.ops:
            if not any(value in self._after for value in op.results):
                continue
            if op.name in REMADE or op.name in ALLOCATIONS or op.name in VIEWS or self._is_subscript(op):
                needed = self._needed(op)
                if needed is not None:
                    kept |= needed
                elif op.name in VIEWS:
                    self._keep_view(op, views)
                    kept |= self._base_of_view(op)
        if any(self._escapes_as_memory(op) for op in self._part.ops if op not in kept):
            for op in self._part.ops:
                if op.name == "memref.alloca":
                    kept |= self._needed(op) or set()
        return [op for op in self._part.ops if op in kept]

    def _is_subscript(self, op: Op) -> bool:
        """Tell whether an op makes a subscript for affine accesses where a result of a call cannot be one."""
        block = op.parent
        return op.name in INDICES and block is not None and block.parent is not self._function.regions[0]

    def _escapes_as_memory(self, op: Op) -> bool:
        return any(value in self._after and value.type.startswith("memref<") for value in op.results)

    def _needed(self, op: Op) -> set[Op] | None:
        """Return an op and what it needs of the part; None if some of that cannot be done before the part."""
        found, waiting = {op}, [op]
        for each in waiting:
            for value in each.operands:
                owner = value.owner
                if value not in self._inside or owner in found:
                    continue
                movable = isinstance(owner, Op) and (
                    is_pure(owner) or owner.name in REMADE or owner.name in VIEWS or owner.name in ALLOCATIONS
                )
                if not movable or not isinstance(owner, Op) or owner not in self._part.ops:
                    return None
                found.add(owner)
                waiting.append(owner)
        return found

    def _keep_view(self, op: Op, views: str) -> None:
        """Report a view that has to be returned, if that is not allowed."""
        if views == "error":
            message = f"the result of {op.name} is used after the part, and cannot be made before it"
            self._refuse("VIEW", message, op, "make the view before the part, or after it")

    def _base_of_view(self, op: Op) -> set[Op]:
        """Return the allocation that a view looks at, if it is in the part and can be done before it."""
        owner = base_of(op.operands[0], self._inside).owner
        if isinstance(owner, Op) and owner in self._part.ops and owner.name in ALLOCATIONS:
            return self._needed(owner) or set()
        return set()

    def _movable(self) -> list[Op]:
        """Return the allocations before the part that nothing but the part uses."""
        block = self._part.ops[0].parent
        assert block is not None  # a stage is inside a function
        start = block.ops.index(self._part.ops[0])
        before = [op for op in block.ops[:start] if op.name in ALLOCATIONS]
        own = set(self._ops)
        others = {value for op in _walk_without(self._function, own) for value in _uses(op)}
        used = {value for op in own for inner in op.walk() for value in _uses(inner)}
        return [op for op in before if op.results[0] not in others and op.results[0] in used]

    # --- arguments ---

    def _arguments(self) -> list[Value]:
        """Return what is passed: for each op in order what it reads, then what it writes, each by first use."""
        arguments: dict[Value, None] = {}
        for op in self._local:
            arguments.update(dict.fromkeys(self._outer(op.operands)))
        for op in self._ops:
            used = list(self._outer(value for inner in op.walk() for value in _uses(inner)))
            targets = {
                base_of(value, self._inside) for inner in op.walk() for value in written_by(inner, self._written)
            }
            arguments.update(dict.fromkeys(value for value in used if value not in targets))
            arguments.update(dict.fromkeys(value for value in used if value in targets))
        return list(arguments)

    def _outer(self, values: Iterable[Value]) -> Iterator[Value]:
        """Yield the values that come from outside; note those that are made again instead."""
        for value in values:
            if value in self._inside:
                continue
            owner = value.owner
            if isinstance(owner, Op) and owner.name in REMADE and not owner.operands:
                self._remade[owner] = None
            else:
                yield value

    def _check(self) -> None:
        """Report what may not be passed or returned."""
        for op in self._ops:
            if op.name == "memref.alloca" and any(value in self._after for value in op.results):
                message = "memory of the stack is used after the part, and its size is not known before it"
                self._refuse("ALLOCA", message, op, "allocate it before the part, or use memref.alloc")
        for value in (*self.arguments, *self.results):
            if value.type.startswith("memref<") and ("affine_map<" in value.type or "strided<" in value.type):
                message = f"a buffer of type {value.type} is passed: its layout is not the plain one"
                hint = "the lowering to bare pointers refuses such arguments: copy it to a plain buffer"
                self.warnings.append(Problem("W-OUTLINE-LAYOUT", message, self._part.where, hint))

    def _refuse(self, code: str, message: str, op: Op, hint: str) -> None:
        self.problems.append(Problem(f"E-OUTLINE-{code}", message, self._module.where(op), hint))

    # --- changes ---

    def _place(self, op: Op) -> None:
        """Give a new op the place of the first op of the part."""
        first = self._ops[0] if self._ops else self._part.ops[0]
        op.location, op.line, op.column = first.location, first.line, first.column

    def _redirect(self, new: dict[Value, Value]) -> None:
        """Let uses of old values be uses of new ones."""
        if not new:
            return
        for op in self._function.walk():
            op.operands = [new.get(value, value) for value in op.operands]
            for successor in op.successors:
                successor.operands = [new.get(value, value) for value in successor.operands]


def _uses(op: Op) -> Iterator[Value]:
    """Yield the values that an op itself uses."""
    yield from op.operands
    for successor in op.successors:
        yield from successor.operands


def _defined(ops: Sequence[Op]) -> Iterator[Value]:
    """Yield the values that ops, and what is nested in them, define."""
    for op in ops:
        for inner in op.walk():
            yield from inner.results
            for region in inner.regions:
                for block in region.blocks:
                    yield from block.arguments


def _walk_without(op: Op, left_out: set[Op]) -> Iterator[Op]:
    """Yield an op and what is nested in it, without some ops and what is nested in those."""
    if op in left_out:
        return
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                yield from _walk_without(inner, left_out)
