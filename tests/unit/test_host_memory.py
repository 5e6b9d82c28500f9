"""Memrefs and control flow in cores: what is read and written, and what is refused, with op, line and core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from aiebuild.errors import MlirError, RunError
from aiebuild.host.simulate import simulate
from aiebuild.host.translate import translate
from host_designs import (
    access,
    acquire,
    compiled,
    constant,
    copy_objects,
    core,
    device,
    fifo,
    loop,
    one_core,
    release,
    sequence,
    wait,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path

    from aiebuild.mlir.ir import Module

KIND = "16xi32"
TYPE = f"memref<{KIND}>"


def numbers(count: int = 16, dtype: type = np.int32) -> np.ndarray:
    return np.arange(1, count + 1, dtype=dtype)


def run(module: Module, *arrays: np.ndarray) -> np.ndarray:
    return simulate(module, None, arrays or [numbers(), np.zeros(16, np.int32)]).arrays[-1]


def once(*body: str, more: str = "", kind: str = KIND) -> Module:
    """Return a design whose core has one object in (`%i`) and one object out (`%o`)."""
    return one_core(
        acquire("%vi", "in", 1, kind=kind),
        access("%i", "%vi", kind=kind),
        acquire("%vo", "out", 0, kind=kind),
        access("%o", "%vo", kind=kind),
        *body,
        release("in", 1),
        release("out", 0),
        more=more,
        kind=kind,
    )


def load(value: str, source: str, *places: str, kind: str = TYPE, element: str = "i32") -> str:
    types = ", ".join([kind, *["index"] * len(places)])
    return f'{value} = "memref.load"({", ".join([source, *places])}) : ({types}) -> {element}'


def store(value: str, target: str, *places: str, kind: str = TYPE, element: str = "i32") -> str:
    types = ", ".join([element, kind, *["index"] * len(places)])
    return f'"memref.store"({", ".join([value, target, *places])}) : ({types}) -> ()'


@pytest.mark.parametrize("place", [16, -1])
def test_an_access_outside_a_buffer_names_op_line_core_index_and_shape(place: int) -> None:
    with pytest.raises(RunError) as caught:
        run(once(constant("%p", place), load("%x", "%i", "%p")))
    assert str(caught.value) == (
        "design.mlir:14:1: error: core (0, 2): memref.load: an access outside a buffer: "
        f"index [{place}] of a buffer of shape 16"
    )


def test_each_dimension_is_checked_for_itself() -> None:
    """Index [0, 4] of 4x4 lies inside the memory, and outside the buffer."""
    kind = "memref<4x4xi32>"
    body = (constant("%a", 0), constant("%b", 4), constant("%x", 1, "i32"))
    with pytest.raises(RunError, match=r"memref\.store: an access outside a buffer: index \[0, 4\] .* shape 4x4"):
        run(once(*body, store("%x", "%o", "%a", "%b", kind=kind), kind="4x4xi32"))


def test_accesses_that_cannot_fail_are_not_checked() -> None:
    inner = (load("%x", "%i", "%n"), store("%x", "%o", "%n"))
    assert "_outside" not in translate(once(loop("%n", 16, *inner)))
    assert "_outside" in translate(once(loop("%n", 17, *inner)))
    with pytest.raises(RunError, match=r"index \[16\]"):
        run(once(loop("%n", 17, *inner)))


SUBVIEW = (
    '%s = "memref.subview"(%i, %off) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, '
    "static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 4>, static_strides = array<i64: 2>}>"
    " : "
    f"({TYPE}, index) -> memref<4xi32, strided<[2], offset: ?>>"
)
STRIDED = "memref<4xi32, strided<[2], offset: ?>>"


def test_a_subview_is_a_window_with_steps() -> None:
    body = (constant("%off", 3), SUBVIEW, loop("%n", 4, load("%x", "%s", "%n", kind=STRIDED), store("%x", "%o", "%n")))
    assert list(run(once(*body))[:4]) == [4, 6, 8, 10]


def test_a_subview_outside_a_buffer_is_an_error() -> None:
    with pytest.raises(RunError, match=r"memref\.subview: a part outside a buffer: elements 10 to 16 of dimension 0"):
        run(once(constant("%off", 10), SUBVIEW))


def test_a_row_of_a_matrix_loses_a_dimension() -> None:
    row = (
        '%s = "memref.subview"(%i) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 2, 0>, '
        "static_sizes = array<i64: 1, 4>, static_strides = array<i64: 1, 1>}> : "
        "(memref<4x4xi32>) -> memref<4xi32, strided<[1], offset: 8>>"
    )
    kind = "memref<4xi32, strided<[1], offset: 8>>"
    body = loop("%n", 4, load("%x", "%s", "%n", kind=kind), store("%x", "%o", "%n", "%n", kind="memref<4x4xi32>"))
    assert list(run(once(row, body, kind="4x4xi32")).reshape(4, 4).diagonal()) == [9, 10, 11, 12]


def test_shapes_are_collapsed_expanded_cast_and_reinterpreted() -> None:
    two_rows = "memref<2x3xi32, strided<[8, 1], offset: 1>>"
    body = (
        (
            '%e = "memref.expand_shape"(%i) <{reassociation = [[0, 1]], static_output_shape = array<i64: 4, 4>}> : '
            f"({TYPE}) -> memref<4x4xi32>"
        ),
        '%c = "memref.collapse_shape"(%e) <{reassociation = [[0, 1]]}> : (memref<4x4xi32>) -> memref<16xi32>',
        f'%d = "memref.cast"(%c) : ({TYPE}) -> memref<?xi32>',
        '%z = "arith.constant"() <{value = 0 : index}> : () -> index',
        '%size = "memref.dim"(%d, %z) : (memref<?xi32>, index) -> index',
        '%as_i32 = "arith.index_cast"(%size) : (index) -> i32',
        (
            '%r = "memref.reinterpret_cast"(%i) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, '
            "static_offsets = array<i64: 1>, static_sizes = array<i64: 2, 3>, static_strides = array<i64: 8, 1>}> : "
            f"({TYPE}) -> {two_rows}"
        ),
        constant("%one", 1),
        constant("%two", 2),
        load("%x", "%r", "%one", "%two", kind=two_rows),
        load("%y", "%e", "%two", "%one", kind="memref<4x4xi32>"),
        store("%x", "%o", "%z"),
        store("%y", "%o", "%one"),
        store("%as_i32", "%o", "%two"),
    )
    assert list(run(once(*body))[:3]) == [12, 10, 16]


def test_memory_is_allocated_and_copied() -> None:
    body = (
        f'%t = "memref.alloc"() <{{operandSegmentSizes = array<i32: 0, 0>}}> : () -> {TYPE}',
        f'"memref.copy"(%i, %t) : ({TYPE}, {TYPE}) -> ()',
        f'"memref.copy"(%t, %o) : ({TYPE}, {TYPE}) -> ()',
        f'"memref.dealloc"(%t) : ({TYPE}) -> ()',
    )
    assert np.array_equal(run(once(*body)), numbers())


def test_globals_and_buffers_have_their_initial_values() -> None:
    more = (
        '"memref.global"() <{constant, initial_value = dense<[7, 8]> : tensor<2xi32>, sym_name = "table", '
        "type = memref<2xi32>}> : () -> ()\n"
        '%buffer = "aie.buffer"(%t0_3) <{initial_value = dense<5> : tensor<2xi32>, sym_name = "near"}> : '
        "(index) -> memref<2xi32>"
    )
    body = (
        '%g = "memref.get_global"() <{name = @table}> : () -> memref<2xi32>',
        constant("%z", 0),
        constant("%one", 1),
        load("%x", "%g", "%one", kind="memref<2xi32>"),
        load("%y", "%buffer", "%one", kind="memref<2xi32>"),
        store("%x", "%o", "%z"),
        store("%y", "%o", "%one"),
    )
    assert list(run(once(*body, more=more))[:2]) == [8, 5]


def test_a_buffer_that_is_no_neighbours_is_out_of_reach() -> None:
    more = '%buffer = "aie.buffer"(%t0_5) <{sym_name = "far"}> : (index) -> memref<2xi32>'
    with pytest.raises(RunError, match=r"the buffer `far` of tile \(0, 5\) is out of the core's reach"):
        run(once(constant("%z", 0), load("%x", "%buffer", "%z", kind="memref<2xi32>"), more=more))


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("i1", np.bool_),
        ("index", np.int64),
        ("i8", np.int8),
        ("i16", np.int16),
        ("i64", np.int64),
        ("ui8", np.uint8),
        ("ui32", np.uint32),
        ("f32", np.float32),
    ],
)
def test_elements_of_every_type_pass_through(element: str, dtype: type) -> None:
    kind = f"memref<16x{element}>"
    inner = (load("%x", "%i", "%n", kind=kind, element=element), store("%x", "%o", "%n", kind=kind, element=element))
    data: np.ndarray = (np.arange(16) * 37 - 100).astype(dtype)
    assert np.array_equal(run(once(loop("%n", 16, *inner), kind=f"16x{element}"), data, np.zeros(16, dtype)), data)


def test_a_loop_carries_values() -> None:
    """Fibonacci numbers: two carried values change places."""
    body = (
        constant("%z", 0),
        constant("%n", 10),
        constant("%step", 1),
        constant("%p", 0, "i32"),
        constant("%q", 1, "i32"),
        '%r:2 = "scf.for"(%z, %n, %step, %p, %q) ({',
        "^bb0(%k: index, %a: i32, %b: i32):",
        '%s = "arith.addi"(%a, %b) : (i32, i32) -> i32',
        '"scf.yield"(%b, %s) : (i32, i32) -> ()',
        "}) : (index, index, index, i32, i32) -> (i32, i32)",
        store("%r#0", "%o", "%z"),
        store("%r#1", "%o", "%step"),
    )
    assert list(run(once(*body))[:2]) == [55, 89]


def test_a_while_loop_and_a_switch() -> None:
    """Count how often 100 can be halved until it is below 5, and choose by the remainder."""
    body = (
        constant("%z", 0),
        constant("%step", 1),
        constant("%start", 100, "i32"),
        constant("%none", 0, "i32"),
        constant("%two", 2, "i32"),
        constant("%five", 5, "i32"),
        constant("%one", 1, "i32"),
        '%r:2 = "scf.while"(%start, %none) ({',
        "^bb0(%v: i32, %c: i32):",
        '%more = "arith.cmpi"(%v, %five) <{predicate = 5 : i64}> : (i32, i32) -> i1',
        '"scf.condition"(%more, %v, %c) : (i1, i32, i32) -> ()',
        "}, {",
        "^bb0(%v2: i32, %c2: i32):",
        '%half = "arith.divsi"(%v2, %two) : (i32, i32) -> i32',
        '%next = "arith.addi"(%c2, %one) : (i32, i32) -> i32',
        '"scf.yield"(%half, %next) : (i32, i32) -> ()',
        "}) : (i32, i32) -> (i32, i32)",
        '%sel = "arith.index_cast"(%r#1) : (i32) -> index',
        '%chosen = "scf.index_switch"(%sel) <{cases = array<i64: 4, 5>}> ({',
        '"scf.yield"(%none) : (i32) -> ()',
        "}, {",
        '"scf.yield"(%one) : (i32) -> ()',
        "}, {",
        '"scf.yield"(%two) : (i32) -> ()',
        "}) : (index) -> i32",
        store("%r#1", "%o", "%z"),
        store("%chosen", "%o", "%step"),
    )
    assert list(run(once(*body))[:2]) == [5, 2]


def test_functions_with_bodies_may_wait() -> None:
    helper = "\n".join(
        (
            '"func.func"() <{function_type = () -> i32, sym_name = "pass_on"}> ({',
            acquire("%vi", "in", 1),
            access("%i", "%vi"),
            acquire("%vo", "out", 0),
            access("%o", "%vo"),
            f'"memref.copy"(%i, %o) : ({TYPE}, {TYPE}) -> ()',
            release("in", 1),
            release("out", 0),
            constant("%done", 1, "i32"),
            '"func.return"(%done) : (i32) -> ()',
            "}) : () -> ()",
        )
    )
    call = '%x = "func.call"() <{callee = @pass_on}> : () -> i32'
    module = device(
        fifo("in", (0, 0), [(0, 2)]),
        fifo("out", (0, 2), [(0, 0)]),
        helper,
        core(0, 2, loop("%n", 4, call)),
        sequence(
            {"%a": "64xi32", "%b": "64xi32"},
            whole("%a", "in", 64),
            whole("%b", "out", 64, number=1, token=True),
            wait("out"),
        ),
    )
    assert np.array_equal(run(module, numbers(64), np.zeros(64, np.int32)), numbers(64))


def test_an_op_that_is_not_supported_is_refused_at_translation_with_line_and_core() -> None:
    with pytest.raises(MlirError) as caught:
        translate(once('"aie.put_cascade"(%i) : (memref<16xi32>) -> ()'))
    assert str(caught.value) == (
        "design.mlir:13:1: error: core (0, 2): op `aie.put_cascade` is not supported on the host"
    )


def test_division_by_zero_names_op_line_and_core() -> None:
    body = (
        constant("%z", 0),
        constant("%p", 5, "i32"),
        load("%x", "%o", "%z"),
        '%y = "arith.divsi"(%p, %x) : (i32, i32) -> i32',
    )
    with pytest.raises(RunError, match=r"^design\.mlir:16:1: error: core \(0, 2\): arith\.divsi: division by zero$"):
        run(once(*body))


def test_a_loop_whose_step_is_not_positive_is_an_error() -> None:
    body = (
        constant("%z", 0),
        load("%x", "%o", "%z"),
        '%step = "arith.index_cast"(%x) : (i32) -> index',
        constant("%n", 4),
        '"scf.for"(%z, %n, %step) ({\n^bb0(%k: index):\n"scf.yield"() : () -> ()\n}) : (index, index, index) -> ()',
    )
    with pytest.raises(RunError, match=r"scf\.for: the step of a loop must be positive, it is 0"):
        run(once(*body))


def test_names_of_values_hide_nothing_that_the_text_uses() -> None:
    """Values may be called as Python's words, or as the translated text's own names."""
    body = (
        constant("%range", 3, "i32"),
        constant("%zero", 0),
        load("%lambda", "%i", "%zero"),
        load("%_np", "%i", "%zero"),
        '%print = "arith.addi"(%lambda, %range) : (i32, i32) -> i32',
        '%_core = "arith.addi"(%print, %_np) : (i32, i32) -> i32',
        loop("%n", 16, store("%_core", "%o", "%n")),
    )
    assert set(run(once(*body))) == {5}


KERNELS = """
#include <cstdint>
static int32_t calls = 0;
extern "C" {
void fill(int32_t *to, int8_t a, int64_t b, float c, double d, uint16_t e, bool f) {
  to[0] = a; to[1] = b; to[2] = 2 * c; to[3] = 4 * d; to[4] = e; to[5] = f; to[6] = ++calls;
}
int32_t next() { return ++calls; }
float half(float x) { return x / 2; }
uint16_t bits(uint16_t x) { return x + 1; }
}
"""


def declare(name: str, kind: str) -> str:
    return (
        f'"func.func"() <{{function_type = {kind}, sym_name = "{name}", sym_visibility = "private"}}> ({{\n}}) '
        '{link_with = "k.o"} : () -> ()'
    )


def test_kernels_get_scalars_of_every_type(tmp_path: Path) -> None:
    kind = f"({TYPE}, i8, index, f32, f64, bf16, i1) -> ()"
    body = (
        constant("%a", -5, "i8"),
        constant("%b", 70000),
        constant("%c", "1.5", "f32"),
        constant("%d", "0.25", "f64"),
        constant("%e", "1.0", "bf16"),
        constant("%f", "true", "i1").replace("true : i1", "true"),
        f'"func.call"(%o, %a, %b, %c, %d, %e, %f) <{{callee = @fill}}> : {kind}',
    )
    module = once(*body, more=declare("fill", kind))
    result = simulate(module, compiled(KERNELS, tmp_path), [numbers(), np.zeros(16, np.int32)]).arrays[1]
    assert list(result[:7]) == [-5, 70000, 3, 1, 0x3F80, 1, 1]


def test_kernels_return_scalars(tmp_path: Path) -> None:
    body = (
        constant("%c", "5.0", "f32"),
        constant("%e", "1.0", "bf16"),
        constant("%z", 0),
        constant("%one", 1),
        '%h = "func.call"(%c) <{callee = @half}> : (f32) -> f32',
        '%g = "func.call"(%e) <{callee = @bits}> : (bf16) -> bf16',
        '%w = "arith.extf"(%g) : (bf16) -> f32',
        '%x = "arith.bitcast"(%h) : (f32) -> i32',
        '%y = "arith.bitcast"(%w) : (f32) -> i32',
        store("%x", "%o", "%z"),
        store("%y", "%o", "%one"),
    )
    more = declare("half", "(f32) -> f32") + "\n" + declare("bits", "(bf16) -> bf16")
    result = simulate(once(*body, more=more), compiled(KERNELS, tmp_path), [numbers(), np.zeros(16, np.int32)]).arrays[
        1
    ]
    assert result[:1].view(np.float32)[0] == 2.5
    assert result[1] == 0x3F810000


def test_each_core_has_its_own_statics(tmp_path: Path) -> None:
    """Both cores count the calls of one kernel; each starts at one."""

    def counting(target: str) -> tuple[str, ...]:
        return (
            acquire("%vo", target, 0),
            access("%o", "%vo"),
            loop("%n", 16, '%c = "func.call"() <{callee = @next}> : () -> i32', store("%c", "%o", "%n")),
            release(target, 0),
        )

    module = device(
        declare("next", "() -> i32"),
        fifo("one", (0, 2), [(0, 0)]),
        fifo("two", (0, 3), [(0, 0)]),
        core(0, 2, *counting("one")),
        core(0, 3, *counting("two")),
        sequence(
            {"%a": KIND, "%b": KIND},
            whole("%a", "one", 16, number=0, token=True),
            whole("%b", "two", 16, number=1, token=True),
            wait("one"),
            wait("two"),
        ),
    )
    zeros = np.zeros(16, np.int32)
    for _ in range(2):  # a second run finds them fresh too
        outcome = simulate(module, compiled(KERNELS, tmp_path), [zeros, zeros])
        assert np.array_equal(outcome.arrays[0], numbers())
        assert np.array_equal(outcome.arrays[1], numbers())


def test_a_view_with_gaps_cannot_be_passed_to_a_kernel(tmp_path: Path) -> None:
    call = f'"func.call"(%s) <{{callee = @take}}> : ({STRIDED}) -> ()'
    module = once(constant("%off", 0), SUBVIEW, call, more=declare("take", f"({STRIDED}) -> ()"))
    library = compiled('extern "C" void take(int *) {}', tmp_path)
    with pytest.raises(RunError, match=r"func\.call: a view with gaps \(strides \[2\]\) cannot be passed to a kernel"):
        simulate(module, library, [numbers(), numbers()])


def test_a_kernel_that_the_library_lacks_is_named(tmp_path: Path) -> None:
    module = once('"func.call"() <{callee = @absent}> : () -> ()', more=declare("absent", "() -> ()"))
    with pytest.raises(
        RunError, match=r"^design\.mlir:\d+:1: error: core \(0, 2\): the kernel library does not define"
    ):
        simulate(module, compiled(KERNELS, tmp_path), [numbers(), numbers()])
    with pytest.raises(RunError, match="no kernel library was given"):
        simulate(module, None, [numbers(), numbers()])


def test_the_design_says_what_its_copy_loop_does() -> None:
    assert np.array_equal(run(one_core(copy_objects("in", "out"))), numbers())
