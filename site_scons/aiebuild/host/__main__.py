"""The host's steps of a build as commands: `python -m aiebuild.host translate ...`, `... link ...`, `... run ...`.

Exit status: 0 good; 1 for an error of the user's, said on stderr, with no output left; 2 for wrong usage; 130 where
somebody interrupted it.
Each command imports only what it needs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import environment, step_process
from aiebuild.errors import AieBuildError, CheckError, Location, MlirError
from aiebuild.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiebuild.host.job import Job


INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 and the number of the signal."""


def main(argv: Sequence[str]) -> int:
    """Run one command and return the exit status."""
    options = _parser().parse_args(argv)
    for path in (options.output, getattr(options, "depfile", None), getattr(options, "trace", None)):
        if path is not None:
            path.unlink(missing_ok=True)
    try:
        commands = {"translate": _translate, "link": _link, "run": _run, "trace": _trace}
        return commands[options.command](options)
    except AieBuildError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m aiebuild.host", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    _declare_translate(commands.add_parser("translate", help="MLIR to Python", allow_abbrev=False))
    _declare_link(commands.add_parser("link", help="core objects to a kernel library", allow_abbrev=False))
    _declare_run(commands.add_parser("run", help="run a design and compare", allow_abbrev=False))
    _declare_trace(commands.add_parser("trace", help="run a design for a trace to look at", allow_abbrev=False))
    return parser


def _declare_translate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", type=Path, help="MLIR in the generic form")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the translated cores")


def _translate(options: argparse.Namespace) -> int:
    from aiebuild.host.translate import translate  # noqa: PLC0415 - only this command needs it
    from aiebuild.mlir.parse import parse  # noqa: PLC0415 - the same

    try:
        text = options.module.read_text(encoding="utf-8")
    except OSError as error:
        raise MlirError(f"{options.module} cannot be read: {error.strerror}") from None
    write_atomically(options.output, translate(parse(text, str(options.module))))
    return 0


def _declare_link(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--facts", type=Path, required=True, metavar="FILE", help="the facts of the module, JSON")
    parser.add_argument(
        "--object", action="append", default=[], metavar="NAME=FILE", help="a file, by its link_with name"
    )
    parser.add_argument(
        "--promises",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "F,G"),
        help="functions that a file, by its link_with name, must define",
    )
    parser.add_argument("--cxx", default="c++", metavar="COMMAND", help="the C++ compiler that links")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the kernel library, a zip")


def _link(options: argparse.Namespace) -> int:
    from aiebuild.host.link import link  # noqa: PLC0415 - only this command needs it
    from aiebuild.mlir.facts import Facts  # noqa: PLC0415 - the same

    objects: dict[str, Path] = {}
    promises = {name: tuple(filter(None, functions.split(","))) for name, functions in options.promises}
    for word in options.object:
        name, equals, file = word.partition("=")
        if not (name and equals and file):
            print(f"error: --object {word}: expected NAME=FILE", file=sys.stderr)
            return 2
        objects[name] = Path(file).absolute()
    try:
        facts = Facts.from_json(options.facts.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckError(f"{options.facts} cannot be read: {error.strerror}") from None
    options.output.parent.mkdir(parents=True, exist_ok=True)
    recipe = environment.current().get(environment.RECIPE_VARIABLE)
    where = Location(recipe) if recipe else None
    made = link(facts, objects, options.cxx, options.output.parent, promises=promises, recipe=where)
    write_atomically(options.output, made)
    return 0


def _declare_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cores", type=Path, help="what translate wrote")
    parser.add_argument("--kernels", type=Path, required=True, metavar="FILE", help="what link wrote")
    parser.add_argument("--check", type=Path, required=True, metavar="FILE", help="the design's check.py")
    parser.add_argument("--parameters", type=Path, required=True, metavar="FILE", help="the parameters, JSON")
    parser.add_argument("--arguments", default="", metavar="A,B", help="the names of the arguments")
    parser.add_argument("--sequence", action="append", default=[], metavar="NAME", help="a runtime sequence to run")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="the limit of the run")


def _declare_run(parser: argparse.ArgumentParser) -> None:
    _declare_job(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the result, JSON")
    parser.add_argument("--depfile", type=Path, metavar="FILE", help="the files that were read, JSON")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="every event of the run, one JSON object a line")


def _job(options: argparse.Namespace, folder: str, *, traced: bool) -> Job:
    from aiebuild.host.job import Job  # noqa: PLC0415 - only the commands that run need it

    return Job(
        cores=str(options.cores),
        kernels=str(options.kernels),
        check=str(options.check),
        parameters=str(options.parameters),
        arguments=tuple(name for name in options.arguments.split(",") if name),
        sequences=tuple(options.sequence),
        timeout=options.timeout,
        output=str(options.output),
        folder=folder,
        trace=traced,
    )


def _run(options: argparse.Namespace) -> int:
    from aiebuild.host import run  # noqa: PLC0415 - only this command needs it

    with run.private_folder() as folder:
        job = _job(options, folder, traced=options.trace is not None)
        try:
            line = run.run(job, options.depfile, options.trace)
        except run.Reported:
            return 1
    # Only now is it sure that nothing went wrong, the end of the process included.
    sys.stdout.write(line)
    return 0


def _declare_trace(parser: argparse.ArgumentParser) -> None:
    _declare_job(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the trace, for Perfetto")
    parser.add_argument("--depfile", type=Path, required=True, metavar="FILE", help="the files that were read, JSON")


def _trace(options: argparse.Namespace) -> int:
    from aiebuild.host import run, trace  # noqa: PLC0415 - only this command needs it
    from aiebuild.parameters import Parameters  # noqa: PLC0415 - the same

    with run.private_folder() as folder:
        try:
            events = run.trace(_job(options, folder, traced=True), options.depfile)
        except run.Reported:
            return 1
    parameters = Parameters.from_json(options.parameters.read_text(encoding="utf-8"))
    write_atomically(options.output, trace.text(events, parameters.design))
    return 0


if __name__ == "__main__":
    sys.exit(step_process.answered(main))
