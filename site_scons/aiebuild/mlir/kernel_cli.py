"""The command `kernel` of `python -m aiebuild.mlir`: a kernel that is MLIR, made ready to be compiled or translated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild.mlir.command import (
    STANDARD_OUTPUT,
    Command,
    Outputs,
    declare_native_tools,
    native_tools,
    read_module,
    refuse,
)

if TYPE_CHECKING:
    import argparse


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the kernel: a module in custom or generic syntax")
    parser.add_argument(
        "--function", dest="functions", action="append", default=[], metavar="NAME", help="must be defined, and public"
    )
    parser.add_argument(
        "--stands-for", default="", metavar="FILE", help="the file of link_with that it is linked instead of; any"
    )
    parser.add_argument(
        "--native", action="store_true", help="for MLIR's own tools: keep affine, hide private functions"
    )
    parser.add_argument(
        "--static-buffers", action="store_true", help="for a core, which has no heap: allocations become globals"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=STANDARD_OUTPUT, metavar="FILE", help="the generic text; `-`: print it"
    )
    declare_native_tools(parser)


def _kernel(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir import kernel  # noqa: PLC0415 - commands import only what they need
    from aiebuild.mlir.lower_affine import lower_affine  # noqa: PLC0415 - the same
    from aiebuild.mlir.write import write  # noqa: PLC0415 - the same

    module = read_module(options.file, native_tools(options))
    refuse(kernel.check_promises(module, options.functions))
    if options.static_buffers:
        module = kernel.static_buffers(module)
    ready = kernel.hide_helpers(module) if options.native else kernel.marked(lower_affine(module), options.stands_for)
    return {options.output: write(ready, locations=True)}


COMMANDS = {
    "kernel": Command("make a kernel that is MLIR ready to be translated or compiled", _declare, ("output",), _kernel),
}
"""The commands by name."""
