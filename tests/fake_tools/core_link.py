"""How the stand-in for aiecc links a core: files are looked for as the real one does, symbols are resolved."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from host_compiler import symbols
from module_text import Core, Device, external_calls

TARGET = re.compile(rb"(aie2p?)-none-unknown-elf")
COMPILER = re.compile(rb"compiled by chess")
ARCHES = (("npu1", "aie2"), ("npu2", "aie2p"), ("xcve", "aie2"))


class LinkError(Exception):
    """A core cannot be linked."""


@dataclass(frozen=True)
class Linked:
    """An object or a member of an archive: what it defines strongly and at all, what it needs, and its bytes."""

    name: str
    strong: frozenset[str]
    defined: frozenset[str]
    needed: frozenset[str]
    data: bytes


def link_core(device: Device, core: Core, look_in: tuple[Path, ...], compiler: str) -> bytes:
    """Return a digest that stands for a core's program.

    Raises:
        LinkError: a file is missing or of another arch, a symbol is undefined or defined twice.
    """
    functions = external_calls(device, core)
    files = list(dict.fromkeys(function.link_with for function in functions if function.link_with))
    merged = {function.link_with for function in functions if function.merged}
    arch = next((arch for prefix, arch in ARCHES if device.name.startswith(prefix)), "aie2")
    objects: list[Linked] = []
    members: list[Linked] = []
    for name in files:
        path = resolve(name, look_in)
        (members if name.endswith(".a") else objects).extend(read(path, arch, compiler, merged=name in merged))
    check_duplicates(objects)
    wanted = {function.name for function in functions}
    taken = pull(objects, members, wanted)
    check_duplicates(taken)
    defined = {name for item in taken for name in item.defined}
    undefined = sorted(wanted - defined)
    if undefined:
        raise LinkError(f"ld.lld: error: undefined symbol: {undefined[0]}")
    content = [hashlib.sha256(item.data).digest() for item in taken]
    return hashlib.sha256(b"".join(content) + f"{core.column},{core.row}".encode()).digest()


def resolve(name: str, look_in: tuple[Path, ...]) -> Path:
    """Return the file that is linked under a name: the working folder's first, then aiecc's own, then the module's."""
    places = [Path(name)] if Path(name).is_absolute() else [folder / name for folder in look_in]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise LinkError(f"ld.lld: error: cannot find {name}: No such file")
    return found


def read(path: Path, arch: str, compiler: str, *, merged: bool) -> list[Linked]:
    """Return the objects in a file."""
    if path.suffix == ".ll":
        return [read_text(path, arch, merged=merged)]
    data = path.read_bytes()
    if data.startswith(b"!<arch>\n"):
        return read_archive(path, arch, compiler)
    found = TARGET.search(data)
    if found is None or found[1].decode() != arch:
        kind = found[1].decode() if found else "this machine"
        raise LinkError(f"ld.lld: error: {path.name} is incompatible with elf32-{arch}: it is for {kind}")
    if not path.suffix == ".bc" and bool(COMPILER.search(data)) != (compiler == "chess"):
        raise LinkError(f"error: {path.name} was not compiled by {compiler}")
    rows = symbols(path) if path.suffix != ".bc" else [("T", name) for name in defined_in(data.decode("latin-1"))]
    return [of(path.name, rows, data)]


def read_text(path: Path, arch: str, *, merged: bool) -> Linked:
    """Return a kernel in LLVM IR, which is only merged."""
    text = path.read_text()
    if not merged:
        raise LinkError(f'ld.lld: error: {path.name}: textual IR needs link_with_mode = "merge"')
    if f'"{arch}-none-unknown-elf"' not in text:
        raise LinkError(f"{path.name} is incompatible with elf32-{arch}")
    return of(path.name, [("W", name) for name in defined_in(text)], text.encode())


def defined_in(text: str) -> list[str]:
    """Return the functions that LLVM IR defines."""
    return re.findall(r"^define [^\n]*?@([\w.$]+)\(", text, re.MULTILINE)


def read_archive(path: Path, arch: str, compiler: str) -> list[Linked]:
    """Return the members of an archive."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ar", "x", path.resolve()], cwd=folder, check=True)
        members = sorted(Path(folder).iterdir())
        return [item for member in members for item in read(member, arch, compiler, merged=False)]


def of(name: str, rows: list[tuple[str, str]], data: bytes) -> Linked:
    """Return an object from the rows of its symbol table."""
    strong = frozenset(symbol for kind, symbol in rows if kind in "TDBRC")
    defined = frozenset(symbol for kind, symbol in rows if kind in "TDBRCWVu")
    return Linked(name, strong, defined, frozenset(symbol for kind, symbol in rows if kind == "U"), data)


def pull(objects: list[Linked], members: list[Linked], wanted: set[str]) -> list[Linked]:
    """Return the objects, and the members of archives that are needed."""
    taken, waiting = list(objects), list(members)
    while True:
        defined = {name for item in taken for name in item.defined}
        needed = wanted.union(*(item.needed for item in taken)) - defined
        member = next((item for item in waiting if needed & item.defined), None)
        if member is None:
            return taken
        waiting.remove(member)
        taken.append(member)


def check_duplicates(items: list[Linked]) -> None:
    """Refuse a symbol that two objects define strongly."""
    seen: dict[str, str] = {}
    for item in items:
        for name in sorted(item.strong):
            if name in seen:
                raise LinkError(f"ld.lld: error: duplicate symbol: {name}\n>>> {seen[name]}\n>>> {item.name}")
            seen[name] = item.name
