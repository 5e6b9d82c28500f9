"""Core objects and archives: arch, symbols, and the sizes of code and data.

Symbols are read by `aiebuild.elf`; the section headers, for the sizes and for the byte of a fault, by the small reader
below (ELF-32 and ELF-64, either byte order; the structs are those of the System V ABI).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild import elf
from aiebuild.errors import CheckError
from aiebuild.inspect.reader import Data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ELF, ARCHIVE = b"\x7fELF", b"!<arch>\n"
_ALLOC, _EXECUTE, _WRITE = 2, 4, 1
_NO_BITS = 8
_TABLES = (b"/", b"//", b"/SYM64/")
"""Members that are an archive's own: its index and its long names."""
_MEMBER = 60
"""Bytes of an archive member's header."""


@dataclass(frozen=True)
class Sizes:
    """Bytes that an object takes once it is linked: code, constants, data with a value, data that begin as zero."""

    code: int = 0
    constants: int = 0
    data: int = 0
    zeroed: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        """Return the sizes of both."""
        return Sizes(
            self.code + other.code,
            self.constants + other.constants,
            self.data + other.data,
            self.zeroed + other.zeroed,
        )


@dataclass(frozen=True)
class Objects:
    """An object or an archive: what it defines and needs, and how large it is; `members` by name."""

    kind: str
    machine: str
    arch: str
    sizes: Sizes
    defined: tuple[elf.Symbol, ...]
    undefined: tuple[str, ...]
    members: tuple[tuple[str, Objects], ...] = ()


def read(path: Path) -> Objects:
    """Return what an object file or an archive defines, needs and takes.

    Raises:
        InspectError: it is damaged, with the byte.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    data = Data(str(path), content)
    if content.startswith(ARCHIVE):
        sizes = [_sizes(body) if body.content.startswith(ELF) else Sizes() for body in _bodies(data)]
    else:
        sizes = [_sizes(data)]
    found = _symbols(data, path)
    if found.kind != "archive":
        return _objects(found, sizes[0])
    members = [
        (member.name.rpartition("(")[2].rstrip(")"), _objects(member, size))
        for member, size in zip(found.members, sizes, strict=True)
    ]
    return _objects(found, sum(sizes, Sizes()), tuple(members))


def _objects(found: elf.ObjectFile, sizes: Sizes, members: tuple[tuple[str, Objects], ...] = ()) -> Objects:
    return Objects(
        kind=found.kind,
        machine=found.machine,
        arch=found.arch or "",
        sizes=sizes,
        defined=tuple(found.defined[name] for name in sorted(found.defined)),
        undefined=tuple(sorted(found.undefined)),
        members=members,
    )


def _symbols(data: Data, path: Path) -> elf.ObjectFile:
    try:
        return elf.read(path)
    except CheckError as error:
        raise data.fault(0, error.message.replace(str(path), "the file"), error.hint) from None
    except Exception as error:
        # pyelftools follows damaged offsets wherever they lead, and raises whatever happens there.
        raise data.fault(0, f"the file is damaged: its symbols cannot be read ({error})") from error


def _bodies(data: Data) -> Iterator[Data]:
    """Yield the members of an archive that are no table of its own (`ar.h`; GNU and BSD)."""
    position = len(ARCHIVE)
    while position < len(data):
        header = data.part(position, _MEMBER, "the header of a member")
        digits = header.content[48:58].strip()
        if header.content[58:] != b"`\n" or not digits.isdigit():
            raise data.fault(position, "no member of an archive begins")
        body = data.part(position + _MEMBER, int(digits), "a member")
        position += _MEMBER + len(body) + len(body) % 2
        name = header.content[:16].rstrip()
        if name.startswith(b"#1/") and name[3:].isdigit():
            length = int(name[3:])
            name = body.part(0, length, "a member's name").content
            body = body.part(length, len(body) - length, "a member after its name")
        if name not in _TABLES and not name.startswith(b"__.SYMDEF"):
            yield body


def _sizes(data: Data) -> Sizes:
    """Return the sizes of an ELF object's sections."""
    data.part(0, 52, "the ELF header")
    wide, order = data.content[4] == 2, ">" if data.content[5] == 2 else "<"
    if data.content[4] not in (1, 2) or data.content[5] not in (1, 2):
        raise data.fault(4, "the ELF header names no known class and byte order")
    (table,) = data.unpack(order + ("Q" if wide else "I"), 40 if wide else 32, "the ELF header")
    step, count = data.unpack(order + "HH", 58 if wide else 46, "the ELF header")
    found = Sizes()
    for index in range(count):
        found += _section(data, table + index * step, order, wide=wide)
    return found


def _section(data: Data, offset: int, order: str, *, wide: bool) -> Sizes:
    layout = order + ("IIQQQQ" if wide else "IIIIII")
    header = data.part(offset, 64 if wide else 40, "a section header")
    _, kind, flags, _, start, size = header.unpack(layout, 0, "a section header")
    if kind not in (0, _NO_BITS):
        data.part(start, size, "a section")
    if not flags & _ALLOC:
        return Sizes()
    if kind == _NO_BITS:
        return Sizes(zeroed=size)
    if flags & _EXECUTE:
        return Sizes(code=size)
    return Sizes(data=size) if flags & _WRITE else Sizes(constants=size)
