"""Writing structured control flow and calls.

The values that a loop carries are Python variables: the block argument, the loop's result and the variable share one
name, and the loop's last op assigns them all at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.host import elements, ranges
from aiebuild.host.expressions import Unsupported
from aiebuild.host.reading import python_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiebuild.host.emitter import Function
    from aiebuild.mlir.ir import Block, Op, Value


def _block(op: Op, region: int = 0) -> Block:
    """Return the only block of a region."""
    blocks = op.regions[region].blocks
    if len(blocks) != 1:
        raise Unsupported
    return blocks[0]


def _assign(function: Function, targets: Sequence[Value], sources: Sequence[Value], op: Op) -> None:
    """Write the assignment of several values at once, without those that stay as they are."""
    pairs = [(function.names[to], function.text(value)) for to, value in zip(targets, sources, strict=True)]
    changed = [(to, value) for to, value in pairs if to != value]
    if changed:
        function.write(f"{', '.join(to for to, _ in changed)} = {', '.join(value for _, value in changed)}", op)
    for to in targets:
        function.flatten(to)


def _carry(function: Function, inner: Sequence[Value], outer: Sequence[Value]) -> None:
    """Let what a loop carries and its results share their names."""
    for one, other in zip(inner, outer, strict=True):
        function.share(other, function.names[one])
        if other in function.flat:
            function.flat.add(one)
        elif one in function.flat:
            function.flat.add(other)


def _for(function: Function, op: Op) -> None:
    lower, upper, step, *initial = op.operands
    block = _block(op)
    counter, *carried = block.arguments
    bounds = [function.operand(value) for value in (lower, upper, step)]
    for value in carried:
        function.name(value)
    _carry(function, carried, op.results)
    _assign(function, carried, initial, op)
    if bounds[2].range[0] < 1:
        function.write(f"if {bounds[2].text} < 1:", op)
        with function.indented():
            function.write(f"_step_fault({bounds[2].text})", op)
    first, last, increment = (bound.text for bound in bounds)
    if function.reader.flag(op, "unsignedCmp"):
        first, last = bounds[0].unsigned, bounds[1].unsigned
    function.write(f"for {function.name(counter)} in range({first}, {last}, {increment}):", op)
    interval = ranges.loop(bounds[0].range, bounds[1].range)
    if elements.width(counter.type) and not function.reader.flag(op, "unsignedCmp"):
        function.ranges[counter] = interval
    with function.indented():
        function.body(block.ops[:-1])
        _assign(function, carried, block.ops[-1].operands, block.ops[-1])


def _if(function: Function, op: Op) -> None:
    for value in op.results:
        function.name(value)
    function.write(f"if {function.text(op.operands[0])}:", op)
    with function.indented():
        _branch(function, op, 0)
    if len(op.regions) > 1 and op.regions[1].blocks:
        function.write("else:", op)
        with function.indented():
            _branch(function, op, 1)


def _branch(function: Function, op: Op, region: int) -> None:
    """Write a region whose last op gives the results of `op`."""
    ops = _block(op, region).ops
    if ops and ops[-1].name == "scf.yield":
        function.body(ops[:-1])
        _assign(function, op.results, ops[-1].operands, ops[-1])
    else:
        function.body(ops)


def _while(function: Function, op: Op) -> None:
    before, after = _block(op, 0), _block(op, 1)
    for value in (*before.arguments, *after.arguments):
        function.name(value)
    _carry(function, after.arguments, op.results)
    _assign(function, before.arguments, op.operands, op)
    function.write("while True:", op)
    with function.indented():
        function.body(before.ops[:-1])
        condition, *passed = before.ops[-1].operands
        _assign(function, after.arguments, passed, before.ops[-1])
        function.write(f"if not {function.text(condition)}:", before.ops[-1])
        with function.indented():
            function.write("break")
        function.body(after.ops[:-1])
        _assign(function, before.arguments, after.ops[-1].operands, after.ops[-1])


def _switch(function: Function, op: Op) -> None:
    for value in op.results:
        function.name(value)
    selector = function.text(op.operands[0])
    word = "if"
    for number, case in enumerate(function.reader.integers(op, "cases")):
        function.write(f"{word} {selector} == {case}:", op)
        with function.indented():
            _branch(function, op, number + 1)
        word = "elif"
    function.write("else:" if word == "elif" else "if True:", op)
    with function.indented():
        _branch(function, op, 0)


def _region(function: Function, op: Op) -> None:
    for value in op.results:
        function.name(value)
    _branch(function, op, 0)


def _call(function: Function, op: Op) -> None:
    name = function.reader.symbol(op, "callee")
    target = function.unit.design.functions.get(name)
    if target is None:
        raise function.reader.refuse(op, f"there is no function `{name}`")
    if not target.body:
        _call_kernel(function, op, name)
        return
    wait = "yield from " if name in function.unit.blocking else ""
    arguments = ", ".join(["_core", *(function.text(value) for value in op.operands)])
    function.write(f"{_results(function, op)}{wait}{python_name('function', name)}({arguments})", op)
    for value in op.results:
        function.flatten(value)


def _results(function: Function, op: Op) -> str:
    names = [function.name(value) for value in op.results]
    return f"{', '.join(names)} = " if names else ""


def _call_kernel(function: Function, op: Op, name: str) -> None:
    """Write the call of an external function, by the number of its place in the text."""
    if len(op.results) > 1:
        raise function.reader.refuse(op, f"`{name}` has {len(op.results)} results, a kernel has one at the most")
    kernel = function.fetched(f"_core.kernel({name!r})", f"{name}_kernel")
    arguments = [str(function.unit.site(op, f"`{name}`"))]
    for value in op.operands:
        view = value.type.startswith("memref")
        arguments.append(function.text(value))
        if not view and elements.width(value.type) is None and not elements.is_float(value.type):
            raise function.reader.refuse(op, f"an argument of type {value.type} cannot be passed to a kernel")
    function.write(f"{_results(function, op)}{kernel}({', '.join(arguments)})", op)


def _return(function: Function, op: Op) -> None:
    texts = [function.text(value) for value in op.operands]
    function.write(f"return {', '.join(texts)}".rstrip(), op)


def _end(function: Function, op: Op) -> None:
    function.write("return", op)


OPS: dict[str, Callable[[Function, Op], None]] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.index_switch": _switch,
    "scf.execute_region": _region,
    "func.call": _call,
    "func.return": _return,
    "aie.end": _end,
}
