"""Making a design's MLIR by a Python script: `python -m aiebuild.generate SCRIPT[:FUNCTION] --parameters P.json ...`.

It runs from the project's folder. Exit status: 0 good; 1 for an error of the user's, said on stderr, with no output
left; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiebuild import environment, step_process
from aiebuild.contract import Generator
from aiebuild.errors import AieBuildError, Location
from aiebuild.files import project_path, write_atomically
from aiebuild.generate import mapping
from aiebuild.generate.report import GeneratorError
from aiebuild.generate.run import Generated, Request, generate

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    options = _parser().parse_args(words[:end])
    options.words = words[end + 1 :]
    outputs = [path for path in (options.output, options.depfile) if path is not None]
    for path in outputs:
        path.unlink(missing_ok=True)
    here = environment.current()
    try:
        request = _request(options)
        made = generate(request, options.output, here.for_steps(), _recipe(here.get(environment.RECIPE_VARIABLE)))
    except AieBuildError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stderr.write(made.said)
    if options.depfile:
        write_atomically(options.depfile, _depfile(made, {project_path(path) for path in outputs}))
    write_atomically(options.output, made.mlir)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m aiebuild.generate",
        allow_abbrev=False,
        epilog="What follows -- are further words for the script.",
    )
    parser.add_argument("mlir", metavar="SCRIPT[:FUNCTION]", help="a script that makes MLIR, or a function of it")
    parser.add_argument("--parameters", type=Path, required=True, metavar="FILE", help="the parameters, JSON")
    parser.add_argument("--generator", type=Path, metavar="FILE", help="how they are passed on, JSON")
    parser.add_argument("--interpreter", default=sys.executable, metavar="PROGRAM", help="the Python that runs it")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the MLIR text")
    parser.add_argument("--depfile", type=Path, metavar="FILE", help="the files that were read, JSON")
    return parser


def _request(options: argparse.Namespace) -> Request:
    script, function = mapping.split(options.mlir)
    parameters = _read(options.parameters, "a parameters file")
    generator = Generator()
    if options.generator:
        record = _read(options.generator, "a generator file")
        try:
            generator = Generator.from_json(record)
        except (TypeError, KeyError):
            raise GeneratorError("this is not a generator file", Location(str(options.generator))) from None
    mapping.check(generator, function)
    try:
        return Request(
            script=script,
            function=function,
            interpreter=options.interpreter,
            words=() if function else (*mapping.argv(parameters, generator), *options.words),
            keywords=mapping.keywords(parameters, generator) if function else {},
            offers=mapping.offers(parameters, generator) if function else {},
            output=generator.output,
            search=generator.search,
            generator=generator,
        )
    except (TypeError, KeyError) as error:
        message = f"this does not fit the generator: {error.args[0]}"
        raise GeneratorError(message, Location(str(options.parameters))) from None


def _read(path: Path, kind: str) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise GeneratorError(f"cannot be read: {error.strerror}", Location(str(path))) from None
    except ValueError:
        raise GeneratorError(f"this is not {kind}", Location(str(path))) from None


def _recipe(text: str) -> Location | None:
    """Return the place that `FILE:LINE` names."""
    file, _, line = text.rpartition(":")
    return Location(file, int(line)) if file and line.isdigit() else Location(text) if text else None


def _depfile(made: Generated, outputs: set[str]) -> str:
    """Return what was read, looked for in vain and listed; sorted, without the outputs."""
    said = {"files": made.files, "absent": made.absent, "folders": made.folders}
    return json.dumps({name: sorted(set(paths) - outputs) for name, paths in said.items()}, indent=1) + "\n"


if __name__ == "__main__":
    try:
        sys.exit(step_process.answered(main))
    except KeyboardInterrupt:
        sys.exit(130)
