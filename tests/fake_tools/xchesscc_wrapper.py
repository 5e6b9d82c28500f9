"""Stand-in for mlir-aie's `xchesscc_wrapper`: `ARCH [-aietools DIR] -c SRC -o OBJ ...`; it writes no depfile."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from host_compiler import make_object
from stand_in import begin, spoil

TOOL = "xchesscc_wrapper"
NOT_OURS = ("-d", "-f", "+P", "+w", "+Wclang,-xir")


def main() -> int:
    """Compile as asked; return the exit status."""
    argv = begin(TOOL)
    if not argv or argv[0] not in {"aie2", "aie2p"}:
        sys.stderr.write(f"{TOOL}: the first argument is the arch: aie2 or aie2p\n")
        return 1
    if any(word in {"-MD", "-MMD", "-MF"} for word in argv):
        sys.stderr.write(f"{TOOL}: Chess writes no dependency files\n")
        return 1
    kept = list(argv[1:])
    if "-aietools" in kept:
        place = kept.index("-aietools")
        folder = Path(kept[place + 1])
        if not (folder / "bin" / "xchesscc").is_file():
            sys.stderr.write(f"{TOOL}: no xchesscc in {folder}\n")
            return 1
        del kept[place : place + 2]
    kept = [word for word in kept if word not in NOT_OURS]
    output = Path(kept[kept.index("-o") + 1])
    status = make_object(["-O2", *kept], output, argv[0], "chess")
    if status == 0:
        spoil(TOOL, output)
    return status


if __name__ == "__main__":
    sys.exit(main())
