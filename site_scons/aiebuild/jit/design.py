"""A design that a program describes: written as a small project, and built as such."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.errors import RecipeError
from aiebuild.files import write_atomically
from aiebuild.jit import targets
from aiebuild.jit.functions import LinkedFile, linked_files
from aiebuild.model import digest_key

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from aiebuild.built import Built
    from aiebuild.jit.functions import ExternalFunction

FOLDER = "build/jit"
_DESIGN_NAME = re.compile(r"[A-Za-z_]\w*\Z")

SCONSTRUCT = '''\
"""Written by aiebuild.jit; `scons` builds it, and a copy of the folder is a project to keep and to change."""

from aiebuild.scons import start

start.main(ARGLIST, COMMAND_LINE_TARGETS)
'''


@dataclass(frozen=True)
class Design:
    """A design made of external functions and MLIR.

    Args:
        name: what the design is called.
        mlir: its text; each declaration's `link_with` is the `bin_name` of the function.
        functions: the external functions that it declares.
        devices: those that it can be built for; the host takes the first.
        arguments: names and meanings of the runtime sequence's arguments, in their order.
        parameters: whole numbers that the text is a Jinja2 template of, with their values here.
        rules: what must hold between them, and what to say where it does not.
        description: one line.
        is_template: whether the text is a template; one with parameters always is.

    Raises:
        RecipeError: the name is none, or the functions contradict each other.
    """

    name: str
    mlir: str
    functions: tuple[ExternalFunction, ...] = ()
    devices: tuple[str, ...] = ("npu1_1col",)
    arguments: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    description: str = "made by aiebuild.jit"
    is_template: bool = False

    def __post_init__(self) -> None:
        if not _DESIGN_NAME.match(self.name):
            raise RecipeError(f"{self.name!r} is not a name of a design", hint="letters, digits and _")
        object.__setattr__(self, "functions", tuple(self.functions))
        object.__setattr__(self, "devices", tuple(self.devices))
        _ = self.linked

    @property
    def linked(self) -> tuple[LinkedFile, ...]:
        """The files that are linked, each once, whatever number of functions it defines."""
        return linked_files(self.functions)

    @property
    def mlir_file(self) -> str:
        """The name of the file that the text is written to."""
        return f"{self.name}.mlir{'.j2' if self.is_template or self.parameters else ''}"

    @property
    def key(self) -> str:
        """The name of the folder: that of the design, and a digest of all that is written."""
        return f"{self.name}-{digest_key(sorted(self.files().items()))}"

    def files(self) -> dict[str, str]:
        """Return the text of each file of the project, by its path there."""
        place = f"designs/{self.name}"
        return {
            "SConstruct": SCONSTRUCT,
            f"{place}/design.yaml": self._contract(),
            f"{place}/SConscript": self._recipe(),
            f"{place}/{self.mlir_file}": self.mlir,
            **{source_path(each): each.source.text for each in self.linked if each.source.text is not None},
        }

    def folder(self, root: str | os.PathLike[str] = ".") -> Path:
        """Return the folder of the project, below a folder of the user's: `build/jit/<key>`."""
        return Path(root).absolute() / FOLDER / self.key

    def write(self, root: str | os.PathLike[str] = ".") -> Path:
        """Write the project, where it is not there yet, and return its folder."""
        folder = self.folder(root)
        for name, text in self.files().items():
            _write(folder / name, text)
        return folder

    def plan(self, root: str | os.PathLike[str] = ".", *, arch: str = "host") -> tuple[Path, ...]:
        """Return the files that building for an arch makes, in the order of the steps. Nothing is written.

        Raises:
            RecipeError: there is no device of that arch.
        """
        folder = self.folder(root)
        sources = {each.name: each.source.file or source_path(each) for each in self.linked}
        found = targets.of(self.name, self.mlir_file, self.devices, self.linked, sources, arch=arch)
        return tuple(folder / name for name in found)

    def build(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        arch: str = "host",
        mode: str = "release",
        progress: Callable[[str], None] | None = None,
    ) -> Built:
        """Write the project and build it, where it is not up to date; see `Project.build`.

        Raises:
            BuildError: what the command says where it fails.
        """
        from aiebuild.project import Project  # noqa: PLC0415 - describing a design needs none of it

        return Project(self.write(root)).build(self.name, arch, mode=mode, progress=progress)

    def _contract(self) -> str:
        lines = [f"description: {json.dumps(self.description)}", f"devices: [{', '.join(self.devices)}]"]
        lines += ["parameters:"] if self.parameters else []
        lines += [f"  {name}: {{type: int, default: {value}}}" for name, value in self.parameters.items()]
        lines += ["require:"] if self.rules else []
        lines += [f"  - {{that: {json.dumps(that)}, message: {json.dumps(said)}}}" for that, said in self.rules.items()]
        meanings = ", ".join(f"{name}: {json.dumps(meaning)}" for name, meaning in self.arguments.items())
        lines += [f"arguments: {{{meanings}}}"] if self.arguments else []
        return "\n".join(lines) + "\n"

    def _recipe(self) -> str:
        files = self.linked
        names = [f"file_{number}" for number in range(len(files))] if len(files) > 1 else ["file"][: len(files)]
        words = [f"{name} = {_word(each)}\n" for name, each in zip(names, files, strict=True)]
        design = f"env.Design(mlir={self.mlir_file!r}, link_with=[{', '.join(names)}])\n".replace("'", '"')
        start = f'"""{self.name}: written by aiebuild.jit."""\n'
        return "\n".join([start, 'Import("env", "p")\n', *words, design])


def source_path(file: LinkedFile) -> str:
    """Return where a source that is given as a text is written, relative to the project."""
    stem, _, kind = file.name.rpartition(".")
    return f"kernels/{'archives/' if kind == 'a' else ''}{stem}.cc"


def _word(file: LinkedFile) -> str:
    """Return the word of a recipe that stands for a file to link."""
    stem, _, kind = file.name.rpartition(".")
    source = json.dumps(file.source.file if file.source.text is None else f"#{source_path(file)}", ensure_ascii=False)
    is_archive = kind == "a"
    lines = [
        f"    sources=[{source}]," if is_archive else f"    source={source},",
        f"    functions={_texts(file.functions)},",
    ]
    lines += [f"    include_dirs={_texts(file.source.include_dirs)},"] if file.source.include_dirs else []
    lines += [f"    flags={_texts(file.source.flags)},"] if file.source.flags else []
    lines += [f"    filename={json.dumps(file.name)},"] if is_archive else []
    word = "CoreArchive" if is_archive else "CoreObject"
    return "\n".join([f"env.{word}(", f"    {json.dumps(stem)},", *lines, ")"])


def _texts(values: tuple[str, ...]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _write(path: Path, text: str) -> None:
    """Write a file that is not there as it should be; one that is keeps its times."""
    try:
        if path.read_bytes() == text.encode():
            return
    except OSError:
        pass
    write_atomically(path, text)
