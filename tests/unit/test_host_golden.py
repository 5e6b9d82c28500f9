"""The golden designs run on the host with the results that their README gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from aiebuild.errors import RunError
from aiebuild.host.simulate import simulate
from aiebuild.host.translate import translate
from host_designs import GOLDEN, compiled, golden

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(7)


def kernels(name: str, folder: Path) -> Path:
    return compiled(GOLDEN / "kernels" / f"{name}.cc", folder)


def test_passthrough_copies_its_input(tmp_path: Path) -> None:
    data = RNG.integers(0, 256, 4096, dtype=np.uint8)
    outcome = simulate(golden("passthrough"), kernels("passthrough", tmp_path), [data, np.zeros_like(data)])
    assert np.array_equal(outcome.arrays[1], data)
    assert outcome.unfinished == ()


def test_matmul_multiplies_with_wrapping(tmp_path: Path) -> None:
    a, b = (RNG.integers(-32768, 32768, (64, 64), dtype=np.int16) for _ in range(2))
    outcome = simulate(golden("matmul"), kernels("mm", tmp_path), [a, b, np.zeros((64, 64), np.int32)])
    assert np.array_equal(outcome.arrays[2].reshape(64, 64), a.astype(np.int32) @ b.astype(np.int32))


def test_scale4_deals_out_and_joins_again(tmp_path: Path) -> None:
    x = RNG.integers(-1000, 1000, 4096, dtype=np.int32)
    outcome = simulate(golden("scale4"), kernels("scale", tmp_path), [x, np.array([7], np.int32), np.zeros_like(x)])
    assert np.array_equal(outcome.arrays[2], 7 * x)


def test_layout_undoes_its_transposition() -> None:
    a = RNG.integers(-1000, 1000, 512, dtype=np.int32)
    outcome = simulate(golden("layout"), None, [a, np.zeros_like(a)])
    assert np.array_equal(outcome.arrays[1], a + 1)


def test_layout_shows_the_core_a_transposed_block() -> None:
    """What the core sees is checked too: the way out alone must leave a transposition that was not undone."""
    module = golden("layout")
    link = next(op for op in module.walk() if op.name == "aie.objectfifo" and op.get("sym_name") == '"b_t"')
    link.properties["dimensionsFromStreamPerConsumer"] = "#aie<bd_dim_layout_array_array[[]]>"
    a = RNG.integers(-1000, 1000, 512, dtype=np.int32)
    outcome = simulate(module, None, [a, np.zeros_like(a)])
    expected = np.concatenate([block.reshape(8, 16).T.ravel() for block in a.reshape(4, 128)])
    assert np.array_equal(outcome.arrays[1], expected + 1)


def test_tasks_negates_block_by_block(tmp_path: Path) -> None:
    a = RNG.integers(-1000, 1000, (8, 8), dtype=np.int16)
    outcome = simulate(golden("tasks"), kernels("negate", tmp_path), [a, np.zeros_like(a)])
    assert np.array_equal(outcome.arrays[1].reshape(8, 8), -a)


def test_rtp_runs_either_sequence() -> None:
    x = RNG.integers(-1000, 1000, 256, dtype=np.int32)
    triple = simulate(golden("rtp"), None, [x[:128], np.zeros(128, np.int32)], "triple")
    assert np.array_equal(triple.arrays[1], np.maximum(3 * x[:128], 3))
    halves = simulate(golden("rtp"), None, [x, np.zeros(128, np.int32)], "halves")
    assert np.array_equal(halves.arrays[1], np.maximum(5 * x.reshape(4, 64)[[0, 2]].ravel(), 5))


def test_locks_runs_its_handmade_dmas() -> None:
    x = RNG.integers(-1000, 1000, 256, dtype=np.int32)
    outcome = simulate(golden("locks"), None, [x, np.zeros_like(x)])
    assert np.array_equal(outcome.arrays[1], x + np.tile(np.array([10, 20, 30, 40], np.int32), 64))


def test_deadlock_is_reported_with_who_waits_for_what() -> None:
    with pytest.raises(RunError) as caught:
        simulate(golden("deadlock"), None, [np.arange(48, dtype=np.int32), np.zeros(48, np.int32)])
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("deadlock.mlir:34:7: error: deadlock")
    assert "the host waits for `out`: 16 of 48 elements" in lines[1]
    assert "the core at (0, 2) waits for a second object of `in`, one is there" in lines[2]
    assert "aie.objectfifo.acquire, deadlock.mlir:14:9" in lines[2]
    assert "the DMA of `in` waits for the host, which sends nothing more" in lines[3]


NAMES = sorted(path.name.removesuffix(".generic.mlir") for path in (GOLDEN / "mlir").glob("*.generic.mlir"))


@pytest.mark.parametrize("name", NAMES)
def test_the_translated_text_depends_on_the_module_alone(name: str) -> None:
    assert translate(golden(name)) == translate(golden(name))
