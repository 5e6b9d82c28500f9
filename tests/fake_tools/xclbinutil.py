"""Stand-in for XRT's `xclbinutil`: adds, replaces and dumps sections, adds kernels, sets the UUID, tells what is in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin, write
from xclbin import Xclbin, read

TOOL = "xclbinutil"
SWITCHES = ("--force", "--quiet", "--info", "--skip-uuid-insertion")


def main() -> int:
    """Do as asked; return the exit status."""
    argv = begin(TOOL)
    pairs = options(argv)
    given = dict(pairs)
    try:
        work = read(Path(given["--input"]).read_bytes()) if "--input" in given else Xclbin()
    except (OSError, ValueError) as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    for name, value in pairs:
        apply(work, name, value)
    if "--output" in given and "--skip-uuid-insertion" not in argv:
        # As XRT's: writing gives it a random one, whatever the keys have set.
        work.uuid = ""
    if "--info" in argv:
        kernels = [f"Kernel: {kernel['name']} (id {number})" for number, kernel in sorted(work.kernels.items())]
        sys.stdout.write("\n".join([f"UUID: {work.uuid}", *kernels]) + "\n")
    if "--output" in given:
        target = Path(given["--output"])
        if target.exists() and "--force" not in argv:
            sys.stderr.write(f"ERROR: {target} exists; use --force\n")
            return 1
        write(TOOL, target, work.to_bytes())
    return 0


def options(argv: list[str]) -> list[tuple[str, str]]:
    """Return the options that take a value, in order."""
    pairs: list[tuple[str, str]] = []
    words = iter(argv)
    for word in words:
        if word in SWITCHES:
            continue
        name, _, value = word.partition("=")
        pairs.append((name, value or next(words, "")))
    return pairs


def apply(work: Xclbin, name: str, value: str) -> None:
    """Carry out one option."""
    if name in {"--add-replace-section", "--add-section"}:
        section, _, file = value.split(":", 2)
        work.sections[section] = json.loads(Path(file).read_text())
    elif name == "--dump-section":
        section, _, file = value.split(":", 2)
        write(TOOL, Path(file), json.dumps(work.sections[section], sort_keys=True).encode())
    elif name == "--add-kernel":
        for kernel in json.loads(Path(value).read_text())["ps-kernels"]["kernels"]:
            work.add_kernel({"id": kernel["extended-data"]["dpu_kernel_id"], "name": kernel["name"]})
    elif name == "--key-value":
        work.uuid = value.rpartition(":")[2]


if __name__ == "__main__":
    sys.exit(main())
