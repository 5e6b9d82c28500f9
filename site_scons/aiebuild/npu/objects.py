"""The checks of objects that no driver makes, as a step: what stands in its output is what was found right."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING

from aiebuild import elf
from aiebuild.environment import RECIPE_VARIABLE, current
from aiebuild.errors import CheckError, Location, did_you_mean
from aiebuild.mlir.check import check_objects
from aiebuild.mlir.facts import Facts
from aiebuild.mlir.objects import check_promises
from aiebuild.npu.memory import check_compilers, check_memory, kept_by, sections_of, size_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from aiebuild.elf_sections import Sections
    from aiebuild.mlir.facts import Core

IR = ".ll"
"""The suffix of kernels that stay LLVM IR in text."""


class SeveralError(CheckError):
    """Several faults, each with its own place."""

    def __init__(self, errors: list[CheckError]) -> None:
        super().__init__(errors[0].message, errors[0].where, errors[0].hint)
        self.errors = errors

    def __str__(self) -> str:
        """Return all of them, one after the other."""
        return "\n".join(str(error) for error in self.errors)


def require(obj: Path, names: tuple[str, ...]) -> None:
    """Refuse an object that does not define a function; objcopy says nothing of a symbol that is not there.

    Raises:
        SeveralError: with the names that the object does define.
    """
    defined = elf.read(obj).defined
    missing = [name for name in names if name not in defined]
    if not missing:
        return
    mangled = {elf.plain_name(name): name for name in defined}
    errors = []
    for name in missing:
        hint = (
            f'declare it extern "C": it is {mangled[name]!r} here' if name in mangled else did_you_mean(name, defined)
        )
        errors.append(CheckError(f"symbol_prefix: the object does not define {name!r}", None, hint))
    raise SeveralError(errors)


def check(
    facts_file: Path,
    objects: Mapping[str, Path],
    promises: Mapping[str, Sequence[str]],
    arch: str,
    toolchain: str = "peano",
) -> str:
    """Return what each core links, with the bytes of its kernels' code and data, as JSON.

    Raises:
        SeveralError: an object is missing, for another arch, of another compiler, or does not define what is called;
            two of one core define the same symbol; or a core's kernels do not fit into its memories.
    """
    facts = Facts.from_json(facts_file.read_text(encoding="utf-8"))
    texts: dict[str, Path] = {}
    binary: dict[str, Path] = {}
    for name, path in objects.items():
        (texts if name.endswith(IR) else binary)[name] = path
    said = {name: functions for name, functions in promises.items() if name in binary}
    errors = [
        *check_ir(facts, texts),
        *check_objects(without_ir(facts), binary, arch=arch),
        *check_promises(said, binary, _recipe()),
    ]
    if errors:
        raise SeveralError(errors)
    sections = sections_of(binary)
    errors = [*check_compilers(facts, sections, toolchain), *check_memory(facts, sections)]
    if errors:
        raise SeveralError(errors)
    cores = [_linked(core, sections) for core in facts.cores]
    return json.dumps({"arch": arch, "cores": cores}, indent=1) + "\n"


def _linked(core: Core, sections: Mapping[str, Sequence[Sections]]) -> dict[str, object]:
    """Return the record of a core."""
    kept = kept_by(core, sections)
    return {
        "column": core.column,
        "row": core.row,
        "links": core.link_files,
        "code_bytes": size_of([section for section in kept if section.is_code]),
        "data_bytes": size_of([section for section in kept if not section.is_code]),
    }


def _recipe() -> Location | None:
    file, _, line = current().get(RECIPE_VARIABLE).rpartition(":")
    return Location(file, int(line)) if file and line.isdigit() else None


def check_ir(facts: Facts, texts: Mapping[str, Path]) -> list[CheckError]:
    """Return which functions of inline kernels their texts do not define."""
    errors = []
    for function in facts.functions:
        path = texts.get(function.link_with or "")
        if path is not None:
            text = path.read_text(encoding="utf-8")
            defined = re.findall(r'^define [^@\n]*@"?([\w.$]+)"?\(', text, re.MULTILINE)
            if function.name not in defined:
                message = f"{path.name} does not define {function.name!r}"
                errors.append(CheckError(message, function.where, did_you_mean(function.name, defined)))
    return errors


def without_ir(facts: Facts) -> Facts:
    """Return the facts without the functions that inline kernels define: they are no objects."""
    merged = {item.name for item in facts.functions if item.link_with and item.link_with.endswith(IR)}
    cores = tuple(
        dataclasses.replace(
            core,
            calls=tuple(name for name in core.calls if name not in merged),
            link_files=tuple(name for name in core.link_files if not name.endswith(IR)),
        )
        for core in facts.cores
    )
    return dataclasses.replace(facts, cores=cores)
