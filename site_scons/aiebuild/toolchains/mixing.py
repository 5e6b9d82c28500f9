"""Why objects of Chess and of Peano do not go into one design."""

from __future__ import annotations

NAMES = {"chess": "Chess", "peano": "Peano"}
REASONS = {
    "chess": "Peano's linker refuses the sections that Chess writes",
    "peano": "Chess links cores by its own runtime and calling rules, which Peano's objects do not follow",
}
"""By the compiler of the object that does not fit: for Chess's see `aiebuild.elf_sections.CHESS_SECTIONS`."""


def mixed(name: str, compiler: str, toolchain: str) -> str:
    """Return the message of a file of one compiler in a design of the other, with the reason."""
    linker, reason = NAMES[toolchain], REASONS[compiler]
    return f"{name} was compiled by {NAMES[compiler]}, but this design is linked by {linker}: {reason}"


def mixing_hint(compiler: str) -> str:
    """Return what may be done about a file of the other compiler."""
    return f"build the design with toolchain={compiler}, or compile that file anew: one compiler for all of a design"
