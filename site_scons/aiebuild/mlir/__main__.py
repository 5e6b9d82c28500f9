"""The MLIR steps of a build as commands: `python -m aiebuild.mlir render|normalise|link|check|outline|split|...`.

Exit status: 0 good; 1 for an error of the user's, said on stderr, with no output left; 2 for wrong usage.
Each command imports only what it needs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import environment, step_process
from aiebuild.errors import AieBuildError, CheckError, Location, MlirError
from aiebuild.files import in_the_way, write_atomically
from aiebuild.mlir import kernel_cli, services_cli
from aiebuild.mlir.command import (
    STANDARD_OUTPUT,
    Command,
    Outputs,
    declare_native_tools,
    native_tools,
    read_module,
    read_text,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.mlir.facts import Facts
    from aiebuild.mlir.ir import Module
    from aiebuild.mlir.lines import Line


def main(argv: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    options = _parser().parse_args(argv)
    command = COMMANDS[options.command]
    try:
        for old in _old_outputs(command, options):
            old.unlink()
        for path, text in command.run(options).items():
            _write(path, text)
    except AieBuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _old_outputs(command: Command, options: argparse.Namespace) -> list[Path]:
    """Return the files that the command will write anew.

    Raises:
        MlirError: one of them is also what the command reads.
    """
    outputs = [path for name in command.outputs if isinstance(path := getattr(options, name), Path)]
    given = [value for name, value in vars(options).items() if name not in command.outputs]
    inputs = [path for value in given for path in (value if isinstance(value, list) else [value])]
    for path in outputs:
        if any(
            isinstance(other, Path) and other.exists() and path.exists() and path.samefile(other) for other in inputs
        ):
            raise MlirError("is read, so it cannot be the output", Location(str(path)), "name another file behind -o")
    # Without these, split writes into a folder, and a file of that name is somebody's.
    into_a_folder = options.command == "split" and not (options.only or options.without)
    return [] if into_a_folder else [path for path in outputs if path.is_file()]


def _write(path: Path, text: str) -> None:
    """Write an output, or print it.

    Raises:
        MlirError: it cannot be written.
    """
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        write_atomically(path, text)
    except OSError as error:
        file = in_the_way(path.parent)
        if file is not None:
            raise MlirError("is a file, so nothing can be written below it", Location(str(file))) from None
        raise MlirError(f"cannot be written: {error.strerror}", Location(str(path))) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m aiebuild.mlir", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        command.declare(commands.add_parser(name, help=command.help, allow_abbrev=False))
    return parser


def _declare_render(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("template", type=Path, help="a .j2 template, or MLIR text that is passed through")
    parser.add_argument("--parameters", type=Path, required=True, metavar="FILE", help="the parameters, JSON")
    parser.add_argument(
        "--search", type=Path, action="append", default=[], metavar="DIR", help="a folder of shared templates"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the MLIR text")
    parser.add_argument("--lines", type=Path, metavar="FILE", help="file and line of each line, JSON")
    parser.add_argument("--depfile", type=Path, metavar="FILE", help="the files that were read, JSON")


def _render(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir import depfile  # noqa: PLC0415 - only this command needs it
    from aiebuild.mlir.lines import to_json  # noqa: PLC0415 - the same
    from aiebuild.mlir.template import render  # noqa: PLC0415 - the same
    from aiebuild.parameters import Parameters  # noqa: PLC0415 - the same

    try:
        parameters = Parameters.from_json(read_text(options.parameters))
    except (ValueError, KeyError, TypeError):
        raise MlirError("this is not a parameters file", Location(str(options.parameters))) from None
    rendered = render(options.template, parameters, options.search)
    written = {options.output: rendered.text}
    if options.lines:
        written[options.lines] = to_json(rendered.lines)
    if options.depfile:
        written[options.depfile] = depfile.text(rendered.read, rendered.absent)
    return written


def _declare_normalise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", type=Path, help="MLIR text, custom or generic")
    parser.add_argument("--lines", type=Path, metavar="FILE", help="where each line came from, as render wrote it")
    parser.add_argument(
        "--declared",
        action="append",
        metavar="NAME",
        default=[],
        help="a file that the recipe links, by the name that link_with uses",
    )
    parser.add_argument(
        "--link-anything", action="store_true", help="there is no recipe that link_with has to agree with"
    )
    parser.add_argument(
        "--recipe",
        default=environment.current().get(environment.RECIPE_VARIABLE),
        metavar="FILE:LINE",
        help=f"where the recipe asks for the design; {environment.RECIPE_VARIABLE} in a build",
    )
    parser.add_argument(
        "--import",
        dest="imports",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a module whose functions this one may use: they become part of it",
    )
    parser.add_argument(
        "--known",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a module that is not linked here: messages say what it defines",
    )
    declare_native_tools(parser)
    parser.add_argument("--device", metavar="NAME", help="the device that aie.device must name")
    parser.add_argument(
        "--sequences",
        metavar="A,B",
        help="the runtime sequences that the contract names, separated by commas",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=STANDARD_OUTPUT, metavar="FILE", help="the generic text; `-`: print it"
    )
    parser.add_argument("--facts", type=Path, metavar="FILE", help="what later steps need to know, JSON")


def _normalise(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir.facts import facts  # noqa: PLC0415 - only this command needs it
    from aiebuild.mlir.normalise import normalise  # noqa: PLC0415 - the same
    from aiebuild.mlir.write import write  # noqa: PLC0415 - the same

    lines = _lines(options.lines) if options.lines else None
    text = read_text(options.text)
    module = normalise(text, str(options.text), lines=lines, native=native_tools(options))
    _import(module, options)
    refuse(_static_errors(module, options))
    written = {options.output: write(module, locations=True)}
    if _is_kernel(module, options):
        return written
    found = facts(module)
    refuse(_contract_errors(found, module, options))
    if options.facts:
        written[options.facts] = found.to_json()
    return written


def _import(module: Module, options: argparse.Namespace) -> None:
    """Link what the module needs of the modules that it may use."""
    if not options.imports:
        return
    from aiebuild.mlir.kernel import stand_in  # noqa: PLC0415 - only needed where there are imports
    from aiebuild.mlir.link import link_into  # noqa: PLC0415 - the same

    imports = [read_module(path, native_tools(options)) for path in options.imports]
    stand_in(module, imports)
    link_into(module, imports, None, needed_only=True)


def _is_kernel(module: Module, options: argparse.Namespace) -> bool:
    """Tell whether this is no design: it has no device, and nothing is asked of one."""
    asked = options.facts or options.device or options.sequences
    return not asked and not any(op.name == "aie.device" for op in module.op.body)


def _static_errors(module: Module, options: argparse.Namespace) -> list[CheckError]:
    from aiebuild.mlir.check import check_module  # noqa: PLC0415 - only this command needs it
    from aiebuild.mlir.limits import check_limits  # noqa: PLC0415 - the same
    from aiebuild.mlir.merge import check_merge  # noqa: PLC0415 - the same

    declared = None if options.link_anything else options.declared
    known = [read_module(path, native_tools(options)) for path in options.known]
    return [
        *check_module(module, declared, _recipe(options.recipe), known),
        *check_limits(module),
        *check_merge(module),
    ]


def _recipe(text: str) -> Location | None:
    """Return the place that `FILE:LINE` names."""
    file, _, line = text.rpartition(":")
    return Location(file, int(line)) if file and line.isdigit() else Location(text) if text else None


def _contract_errors(found: Facts, module: Module, options: argparse.Namespace) -> list[CheckError]:
    """Return where the module is not what the contract says of it."""
    from aiebuild.mlir.fabric import where  # noqa: PLC0415 - only this command needs it

    errors = []
    if options.device and options.device != found.device:
        op = next(op for op in module.walk() if op.name == "aie.device")
        message = f"the module is for device {found.device!r}, the configuration for {options.device!r}"
        errors.append(CheckError(message, where(module, op), "a template can write: aie.device({{ device }})"))
    if options.sequences:
        wanted = tuple(options.sequences.split(","))
        names = tuple(sequence.name for sequence in found.sequences)
        errors += _sequence_errors(wanted, names, found, module)
    return errors


def _sequence_errors(wanted: tuple[str, ...], names: tuple[str, ...], found: Facts, module: Module) -> list[CheckError]:
    if sorted(wanted) == sorted(names):
        return []
    stray = [sequence.where for sequence in found.sequences if sequence.name not in wanted]
    message = (
        f"the runtime sequences of the module are {', '.join(names) or 'none'}; "
        f"those of the contract are {', '.join(wanted)}"
    )
    hint = "'sequences' of design.yaml names every aie.runtime_sequence"
    return [CheckError(message, stray[0] if stray else Location(module.file), hint)]


def _lines(path: Path) -> list[Line]:
    from aiebuild.mlir.lines import from_json  # noqa: PLC0415 - only this command needs it

    try:
        return from_json(read_text(path))
    except (ValueError, TypeError):
        raise MlirError("this does not say where lines came from", Location(str(path))) from None


COMMANDS = {
    "render": Command("render a template to MLIR text", _declare_render, ("output", "lines", "depfile"), _render),
    "normalise": Command(
        "bring MLIR text into the generic form and check it",
        _declare_normalise,
        ("output", "facts"),
        _normalise,
    ),
    **services_cli.COMMANDS,
    **kernel_cli.COMMANDS,
}

if __name__ == "__main__":
    try:
        step_process.run(main)
    except KeyboardInterrupt:
        sys.exit(130)
