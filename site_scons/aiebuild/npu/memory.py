"""What the cores take of their tiles once their objects are known: program memory, and data of kernels.

What is counted is certain: the sections that a linker keeps for what the core calls. The core's own code, the start-up
code and the compiler's library come on top, so that a design which passes may still be refused by the linker; one that
is refused here cannot be linked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.devices import CORE, PROGRAM_MEMORY
from aiebuild.elf_sections import reached, read_sections
from aiebuild.errors import CheckError
from aiebuild.toolchains.mixing import mixed, mixing_hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from aiebuild.elf_sections import Section, Sections
    from aiebuild.mlir.facts import Core, Facts

SHOWN = 3
"""How many of the largest sections a message names."""


def sections_of(objects: Mapping[str, Path]) -> dict[str, tuple[Sections, ...]]:
    """Return the sections of each file, by the name that `link_with` uses.

    Raises:
        CheckError: a file is damaged.
    """
    return {name: read_sections(path, name) for name, path in objects.items()}


def check_compilers(facts: Facts, sections: Mapping[str, Sequence[Sections]], toolchain: str) -> Iterator[CheckError]:
    """Yield an error for each file of another compiler than the one that compiles and links the cores."""
    for name, parts in sections.items():
        others = {part.compiler for part in parts} - {"", toolchain}
        for other in sorted(others):
            places = [core.where for core in facts.cores if name in core.link_files]
            yield CheckError(mixed(name, other, toolchain), places[0] if places else None, mixing_hint(other))


def check_memory(facts: Facts, sections: Mapping[str, Sequence[Sections]]) -> Iterator[CheckError]:
    """Yield an error for each core whose kernels do not fit into the memories of its tile."""
    for core in facts.cores:
        kept = kept_by(core, sections)
        code = [section for section in kept if section.is_code]
        data = [section for section in kept if not section.is_code]
        if size_of(code) > PROGRAM_MEMORY:
            yield CheckError(
                f"core ({core.column}, {core.row}) links {size_of(code):,} B of code, and its program memory holds "
                f"{PROGRAM_MEMORY:,} B: {_largest(code)}",
                core.where,
                "unroll less, optimise for size (flags=['-Os']), or give functions to another core",
            )
        if data and size_of(data) + core.memory > CORE.data_memory:
            yield CheckError(
                f"core ({core.column}, {core.row}) does not hold its data: buffers and stack {core.memory:,} B, "
                f"kernels {size_of(data):,} B, of {CORE.data_memory:,} B: {_largest(data)}",
                core.where,
                "make the kernels' tables or the blocks smaller",
            )


def kept_by(core: Core, sections: Mapping[str, Sequence[Sections]]) -> tuple[Section, ...]:
    """Return the sections that a core holds for certain."""
    parts = [part for name in core.link_files for part in sections.get(name, ())]
    return reached(parts, core.calls)


def size_of(sections: Sequence[Section]) -> int:
    """Return the bytes of several sections, without what alignment adds."""
    return sum(section.size for section in sections)


def _largest(sections: Sequence[Section]) -> str:
    ordered = sorted(sections, key=lambda section: (-section.size, section.name))
    listed = ", ".join(f"{section.name} {section.size:,}" for section in ordered[:SHOWN])
    return f"{listed}, …" if len(ordered) > SHOWN else listed
