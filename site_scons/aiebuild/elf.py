"""What object files and archives define: their symbol tables, and nothing else of them.

ELF is read by pyelftools (imported when the first object is read); `ar` archives by the small reader below,
which knows the common format and the two ways of writing long names (GNU and BSD).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from aiebuild.errors import CheckError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BytesIO
    from pathlib import Path

_ELF = b"\x7fELF"
_ARCHIVE = b"!<arch>\n"
_THIN_ARCHIVE = b"!<thin>\n"
_HEADER_SIZE = 60
_FOREIGN = {
    b"\xcf\xfa\xed\xfe": "Mach-O",
    b"\xce\xfa\xed\xfe": "Mach-O",
    b"\xfe\xed\xfa\xcf": "Mach-O",
    b"\xfe\xed\xfa\xce": "Mach-O",
    b"\xca\xfe\xba\xbe": "Mach-O",
    b"BC\xc0\xde": "LLVM bitcode",
    b"\xde\xc0\x17\x0b": "LLVM bitcode",
    b"\x64\x86": "COFF",
}
_MACHINES = {62: "x86-64", 183: "aarch64", 3: "x86", 40: "arm", 243: "riscv", 21: "ppc64", 22: "s390x"}
_AIE_MACHINE = 264
"""EM_AIENGINE of the ELF registry; llvm-aie's assembler writes it (`AIEELFObjectWriter.cpp`)."""
_AIE_FLAGS = {1: "aie", 2: "aie2", 3: "aie2p"}
"""`EF_AIE_AIE1`, `EF_AIE_AIE2`, `EF_AIE_AIE2P` of llvm-aie's `BinaryFormat/ELF.h`: the arch, in `e_flags`."""
_BINDINGS = {"STB_GLOBAL": "strong", "STB_WEAK": "weak", "STB_LOOS": "weak"}
_KINDS = {"STT_FUNC": "function", "STT_OBJECT": "object", "STT_COMMON": "object", "STT_TLS": "object"}


@dataclass(frozen=True)
class Symbol:
    """A symbol that a file defines for others.

    Attributes:
        name: as the linker sees it.
        binding: `strong`, `weak` (a unique one too: the linker keeps one of many), or `common`.
        kind: `function`, `object`, or `other` where the table does not say.
    """

    name: str
    binding: str
    kind: str


@dataclass(frozen=True)
class ObjectFile:
    """An object file or an archive of them.

    Attributes:
        name: the file's name, for a member of an archive `libx.a(member.o)`.
        kind: `object`, `archive`, or `foreign`: another format, which `machine` names, not read further.
        machine: `x86-64`, `aarch64`, `aie2`, `aie2p`, …, or `machine 999` for a number without a name
            here; of an archive that of its members, `mixed` where they differ, empty where there are none.
        defined: symbols that it defines for others, by name; of an archive, of all members (the first one's).
        undefined: symbols that it needs; of an archive, those that no member defines.
        weakly_undefined: symbols that it uses where they happen to be there.
        members: of an archive, in its order.
    """

    name: str
    kind: str
    machine: str
    defined: Mapping[str, Symbol] = field(default_factory=dict)
    undefined: frozenset[str] = frozenset()
    weakly_undefined: frozenset[str] = frozenset()
    members: tuple[ObjectFile, ...] = ()

    @property
    def arch(self) -> str | None:
        """`aie2`, `aie2p` or `aie` for AI Engine code, `host` for a machine that runs Python, else None."""
        if self.machine in _AIE_FLAGS.values():
            return self.machine
        return "host" if self.machine in _MACHINES.values() else None


def read(path: Path) -> ObjectFile:
    """Return what the file defines and needs.

    Raises:
        CheckError: it cannot be read, is neither an object nor an archive, is damaged, or is a thin archive.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckError(f"cannot read {path}: {error.strerror or error}") from error
    if content.startswith(_THIN_ARCHIVE):
        raise CheckError(
            f"{path} is a thin archive, which only points to its members",
            hint="make it without `T` (`ar rcs`), so that it holds them",
        )
    if content.startswith(_ARCHIVE):
        return _archive(path, content)
    return _object(path.name, content, str(path))


def contents(path: Path, name: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of an ELF object, or of each ELF member of an archive; other formats are left out.

    Args:
        path: the file.
        name: what messages call it, where that is not the file's own name.

    Raises:
        CheckError: it is an archive that is damaged.
    """
    content, called = path.read_bytes(), name or path.name
    if content.startswith(_ARCHIVE):
        parts = ((f"{called}({member})", data) for member, data in _members(path, content))
        yield from ((member, data) for member, data in parts if data.startswith(_ELF))
    elif content.startswith(_ELF):
        yield called, content


def plain_name(mangled: str) -> str | None:
    """Return the last name of a C++ function's symbol (Itanium mangling); None for any other symbol.

    Only names are read, not types: `_Z8zero_i32Pi` and `_ZN2mm8zero_i32EPi` both give `zero_i32`.
    """
    if not mangled.startswith("_Z"):
        return None
    rest = mangled[2:].removeprefix("L")
    nested = rest.startswith("N")
    rest = re.sub(r"^N[rVK]*", "", rest)
    name = None
    while match := re.match(r"(\d+)", rest):
        length = int(match.group(1))
        name, rest = rest[match.end() : match.end() + length], rest[match.end() + length :]
        if not nested:
            break
    return name


def _object(name: str, content: bytes, path: str) -> ObjectFile:
    """Read one object, or the member of an archive."""
    for magic, machine in _FOREIGN.items():
        if content.startswith(magic):
            return ObjectFile(name, "foreign", machine)
    if not content.startswith(_ELF):
        raise CheckError(f"{path} is not an object file or an archive", hint=_what_it_is(content))
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - slow to import, needed for objects only

    try:
        return _elf(name, content)
    except (ELFError, ValueError, KeyError, IndexError, AssertionError) as error:
        raise CheckError(f"{path} is damaged: its ELF symbol table cannot be read ({error})") from error


def _what_it_is(content: bytes) -> str:
    """Return a hint about a file that is no object."""
    if not content:
        return "the file is empty"
    if b"\0" not in content[:512]:
        return f"it begins with the text {content[:24].decode('utf-8', 'replace').strip()!r}"
    return f"it begins with the bytes {content[:4].hex(' ')}"


def _elf(name: str, content: bytes) -> ObjectFile:
    """Read an ELF object's symbol table."""
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - slow to import, needed for objects only

    elf = ELFFile(stream(content))
    defined: dict[str, Symbol] = {}
    undefined: dict[str, set[str]] = {"strong": set(), "weak": set()}
    for entry in symbols(elf):
        binding = _BINDINGS.get(entry["st_info"]["bind"])
        if binding is None or not entry.name:
            continue
        section = entry["st_shndx"]
        if section == "SHN_UNDEF":
            undefined[binding].add(entry.name)
            continue
        common = section == "SHN_COMMON" or entry["st_info"]["type"] == "STT_COMMON"
        kind = _KINDS.get(entry["st_info"]["type"], "other")
        defined[entry.name] = Symbol(entry.name, "common" if common else binding, kind)
    return ObjectFile(
        name,
        "object",
        _machine(content),
        defined,
        frozenset(undefined["strong"] - defined.keys()),
        frozenset(undefined["weak"] - defined.keys()),
    )


def stream(content: bytes) -> BytesIO:
    """Return the bytes as the file that pyelftools wants."""
    from io import BytesIO  # noqa: PLC0415 - with the slow imports that need it

    return BytesIO(content)


def symbols(elf: Any) -> Iterator[Any]:
    """Yield the entries of the static symbol table; of the dynamic one where there is no static one."""
    tables = [section for section in elf.iter_sections() if section["sh_type"] in ("SHT_SYMTAB", "SHT_DYNSYM")]
    tables.sort(key=lambda section: section["sh_type"] != "SHT_SYMTAB")
    for table in tables[:1]:
        yield from table.iter_symbols()


def _machine(content: bytes) -> str:
    """Return the name of an ELF header's machine, for AI Engines with the arch that its flags tell."""
    order: Literal["big", "little"] = "big" if content[5] == 2 else "little"
    wide = content[4] == 2
    machine = int.from_bytes(content[18:20], order)
    flags = int.from_bytes(content[48:52] if wide else content[36:40], order)
    if machine == _AIE_MACHINE:
        return _AIE_FLAGS.get(flags & 0xFF, f"AI Engine with flags {flags:#x}")
    return _MACHINES.get(machine, f"machine {machine}")


def _archive(path: Path, content: bytes) -> ObjectFile:
    """Read an archive's members, each with its own symbols."""
    members = tuple(
        replace(_object(name, data, f"{path}({name})"), name=f"{path.name}({name})")
        for name, data in _members(path, content)
    )
    defined: dict[str, Symbol] = {}
    for member in members:
        for symbol in member.defined.values():
            defined.setdefault(symbol.name, symbol)
    machines = {member.machine for member in members}
    return ObjectFile(
        path.name,
        "archive",
        machines.pop() if len(machines) == 1 else "mixed" if machines else "",
        defined,
        frozenset().union(*(member.undefined for member in members)) - defined.keys(),
        frozenset().union(*(member.weakly_undefined for member in members)) - defined.keys(),
        members,
    )


def _members(path: Path, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each member that is not a table of the archive itself."""
    long_names = b""
    position = len(_ARCHIVE)
    while position < len(content):
        header = content[position : position + _HEADER_SIZE]
        if len(header) < _HEADER_SIZE or header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            raise CheckError(f"{path} is damaged: no member of an archive begins at byte {position}")
        size = int(header[48:58])
        start = position + _HEADER_SIZE
        data = content[start : start + size]
        if len(data) < size:
            raise CheckError(f"{path} is damaged: it ends within a member")
        position = start + size + size % 2
        raw = header[:16].rstrip()
        if raw == b"//":
            long_names = data
            continue
        name, data = _member_name(raw, data, long_names)
        if not _is_table(raw, name):
            yield name, data


def _member_name(raw: bytes, data: bytes, long_names: bytes) -> tuple[str, bytes]:
    """Return a member's name and its content without a name written before it (BSD)."""
    if raw.startswith(b"#1/") and raw[3:].isdigit():
        length = int(raw[3:])
        return data[:length].rstrip(b"\0").decode("utf-8", "replace"), data[length:]
    if raw.startswith(b"/") and raw[1:].isdigit():
        rest = long_names[int(raw[1:]) :]
        return rest.split(b"\n", 1)[0].removesuffix(b"/").decode("utf-8", "replace"), data
    return raw.removesuffix(b"/").decode("utf-8", "replace"), data


def _is_table(raw: bytes, name: str) -> bool:
    """Tell an archive's index of symbols (GNU, 64 bits wide or not, and BSD) from its members."""
    return raw in (b"/", b"/SYM64/") or name.startswith("__.SYMDEF")
