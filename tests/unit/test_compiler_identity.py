"""Which build of a compiler it is, and when it is asked anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiebuild.environment import Environment
from aiebuild.fingerprint import Fingerprints
from aiebuild.toolchains.identity import identify

if TYPE_CHECKING:
    from pathlib import Path


def test_a_compiler_is_asked_anew_where_its_libraries_are_found_elsewhere(tmp_path: Path) -> None:
    compiler = tmp_path / "cxx"
    compiler.write_text("#!/bin/sh\necho version of $LD_LIBRARY_PATH\n")
    compiler.chmod(0o755)

    def version(folder: str) -> str:
        environment = Environment.of({"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": folder})
        fingerprints = Fingerprints(tmp_path / "fingerprints.json")
        return identify(str(compiler), environment, fingerprints, tmp_path / "memory.json").version

    assert [version("/one"), version("/two"), version("/two")] == [
        "version of /one",
        "version of /two",
        "version of /two",
    ]
