"""The sections of object files: their sizes, what each reaches, and which compiler left its marks.

aiecc links cores with `--gc-sections` (mlir-aie, `tools/aiecc/aiecc.cpp`), so that a core holds the sections that are
reached from what it calls, and no others. ELF is read by pyelftools, imported when the first object is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiebuild import elf
from aiebuild.errors import CheckError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

ALLOCATED, EXECUTABLE = 0x2, 0x4
"""`SHF_ALLOC` and `SHF_EXECINSTR` of the ELF specification."""

CHESS_SECTIONS = frozenset({".tctmemtab", ".rtstab", ".eoltab", ".chesstypeannotationtab"})
"""Sections of Chess's own in each of its objects. Peano's linker script has no place for them, and with
`--orphan-handling=error` its lld refuses them (seen by several users who linked such objects with Peano)."""

PEANO_MARK = b"llvm-aie"
"""What the compiler's line in `.comment` names: Peano's repository."""


@dataclass(frozen=True)
class Section:
    """A section that a core may hold.

    Attributes:
        name: of the section, and of its file: `mm.o:.text.matmul`.
        size: in bytes.
        is_code: whether it goes into program memory; else it goes into data memory.
        reaches: sections of the same object by number, and symbols of others.
    """

    name: str
    size: int
    is_code: bool
    reaches: frozenset[int | str]


@dataclass(frozen=True)
class Sections:
    """The sections of one object, or of one member of an archive.

    Attributes:
        by_number: those that take memory.
        home: the section of each symbol that the object defines for others.
        compiler: `chess` or `peano` where the object has its marks, else empty.
    """

    by_number: Mapping[int, Section] = field(default_factory=dict)
    home: Mapping[str, int] = field(default_factory=dict)
    compiler: str = ""


def read_sections(path: Path, name: str = "") -> tuple[Sections, ...]:
    """Return the sections of an object, or of each member of an archive; nothing of a file in another format.

    Args:
        path: the file.
        name: what the design calls it, where that is not the file's own name.

    Raises:
        CheckError: it cannot be read, or is damaged.
    """
    return tuple(_sections(member, content) for member, content in elf.contents(path, name))


def reached(objects: Iterable[Sections], roots: Iterable[str]) -> tuple[Section, ...]:
    """Return the sections that a linker with `--gc-sections` keeps, each once; of equal symbols the first one's."""
    parts = tuple(objects)
    homes: dict[str, tuple[int, int]] = {}
    for place, part in enumerate(parts):
        for symbol, number in part.home.items():
            homes.setdefault(symbol, (place, number))
    waiting = [homes[symbol] for symbol in roots if symbol in homes]
    found: dict[tuple[int, int], Section] = {}
    while waiting:
        place, number = waiting.pop()
        section = parts[place].by_number.get(number)
        if section is None or (place, number) in found:
            continue
        found[place, number] = section
        for target in section.reaches:
            if isinstance(target, int):
                waiting.append((place, target))
            elif target in homes:
                waiting.append(homes[target])
    return tuple(found.values())


def _sections(name: str, content: bytes) -> Sections:
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - slow to import, needed for objects only
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - the same

    try:
        file = ELFFile(elf.stream(content))
        every = list(file.iter_sections())
        reaches = _reaches(every)
        by_number = {
            number: Section(
                f"{name}:{section.name}",
                section["sh_size"],
                bool(section["sh_flags"] & EXECUTABLE),
                frozenset(reaches.get(number, ())),
            )
            for number, section in enumerate(every)
            if section["sh_flags"] & ALLOCATED and section["sh_size"]
        }
        return Sections(by_number, dict(_homes(file)), _compiler(every))
    except (ELFError, ValueError, KeyError, IndexError, AssertionError) as error:
        raise CheckError(f"{name} is damaged: its ELF sections cannot be read ({error})") from error


def _homes(file: Any) -> Iterator[tuple[str, int]]:
    for entry in elf.symbols(file):
        if entry.name and isinstance(entry["st_shndx"], int) and entry["st_info"]["bind"] != "STB_LOCAL":
            yield entry.name, entry["st_shndx"]


def _reaches(every: list[Any]) -> dict[int, set[int | str]]:
    """Return what the relocations of each section name: sections of this object by number, else symbols."""
    found: dict[int, set[int | str]] = {}
    for table in every:
        if table["sh_type"] not in ("SHT_REL", "SHT_RELA"):
            continue
        names = every[table["sh_link"]]
        for relocation in table.iter_relocations():
            symbol = names.get_symbol(relocation["r_info_sym"])
            home = symbol["st_shndx"]
            target = home if isinstance(home, int) else symbol.name
            found.setdefault(table["sh_info"], set()).add(target)
    return found


def _compiler(every: list[Any]) -> str:
    if CHESS_SECTIONS & {section.name for section in every}:
        return "chess"
    comments = b"".join(section.data() for section in every if section.name == ".comment")
    return "peano" if PEANO_MARK in comments else ""
