"""Kernels that are MLIR: what they promise, and how one takes the place of an object in a design's module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import CheckError, Location, did_you_mean
from aiebuild.mlir import attributes
from aiebuild.mlir.copying import copy_module
from aiebuild.mlir.ir import Op, Value
from aiebuild.mlir.symbols import is_declaration, is_function, is_private, symbol_name, symbols

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Block, Module

STANDS_FOR = "aiebuild.stands_for"
"""On a function of a kernel: the file of `link_with` that it is linked instead of; the unit for any file."""
_LINK_WITH = ("link_with", "link_with_mode")
_LINKAGE = "llvm.linkage"
"""What `convert-func-to-llvm` takes the linkage of an `llvm.func` from."""


def check_promises(module: Module, functions: Sequence[str]) -> list[CheckError]:
    """Return the functions that a recipe promises and that the module does not define for others."""
    found = symbols(module.op)
    errors = []
    for name in functions:
        op = found.get(name)
        if op is None or not is_function(op) or is_declaration(op):
            defined = [each for each, other in found.items() if is_function(other) and not is_declaration(other)]
            hint = did_you_mean(name, defined) or "it defines no function"
            where = module.where(op) if op else Location(module.file)
            errors.append(CheckError(f"the kernel does not define @{name}, which the recipe promises", where, hint))
        elif is_private(op):
            message = f"@{name} is private, so that nothing outside of the kernel can call it"
            errors.append(CheckError(message, module.where(op), "leave out `private`"))
    return errors


def marked(module: Module, file: str = "") -> Module:
    """Return the module with its functions marked as what is linked instead of a file of `link_with`.

    Args:
        module: a kernel; it is not changed.
        file: the name that `link_with` says, for example `two_mm.o`; any, if it is empty.
    """
    copy = copy_module(module)
    for op in _definitions(copy):
        if not is_private(op):
            op.attributes[STANDS_FOR] = attributes.quote(file) if file else "unit"
    return copy


def stand_in(main: Module, kernels: Sequence[Module]) -> None:
    """Make declarations of the main module ones that linking fills, where a kernel is linked instead of their file.

    A declaration with `link_with` is otherwise never filled: an object defines it. The main module is changed.
    """
    offered: dict[str, str] = {}
    for kernel in kernels:
        for op in _definitions(kernel):
            file = op.attributes.pop(STANDS_FOR, None)
            if file is not None:
                offered[symbol_name(op) or ""] = file
    for op in main.walk():
        file = op.get("link_with") if is_function(op) and is_declaration(op) else None
        if file is not None and offered.get(symbol_name(op) or "") in (file, "unit"):
            for entry in _LINK_WITH:
                op.attributes.pop(entry, None)
                op.properties.pop(entry, None)


def hide_helpers(module: Module) -> Module:
    """Return the module with private functions that no other object can see, once they are compiled.

    MLIR's lowering exports private functions as well: helpers of one name in two kernels would clash in a core.
    """
    copy = copy_module(module)
    for op in _definitions(copy):
        if op.name == "func.func" and is_private(op):
            op.attributes.setdefault(_LINKAGE, "#llvm.linkage<internal>")
    return copy


def static_buffers(module: Module) -> Module:
    """Return the module with static memory in place of buffers that a function allocates: a core has no heap.

    Only buffers of constant size at the top level of a function are moved: each call has the same memory, so a function
    that calls itself must not do this. Their deallocations are left out.

    Raises:
        CheckError: an allocation inside of a loop or branch, or of a size that is not constant, with its line.
    """
    copy = copy_module(module)
    taken = set(symbols(copy.op))
    for function in [op for op in _definitions(copy) if op.name == "func.func"]:
        name = symbol_name(function) or ""
        for number, op in enumerate([op for op in function.walk() if op.name == "memref.alloc"]):
            _check_allocation(copy, function, op)
            _move(copy, op, _free_name(f"{name}_buffer_{number}", taken))
        _without_deallocations(function)
    return copy


def _definitions(module: Module) -> Iterator[Op]:
    """Yield the functions with bodies at the module's level."""
    yield from (op for op in module.op.body if is_function(op) and not is_declaration(op))


def _check_allocation(module: Module, function: Op, op: Op) -> None:
    where = module.where(op)
    if op.operands or None in attributes.memref(op.results[0].type).shape:
        raise CheckError("a core has no heap, and this buffer's size is not constant", where, "give it a constant size")
    if op.parent_op is not function or op.parent is not function.regions[0].blocks[0]:
        message = "a core has no heap, and this buffer is allocated inside of a loop or branch"
        raise CheckError(message, where, "allocate it at the start of the function")


def _free_name(wanted: str, taken: set[str]) -> str:
    name = wanted
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _move(module: Module, op: Op, name: str) -> None:
    """Make an allocation the use of a global, which is put before all else."""
    type_, block = op.results[0].type, module.op.regions[0].blocks[0]
    properties = {"sym_name": attributes.quote(name), "sym_visibility": '"private"', "type": type_}
    made = Op(
        "memref.global",
        properties={**properties, "initial_value": "unit"},
        location=op.location,
        line=op.line,
        column=op.column,
    )
    made.parent = block
    block.ops.insert(0, made)
    alignment = op.properties.get("alignment")
    if alignment is not None:
        made.properties["alignment"] = alignment
    op.name, op.properties = "memref.get_global", {"name": f"@{attributes.quote(name)}"}


def _without_deallocations(function: Op) -> None:
    """Leave out deallocations of what is a global now."""
    for block in _blocks(function):
        block.ops = [op for op in block.ops if op.name != "memref.dealloc" or not _is_global(op.operands[0])]


def _blocks(function: Op) -> Iterator[Block]:
    for op in function.walk():
        for region in op.regions:
            yield from region.blocks


def _is_global(value: Value) -> bool:
    return isinstance(value.owner, Op) and value.owner.name == "memref.get_global"
