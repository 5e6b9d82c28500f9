"""A normalised module as Python text: its plan, a generator function for each core, and one for each runtime sequence.

A core's function yields only where the core can wait; what it yields is what it waits for. All else is plain Python
over local names. The text depends on the module alone.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from aiebuild.host.describe import Design, core_function, describe
from aiebuild.host.emitter import Function, Unit
from aiebuild.host.reading import enclosing, python_name
from aiebuild.mlir.lower_affine import lower_affine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.host import plan
    from aiebuild.mlir.ir import Module, Op, Value

_PRELUDE = """\
import math as _math

import numpy as _np

from aiebuild.errors import Location
from aiebuild.host.plan import *
from aiebuild.host.prelude import *
"""

_BF16 = """\
from aiebuild.host.bfloat import *
"""


def translate(module: Module) -> str:
    """Return the Python text of a module; what cores and functions have of `affine` is lowered first.

    Raises:
        MlirError: an op, or a form of it, is not supported on the host; with op, line and core.
    """
    if any(op.name.startswith("affine.") for op in module.walk()):
        module = lower_affine(module)
    design = Design(module)
    described = describe(design)
    unit = Unit(design)
    blocks = [_function(unit, name, op) for name, op in sorted(design.functions.items()) if op.body]
    blocks += [_core(unit, op) for op in design.cores]
    blocks += [_sequence(unit, op) for op in design.sequences]
    constants = [f"{name} = _{kind}({text})" for (kind, text), name in unit.constants.items()]
    sections = [
        _plan(described),
        f"SITES = {_tuple(unit.sites)}\n",
        *(["\n".join(constants) + "\n"] if constants else []),
        *(f"\n{block}" for block in blocks),
    ]
    body = "\n".join(sections)
    # Wherever a bf16 occurs: what is imported here is imported before a `check.py` can put something in its place.
    imports = _PRELUDE + _BF16 * ("bf16" in body)
    head = f'"""The cores and runtime sequences of {module.file or "a module"}, translated for the host."""\n'
    return f"{head}\n{imports}\n{body}"


def _plan(described: plan.Plan) -> str:
    lines = ["PLAN = Plan("]
    for field in fields(described):
        value = getattr(described, field.name)
        text = _tuple(value) if isinstance(value, tuple) else repr(value)
        lines.append(f"    {field.name}={text},".replace("\n", "\n    "))
    return "\n".join([*lines, ")\n"])


def _tuple(values: Iterable[object]) -> str:
    texts = [f"    {value!r}," for value in values]
    return "\n".join(["(", *texts, ")"]) if texts else "()"


def _core(unit: Unit, op: Op) -> str:
    function = Function(unit, op)
    _outside(function, op)
    function.body(_single_block(unit, op))
    return _assemble(function, f"def {core_function(op)}(_core):", waits=True)


def _sequence(unit: Unit, op: Op) -> str:
    function = Function(unit, op)
    blocks = op.regions[0].blocks
    names = [function.name(value) for value in (blocks[0].arguments if blocks else [])]
    for value in blocks[0].arguments if blocks else []:
        function.flatten(value)
    _outside(function, op)
    function.body(blocks[0].ops if blocks else [])
    name = python_name("sequence", unit.design.sequence_name(op))
    return _assemble(function, f"def {name}({', '.join(['_host', *names])}):", waits=True)


def _function(unit: Unit, name: str, op: Op) -> str:
    function = Function(unit, op)
    ops = _single_block(unit, op)
    names = [function.name(value) for value in op.regions[0].blocks[0].arguments]
    for value in op.regions[0].blocks[0].arguments:
        function.flatten(value)
    function.body(ops)
    head = f"def {python_name('function', name)}({', '.join(['_core', *names])}):"
    return _assemble(function, head, waits=name in unit.blocking)


def _single_block(unit: Unit, op: Op) -> list[Op]:
    if len(op.regions[0].blocks) != 1:
        raise unit.reader.refuse(op, "a body of several blocks is not supported on the host", "use the ops of `scf`")
    return op.regions[0].blocks[0].ops


def _outside(function: Function, op: Op) -> None:
    """Name what the body uses of the device: buffers, and constants that stand outside."""
    inside = {value for inner in op.walk() for value in inner.results}
    used = dict.fromkeys(value for inner in op.walk() if inner is not op for value in inner.operands)
    for value in used:
        if value in inside or value in function.names:
            continue
        _define_outside(function, value)


def _define_outside(function: Function, value: Value) -> None:
    buffer = function.unit.design.buffer_names.get(value)
    if buffer is not None:
        owner = "_host" if enclosing_sequence(function) else "_core"
        function.write(f"{function.name(value)} = {owner}.buffer({buffer!r})")
        function.flatten(value)
        return
    owner_op = value.owner
    if owner_op is not None and getattr(owner_op, "name", "") == "arith.constant":
        function.op(owner_op)  # type: ignore[arg-type]  # a block has no name, so this is an op


def enclosing_sequence(function: Function) -> bool:
    """Return whether the function is a runtime sequence."""
    return enclosing(function.root, "aie.core") is None


def _assemble(function: Function, head: str, *, waits: bool) -> str:
    """Return a whole function: head, what is fetched once, body; a generator even where nothing in it waits."""
    fetched = [f"    {name} = {expression}" for expression, name in function.fetches.items()]
    generator = ["    if False:", "        yield"] if waits else []
    body = function.lines or ["    pass"]
    return "\n".join([head, *fetched, *generator, *body]) + "\n"
