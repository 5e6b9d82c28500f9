"""The golden designs as design folders of plain MLIR: built, run and compared through the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from projects import GOLDEN, Project

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = {
    "passthrough": ("u1", "X", "4096", 'X.astype("u1")', "A, B", "npu1_1col"),
    "layout": ("i4", "X", "512", "X + 1", "A, B", "npu1_1col"),
    "tasks": ("i2", "X", "64", "-X", "A, B", "npu2_1col"),
    "scale4": ("i4", "X", "4096", "X * 7", "A, F, B", "npu2_1col"),
}
KERNELS = {
    "passthrough": """\
#include <cstdint>
extern "C" void passthrough_u8(uint8_t *in, uint8_t *out, int32_t n) { for (int i = 0; i < n; ++i) out[i] = in[i]; }
""",
    "tasks": """\
#include <cstdint>
extern "C" void negate_i16(int16_t *in, int16_t *out, int32_t n) { for (int i = 0; i < n; ++i) out[i] = -in[i]; }
""",
    "scale4": """\
#include <cstdint>
extern "C" void scale_i32(int32_t *in, int32_t *out, int32_t f, int32_t n) {
  for (int i = 0; i < n; ++i) out[i] = f * in[i];
}
""",
}
OBJECTS = {"passthrough": "passthrough", "tasks": "negate", "scale4": "scale"}
CHECK = """\
import numpy as np


def inputs(p, rng):
    X = rng.integers(0, 100, {count}).astype("{dtype}")
    return {{"A": X, "F": np.array([7], "i4")}} if "F" in "{arguments}" else {{"A": X}}


def reference(p, A, F=None):
    X = A
    return {{"B": {expected}}}
"""


def add_golden(project: Project, name: str, check: str, arguments: str, device: str, *, extra: str = "") -> None:
    """Make a golden module a design folder."""
    project.write(f"designs/{name}/{name}.mlir", (GOLDEN / "mlir" / f"{name}.mlir").read_text())
    named = ", ".join(f"{word.strip()}: {word.strip()}" for word in arguments.split(","))
    contract = f"description: golden\ndevices: [{device}]\narguments: {{{named}}}\n{extra}"
    project.write(f"designs/{name}/design.yaml", contract)
    project.write(f"designs/{name}/check.py", check)
    recipe = ['Import("env", "p")', ""]
    links = ""
    if name in KERNELS:
        project.write(f"kernels/{name}.cc", KERNELS[name])
        recipe.append(f'kernel = env.CoreObject("{OBJECTS[name]}", source="#kernels/{name}.cc")')
        links = "link_with=[kernel], "
    recipe.append(f'env.Design(mlir="{name}.mlir", {links}check="check.py")')
    project.write(f"designs/{name}/SConscript", "\n".join(recipe) + "\n")


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_golden_design_gives_what_it_must(project: Project, name: str) -> None:
    dtype, _, count, expected, arguments, device = CHECKS[name]
    check = CHECK.format(dtype=dtype, count=count, expected=expected, arguments=arguments)
    add_golden(project, name, check, arguments, device)
    built = project.build()
    assert f"{name}: B agrees with the reference, largest error 0" in built.out
    assert project.build().steps == []


RTP_CHECK = """\
import numpy as np


def inputs(p, rng, sequence):
    return {"A": rng.integers(-50, 50, {"triple": 128, "halves": 256}[sequence], dtype=np.int32)}


def reference(p, A, sequence):
    if sequence == "triple":
        return {"B": np.maximum(3 * A, 3)}
    return {"B": np.maximum(5 * A.reshape(4, 64)[::2], 5)}
"""


def test_two_sequences_run_on_one_configuration_each(project: Project) -> None:
    add_golden(project, "rtp", RTP_CHECK, "A, B", "npu2_1col", extra="sequences: [triple, halves]\n")
    said = project.build().out
    assert "triple" in said
    assert "halves" in said


def test_a_deadlock_is_reported_with_who_waits_for_what(project: Project) -> None:
    check = CHECK.format(dtype="i4", count="48", expected="X", arguments="A, B")
    add_golden(project, "deadlock", check, "A, B", "npu1_1col")
    failed = project.scons("design=deadlock")
    assert failed.status == 2
    assert "deadlock" in failed.err
    assert "designs/deadlock/deadlock.mlir:14" in failed.err
    assert "core (0, 2)" in failed.err
    assert "the host" in failed.err
    assert not results(project.root)


def results(root: Path) -> list[Path]:
    """Return the results of checks that were written down."""
    return list((root / "build").rglob("check.json"))
