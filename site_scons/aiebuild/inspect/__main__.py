"""What is in a file: `python -m aiebuild.inspect FILE... [--json]`.

Exit status: 0 good; 1 for a file that is damaged, of no known kind or not there, said on stderr; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiebuild import inspect
from aiebuild.errors import AieBuildError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str], prog: str = "python -m aiebuild.inspect") -> int:
    """Print what the files hold; return the exit status."""
    parser = argparse.ArgumentParser(prog=prog, allow_abbrev=False, description="Show what files hold.")
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="an xclbin, insts, object, manifest, package"
    )
    parser.add_argument("--json", action="store_true", help="for programs: one object, or a list of several")
    options = parser.parse_args(argv)
    try:
        sys.stdout.write(
            _json(options.files) if options.json else "".join(inspect.text(file) for file in options.files)
        )
    except AieBuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _json(files: Sequence[Path]) -> str:
    records = [inspect.record(file) for file in files]
    return json.dumps(records[0] if len(records) == 1 else records, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
