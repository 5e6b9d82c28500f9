"""The commands `link`, `check`, `outline`, `split` and `pretty` of `python -m aiebuild.mlir`.

They read custom or generic text; what they write is generic, or the form of the tool that `--pretty` has it verified
by. Without `-o` they print.
"""

from __future__ import annotations

import json
import re
import sys
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
    warn,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from aiebuild.mlir.ir import Module
    from aiebuild.mlir.problems import Problem

JSON_FORMAT = 1
"""The version of what `check --json` prints."""
REST = "rest"
"""The name of the piece with what belongs to no function."""


def _declare_output(parser: argparse.ArgumentParser, *, locations: bool, help_: str = "the generic text") -> None:
    parser.add_argument(
        "-o", "--output", type=Path, default=STANDARD_OUTPUT, metavar="FILE", help=f"{help_}; without it, it is printed"
    )
    shown = "do not write where each op came from" if locations else "write where each op came from"
    name = "--no-locations" if locations else "--locations"
    parser.add_argument(name, dest="locations", action="store_false" if locations else "store_true", help=shown)
    parser.add_argument(
        "--pretty",
        action="store_true",
        help="let a tool verify it and write its form: one of the next options names it",
    )
    declare_native_tools(parser)


def _text(module: Module, options: argparse.Namespace) -> str:
    if options.pretty:
        from aiebuild.mlir.native import pretty  # noqa: PLC0415 - commands import only what they need

        return pretty(module, native_tools(options), locations=options.locations)
    from aiebuild.mlir.write import write  # noqa: PLC0415 - the same

    return write(module, locations=options.locations)


# --- link ---


def _declare_link(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("main", type=Path, help="the module that is linked into")
    parser.add_argument("codes", type=Path, nargs="+", metavar="code", help="a module that is linked into it")
    parser.add_argument("--entry", metavar="NAME", help="what will be called of each code; none for libraries")
    parser.add_argument("--names", default="hash", help="hash (default), keep, or namespace:NAME")
    parser.add_argument("--needed-only", action="store_true", help="leave out what nothing needs")
    parser.add_argument("--merge-identical", action="store_true", help="equal public definitions are one")
    parser.add_argument("--strip-arg-attrs", action="store_true", help="leave out attributes of arguments and results")
    _declare_output(parser, locations=True)


def _link(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir.link import link  # noqa: PLC0415 - commands import only what they need

    main, *codes = [read_module(path, native_tools(options)) for path in (options.main, *options.codes)]
    linked = link(
        main,
        codes,
        options.entry,
        names=options.names,
        needed_only=options.needed_only,
        merge_identical=options.merge_identical,
        strip_arg_attrs=options.strip_arg_attrs,
    )
    warn(linked.warnings)
    return {options.output: _text(linked.module, options)}


# --- check ---


def _declare_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="file", help="a module")
    parser.add_argument(
        "--known", type=Path, action="append", default=[], metavar="FILE", help="a module that hints may name"
    )
    parser.add_argument("--final", action="store_true", help="nothing more is linked: declarations must be defined")
    parser.add_argument("--no-recursion", action="store_true", help="functions may not call each other in a circle")
    parser.add_argument(
        "--runtime", action="append", default=[], metavar="NAME", help="a function that is there when the program runs"
    )
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="written when all is right: the keys")
    declare_native_tools(parser)


def _check(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir.check import check_names  # noqa: PLC0415 - commands import only what they need

    modules = [read_module(path, native_tools(options)) for path in options.files]
    known = [read_module(path, native_tools(options)) for path in options.known]
    found = [
        check_names(
            module,
            [other for other in (*modules, *known) if other is not module],
            final=options.final,
            no_recursion=options.no_recursion,
            runtime=options.runtime,
        )
        for module in modules
    ]
    if options.json:
        print(_json(modules, found))
    else:
        warn(problem for problems in found for problem in problems)
    refuse([problem for problems in found for problem in problems if problem.is_error])
    return {options.output: _stamp(modules)} if options.output else {}


def _json(modules: Sequence[Module], found: Sequence[Sequence[Problem]]) -> str:
    """Return all that was found."""
    from aiebuild.mlir.references import files_named  # noqa: PLC0415 - commands import only what they need

    files = [
        {
            "file": module.file,
            "problems": [problem.to_dict() for problem in problems],
            "files": list(files_named(module)),
        }
        for module, problems in zip(modules, found, strict=True)
    ]
    return json.dumps({"format": JSON_FORMAT, "modules": files}, indent=1)


def _stamp(modules: Sequence[Module]) -> str:
    """Return what says that these modules were right."""
    from aiebuild.mlir.identity import key_of  # noqa: PLC0415 - commands import only what they need

    return "".join(f"{key_of(module)} {module.file}\n" for module in modules)


# --- outline ---


def _declare_outline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a module")
    parser.add_argument("--func", default="top", metavar="NAME", help="the function that is cut (top)")
    parser.add_argument(
        "--stage", dest="what", action="append", default=[], metavar="STAGE", help="a stage that becomes a function"
    )
    parser.add_argument(
        "--range",
        dest="what",
        action="append",
        nargs=2,
        metavar=("FIRST", "LAST"),
        help="all from one stage to another becomes one function",
    )
    parser.add_argument("--name", help="the function's name, where one part is asked for")
    parser.add_argument("--intermediates", default="args", help="args (default) or local: buffers that only it uses")
    parser.add_argument("--views", default="result", help="result (default) or error: views that are used after it")
    parser.add_argument("--no-dedupe", action="store_true", help="equal parts become a function each")
    _declare_output(parser, locations=True)


def _outline(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir.outline import outline  # noqa: PLC0415 - commands import only what they need

    result = outline(
        read_module(options.file, native_tools(options)),
        options.func,
        [request if isinstance(request, str) else (request[0], request[1]) for request in options.what],
        intermediates=options.intermediates,
        dedupe=not options.no_dedupe,
        name=options.name,
        views=options.views,
    )
    warn(result.warnings)
    return {options.output: _text(result.module, options)}


# --- split ---


def _declare_split(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a module")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--only", metavar="NAME", help="write the piece of this function to the output")
    choice.add_argument(
        "--without", action="append", metavar="NAME", help="write the module with this function declared only"
    )
    _declare_output(parser, locations=False, help_="a folder for the pieces, or the file of --only and --without")


def _split(options: argparse.Namespace) -> Outputs:
    from aiebuild.mlir.split import extract, split, without  # noqa: PLC0415 - commands import only what they need

    module = read_module(options.file, native_tools(options))
    if options.only:
        return {options.output: _text(extract(module, options.only), options)}
    if options.without:
        return {options.output: _text(without(module, options.without), options)}
    pieces = split(module)
    if options.output == STANDARD_OUTPUT:
        return {STANDARD_OUTPUT: "// -----\n".join(_text(piece.module, options) for piece in pieces)}
    names = _file_names([piece.name for piece in pieces])
    _tell_others(options.output, names, options.file)
    return {
        options.output / f"{name}.mlir": _text(piece.module, options) for name, piece in zip(names, pieces, strict=True)
    }


def _tell_others(folder: Path, names: Sequence[str], module: Path) -> None:
    """Say which modules in the folder are none of the pieces: whoever links all of them takes old ones too."""
    others = sorted(path.name for path in folder.glob("*.mlir") if path.stem not in names)
    if others:
        sys.stderr.write(f"warning: {folder} also holds {', '.join(others)}, of which {module} has nothing\n")


def _file_names(symbols: Sequence[str]) -> list[str]:
    """Return symbols as names of files, no two of which are one file where upper and lower case are the same."""
    names: dict[str, None] = {}
    for symbol in symbols:
        plain = re.sub(r"^\.|[^\w.\-]", "_", symbol) or REST
        name, count = plain, 1
        while name.lower() in {other.lower() for other in names}:
            count += 1
            name = f"{plain}_{count}"
        names[name] = None
    return list(names)


# --- pretty ---


def _declare_pretty(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a module")
    _declare_output(parser, locations=False, help_="the text as the tool prints it")
    parser.set_defaults(pretty=True)


def _pretty(options: argparse.Namespace) -> Outputs:
    return {options.output: _text(read_module(options.file, native_tools(options)), options)}


COMMANDS = {
    "link": Command("link modules into one", _declare_link, ("output",), _link),
    "check": Command("check names, calls and references", _declare_check, ("output",), _check),
    "outline": Command("make stages of a function into functions", _declare_outline, ("output",), _outline),
    "pretty": Command("verify a module and write it as a tool prints it", _declare_pretty, ("output",), _pretty),
    "split": Command("write one module for each function", _declare_split, ("output",), _split),
}
"""The commands by name."""
