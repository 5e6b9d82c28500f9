"""MLIR's own tools, as independent judges of what our services write; tests that need them skip without them."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

MAJOR = 22
SECONDS = 60
"""No tool takes longer for these modules, unless something in them does not end."""
PASSES = (
    "convert-linalg-to-loops,convert-vector-to-scf,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-vector-to-llvm,finalize-memref-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-func-to-llvm,reconcile-unrealized-casts"
)
_ADDRESS = re.compile(r"^Unranked Memref base@ = \S+ ", re.MULTILINE)


@cache
def find(name: str) -> str | None:
    """Return the path of a tool of the version that these tests are written for."""
    for candidate in (f"{name}-{MAJOR}", name):
        path = shutil.which(candidate)
        if path is not None:
            said = subprocess.run(
                [path, "--version"], capture_output=True, text=True, check=False, timeout=SECONDS
            ).stdout
            if f"version {MAJOR}." in said:
                return path
    return None


def require(*names: str) -> None:
    """Skip the test, saying so, where a tool is not there."""
    missing = [name for name in names if find(name) is None]
    if missing:
        pytest.skip(f"NOT CHECKED: {', '.join(missing)} {MAJOR} is not installed (Debian: mlir-{MAJOR}-tools)")


def opt(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run mlir-opt on a text."""
    require("mlir-opt")
    return subprocess.run(
        [find("mlir-opt") or "", *flags], input=text, capture_output=True, text=True, check=False, timeout=SECONDS
    )


def verified(text: str) -> str:
    """Return what mlir-opt says against a text; empty, if nothing."""
    done = opt(text, "-o", "/dev/null")
    return done.stderr or ("" if done.returncode == 0 else "it failed")


def generic(text: str, *flags: str) -> str:
    """Return the generic form as mlir-opt prints it."""
    done = opt(text, "--mlir-print-op-generic", "--mlir-print-local-scope", *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(text: str) -> str:
    """Compile and run the function `main` of a module; return what it printed, without addresses.

    Raises:
        AssertionError: a tool refused the module.
    """
    require("mlir-opt", "mlir-runner")
    lowered = opt(text, f"--pass-pipeline=builtin.module({PASSES})")
    assert lowered.returncode == 0, lowered.stderr[:2000]
    folder = next(Path("/usr/lib").glob(f"llvm-{MAJOR}/lib"), Path("/usr/lib"))
    libraries = [str(next(folder.glob(f"libmlir_{name}.so*"))) for name in ("runner_utils", "c_runner_utils")]
    shared = f"--shared-libs={','.join(libraries)}"
    command = [find("mlir-runner") or "", "-", "-e", "main", "--entry-point-result=void", shared]
    done = subprocess.run(command, input=lowered.stdout, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[:2000]
    return _ADDRESS.sub("", done.stdout)
