"""The task form of a runtime sequence, and constants as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from aiebuild.errors import MlirError, RunError
from aiebuild.host import constants, elements
from aiebuild.host.simulate import simulate
from host_designs import copy_objects, core, device, fifo, layout, memcpy, sequence, wait, whole
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module

ZEROS = np.zeros(64, np.int32)


def numbers(count: int = 64) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.int32)


def bd(argument: str, offset: int, length: int, more: str = "") -> str:
    return (
        f'"aie.dma_bd"({argument}) <{{len = {length} : i32, offset = {offset} : i32{more}}}> : (memref<64xi32>) -> ()'
    )


def dimensions(*pairs: tuple[int, int]) -> str:
    return f", dimensions = #aie<bd_dim_layout_array[{layout(list(pairs))}]>"


def task(value: str, name: str, *body: str, more: str = "", token: bool = False) -> str:
    """Return a task; its last op is `aie.end` unless the body has blocks of its own."""
    lines = "\n".join(body)
    end = "" if "^" in lines else '\n"aie.end"() : () -> ()'
    asked = ", issue_token = true" if token else ""
    start = f'{value} = "aiex.dma_configure_task_for"() <{{alloc = @{name}{asked}{more}}}> ({{'
    return f"{start}\n{lines}{end}\n}}) : () -> index"


def on(kind: str, value: str) -> str:
    return f'"aiex.dma_{kind}_task"({value}) : (index) -> ()'


def design(*body: str) -> Module:
    return device(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("in", "out")),
        sequence({"%a": "64xi32", "%b": "64xi32"}, *body),
    )


def run(*body: str) -> np.ndarray:
    return simulate(design(*body), None, [numbers(), ZEROS]).arrays[1]


def send(*body: str, more: str = "", count: int = 64) -> np.ndarray:
    """Send what the task's body says, and fetch as many elements."""
    fetch = (task("%out", "out", bd("%b", 0, count), token=True), on("start", "%out"), on("await", "%out"))
    return run(task("%in", "in", *body, more=more), on("start", "%in"), *fetch)[:count]


def test_a_length_alone_is_contiguous() -> None:
    assert np.array_equal(send(bd("%a", 16, 32), count=32), numbers()[16:48])


def test_three_dimensions_are_all_of_a_descriptor() -> None:
    more = dimensions((2, 4), (8, 8), (4, 1))
    expected = np.concatenate([numbers().reshape(8, 8)[:, :4].ravel(), numbers().reshape(8, 8)[:, 4:].ravel()])
    assert np.array_equal(send(bd("%a", 0, 64, more)), expected)


def test_the_highest_of_four_dimensions_is_the_repeat() -> None:
    """The length is that of the lower three; sizes and strides may also be given as two lists."""
    expected = np.tile(numbers()[:16], 4)
    assert np.array_equal(send(bd("%a", 0, 16, dimensions((4, 0), (1, 0), (1, 0), (16, 1)))), expected)
    lists = ", static_sizes = array<i64: 4, 1, 1, 16>, static_strides = array<i64: 0, 0, 0, 1>"
    assert np.array_equal(send(bd("%a", 0, 16, lists)), expected)


def test_repeat_count_does_the_whole_task_again() -> None:
    assert np.array_equal(send(bd("%a", 0, 16), more=", repeat_count = 3 : i32"), np.tile(numbers()[:16], 4))


def test_a_chain_of_descriptors_goes_in_its_order() -> None:
    chain = (
        bd("%a", 32, 32),
        '"aie.next_bd"()[^second] : () -> ()',
        "^second:",
        bd("%a", 0, 32),
        '"aie.end"() : () -> ()',
    )
    assert np.array_equal(send(*chain), np.roll(numbers(), 32))


def test_a_length_that_is_not_that_of_the_layout_is_refused() -> None:
    with pytest.raises(RunError, match="the length 64 is not that of the data layout, which visits 32 elements"):
        send(bd("%a", 0, 64, dimensions((8, 4), (4, 1))))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((on("await", "%t"),), "the task was not started"),
        ((on("start", "%t"), on("await", "%t")), "the task gives no token"),
        ((on("start", "%t"), on("start", "%t")), "the task was started before"),
        ((on("free", "%t"), on("start", "%t")), "the task was freed before"),
    ],
)
def test_wrong_uses_of_a_task_are_refused(body: tuple[str, ...], message: str) -> None:
    with pytest.raises(RunError, match=message):
        run(task("%t", "in", bd("%a", 0, 64)), *body)


def test_a_shim_tile_has_sixteen_descriptors() -> None:
    tasks = [task(f"%t{number}", "in", bd("%a", 0, 16)) for number in range(17)]
    with pytest.raises(RunError, match=r"shim tile \(0, 0\) has 16 descriptors, 17 are in use: await or free a task"):
        run(*tasks)
    run(*tasks[:16], *(on("free", f"%t{number}") for number in range(16)), tasks[16])


def test_an_unknown_fifo_is_named() -> None:
    with pytest.raises(
        RunError, match=r"aiex\.dma_configure_task_for: the host has no end of a FIFO `inn`; did you mean"
    ):
        run(task("%t", "inn", bd("%a", 0, 64)))


@pytest.mark.parametrize(
    ("text", "shape", "element", "expected"),
    [
        ("dense<[1, -2]> : tensor<2xi16>", (2,), "i16", "0100feff"),
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>", (2, 2), "i8", "01020304"),
        ("dense<7> : tensor<4xi8>", (4,), "i8", "07"),
        ("dense<[7, 7]> : tensor<2xi8>", (2,), "i8", "07"),
        ('dense<"0x01000200"> : tensor<2xi16>', (2,), "i16", "01000200"),
        ("dense<1.5> : tensor<2xf32>", (2,), "f32", "0000c03f"),
        ("dense<[0x7FC0, 1.0]> : tensor<2xbf16>", (2,), "bf16", "c07f803f"),
        ("dense<true> : tensor<2xi1>", (2,), "i1", "01"),
    ],
)
def test_dense_constants_are_read_as_bytes(text: str, shape: tuple[int, ...], element: str, expected: str) -> None:
    assert constants.dense(text, shape, element) == expected


@pytest.mark.parametrize("text", ["dense<[1, 2, 3]> : tensor<3xi8>", "dense<[x, y]>", "dense_resource<big>"])
def test_constants_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(MlirError):
        constants.dense(text, (2,), "i8")


@given(st.floats(allow_nan=False, width=32))
def test_bf16_constants_round_to_nearest_even(value: float) -> None:
    with np.errstate(over="ignore"):
        expected = np.float32(value).astype(ml_dtypes.bfloat16)
    assert elements.encode(repr(value), "bf16") == expected.tobytes()


def early(*body: str) -> list[tuple[int, str, str, int | None]]:
    """Run a sequence; return argument, FIFO, what is missing and line of each output that was not waited for."""
    outcome = simulate(design(*body), None, [numbers(), ZEROS])
    lines = [each.where.line if each.where else None for each in outcome.early]
    named = [(each.argument, each.fifo, each.missing) for each in outcome.early]
    return [(*each, line) for each, line in zip(named, lines, strict=True)]


def line_of(text: str, *body: str) -> int:
    """Return the line of an op in the module of `early`."""
    found = [op.line for op in design(*body).walk() if op.name == text]
    assert found[-1] is not None
    return found[-1]


SEND = (task("%in", "in", bd("%a", 0, 32)), on("start", "%in"))
FIRST = (task("%one", "out", bd("%b", 0, 16), token=True), on("start", "%one"))
SECOND = (task("%two", "out", bd("%b", 16, 16), token=True), on("start", "%two"))


def test_an_output_task_that_is_not_awaited_is_told_with_its_line() -> None:
    body = (*SEND, *FIRST, on("await", "%one"), *SECOND)
    assert early(*body) == [(1, "out", "aiex.dma_await_task for it", line_of("aiex.dma_start_task", *body))]


def test_freeing_a_task_is_not_waiting_for_it() -> None:
    silent = (task("%one", "out", bd("%b", 0, 32)), on("start", "%one"), on("free", "%one"))
    ((argument, name, missing, _),) = early(*SEND, *silent)
    assert (argument, name) == (1, "out")
    assert missing == "aiex.dma_await_task for it, with issue_token = true where it is configured"


def test_waiting_for_a_later_transfer_of_a_channel_is_waiting_for_the_earlier_ones() -> None:
    assert early(*SEND, *FIRST, *SECOND, on("await", "%two")) == []


def test_a_wait_takes_the_oldest_token_only() -> None:
    send = whole("%a", "in", 64)
    first = memcpy("%b", "out", [1, 1, 1, 32], [0, 0, 0, 1], "64xi32", number=1, token=True)
    second = memcpy("%b", "out", [1, 1, 1, 32], [0, 0, 0, 1], "64xi32", number=2, token=True)
    ((argument, name, missing, line),) = early(send, first, second, wait("out"))
    assert (argument, name, missing) == (1, "out", "aiex.npu.dma_wait {symbol = @out}")
    assert line == line_of("aiex.npu.dma_memcpy_nd", send, first, second, wait("out"))
    assert early(send, first, second, wait("out"), wait("out")) == []


def test_inputs_need_not_be_waited_for() -> None:
    assert early(whole("%a", "in", 64), whole("%b", "out", 64, number=1, token=True), wait("out")) == []
