"""IREE as an independent judge of StableHLO modules: its compiler and runtime for this machine, where installed."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MISSING = "NOT CHECKED: IREE is not installed (pip install -e '.[iree]')"


def iree_opt() -> str:
    """Return the program that reads and prints StableHLO; skip the test, saying so, without IREE."""
    found = shutil.which("iree-opt", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if found is None:
        pytest.skip(MISSING)
    return found


@cache
def compiled(text: str) -> Callable[[str, Sequence[Any]], tuple[Any, ...]]:
    """Return what runs a function of a module and returns its results; skip the test, saying so, without IREE."""
    try:
        compiler, runtime = (importlib.import_module(f"iree.{name}") for name in ("compiler", "runtime"))
    except ImportError:
        pytest.skip(MISSING)
    program = compiler.compile_str(text, input_type="stablehlo", target_backends=["vmvx"])
    context = runtime.SystemContext(config=runtime.Config("local-task"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, program))

    def run(name: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
        results = context.modules.module[name](*arguments)
        return tuple(each.to_host() for each in (results if isinstance(results, tuple) else (results,)))

    return run
