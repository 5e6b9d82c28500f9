"""`python -m aiebuild.npu COMMAND`: the steps of arch=aie2 and arch=aie2p."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import step_process
from aiebuild.errors import AieBuildError
from aiebuild.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(argv: Sequence[str]) -> int:
    """Run a command; return the exit status."""
    options = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], None] = options.run
    try:
        run(options)
    except AieBuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m aiebuild.npu", allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    for declare in (
        _declare_custom,
        _declare_sequences,
        _declare_check,
        _declare_defines,
        _declare_inline,
        _declare_aiecc,
    ):
        declare(commands)
    return parser


def _declare_custom(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("custom", help="write a module as aiecc takes it")
    parser.add_argument("module", type=Path, help="generic text")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    parser.set_defaults(run=_custom)


def _custom(options: argparse.Namespace) -> None:
    from aiebuild.mlir.parse import parse  # noqa: PLC0415 - only this command needs it
    from aiebuild.mlir.write_custom import write_custom  # noqa: PLC0415 - the same

    text = options.module.read_text(encoding="utf-8")
    write_atomically(options.output, write_custom(parse(text, str(options.module))))


def _declare_sequences(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("sequences", help="take a module apart: its configuration, and each sequence")
    parser.add_argument("text", type=Path, help="the module's own text")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the module without sequences")
    parser.add_argument("--sequence", nargs=2, action="append", default=[], metavar=("NAME", "FILE"))
    parser.set_defaults(run=_sequences)


def _sequences(options: argparse.Namespace) -> None:
    from aiebuild.mlir.sequence_text import only  # noqa: PLC0415 - only this command needs it

    text = options.text.read_text(encoding="utf-8")
    texts = {Path(file): only(text, name, str(options.text)) for name, file in options.sequence}
    if options.config:
        texts[options.config] = only(text, None, str(options.text))
    for file, content in texts.items():
        write_atomically(file, content)


def _declare_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("check", help="check that the objects define what the cores call")
    parser.add_argument("--facts", type=Path, required=True, metavar="FILE")
    parser.add_argument("--object", nargs=2, action="append", default=[], metavar=("NAME", "FILE"))
    parser.add_argument("--promises", nargs=2, action="append", default=[], metavar=("NAME", "FUNCTIONS"))
    parser.add_argument("--arch", required=True)
    parser.add_argument("--toolchain", choices=("peano", "chess"), required=True, help="what links the cores")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="what was found, JSON")
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> None:
    from aiebuild.npu.objects import check  # noqa: PLC0415 - only this command needs it

    objects = {name: Path(file) for name, file in options.object}
    promises = {name: functions.split(",") for name, functions in options.promises}
    write_atomically(options.output, check(options.facts, objects, promises, options.arch, options.toolchain))


def _declare_defines(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("defines", help="check that an object defines the functions that get a prefix")
    parser.add_argument("object", type=Path)
    parser.add_argument("--defines", action="append", default=[], metavar="NAME")
    parser.set_defaults(run=_defines)


def _defines(options: argparse.Namespace) -> None:
    from aiebuild.npu.objects import require  # noqa: PLC0415 - only this command needs it

    require(options.object, tuple(options.defines))


def _declare_inline(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("inline", help="make the functions of LLVM IR such that cores merge and inline them")
    parser.add_argument("text", type=Path, help="LLVM IR in text; it is replaced")
    parser.add_argument("--function", action="append", default=[], metavar="NAME")
    parser.set_defaults(run=_inline)


def _inline(options: argparse.Namespace) -> None:
    from aiebuild.toolchains.inline import patch  # noqa: PLC0415 - only this command needs it

    text = options.text.read_text(encoding="utf-8")
    write_atomically(options.text, patch(text, tuple(options.function), str(options.text)))


def _declare_aiecc(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("aiecc", help="run aiecc in a private folder")
    parser.add_argument("job", help="the job, JSON")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("-o", "--output", nargs=2, action="append", required=True, metavar=("KIND", "FILE"))
    parser.set_defaults(run=_aiecc)


def _aiecc(options: argparse.Namespace) -> None:
    from aiebuild.npu.job import Job  # noqa: PLC0415 - only this command needs it
    from aiebuild.npu.run import run  # noqa: PLC0415 - the same

    outputs = {kind: Path(file) for kind, file in options.output}
    run(Job.from_json(options.job), outputs, options.work.absolute())


if __name__ == "__main__":
    try:
        sys.exit(step_process.answered(main))
    except KeyboardInterrupt:
        sys.exit(130)
