"""Kernels that leave their buffers, crash or never return: each is named, with its call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from aiebuild.errors import RunError
from aiebuild.host import guards, views
from aiebuild.host.simulate import simulate
from host_designs import KERNEL, Project, access, acquire, compiled, loop, one_core, release

if TYPE_CHECKING:
    from pathlib import Path

    from aiebuild.mlir.ir import Module

INITIAL = "initial_value = dense<1> : tensor<8xi16>"
TABLE = f'"memref.global"() <{{sym_name = "table", type = memref<8xi16>, {INITIAL}}}> : () -> ()'
CALL = "build/x.generic.mlir:20:9: error: kernel `passthrough_u8` called by core (0, 2)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("to[count] = 3;", "wrote 1 byte beyond the end of its argument 2 (fifo @out, 1024 x ui8)"),
        ("*(int32_t *)(to + count) = 0;", "wrote 4 bytes beyond the end of its argument 2 (fifo @out, 1024 x ui8)"),
        ("to[-2] = to[-1] = -1;", "wrote 2 bytes before the start of its argument 2 (fifo @out, 1024 x ui8)"),
        ("((uint8_t *)from)[count] = 0;", "wrote 1 byte beyond the end of its argument 1 (fifo @in, 1024 x ui8)"),
        ("to[count + 9] = 0;", "wrote up to 10 bytes beyond the end of its argument 2"),
        ("for (int i = 0; i < 256; ++i) to[count + i] = 0;", "wrote at least 256 bytes beyond the end of its argument"),
    ],
)
def test_a_kernel_that_writes_around_its_buffer_is_named(project: Project, body: str, message: str) -> None:
    project.prepare(body)
    done = project.run()
    assert done.returncode == 1
    assert f"{CALL} {message}" in done.stderr
    assert "agrees" not in done.stdout
    assert not project.exists("build/out/check.json")


def test_a_crash_names_kernel_core_line_and_signal(project: Project) -> None:
    project.prepare("if (from[0] < 256) *(volatile int *)8 = 1;")
    done = project.run()
    assert done.returncode == 1
    assert done.stderr == f"{CALL} crashed (SIGSEGV)\n"
    assert not project.exists("build/out/check.json")


def test_a_kernel_that_ends_the_process_is_named(project: Project) -> None:
    project.prepare("exit(0);", kernel="#include <cstdlib>\n" + KERNEL)
    done = project.run()
    assert done.returncode == 1
    assert f"{CALL} ended the process" in done.stderr


def test_a_kernel_that_never_returns_is_named_after_the_limit(project: Project) -> None:
    project.prepare("volatile bool forever = true; while (forever) {}")
    done = project.run("--timeout", "0.5")
    assert done.returncode == 1
    assert f"{CALL} was still running after 0.5 s" in done.stderr
    assert "set `run_timeout:` in design.yaml" in done.stderr
    assert "scons ... run_timeout=120" in done.stderr
    assert "Design(" not in done.stderr


def test_a_crash_after_the_last_kernel_names_it_and_nothing_is_said_to_agree(project: Project) -> None:
    """A kernel that spoils the heap kills the process later, the last time when it ends."""
    project.prepare(
        "static int armed = atexit(crash);",
        kernel="#include <cstdlib>\nstatic void crash() { *(volatile int *)8 = 1; }\n" + KERNEL,
    )
    done = project.run()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "build/x.generic.mlir:20:9: error: the run, outside any kernel, crashed (SIGSEGV)\n"
        "  the last kernel that ran, `passthrough_u8` called by core (0, 2) at build/x.generic.mlir:20:9, "
        "is the likely cause: it may have left its buffers\n"
    )
    assert not project.exists("build/out/check.json")


def test_an_error_that_was_said_is_not_followed_by_that_of_the_crash_after_it(project: Project) -> None:
    project.prepare(
        "to[count] = 3; static int armed = atexit(crash);",
        kernel="#include <cstdlib>\nstatic void crash() { *(volatile int *)8 = 1; }\n" + KERNEL,
    )
    done = project.run()
    assert done.returncode == 1
    assert "wrote 1 byte beyond the end" in done.stderr
    assert "crashed" not in done.stderr


def kernel_on(buffer: str, kind: str, define: str, more: str = "") -> Module:
    """Return a design whose core calls `touch` with a buffer, then passes one object on."""
    return one_core(
        define,
        f'"func.call"({buffer}) <{{callee = @touch}}> : (memref<{kind}>) -> ()',
        loop(
            "%again",
            1,
            *(acquire("%vi", "in", 1), access("%i", "%vi"), acquire("%vo", "out", 0), access("%o", "%vo")),
            *('"memref.copy"(%i, %o) : (memref<16xi32>, memref<16xi32>) -> ()', release("in", 1), release("out", 0)),
        ),
        more=f'"func.func"() <{{function_type = (memref<{kind}>) -> (), sym_name = "touch", '
        f'sym_visibility = "private"}}> ({{\n}}) : () -> ()\n{more}',
    )


@pytest.mark.parametrize(
    ("define", "more", "name"),
    [
        ('%x = "memref.alloc"() : () -> memref<8xi16>', "", "memref.alloc, 8 x i16"),
        (
            '%x = "memref.get_global"() <{name = @table}> : () -> memref<8xi16>',
            TABLE,
            "global @table, 8 x i16",
        ),
        (
            "",
            '%x = "aie.buffer"(%t0_2) <{sym_name = "scratch"}> : (index) -> memref<8xi16>',
            "buffer @scratch, 8 x i16",
        ),
    ],
)
def test_every_buffer_that_kernels_see_is_guarded(tmp_path: Path, define: str, more: str, name: str) -> None:
    library = compiled('extern "C" void touch(short *x) { x[8] = 1; }', tmp_path)
    with pytest.raises(RunError) as caught:
        simulate(kernel_on("%x", "8xi16", define, more), library, [np.zeros(16, np.int32)] * 2)
    assert caught.value.message == (
        f"kernel `touch` called by core (0, 2) wrote 2 bytes beyond the end of its argument 1 ({name})"
    )
    assert str(caught.value.where).startswith("design.mlir:")


def test_a_part_of_a_buffer_has_the_guard_of_the_whole(tmp_path: Path) -> None:
    library = compiled('extern "C" void touch(short *x) { x[4] = 1; }', tmp_path)
    define = (
        '%whole = "memref.alloc"() : () -> memref<8xi16>\n'
        '%x = "memref.subview"(%whole) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 4>, '
        "static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (memref<8xi16>) -> "
        "memref<4xi16, strided<[1], offset: 4>>"
    )
    with pytest.raises(RunError, match="wrote 2 bytes beyond the end of its argument 1"):
        simulate(kernel_on("%x", "4xi16, strided<[1], offset: 4>", define), library, [np.zeros(16, np.int32)] * 2)


def test_a_buffer_that_no_kernel_was_given_is_looked_at_in_the_end(tmp_path: Path) -> None:
    """The kernel keeps the address of an object from its first call, and writes around it in its second."""
    source = 'extern "C" void touch(short *x) { static short *first = x; if (x != first) first[-1] = 5; }'
    define = (
        '%x = "memref.get_global"() <{name = @table}> : () -> memref<8xi16>\n'
        '%y = "memref.alloc"() : () -> memref<8xi16>\n'
        '"func.call"(%x) <{callee = @touch}> : (memref<8xi16>) -> ()'
    )
    module, library = kernel_on("%y", "8xi16", define, TABLE), compiled(source, tmp_path)
    with pytest.raises(RunError) as caught:
        simulate(module, library, [np.zeros(16, np.int32)] * 2)
    assert caught.value.message == (
        "a kernel wrote 2 bytes before the start of a buffer that it was not given (global @table, 8 x i16)"
    )
    assert "the last kernel that ran was `touch`, called by core (0, 2) at design.mlir:" in caught.value.hint


def test_a_kernel_that_stays_inside_is_left_alone(tmp_path: Path) -> None:
    library = compiled('extern "C" void touch(short *x) { for (int i = 0; i < 8; ++i) x[i] = -1; }', tmp_path)
    data = np.arange(16, dtype=np.int32)
    module = kernel_on("%x", "8xi16", '%x = "memref.alloc"() : () -> memref<8xi16>')
    assert np.array_equal(simulate(module, library, [data, np.zeros(16, np.int32)]).arrays[1], data)


@pytest.mark.parametrize("count", [1, 3, 64, 1000])
def test_buffers_are_aligned_and_their_guards_touch_them(count: int) -> None:
    view = views.allocate((count,), "i8")
    assert view.address % 64 == 0
    assert view.guard is not None
    assert view.guard.intact
    assert not view.base.any()


def test_what_a_mistake_most_likely_writes_is_no_part_of_the_pattern() -> None:
    assert len(guards.PATTERN) == guards.SIZE
    assert not set(guards.PATTERN) & {*range(64), 0x7F, 0x80, 0xFF}
    assert all(one != other for one, other in zip(guards.PATTERN, guards.PATTERN[1:], strict=False))
