"""The flow of objects and archives: from a source, or a text of the recipe, to what cores link."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from aiebuild.compiler_words import header_folders
from aiebuild.flow import Planned
from aiebuild.step import Step
from aiebuild.toolchains.compiler import archive_command, compile_command, inline_command, rename_command

if TYPE_CHECKING:
    from aiebuild.flow import Origin
    from aiebuild.model import Compilation
    from aiebuild.toolchains.compiler import Toolchain

SAME_EVERYWHERE = (("PWD", "/proc/self/cwd"),)
"""GCC and Clang take the folder that they write into debug information from here, where it is the current one: an
object with `-g` then does not depend on where the project lies, and a debugger that starts there finds the sources."""


def plan_object(compilation: Compilation, toolchain: Toolchain, output: str, origin: Origin) -> tuple[Planned, ...]:
    """Return the steps that make one object: its text as a file first, where it has no source file."""
    if not compilation.is_text:
        return (_compile(compilation, toolchain, compilation.source, output, origin),)
    source = f"{output.rpartition('.')[0]}.cc"
    written = Step(
        label=f"write   {source}",
        commands=(),
        outputs=(source,),
        text=compilation.source,
        where=origin.where,
        asked_by=origin.word,
    )
    return (
        Planned("AieText", written, ()),
        _compile(compilation, toolchain, source, output, origin),
    )


def _compile(compilation: Compilation, toolchain: Toolchain, source: str, output: str, origin: Origin) -> Planned:
    said = f"{output}.d.make"
    commands = _commands(compilation, toolchain, source, output, said)
    before = (".",) if "-include" in compilation.flags else ()
    folders = header_folders((*(f"-I{folder}" for folder in compilation.include_dirs), *compilation.flags))
    step = Step(
        label=f"compile {source}",
        commands=commands,
        outputs=(output,),
        identity=toolchain.identity,
        depfile=said if toolchain.has_depfiles else "",
        scans=not toolchain.has_depfiles,
        mutex=toolchain.name if toolchain.exclusive else "",
        refused=toolchain.missing,
        search=(*before, *folders, *toolchain.system_dirs),
        shipped=toolchain.system_dirs,
        variables=SAME_EVERYWHERE,
        where=origin.where,
        asked_by=origin.word,
    )
    return Planned("AieObject", step, (source,))


def _commands(
    compilation: Compilation, toolchain: Toolchain, source: str, output: str, said: str
) -> tuple[tuple[str, ...], ...]:
    """Return the commands that make an object: a kernel with a prefix, or one that stays LLVM IR, takes two."""
    if compilation.inline and toolchain.name != "host":
        patch = tuple(word for name in compilation.inline for word in ("--function", name))
        fit = (sys.executable, "-m", "aiebuild.npu", "inline", output, *patch)
        return (inline_command(toolchain, compilation, source, output, said), fit)
    compiled = compile_command(toolchain, compilation, source, output, said)
    if not compilation.renames:
        return (compiled,)
    names = tuple(word for old, _ in compilation.renames for word in ("--defines", old))
    check = (sys.executable, "-m", "aiebuild.npu", "defines", output, *names)
    return (compiled, check, rename_command(toolchain, compilation, output))


def plan_archive(toolchain: Toolchain, members: tuple[str, ...], output: str, origin: Origin) -> Planned:
    """Return the step that makes an archive of exactly these members."""
    step = Step(
        label=f"archive {output}",
        commands=(archive_command(toolchain, members, output),),
        outputs=(output,),
        identity=toolchain.identity,
        refused=toolchain.missing,
        where=origin.where,
        asked_by=origin.word,
    )
    return Planned("AieArchive", step, members)
