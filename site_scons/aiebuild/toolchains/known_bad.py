"""Versions of mlir-aie and llvm-aie that are known not to fit each other, as mlir-aie's issues tell; one row a case."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.toolchains.aiecc_dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Versions:
    """What is installed, as far as it is known.

    Args:
        dialect: of aiecc; None where there is none.
        peano: the first line of `clang++ --version`.
        peano_wheel: the version of the llvm-aie wheel, for example `21.0.0.2026080301+c9c5ecb7`; empty where there is
            no wheel.
        aiecc_is_wheel: whether aiecc comes from the wheel of a Python's environment.
        same_python: whether that environment is the running Python's own.
    """

    dialect: Dialect | None = None
    peano: str = ""
    peano_wheel: str = ""
    aiecc_is_wheel: bool = False
    same_python: bool = True

    @property
    def clang(self) -> int | None:
        """The major version of Peano's Clang."""
        found = re.search(r"clang version (\d+)", self.peano)
        return int(found[1]) if found is not None else None

    @property
    def peano_day(self) -> int | None:
        """The day of a nightly wheel, as a number like 20260803."""
        found = re.match(r"\d+\.\d+\.\d+\.(\d{8})", self.peano_wheel)
        return int(found[1]) if found is not None else None


@dataclass(frozen=True)
class KnownBad:
    """A case: when it applies, and what is said."""

    applies: Callable[[Versions], bool]
    warning: str


def _old_clang(versions: Versions) -> bool:
    return versions.dialect not in {None, Dialect.A} and versions.clang is not None and versions.clang < 21


def _miscompiles(versions: Versions) -> bool:
    return versions.peano_day is not None and 20260624 <= versions.peano_day < 20260803


def _other_python(versions: Versions) -> bool:
    return versions.aiecc_is_wheel and not versions.same_python and versions.dialect is Dialect.A


KNOWN_BAD = (
    KnownBad(
        _old_clang,
        "this aiecc writes LLVM IR that Peano before 21 does not read (`opt: expected type`, mlir-aie #2966, #3166): "
        "install a later llvm-aie",
    ),
    KnownBad(
        _miscompiles,
        "llvm-aie nightlies after 2026-06-23 were seen to compile int32 -> float -> int32 wrongly at -O2 "
        "(mlir-aie #3219): install 2026062301, or the one that mlir-aie pins (2026080301 or later)",
    ),
    KnownBad(
        _other_python,
        "aiecc.py is a Python program of another environment than the running one: its modules and this Python's may "
        "not fit; run aiebuild from the environment that has mlir_aie",
    ),
)


def warnings(versions: Versions) -> tuple[str, ...]:
    """Return what is to be said of the versions that are installed; nothing where no case applies."""
    return tuple(case.warning for case in KNOWN_BAD if case.applies(versions))
