"""Stand-in for Peano's `clang++`: the host's compiler reads the source, the target is written into the object.

The real preprocessor gives real depfiles; the object is the host's, with a section that names the target, so that
objects for two targets differ and say which they are for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stand_in import begin

TARGETS = ("aie2-none-unknown-elf", "aie2p-none-unknown-elf")


def main() -> int:
    """Compile as asked; return the exit status."""
    argv = begin("clang++")
    target = next((word.partition("=")[2] for word in argv if word.startswith("--target=")), None)
    if target is not None and target not in TARGETS:
        sys.stderr.write(f"error: unknown target triple '{target}'\n")
        return 1
    kept = [word for word in argv if not word.startswith("--target=")]
    status = subprocess.run(["g++", *kept], check=False).returncode
    if status == 0 and "-c" in argv and target is not None:
        mark(Path(argv[argv.index("-o") + 1]), target)
    return status


def mark(obj: Path, target: str) -> None:
    """Add a section with the target's name."""
    text = obj.with_name(obj.name + ".target")
    text.write_text(target)
    subprocess.run(["objcopy", f"--add-section=.aie_target={text}", obj], check=True)
    text.unlink()


if __name__ == "__main__":
    sys.exit(main())
