"""Which dialect an aiecc speaks, from what the real programs print, and that it is asked only once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from aiebuild.environment import Environment
from aiebuild.errors import ToolchainError
from aiebuild.fingerprint import Fingerprints
from aiebuild.toolchains.aiecc_dialect import Dialect, detect, dialect_named, probe, revision_of
from installations import install

if TYPE_CHECKING:
    from pathlib import Path

LLVM = "LLVM (http://llvm.org/):\n  LLVM version 23.0.0git\n  Optimized build.\n"
C_VERSION = "aiecc (mlir-aie declarative driver)\n  git SHA:  3ca0193ce\n  compiled: Aug 14 2026 10:11:12\n"
A_HELP = """\
usage: aiecc [-h] [--version] [--sysroot sysroot] [--tmpdir tmpdir] [--no-xchesscc] [--aie-generate-xclbin]
             [--aie-generate-npu-insts] [--npu-insts-name NAME] [-j NTHREADS]
"""
OLD_HELP = A_HELP.replace("--aie-generate-npu-insts", "--aie-generate-npu")
B_HELP = """\
OVERVIEW: AIE Compiler Driver
OPTIONS:
  --aie-generate-npu-insts          - Generate NPU instruction stream
  --aie-generate-xclbin             - Generate xclbin
  --no-xchesscc                     - Compile using peano (also disables xbridge)
  --npu-insts-name=<string>         - Output instructions filename
"""
C1_HELP = """\
OPTIONS:
  --no-xchesscc                     - Compile cores with Peano instead of the Chess toolchain
  --npu-insts-name=<string>         - Output NPU insts filename template
  --get=<name>                      - Request graph output(s) by name
"""
C2_HELP = """\
OPTIONS:
  --npu-insts-name=<string>         - Output NPU insts filename template
  --xchesscc                        - Compile cores with the Chess toolchain
  --get=<name>                      - Request graph output(s) by name
"""


@pytest.mark.parametrize(
    ("aie_version", "version", "help_text", "dialect"),
    [
        ("usage: aiecc [-h]\naiecc: error: unrecognized arguments", "aiecc.py c668d2cb6\n", A_HELP, Dialect.A),
        ("aiecc (C++ version) \n", LLVM, B_HELP, Dialect.B),
        ("aiecc (C++ version) c668d2cb6\n", LLVM, B_HELP, Dialect.B),
        (C_VERSION, LLVM, B_HELP, Dialect.C0),
        (C_VERSION, LLVM, C1_HELP, Dialect.C1),
        (C_VERSION, LLVM, C2_HELP, Dialect.C2),
    ],
)
def test_the_dialect_is_told_by_what_the_programs_print(
    aie_version: str, version: str, help_text: str, dialect: Dialect
) -> None:
    assert detect(aie_version, version, help_text) is dialect


def test_an_aiecc_before_2025_03_is_refused() -> None:
    with pytest.raises(ToolchainError, match=r"/x/aiecc\.py is too old: it has --aie-generate-npu"):
        detect("usage:", "aiecc.py 1234567", OLD_HELP, program="/x/aiecc.py")


def test_what_is_no_aiecc_is_refused() -> None:
    with pytest.raises(ToolchainError, match="/bin/true is no aiecc") as caught:
        detect("", "", "", program="/bin/true")
    assert "bin/aiecc" in caught.value.hint


def test_the_commit_is_read_where_it_is_said() -> None:
    assert revision_of(C_VERSION) == "3ca0193ce"
    assert revision_of("aiecc.py c668d2cb6\n") == "c668d2cb6"
    assert revision_of("aiecc (C++ version) c668d2cb6\n") == "c668d2cb6"
    assert revision_of("aiecc (C++ version) \n") == ""


def test_a_dialect_can_be_named() -> None:
    assert dialect_named("c1") is Dialect.C1
    with pytest.raises(ToolchainError, match="aiecc has no dialect 'D'") as caught:
        dialect_named("D")
    assert "C0" in caught.value.hint


class Asking:
    """An installation with a log of what is asked of it."""

    def __init__(self, folder: Path, dialect: str, *constants: str) -> None:
        self.installed = install(folder / "packages", dialect, constants=constants)
        self.log = folder / "log"
        self.folder = folder
        self.environment = Environment.of({"AIE_STUB_LOG": str(self.log), "PATH": "/usr/bin:/bin"})

    def probe(self, dialect: str = "", extra: tuple[str, ...] = ()) -> tuple[Dialect, str]:
        """Return the dialect and the identity, as a new run of a build would learn them."""
        prints = Fingerprints(self.folder / "prints.json")
        path, memory = str(self.installed.aiecc), self.folder / "memory.json"
        found = probe(path, self.environment, prints, memory, dialect=dialect, extra=extra)
        prints.save()
        return found.dialect, found.identity

    @property
    def calls(self) -> int:
        """How often aiecc was run."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.mark.parametrize("dialect", Dialect, ids=str)
def test_a_program_is_asked_at_most_once_until_it_changes(tmp_path: Path, dialect: Dialect) -> None:
    asking = Asking(tmp_path, str(dialect))
    found, identity = asking.probe()
    assert found is dialect
    calls = asking.calls
    assert asking.probe() == (dialect, identity)
    assert asking.calls == calls
    asking.installed.touch("aiecc", "another build")
    again, other = asking.probe()
    assert again is dialect
    assert other != identity
    assert asking.calls == 2 * calls


def test_f7_a_tool_that_aiecc_runs_is_part_of_its_identity(tmp_path: Path) -> None:
    asking = Asking(tmp_path, "C2")
    linker = str(asking.installed.peano / "bin" / "ld.lld")
    _, before = asking.probe(extra=(linker,))
    asking.installed.touch("ld.lld", "another build")
    assert asking.probe(extra=(linker,))[1] != before
    assert asking.probe()[1] != before


def test_the_named_dialect_wins_and_is_part_of_the_identity(tmp_path: Path) -> None:
    asking = Asking(tmp_path, "C2")
    _, plain = asking.probe()
    named, identity = asking.probe("C1")
    assert named is Dialect.C1
    assert identity != plain


def test_a_damaged_memory_is_an_empty_one(tmp_path: Path) -> None:
    asking = Asking(tmp_path, "B")
    for text in ("{", "[]", json.dumps({"key": str(asking.installed.aiecc), "state": "x", "answer": 3})):
        (tmp_path / "memory.json").write_text(text)
        assert asking.probe()[0] is Dialect.B


def test_a_program_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    prints = Fingerprints(tmp_path / "prints.json")
    with pytest.raises(ToolchainError, match="does not run"):
        probe(str(tmp_path / "nothing"), Environment.of({}), prints, tmp_path / "memory.json")
    assert not (tmp_path / "memory.json").exists()
