"""Object FIFOs on the host: who gets which object, in which order, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from aiebuild.errors import MlirError, RunError
from aiebuild.host.simulate import Program, simulate
from aiebuild.host.translate import translate
from host_designs import (
    access,
    acquire,
    constant,
    copy_objects,
    core,
    device,
    fifo,
    golden,
    link,
    loop,
    memcpy,
    one_core,
    release,
    sequence,
    wait,
    whole,
)

if TYPE_CHECKING:
    from aiebuild.mlir.ir import Module

KIND = "16xi32"


def numbers(count: int, dtype: type = np.int32) -> np.ndarray:
    return np.arange(1, count + 1, dtype=dtype)


def run(module: Module, *arrays: np.ndarray) -> list[np.ndarray]:
    return list(simulate(module, None, arrays).arrays)


def through(*parts: str, count: int = 64, back: int | None = None) -> Module:
    """Return a design that sends `count` elements into `in` and fetches as many from `out`."""
    back = count if back is None else back
    return device(
        *parts,
        sequence(
            {"%a": f"{count}xi32", "%b": f"{back}xi32"},
            whole("%a", "in", count, number=0),
            whole("%b", "out", back, number=1, token=True),
            wait("out"),
        ),
    )


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_objects_arrive_in_order_at_any_depth(depth: int) -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)], depth=depth),
        fifo("out", (0, 2), [(0, 0)], depth=depth),
        core(0, 2, copy_objects("in", "out")),
    )
    assert np.array_equal(run(module, numbers(64), np.zeros(64, np.int32))[1], numbers(64))


def test_a_depth_may_differ_by_end() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)], depth=[2, 4]),
        fifo("out", (0, 2), [(0, 0)], depth=[1, 2]),
        core(0, 2, copy_objects("in", "out")),
    )
    assert np.array_equal(run(module, numbers(64), np.zeros(64, np.int32))[1], numbers(64))


def test_neighbours_hand_objects_over_in_shared_memory() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("middle", (0, 2), [(0, 3)], depth=1),
        fifo("out", (0, 3), [(0, 0)]),
        core(0, 2, copy_objects("in", "middle")),
        core(0, 3, copy_objects("middle", "out")),
    )
    events: list[dict[str, object]] = []
    outcome = simulate(module, None, [numbers(64), np.zeros(64, np.int32)], trace=events.append)
    assert np.array_equal(outcome.arrays[1], numbers(64))
    assert not any(event.get("who") == "DMA of `middle`" for event in events)


@pytest.mark.parametrize(("more", "end"), [(", via_DMA = true", (0, 3)), ("", (0, 4))])
def test_far_cores_and_via_dma_hand_objects_over_by_dma(more: str, end: tuple[int, int]) -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("middle", (0, 2), [end], more=more),
        fifo("out", end, [(0, 0)]),
        core(0, 2, copy_objects("in", "middle")),
        core(*end, copy_objects("middle", "out")),
    )
    events: list[dict[str, object]] = []
    outcome = simulate(module, None, [numbers(64), np.zeros(64, np.int32)], trace=events.append)
    assert np.array_equal(outcome.arrays[1], numbers(64))
    assert any(event.get("who") == "DMA of `middle`" for event in events)


def test_every_consumer_of_a_broadcast_gets_every_object() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2), (0, 4)]),
        fifo("one", (0, 2), [(0, 0)]),
        fifo("two", (0, 4), [(0, 0)]),
        core(0, 2, copy_objects("in", "one")),
        core(0, 4, copy_objects("in", "two")),
        sequence(
            {"%a": "64xi32", "%b": "64xi32", "%c": "64xi32"},
            whole("%a", "in", 64, number=0),
            whole("%b", "one", 64, number=1, token=True),
            whole("%c", "two", 64, number=2, token=True),
            wait("one"),
            wait("two"),
        ),
    )
    _, one, two = run(module, numbers(64), np.zeros(64, np.int32), np.zeros(64, np.int32))
    assert np.array_equal(one, numbers(64))
    assert np.array_equal(two, numbers(64))


def test_a_broadcast_waits_for_the_slowest_consumer() -> None:
    """The second consumer takes nothing: its objects fill up, and the first one starves with it."""
    module = through(
        fifo("in", (0, 0), [(0, 2), (0, 4)], depth=2),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("in", "out")),
        core(0, 4),
    )
    with pytest.raises(RunError, match="all 2 are full; core \\(0, 4\\) would have to free one"):
        run(module, numbers(64), np.zeros(64, np.int32))


OFFSETS = "0, 8, 24"
PARTS = ("8xi32", "16xi32", "8xi32")


def three_lanes(order: str = OFFSETS) -> Module:
    """Deal objects of 32 out to three cores in parts of 8, 16 and 8, and join them."""
    cores = [(0, 2), (0, 3), (0, 4)]
    parts = []
    for number, (tile, kind) in enumerate(zip(cores, PARTS, strict=True)):
        parts += [
            fifo(f"in{number}", (0, 1), [tile], kind),
            fifo(f"out{number}", tile, [(0, 1)], kind),
            core(*tile, copy_objects(f"in{number}", f"out{number}", kind)),
        ]
    return through(
        fifo("in", (0, 0), [(0, 1)], "32xi32"),
        fifo("out", (0, 1), [(0, 0)], "32xi32"),
        *parts,
        link(["in"], ["in0", "in1", "in2"], dst=OFFSETS),
        link(["out0", "out1", "out2"], ["out"], src=order),
        count=128,
    )


def test_distribute_and_join_use_their_offsets() -> None:
    data = numbers(128)
    assert np.array_equal(run(three_lanes(), data, np.zeros(128, np.int32))[1], data)


def test_join_puts_parts_where_the_offsets_say() -> None:
    """Parts of 8, 16 and 8 joined at 24, 0 and 16 come out in the order in which the parts are written: 0, 1, 2."""
    data = numbers(128)
    joined = run(three_lanes("24, 0, 16"), data, np.zeros(128, np.int32))[1]
    assert np.array_equal(joined, data)


def test_a_part_beyond_the_object_is_refused() -> None:
    module = three_lanes()
    found = next(op for op in module.walk() if op.name == "aie.objectfifo.link")
    found.properties["dst_offsets"] = "[0, 8, 32]"
    with pytest.raises(RunError, match="the part of `in2` reaches element 39 of objects of 32"):
        run(module, numbers(128), np.zeros(128, np.int32))


def test_a_link_may_change_the_size_of_objects() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 1)], "32xi32"),
        fifo("small", (0, 1), [(0, 2)], "8xi32"),
        fifo("out", (0, 2), [(0, 0)], "8xi32"),
        link(["in"], ["small"]),
        core(0, 2, copy_objects("small", "out", "8xi32")),
    )
    assert np.array_equal(run(module, numbers(64), np.zeros(64, np.int32))[1], numbers(64))


def test_repeat_count_sends_each_object_again() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 1)]),
        fifo("again", (0, 1), [(0, 2)], more=", repeat_count = 3 : i32"),
        fifo("out", (0, 2), [(0, 0)]),
        link(["in"], ["again"]),
        core(0, 2, copy_objects("again", "out")),
        count=32,
        back=96,
    )
    data = numbers(32)
    expected = np.concatenate([np.tile(data[:16], 3), np.tile(data[16:], 3)])
    assert np.array_equal(run(module, data, np.zeros(96, np.int32))[1], expected)


def test_layouts_of_a_core_fifo_apply_at_its_own_dma() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)], to_stream=[(4, 1), (4, 4)]),
        core(0, 2, copy_objects("in", "out")),
        count=32,
    )
    data = numbers(32)
    expected = np.concatenate([block.reshape(4, 4).T.ravel() for block in data.reshape(2, 16)])
    assert np.array_equal(run(module, data, np.zeros(32, np.int32))[1], expected)


def test_a_layout_from_the_stream_places_the_elements() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)], from_stream=[[(2, 1), (8, 2)]]),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("in", "out")),
        count=16,
    )
    data = numbers(16)
    assert np.array_equal(run(module, data, np.zeros(16, np.int32))[1], data.reshape(2, 8).T.ravel())


def test_a_layout_of_another_size_than_the_object_is_refused() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)], to_stream=[(4, 1), (2, 4)]),
        core(0, 2, copy_objects("in", "out")),
    )
    with pytest.raises(RunError, match="the data layout of `out` visits 8 elements, an object has 16"):
        run(module, numbers(64), np.zeros(64, np.int32))


def test_initial_values_are_there_before_anything_is_sent() -> None:
    initial = "dense<[" + ", ".join(str(number) for number in range(100, 116)) + "]> : memref<16xi32>"
    module = through(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("middle", (0, 2), [(0, 3)], more=f", initValues = [{initial}]"),
        fifo("out", (0, 3), [(0, 0)]),
        core(0, 2, copy_objects("in", "middle")),
        core(0, 3, copy_objects("middle", "out")),
        count=16,
        back=32,
    )
    result = run(module, numbers(16), np.zeros(32, np.int32))[1]
    assert np.array_equal(result, np.concatenate([np.arange(100, 116), numbers(16)]))


def window() -> str:
    """A core that adds each object and the one after it: it acquires two, releases one."""
    add = (
        f'%x = "memref.load"(%p, %i) : (memref<{KIND}>, index) -> i32',
        f'%y = "memref.load"(%q, %i) : (memref<{KIND}>, index) -> i32',
        '%s = "arith.addi"(%x, %y) : (i32, i32) -> i32',
        f'"memref.store"(%s, %o, %i) : (i32, memref<{KIND}>, index) -> ()',
    )
    return loop(
        "%again",
        3,
        acquire("%v", "in", 1, 2),
        access("%p", "%v", 0),
        access("%q", "%v", 1),
        acquire("%w", "out", 0),
        access("%o", "%w"),
        loop("%i", 16, *add),
        release("out", 0),
        release("in", 1),
    )


def test_acquire_counts_the_objects_that_are_held_already() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)], depth=3),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, window()),
        back=48,
    )
    data = numbers(64).reshape(4, 16)
    assert np.array_equal(run(module, data, np.zeros(48, np.int32))[1].reshape(3, 16), data[:3] + data[1:])


def test_an_acquire_beyond_the_depth_names_op_line_and_core() -> None:
    module = one_core(acquire("%v", "in", 1, 3))
    with pytest.raises(MlirError) as caught:
        simulate(module, None, [numbers(16), numbers(16)])
    text = str(caught.value)
    assert text.startswith("design.mlir:9:1: error: core (0, 2): aie.objectfifo.acquire: ")
    assert "acquires 3 objects of `in`, which has a depth of 2" in text


def test_releasing_more_than_is_held_names_op_line_and_core() -> None:
    module = one_core(acquire("%v", "in", 1), release("in", 1, 2))
    with pytest.raises(RunError) as caught:
        run(module, numbers(16), numbers(16))
    assert str(caught.value) == (
        "design.mlir:10:1: error: core (0, 2): aie.objectfifo.release: releases 2 objects of `in` and holds 1"
    )


def test_objects_that_were_held_already_are_not_counted_twice() -> None:
    """One, then two in all are held: releasing three is too many."""
    module = one_core(acquire("%v", "out", 0, 1), acquire("%w", "out", 0, 2), release("out", 0, 3))
    with pytest.raises(RunError, match="releases 3 objects of `out` and holds 2"):
        run(module, numbers(16), numbers(16))


def test_an_end_at_a_dma_holds_one_object_more_than_its_core_acquires() -> None:
    """As mlir-aie lowers it: deadlock.lowered.mlir has three buffers for `in`, of which the core takes two."""
    plan = Program(translate(golden("deadlock"))).plan
    depths = {fifo.name: (fifo.producer.depth, fifo.consumers[0].depth) for fifo in plan.fifos}
    assert depths == {"in": (2, 3), "out": (2, 2)}


def test_a_transfer_into_the_hosts_memory_gives_a_token_unasked() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("in", "out")),
        sequence({"%a": KIND, "%b": KIND}, whole("%a", "in", 16), whole("%b", "out", 16, number=1), wait("out")),
    )
    assert np.array_equal(run(module, numbers(16), np.zeros(16, np.int32))[1], numbers(16))


def test_an_unknown_fifo_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(MlirError, match=r"(?s)there is no FIFO `inn`.*did you mean 'in'"):
        run(one_core(acquire("%v", "inn", 1)), numbers(16), numbers(16))


def test_a_core_cannot_use_an_end_that_it_is_not_at() -> None:
    with pytest.raises(MlirError, match="the core is not a producer of `in`"):
        run(one_core(acquire("%v", "in", 0)), numbers(16), numbers(16))


def test_without_synchronisation_nobody_waits() -> None:
    """The consumer reads what is there, zeros, since it runs first; with synchronisation it would wait."""
    parts = [
        fifo("in", (0, 0), [(0, 3)]),
        fifo("loose", (0, 3), [(0, 2)], more=", disable_synchronization = true"),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("loose", "out", count=1)),
        core(0, 3, copy_objects("in", "loose", count=1)),
    ]
    assert np.array_equal(run(through(*parts, count=16), numbers(16), numbers(16))[1], np.zeros(16, np.int32))


def test_an_unsynchronised_fifo_through_a_dma_is_refused() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)], more=", disable_synchronization = true"), fifo("out", (0, 2), [(0, 0)])
    )
    with pytest.raises(MlirError, match="depends on time"):
        run(module, numbers(64), numbers(64))


def test_a_token_that_nobody_gives_is_an_error_at_the_wait() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]), core(0, 2), sequence({"%a": "16xi32"}, whole("%a", "in", 16), wait("in"))
    )
    with pytest.raises(
        RunError, match=r"aiex\.npu\.dma_wait: waits for a token of `in`, and no transfer will give one"
    ):
        run(module, numbers(16))


def test_a_descriptor_in_use_says_which_wait_is_missing() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        core(0, 2),
        sequence({"%a": "64xi32"}, whole("%a", "in", 64, number=3), whole("%a", "in", 64, number=3)),
    )
    with pytest.raises(RunError) as caught:
        run(module, numbers(64))
    text = str(caught.value)
    assert "descriptor 3 of shim tile (0, 0) is still in use by transfer 1 of `in`" in text
    assert "give that transfer issue_token = true, and wait for it (aiex.npu.dma_wait {symbol = @in})" in text


def test_a_descriptor_may_be_used_again_after_the_wait() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("in", "out")),
        sequence(
            {"%a": "16xi32", "%b": "16xi32"},
            whole("%a", "in", 16, number=0),
            whole("%b", "out", 16, number=1, token=True),
            wait("out"),
            whole("%a", "in", 16, number=0),
            whole("%b", "out", 16, number=1, token=True),
            wait("out"),
        ),
    )
    assert np.array_equal(run(module, numbers(16), np.zeros(16, np.int32))[1], numbers(16))


def test_what_was_not_waited_for_is_still_moved_and_what_cannot_is_told() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)]),
        core(0, 2, copy_objects("in", "out", count=2)),
        sequence({"%a": "64xi32", "%b": "64xi32"}, whole("%a", "in", 64), whole("%b", "out", 64, number=1)),
    )
    outcome = simulate(module, None, [numbers(64), np.zeros(64, np.int32)])
    assert np.array_equal(outcome.arrays[1], np.concatenate([numbers(32), np.zeros(32, np.int32)]))
    assert "the transfer of `out`, not waited for, moved 32 of 64 elements" in outcome.unfinished


@pytest.mark.parametrize(
    ("sizes", "strides", "message"),
    [
        ([1, 1, 1, 65], [0, 0, 0, 1], "reaches element 64 of an array of 64"),
        ([1, 1, 2, 16], [0, 0, 49, 1], "reaches element 64 of an array of 64"),
        ([1, 1, 0, 16], [0, 0, 16, 1], "must be positive"),
    ],
)
def test_a_transfer_outside_the_array_is_refused(sizes: list[int], strides: list[int], message: str) -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        core(0, 2),
        sequence({"%a": "64xi32"}, memcpy("%a", "in", sizes, strides, "64xi32")),
    )
    with pytest.raises(RunError, match=message):
        run(module, numbers(64))


def test_a_shim_pattern_is_that_of_a_strided_view() -> None:
    sizes, strides = [2, 2, 4, 2], [3, 0, 8, 2]
    module = device(
        fifo("in", (0, 0), [(0, 2)], "8xi32"),
        fifo("out", (0, 2), [(0, 0)], "8xi32"),
        core(0, 2, copy_objects("in", "out", "8xi32")),
        sequence(
            {"%a": "64xi32", "%b": "32xi32"},
            memcpy("%a", "in", sizes, strides, "64xi32"),
            whole("%b", "out", 32, number=1, token=True),
            wait("out"),
        ),
    )
    data = numbers(64)
    expected = np.lib.stride_tricks.as_strided(data, sizes, [4 * stride for stride in strides]).ravel()
    assert np.array_equal(run(module, data, np.zeros(32, np.int32))[1], expected)


def test_a_stuck_producer_is_told_who_would_have_to_free_objects() -> None:
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("middle", (0, 2), [(0, 3)], depth=2),
        fifo("out", (0, 3), [(0, 0)]),
        core(0, 2, copy_objects("in", "middle")),
        core(0, 3, acquire("%v", "middle", 1)),
        sequence(
            {"%a": "64xi32", "%b": "64xi32"},
            whole("%a", "in", 64),
            whole("%b", "out", 64, number=1, token=True),
            wait("out"),
        ),
    )
    with pytest.raises(RunError) as caught:
        run(module, numbers(64), numbers(64))
    text = str(caught.value)
    assert (
        "the core at (0, 2) waits for a free object of `middle`, none is there; core (0, 3) would have to free it"
        in text
    )
    assert "the core at (0, 3) has ended" in text


def test_two_runs_give_identical_traces() -> None:
    def trace() -> str:
        events: list[dict[str, object]] = []
        simulate(three_lanes(), None, [numbers(128), np.zeros(128, np.int32)], trace=events.append)
        return "\n".join(json.dumps(event) for event in events)

    first = trace()
    assert first == trace()
    assert '"fifo": "in1"' in first


def test_an_argument_of_another_type_or_size_is_refused() -> None:
    module = one_core(copy_objects("in", "out"))
    with pytest.raises(RunError, match="argument 0 of `main` has 16 elements of int32, 16 of int64 were given"):
        run(module, numbers(16).astype(np.int64), numbers(16))
    with pytest.raises(RunError, match="has 2 arguments, 1 were given"):
        run(module, numbers(16))


def test_the_arrays_that_are_given_are_not_changed() -> None:
    data, target = numbers(16), np.zeros(16, np.int32)
    run(one_core(copy_objects("in", "out")), data, target)
    assert not target.any()


def test_unknown_ops_of_the_device_are_refused() -> None:
    module = through(
        fifo("in", (0, 0), [(0, 2)]), constant("%x", 1), '"aie.cascade_flow"(%t0_2, %t0_2) : (index, index) -> ()'
    )
    with pytest.raises(MlirError, match=r"op `aie\.cascade_flow` is not supported on the host"):
        run(module, numbers(64), numbers(64))
