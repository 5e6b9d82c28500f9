"""The words of a recipe as frozen values, checked when they are made."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Union

from aiebuild.errors import Location, RecipeError, did_you_mean
from aiebuild.toolchains.aiecc_options import AieccOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*\Z")
SYMBOL = re.compile(r"[A-Za-z_$.][A-Za-z0-9_$.]*\Z")
MLIR_FILE = re.compile(r"(\.mlir|\.mlir\.j2|\.py|\.py:[A-Za-z_]\w*)\Z")
KEY_DIGITS = 12

TOP = "top"
"""The function that an outline without a name is about."""

Outline = tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
"""Pairs of a function and its requests: each one stage, or the first and the last of a range."""

Defines = tuple[tuple[str, str | None], ...]


def digest_key(parts: Sequence[object]) -> str:
    """Return the short digest that file names of shared results carry."""
    text = json.dumps(parts, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


@dataclass(frozen=True)
class Compilation:
    """How one source becomes one object, whoever asks for it: all that the object's key is made of.

    `source` is a path relative to the project, or the text itself where `is_text` is set. `flags` and
    `include_dirs` are in the order in which the compiler gets them. `renames` are pairs of old and new symbol. `inline`
    are the functions of a kernel that stays LLVM IR, to be merged into the cores that call it.
    """

    toolchain: str
    arch: str
    mode: str
    source: str
    is_text: bool = False
    flags: tuple[str, ...] = ()
    defines: Defines = ()
    include_dirs: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    inline: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The digest of everything above: equal recipes have equal keys, and share one object."""
        return digest_key(tuple(vars(self).values()))

    @property
    def stem(self) -> str:
        """The readable part of the object's name: that of its source, so that the key alone decides who shares."""
        return "text" if self.is_text else PurePosixPath(self.source).stem

    @property
    def object_name(self) -> str:
        """The file name of the object in the folder of shared objects."""
        return f"{self.stem}-{self.key}.{'ll' if self.inline else 'o'}"


@dataclass(frozen=True)
class CoreObject:
    """One translation unit for one arch; it may define several external functions.

    Args:
        name: the object's name; MLIR's `link_with` names it as `<name>.o`.
        source: the source file; `{arch}` in it stands for the arch, and falls back to the path without it.
        text: the source itself, instead of a file.
        host_source: another source of the same functions, in plain C++, that the host takes.
        functions: the external functions that it defines, as MLIR declares them.
        defines: preprocessor names and values, in order; None for a name without a value.
        include_dirs: folders to search for headers, in order.
        flags: compiler options, in order, after the defaults.
        symbol_prefix: put before each function's name, with an underscore, in the object's symbols.
        outline: for a source that is MLIR: stages that are compiled as functions of their own, as in Design.
        inline: whether it stays LLVM IR, which is merged into the cores that call it (`link_with_mode = "merge"`); its
            link name is `<name>.ll` then.
        filename: the name that `link_with` uses, where it is not `<name>.o`.
        where: the line of the recipe.
    """

    name: str
    source: str | None = None
    text: str | None = None
    host_source: str | None = None
    functions: tuple[str, ...] = ()
    defines: Defines = ()
    include_dirs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    symbol_prefix: str = ""
    inline: bool = False
    outline: Outline = ()
    filename: str = ""
    where: Location | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_name("CoreObject", self.name, self.where)
        if (self.source is None) == (self.text is None):
            problem = f"CoreObject {self.name!r} needs a source file or a text, and not both"
            raise RecipeError(problem, self.where, 'source="#kernels/x.cc" or text="..."')
        _check_symbols("CoreObject", self.name, self.functions, self.where)
        _check_filename(self.filename, self.where)
        if self.outline and not self.is_mlir:
            message = (
                f"CoreObject {self.name!r}: outline is for a source that is MLIR, not for {self.source or 'a text'}"
            )
            raise RecipeError(message, self.where, 'source="#kernels/x.mlir"')
        if self.is_mlir and (self.inline or self.symbol_prefix or self.defines or self.include_dirs or self.flags):
            message = (
                f"CoreObject {self.name!r} is MLIR, which has no flags, defines, include folders, prefix or inline"
            )
            raise RecipeError(message, self.where, "leave them out")
        if self.is_mlir and not self.functions:
            raise RecipeError(
                f"CoreObject {self.name!r} is MLIR and names no functions", self.where, 'functions=["..."]'
            )
        if self.inline and self.symbol_prefix:
            message = f"CoreObject {self.name!r} is inline, which excludes symbol_prefix: LLVM IR has no objcopy"
            raise RecipeError(message, self.where, "leave one of them out")
        if self.inline and not self.functions:
            message = f"CoreObject {self.name!r} is inline and names no functions"
            raise RecipeError(message, self.where, 'functions=["..."]: those that cores call')

    @property
    def is_mlir(self) -> bool:
        """Whether the source is MLIR."""
        return bool(self.source and self.source.endswith(".mlir"))

    @property
    def link_name(self) -> str:
        """The file name that MLIR's `link_with` uses for it."""
        return self.filename or f"{self.name}.{'ll' if self.inline else 'o'}"

    @property
    def renames(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a function's own symbol and the one with the prefix."""
        if not self.symbol_prefix:
            return ()
        return tuple((function, f"{self.symbol_prefix}_{function}") for function in self.functions)


@dataclass(frozen=True)
class CoreArchive:
    """Several translation units in one `lib<name>.a`; flags, defines and include folders are said once for all.

    Args:
        name: the archive's name; MLIR's `link_with` names it as `lib<name>.a`.
        sources: the members' source files, as in CoreObject.
        host_sources: other sources of the same functions that the host takes instead of all of `sources`.
        functions: the external functions that its members define.
        defines, include_dirs, flags, filename, where: as in CoreObject.
    """

    name: str
    sources: tuple[str, ...] = ()
    host_sources: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    defines: Defines = ()
    include_dirs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    filename: str = ""
    where: Location | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_name("CoreArchive", self.name, self.where)
        if not self.sources:
            message = f"CoreArchive {self.name!r} has no sources"
            raise RecipeError(message, self.where, 'sources=["#kernels/x.cc", ...]')
        repeated = next((source for source in self.sources if self.sources.count(source) > 1), None)
        if repeated is not None:
            raise RecipeError(f"CoreArchive {self.name!r} names the source {repeated!r} twice", self.where)
        _check_symbols("CoreArchive", self.name, self.functions, self.where)
        _check_filename(self.filename, self.where)

    @property
    def link_name(self) -> str:
        """The file name that MLIR's `link_with` uses for it."""
        return self.filename or f"lib{self.name}.a"


CORE_TOOLCHAINS = ("peano", "chess")
"""What compiles for AI Engines; all objects of a design come from one of them."""


@dataclass(frozen=True)
class Prebuilt:
    """An object or archive that somebody else compiled.

    Args:
        name: what the recipe calls it.
        file: where it is; `{arch}` in it stands for the arch.
        functions: the external functions that it defines.
        filename: the name that `link_with` uses, where it is not the file's own.
        toolchain: what compiled it for an AI Engine, `peano` or `chess`, where it is known.
        where: the line of the recipe.
    """

    name: str
    file: str = ""
    functions: tuple[str, ...] = ()
    filename: str = ""
    toolchain: str = ""
    where: Location | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_name("Prebuilt", self.name, self.where)
        if self.toolchain not in ("", *CORE_TOOLCHAINS):
            message = f"Prebuilt {self.name!r}: toolchain={self.toolchain!r} compiles no cores"
            hint = did_you_mean(self.toolchain, CORE_TOOLCHAINS)
            raise RecipeError(message, self.where, hint)
        if not self.file:
            message = f"Prebuilt {self.name!r} names no file"
            raise RecipeError(message, self.where, 'file="#lib/{arch}/x.o"')
        _check_symbols("Prebuilt", self.name, self.functions, self.where)
        _check_filename(self.filename, self.where)

    @property
    def link_name(self) -> str:
        """The file name that MLIR's `link_with` uses for it."""
        return self.filename or PurePosixPath(self.file).name


@dataclass(frozen=True)
class MlirModule:
    """A module of MLIR whose functions designs can import.

    Args:
        name: what the recipe calls it.
        source: the file: `.mlir`, custom or generic.
        entry: the function that it is imported for; all of its public ones where it is left out.
        where: the line of the recipe.
    """

    name: str
    source: str = ""
    entry: str = ""
    where: Location | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _check_name("MlirModule", self.name, self.where)
        if not self.source.endswith(".mlir"):
            message = f"MlirModule {self.name!r} names no .mlir file"
            raise RecipeError(message, self.where, 'source="#modules/x.mlir"')


Linkable = Union[CoreObject, CoreArchive, Prebuilt]  # noqa: UP007 - evaluated at run time, where 3.10 is the oldest Python


@dataclass(frozen=True)
class Design:
    """MLIR, what it links, and how its result is checked.

    Args:
        mlir: the design's MLIR, beside the recipe: a Jinja2 template (`.mlir.j2`), plain MLIR (`.mlir`), a script that
            prints it (`.py`), or a function that returns it (`.py:function`).
        link_with: the objects and archives that the MLIR's `link_with` names.
        check: a Python file with `inputs` and `reference`, beside the recipe.
        imports: modules whose functions the MLIR calls; they become part of it.
        outline: stages of a function that become functions of their own: the function `top`'s, as a list of stages
            and (first, last) ranges, or a mapping from functions to such lists.
        pretty: whether aie-opt verifies the checked MLIR and writes its own form of it beside, `<design>.pretty.mlir`.
        outputs: what aiecc makes of it for the NPU: `xclbin`, `insts`, `pdi`, `elf` (insts ELF), `full_elf`, `cdo`,
            `txn`, `ctrlpkt`, `core_elfs`, `physical_mlir`.
        name: the design's name; its folder's where it is left out.
        stable_uuid: whether the xclbin gets a UUID that follows from its content, instead of a random one.
        aiecc: options of aiecc that change the result; a recipe writes them as keywords of `Design`.
        where: the line of the recipe.
    """

    mlir: str
    link_with: tuple[Linkable, ...] = ()
    check: str | None = None
    imports: tuple[MlirModule, ...] = ()
    outline: Outline = ()
    pretty: bool = False
    outputs: tuple[str, ...] = ("xclbin", "insts")
    name: str = ""
    stable_uuid: bool = False
    aiecc: AieccOptions = field(default_factory=AieccOptions)
    where: Location | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.name:
            _check_name("Design", self.name, self.where)
        if not MLIR_FILE.search(self.mlir):
            hint = "a template <name>.mlir.j2, plain MLIR <name>.mlir, or Python <name>.py or <name>.py:function"
            raise RecipeError(f"Design cannot read MLIR from {self.mlir!r}", self.where, hint)
        for item in self.link_with:
            if not isinstance(item, (CoreObject, CoreArchive, Prebuilt)):
                message = f"link_with takes CoreObject, CoreArchive or Prebuilt values, not {item!r}"
                raise RecipeError(message, self.where, 'mm = env.CoreObject("mm", ...); link_with=[mm]')
        for module in self.imports:
            if not isinstance(module, MlirModule):
                message = f"imports takes MlirModule values, not {module!r}"
                raise RecipeError(message, self.where, 'm = env.MlirModule("m", source="..."); imports=[m]')
        _check_link_names(self.link_with, self.where)


def _check_name(word: str, name: object, where: Location | None) -> None:
    if isinstance(name, str) and NAME.match(name):
        return
    hint = "letters, digits and _ . + -, beginning with a letter or _"
    raise RecipeError(f"{word}: {name!r} is not a name for a file", where, hint)


def _check_filename(name: str, where: Location | None) -> None:
    if name and ("/" in name or "\\" in name):
        hint = "the folder is the build's affair: give the name that link_with uses in the MLIR"
        raise RecipeError(f"filename {name!r} has a folder in it", where, hint)


def _check_symbols(word: str, name: str, functions: tuple[str, ...], where: Location | None) -> None:
    for function in functions:
        if not SYMBOL.match(function):
            message = f"{word} {name!r}: {function!r} is not the name of a function"
            raise RecipeError(message, where, "the plain symbol, without @ and without types")


def _check_link_names(items: tuple[Linkable, ...], where: Location | None) -> None:
    seen: dict[str, Linkable] = {}
    for item in items:
        first = seen.setdefault(item.link_name, item)
        if first != item:
            message = f"two different recipes for {item.link_name}: the other one is at {first.where}"
            hint = "give one of them another name, or another filename="
            raise RecipeError(message, item.where or where, hint)
