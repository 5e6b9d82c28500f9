"""The flow of a kernel that is MLIR: stages cut out, each piece compiled by itself, or the whole one translated.

The pieces are those that the recipe's `outline` names, known before anything is built; an edit of one stage changes one
piece, and recompiles one object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.flow import NO_READER, NativeReader, Planned, outline_words
from aiebuild.flow_objects import plan_archive
from aiebuild.step import Step
from aiebuild.toolchains.mlir_tools import MlirFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiebuild.flow import Origin
    from aiebuild.model import Outline
    from aiebuild.step import Command
    from aiebuild.toolchains.compiler import Toolchain
    from aiebuild.toolchains.python import PythonTool

REST = "rest"
"""The name of the piece with what no stage took."""


@dataclass(frozen=True)
class MlirKernel:
    """A kernel that is MLIR.

    Args:
        source: its file, relative to the project.
        functions: what it must define.
        outline: what is cut out of its functions.
        link_name: the name that `link_with` uses.
        base: the path of what is made of it, without a suffix.
        origin: the recipe's word.
    """

    source: str
    functions: tuple[str, ...]
    outline: Outline
    link_name: str
    base: str
    origin: Origin

    @property
    def pieces(self) -> tuple[str, ...]:
        """The functions that become modules of their own: `Stage_<a>` or `Stage_<a>_<b>`."""
        return tuple(f"Stage_{'_'.join(request)}" for _, requests in self.outline for request in requests)


@dataclass(frozen=True)
class MlirFlow:
    """What plans such kernels: our own commands, and what compiles a module; None translates it.

    `native` reads a kernel that the built-in reader does not know.
    """

    mlir: PythonTool
    toolchain: Toolchain
    commands: Callable[[MlirFiles], tuple[Command, ...]] | None
    identity: str = ""
    refused: str = ""
    core: bool = False
    native: NativeReader = NO_READER

    def plan(self, kernel: MlirKernel) -> tuple[tuple[Planned, ...], str]:
        """Return the steps, and the file that they end in: an object or archive, or a module to import."""
        cut, module = self._outline(kernel)
        if self.commands is None:
            output = f"{kernel.base}.generic.mlir"
            ready = self._ready(kernel, module, output, kernel.functions, native=False)
            return (*cut, ready), output
        if not kernel.pieces:
            steps, obj = self._compile(kernel, module, kernel.base, kernel.functions)
            return (*cut, *steps), obj
        return self._pieces(kernel, cut, module)

    def _pieces(self, kernel: MlirKernel, cut: tuple[Planned, ...], module: str) -> tuple[tuple[Planned, ...], str]:
        steps, objects = list(cut), []
        for name in (*kernel.pieces, REST):
            piece = f"{kernel.base}.{name}.mlir"
            what = (
                tuple(word for other in kernel.pieces for word in ("--without", other))
                if name == REST
                else ("--only", name)
            )
            steps.append(
                self._step(kernel, f"cut     {piece}", piece, ("split", module, *what, "-o", piece), (module,))
            )
            promised = kernel.functions if name == REST else (name,)
            made, obj = self._compile(kernel, piece, f"{kernel.base}.{name}", promised)
            steps += made
            objects.append(obj)
        archive = f"{kernel.base}.a"
        steps.append(plan_archive(self.toolchain, tuple(objects), archive, kernel.origin))
        return tuple(steps), archive

    def _outline(self, kernel: MlirKernel) -> tuple[tuple[Planned, ...], str]:
        steps, module = [], kernel.source
        for position, (function, requests) in enumerate(kernel.outline):
            output = f"{kernel.base}.outlined{position}.mlir"
            words = ("outline", module, "--func", function, *outline_words(requests), "--no-dedupe", "-o", output)
            steps.append(self._step(kernel, f"outline {output}", output, words, (module,)))
            module = output
        return tuple(steps), module

    def _compile(
        self, kernel: MlirKernel, module: str, base: str, functions: tuple[str, ...]
    ) -> tuple[tuple[Planned, ...], str]:
        ready = f"{base}.ready.mlir"
        files = MlirFiles.beside(ready, f"{base}.o")
        assert self.commands is not None
        step = Step(
            label=f"compile {module}",
            commands=self.commands(files),
            outputs=(files.output, files.lowered, files.ir),
            identity=self.identity,
            refused=self.refused,
            where=kernel.origin.where,
            asked_by=kernel.origin.word,
        )
        made = self._ready(kernel, module, ready, functions, native=True)
        return (made, Planned("AieObject", step, (ready,))), files.output

    def _ready(
        self, kernel: MlirKernel, module: str, output: str, functions: tuple[str, ...], *, native: bool
    ) -> Planned:
        promised = tuple(word for name in functions for word in ("--function", name))
        how = ("--native",) if native else ("--stands-for", kernel.link_name)
        core = ("--static-buffers",) if self.core else ()
        words = ("kernel", module, *promised, *how, *core, "-o", output)
        return self._step(kernel, f"kernel  {output}", output, words, (module,))

    def _step(
        self, kernel: MlirKernel, label: str, output: str, words: tuple[str, ...], sources: tuple[str, ...]
    ) -> Planned:
        # What our own steps wrote is generic, and needs no other reader.
        native = self.native if sources == (kernel.source,) else NO_READER
        step = Step(
            label=label,
            commands=(self.mlir.command(*words, *native.words),),
            outputs=(output,),
            identity=self.mlir.identity + native.identity,
            where=kernel.origin.where,
            asked_by=kernel.origin.word,
        )
        return Planned("AieMlir", step, sources)
