"""Attributes of modules when they are linked: which are joined, and which must be equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.errors import MlirError
from aiebuild.mlir import attributes
from aiebuild.mlir.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiebuild.mlir.ir import Module, Op
    from aiebuild.mlir.link_source import Source

_FLAGS = ("transform.with_named_sequence", "gpu.container_module")
"""Units that verifiers ask for where something in the module needs them: one side is enough."""
_NAMES = ("sym_name", "sym_visibility", "link.origin")
"""What is said of the linked module itself, which is no module of its own any more."""
STATEFUL = ("llvm.comdat", "llvm.mlir.global_ctors", "llvm.mlir.global_dtors", "llvm.module_flags", "util.initializer")
"""Ops of which the order and the number mean something, so that two modules' cannot simply be put together."""


def check_attributes(main: Module, sources: Sequence[Source]) -> Iterator[Problem]:
    """Yield where attributes of the modules contradict each other, and where both have ops that cannot be joined."""
    seen = {name: (text, main.file or "the main module") for name, text in _own(main.op).items()}
    stateful = {op.name: main.file or "the main module" for op in main.op.body if op.name in STATEFUL}
    keys: set[str] = set()
    for source in sources:
        if source.key in keys or source.is_in(main.op):
            continue
        keys.add(source.key)
        yield from _attribute_problems(source, seen)
        yield from _stateful_problems(source, stateful)


def join_attributes(main: Module, source: Source) -> None:
    """Give the main module the attributes of a source that it does not have."""
    for name, text in _own(source.module.op).items():
        if main.op.get(name) is None:
            main.op.attributes[name] = text


def strip_argument_attributes(op: Op) -> None:
    """Remove what is said of a function's arguments and results besides their types."""
    for name in ("arg_attrs", "res_attrs"):
        op.properties.pop(name, None)
        op.attributes.pop(name, None)


def _attribute_problems(source: Source, seen: dict[str, tuple[str, str]]) -> Iterator[Problem]:
    """Yield where a source says something else than what was seen before."""
    for name, text in _own(source.module.op).items():
        known, file = seen.setdefault(name, (text, source.label))
        if known != text and name not in _FLAGS and not _same(known, text):
            yield Problem(
                "E-LINK-MODATTR",
                f"the module attribute {name} is {text} in {source.label}, but {known} in {file}",
                source.module.where(source.module.op),
                "compile both for one target, or remove the attribute from one",
            )


def _stateful_problems(source: Source, stateful: dict[str, str]) -> Iterator[Problem]:
    """Yield ops that a source and another module have, and that must not be there twice."""
    for op in source.module.op.body:
        if op.name not in STATEFUL:
            continue
        first = stateful.setdefault(op.name, source.label)
        if first != source.label:
            yield Problem(
                "E-LINK-STATEFUL",
                f"{op.name} is in {source.label} and in {first}, and cannot be joined here",
                source.module.where(op),
                "translate both to LLVM IR and use llvm-link",
            )


def _same(one: str, other: str) -> bool:
    """Tell whether two dictionaries have the same entries, in any order."""
    try:
        return attributes.dictionary(one) == attributes.dictionary(other)
    except MlirError:
        return False


def _own(op: Op) -> dict[str, str]:
    """Return what a module op says besides its name."""
    entries = {**op.properties, **op.attributes}
    return {name: text for name, text in entries.items() if name not in _NAMES}
