"""Descriptions of external functions and of what they are compiled from. Making one reads and writes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild.errors import RecipeError
from aiebuild.model import NAME, SYMBOL, digest_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiebuild.jit.types import ArgumentType


@dataclass(frozen=True)
class Source:
    """What a compiler is given: a text or a file (absolute), flags and include folders (absolute), in their order."""

    text: str | None
    file: str | None
    flags: tuple[str, ...]
    include_dirs: tuple[str, ...]

    @property
    def object_name(self) -> str:
        """The name of the object, where nobody gives one: equal sources have equal names, others have others."""
        stem = Path(self.file).stem if self.file is not None else ""
        digest = digest_key((self.text, self.file, self.flags, self.include_dirs))[:8]
        return f"{stem if NAME.match(stem) else 'external'}-{digest}.o"


@dataclass(frozen=True, init=False)
class ExternalArchive:
    """One file that several functions are linked from, compiled with flags that are said once.

    Args:
        file_name: the name that MLIR's `link_with` uses: `<name>.o`, or `<name>.a` for an archive.
        source_string: the C++ source; or
        source_file: the file that holds it.
        compile_flags: options of the compiler, in order.
        include_dirs: folders that are searched for headers, in order.

    Raises:
        RecipeError: the name is not one of an object or archive, or there is not exactly one source.
    """

    file_name: str
    source: Source

    def __init__(
        self,
        file_name: str,
        *,
        source_string: str | None = None,
        source_file: str | os.PathLike[str] | None = None,
        compile_flags: Iterable[str] = (),
        include_dirs: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        what = f"ExternalArchive {file_name!r}"
        _check_file_name(what, file_name)
        object.__setattr__(self, "file_name", file_name)
        object.__setattr__(self, "source", _source(what, source_string, source_file, compile_flags, include_dirs))


@dataclass(frozen=True, init=False)
class ExternalFunction:
    """A function that a core calls, and what it is compiled from.

    Args:
        name: its symbol: what the source declares `extern "C"`.
        source_string: the C++ source; or
        source_file: the file that holds it.
        arg_types: its arguments: `np.ndarray[(16,), np.dtype[np.int32]]` for an array, `np.int32` for a number.
        include_dirs: folders that are searched for headers, in order.
        compile_flags: options of the compiler, in order.
        object_file_name: the name that MLIR's `link_with` uses; made from the source when left out.
        archive: what it is linked from, instead of a source of its own.

    Raises:
        RecipeError: the name is none of a function, or there is not exactly one of source and archive.
    """

    name: str
    source: Source
    arg_types: tuple[Any, ...]
    object_file_name: str | None
    archive: ExternalArchive | None

    def __init__(
        self,
        name: str,
        *,
        source_string: str | None = None,
        source_file: str | os.PathLike[str] | None = None,
        arg_types: Iterable[Any] = (),
        include_dirs: Iterable[str | os.PathLike[str]] = (),
        compile_flags: Iterable[str] = (),
        object_file_name: str | None = None,
        archive: ExternalArchive | None = None,
    ) -> None:
        what = f"ExternalFunction {name!r}"
        if not SYMBOL.match(name):
            raise RecipeError(f"{what}: that is not the name of a function", hint="the plain symbol, without types")
        if object_file_name is not None:
            _check_file_name(what, object_file_name)
        own = (source_string, source_file, object_file_name, *compile_flags, *include_dirs)
        if archive is not None and any(value is not None for value in own):
            raise RecipeError(f"{what} has an archive, which says source, flags and name", hint="leave them out here")
        source = archive.source if archive else _source(what, source_string, source_file, compile_flags, include_dirs)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "arg_types", tuple(arg_types))
        object.__setattr__(self, "object_file_name", object_file_name)
        object.__setattr__(self, "archive", archive)

    @property
    def bin_name(self) -> str:
        """The name of the file that defines it, as MLIR's `link_with` says it."""
        if self.archive is not None:
            return self.archive.file_name
        return self.object_file_name or self.source.object_name

    @property
    def types(self) -> tuple[ArgumentType, ...]:
        """The types of its arguments.

        Raises:
            RecipeError: one of them is none that a kernel can take.
        """
        from aiebuild.jit.types import argument_type  # noqa: PLC0415 - only a design needs them

        return tuple(argument_type(given, self.name) for given in self.arg_types)

    @property
    def declaration(self) -> str:
        """How MLIR declares it."""
        types = ", ".join(str(each) for each in self.types)
        return f'func.func private @{self.name}({types}) attributes {{link_with = "{self.bin_name}"}}'


@dataclass(frozen=True)
class LinkedFile:
    """A file that a design links: its name, what it is compiled from, and the functions that it defines."""

    name: str
    source: Source
    functions: tuple[str, ...]


def linked_files(functions: Iterable[ExternalFunction]) -> tuple[LinkedFile, ...]:
    """Return the files that functions are linked from, each once.

    Raises:
        RecipeError: two functions have one name, or one file is to be made from two different sources.
    """
    by_name: dict[str, ExternalFunction] = {}
    users: dict[str, list[ExternalFunction]] = {}
    for function in functions:
        first = by_name.setdefault(function.name, function)
        if first != function:
            raise RecipeError(f"two different functions are called {function.name!r}", hint="give one another name")
        if first is function or function not in users.get(function.bin_name, []):
            users.setdefault(function.bin_name, []).append(function)
    return tuple(_linked_file(name, members) for name, members in users.items())


def _linked_file(name: str, members: list[ExternalFunction]) -> LinkedFile:
    source = members[0].source
    other = next((each for each in members if each.source != source), None)
    if other is not None:
        message = f"two different recipes for {name}: those of {members[0].name!r} and {other.name!r}"
        raise RecipeError(message, hint="give one of them another object_file_name=, or say the same in both")
    if source.file is not None and not Path(source.file).is_file():
        raise RecipeError(
            f"{members[0].name!r}: there is no file {source.file}", hint="source_file= names a C++ source"
        )
    return LinkedFile(name, source, tuple(dict.fromkeys(each.name for each in members)))


def _source(
    what: str,
    text: str | None,
    file: str | os.PathLike[str] | None,
    flags: Iterable[str],
    include_dirs: Iterable[str | os.PathLike[str]],
) -> Source:
    if (text is None) == (file is None):
        hint = 'source_string="..." or source_file="x.cc"'
        raise RecipeError(f"{what} needs a text or a file as its source, and not both", hint=hint)
    if isinstance(flags, str) or isinstance(include_dirs, str):
        raise RecipeError(f"{what}: compile_flags and include_dirs are lists", hint='compile_flags=["-DN=4"]')
    # Absolute, since the design is a project in a folder of its own.
    found = os.path.abspath(file) if file is not None else None  # noqa: PTH100 - Path.resolve would follow links
    folders = tuple(os.path.abspath(folder) for folder in include_dirs)  # noqa: PTH100 - the same
    return Source(text, found, tuple(flags), folders)


def _check_file_name(what: str, name: str) -> None:
    if not NAME.match(name) or not name.endswith((".o", ".a")) or len(name) <= 2:
        hint = "a name without a folder that ends in .o (an object) or .a (an archive)"
        raise RecipeError(f"{what}: {name!r} is not a name of a file to link", hint=hint)
