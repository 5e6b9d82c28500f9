"""Checks of the files that a design links: what they define, for which machine, and who else defines it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aiebuild import elf
from aiebuild.errors import CheckError, Location, did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from aiebuild.elf import ObjectFile
    from aiebuild.mlir.facts import Core, Facts, Function


@dataclass(frozen=True)
class _Link:
    """What is to be checked: the facts, the files by the names of `link_with`, where they are declared."""

    facts: Facts
    objects: Mapping[str, Path]
    recipe: Mapping[str, Location]

    def declared(self, *names: str) -> str:
        """Return where the recipe declares the files, as far as it is known."""
        places = [f"{name} is declared at {self.recipe[name]}" for name in names if name in self.recipe]
        return "; ".join(places)


def check_objects(
    facts: Facts,
    objects: Mapping[str, Path],
    recipe: Mapping[str, Location] | None = None,
    arch: str | None = None,
) -> list[CheckError]:
    """Check that the linked files define what the cores call, once for each core, and for one machine.

    Symbols that no file defines are left to the linker: they may be a library's.

    Args:
        facts: of the module.
        objects: the file of each name that `link_with` uses.
        recipe: the line of the recipe that declares each name, for hints.
        arch: what the files should be for (`host`, `aie2`, `aie2p`); None to ask only that they agree.

    Returns:
        All errors, those of the files first.
    """
    link = _Link(facts, objects, recipe or {})
    errors: list[CheckError] = []
    files = _read(link, errors)
    errors += _check_machines(link, files, arch)
    errors += _check_definitions(link, files)
    errors += _check_duplicates(link, files)
    return errors


def check_promises(
    promises: Mapping[str, Sequence[str]], objects: Mapping[str, Path], recipe: Location | None = None
) -> list[CheckError]:
    """Check that files define the functions that their recipe promises, whether something calls them or not.

    Args:
        promises: functions by the name of their file, as `link_with` has it.
        objects: the file of each name.
        recipe: the line of the recipe that promises them.
    """
    errors: list[CheckError] = []
    for name, functions in promises.items():
        path = objects.get(name)
        if path is None:
            hint = did_you_mean(name, objects)
            errors.append(CheckError(f"no file is given for {name!r}, of which functions are promised", recipe, hint))
            continue
        try:
            file = _renamed(elf.read(path), name)
        except CheckError as error:
            errors.append(CheckError(error.message, recipe, error.hint))
            continue
        errors += [] if _is_opaque(file) else _broken(file, functions, recipe)
    return errors


def _broken(file: ObjectFile, functions: Sequence[str], recipe: Location | None) -> Iterator[CheckError]:
    """Yield an error for each promised function that a file does not define."""
    for function in dict.fromkeys(functions):
        found = file.defined.get(function)
        if found is None:
            message = f"{file.name} does not define {function!r}, which the recipe promises (functions=)"
            yield CheckError(message, recipe, _mangled(file, function) or _what_else(file, function))
        elif found.kind == "object":
            message = f"{file.name} defines {function!r} as data, the recipe promises a function (functions=)"
            yield CheckError(message, recipe)


def linked(files: Iterable[ObjectFile], roots: Iterable[str]) -> tuple[ObjectFile, ...]:
    """Return the objects that a linker takes: all that are named, of archives the members that are needed.

    Args:
        files: objects and archives in the order of the command line.
        roots: the symbols that are needed from the start.
    """
    given = list(files)
    taken = [file for file in given if file.kind != "archive"]
    waiting = [member for file in given for member in file.members]
    defined = {name for file in taken for name in file.defined}
    needed = set(roots).union(*(file.undefined for file in taken))
    while member := next((each for each in waiting if (needed - defined) & each.defined.keys()), None):
        waiting.remove(member)
        taken.append(member)
        defined |= member.defined.keys()
        needed |= member.undefined
    return tuple(taken)


def _read(link: _Link, errors: list[CheckError]) -> dict[str, ObjectFile]:
    """Read the files that the cores link, each once; add an error for each that cannot be read."""
    files: dict[str, ObjectFile] = {}
    wanted = {name: core.where for core in reversed(link.facts.cores) for name in core.link_files}
    for function in reversed(_called(link.facts)):
        if function.link_with:
            wanted[function.link_with] = function.where
    for name, place in sorted(wanted.items(), key=lambda item: (item[1].line or 0, item[0])):
        path = link.objects.get(name)
        if path is None:
            known = ", ".join(sorted(link.objects)) or "none"
            errors.append(CheckError(f"no file is given for link_with {name!r}", place, f"files: {known}"))
            continue
        if not path.is_file():
            errors.append(CheckError(f"{name} is not there: {path} is no file", place, link.declared(name)))
            continue
        try:
            files[name] = _renamed(elf.read(path), name)
        except CheckError as error:
            errors.append(CheckError(error.message, place, error.hint or link.declared(name)))
    return files


def _renamed(file: ObjectFile, name: str) -> ObjectFile:
    """Return the file under the name that the design knows it by."""
    members = (replace(member, name=name + member.name[len(file.name) :]) for member in file.members)
    return replace(file, name=name, members=tuple(members))


def _called(facts: Facts) -> list[Function]:
    """Return the external functions that some core calls."""
    called = {name for core in facts.cores for name in core.calls}
    return [function for function in facts.functions if function.name in called]


def _check_machines(link: _Link, files: Mapping[str, ObjectFile], arch: str | None) -> Iterator[CheckError]:
    """Yield an error for each file that is not for the machine that it should be for."""
    every = [(name, part) for name, file in files.items() for part in file.members or (file,)]
    parts = [(name, part) for name, part in every if part.kind == "object"]
    for name, part in parts:
        first = parts[0][1]
        wrong = part.machine != first.machine if arch is None else part.arch != arch
        if wrong:
            wanted = f"{first.name} is for {first.machine}" if arch is None else f"the design is for {arch}"
            yield CheckError(
                f"{part.name} is for {part.machine}, but {wanted}", _place(link, name), link.declared(name)
            )


def _place(link: _Link, name: str) -> Location | None:
    """Return the first line of the design that links a file."""
    places = [each.where for each in link.facts.functions if each.link_with == name]
    places += [core.where for core in link.facts.cores if name in core.link_files]
    return places[0] if places else None


def _check_definitions(link: _Link, files: Mapping[str, ObjectFile]) -> Iterator[CheckError]:
    """Yield an error for each called function that its file does not define."""
    for function in _called(link.facts):
        file = files.get(function.link_with or "")
        if file is None or _is_opaque(file):
            continue
        found = file.defined.get(function.name)
        if found is None:
            yield CheckError(
                f"{file.name} does not define {function.name}",
                function.where,
                _definition_hint(link, files, file, function.name),
            )
        elif found.kind == "object":
            yield CheckError(f"{file.name} defines {function.name} as data, not as a function", function.where)


def _is_opaque(file: ObjectFile) -> bool:
    """Tell whether the file, or a part of it, is of a format whose symbols are not read."""
    return file.kind == "foreign" or any(member.kind == "foreign" for member in file.members)


def _definition_hint(link: _Link, files: Mapping[str, ObjectFile], file: ObjectFile, name: str) -> str:
    """Return what the file defines instead of a function."""
    if mangled := _mangled(file, name):
        return mangled
    others = [other.name for other in files.values() if other is not file and name in other.defined]
    if others:
        return f'{others[0]} defines it: write link_with = "{others[0]}"'
    place = link.declared(file.name)
    return f"{_what_else(file, name)}{f'; {place}' if place else ''}"


def _mangled(file: ObjectFile, name: str) -> str:
    """Return a hint where the file defines the function under a C++ name, else nothing."""
    mangled = [symbol for symbol in sorted(file.defined) if elf.plain_name(symbol) == name]
    return f'it defines {mangled[0]}, a C++ name: declare the function extern "C" in the kernel' if mangled else ""


def _what_else(file: ObjectFile, name: str) -> str:
    """Return the nearest function that the file defines, and all of them."""
    functions = sorted(each.name for each in file.defined.values() if each.kind != "object")
    near = nearest(name, functions)
    start = f"did you mean {near!r}? " if near else ""
    return f"{start}it defines: {', '.join(functions) or 'nothing'}"


def _check_duplicates(link: _Link, files: Mapping[str, ObjectFile]) -> Iterator[CheckError]:
    """Yield an error for each two objects that one core links and that define one strong symbol."""
    clashes: dict[tuple[str, str], tuple[set[str], list[Core]]] = {}
    for core in link.facts.cores:
        for pair, names in _clashes([files[name] for name in core.link_files if name in files], core.calls):
            symbols, cores = clashes.setdefault(pair, (set(), []))
            symbols |= names
            cores.append(core)
    for (first, second), (symbols, cores) in clashes.items():
        places = ", ".join(f"({core.column}, {core.row})" for core in cores)
        shown = ", ".join(sorted(symbols)[:5]) + (", …" if len(symbols) > 5 else "")
        where_declared = link.declared(*(name.split("(")[0] for name in (first, second)))
        yield CheckError(
            f"{first} and {second} both define {shown}, and core {places} links both",
            cores[0].where,
            "give one of them a symbol_prefix=, or let both functions come from one shared object"
            + (f"; {where_declared}" if where_declared else ""),
        )


def _clashes(files: Sequence[ObjectFile], roots: Iterable[str]) -> Iterator[tuple[tuple[str, str], set[str]]]:
    """Yield each pair of linked objects with the strong symbols that both define."""
    taken = linked(files, roots)
    strong = [{s.name for s in file.defined.values() if s.binding == "strong"} for file in taken]
    for second in range(len(taken)):
        for first in range(second):
            if both := strong[first] & strong[second]:
                yield (taken[first].name, taken[second].name), both
