from __future__ import annotations

from itertools import product

import pytest
from aiebuild.devices import CORE, MEM, SHIM, TileKind
from aiebuild.mlir.layouts import Pattern, descriptor_faults, length_faults, runtime_faults
from hypothesis import given, settings
from hypothesis import strategies as st

DIMENSIONS = st.lists(st.tuples(st.integers(1, 5), st.integers(-7, 40)), min_size=1, max_size=4)


def walked(pattern: Pattern) -> list[int]:
    """Return the indices in the order in which the DMA reaches them."""
    loops = (range(size) for size in pattern.sizes)
    steps = pattern.strides
    return [pattern.offset + sum(n * step for n, step in zip(each, steps, strict=True)) for each in product(*loops)]


def pattern_of(dimensions: list[tuple[int, int]], offset: int = 0) -> Pattern:
    return Pattern(tuple(size for size, _ in dimensions), tuple(stride for _, stride in dimensions), offset)


@settings(deadline=None)  # a busy machine is no fault
@given(DIMENSIONS, st.integers(0, 50))
def test_the_span_is_what_brute_force_reaches(dimensions: list[tuple[int, int]], offset: int) -> None:
    pattern = pattern_of(dimensions, offset)
    indices = walked(pattern)
    assert pattern.span == (min(indices), max(indices))


@settings(deadline=None)  # a busy machine is no fault
@given(DIMENSIONS)
def test_a_contiguous_pattern_is_one_that_brute_force_walks_in_steps_of_one(
    dimensions: list[tuple[int, int]],
) -> None:
    once = pattern_of(dimensions[-3:])
    indices = walked(once)
    by_one = indices == list(range(len(indices)))
    assert pattern_of(dimensions).contiguous == by_one


def messages(sizes: list[int], strides: list[int], width: int = 32, kind: TileKind = SHIM) -> list[tuple[str, str]]:
    found = runtime_faults(Pattern(tuple(sizes), tuple(strides)), width, kind)
    return [(fault.message, fault.hint) for fault in found]


@pytest.mark.parametrize(
    ("sizes", "strides", "width"),
    [
        ([1, 1, 1, 4096], [0, 0, 0, 1], 8),
        ([2, 2, 32, 32], [0, 32, 64, 1], 16),
        ([2, 2, 4, 4], [32, 4, 8, 1], 16),
        ([64, 1, 1, 8], [0, 0, 0, 1], 32),
        ([1, 1024, 2, 8], [0, 16, 8, 1], 32),
        ([1, 4, 1024, 1024], [0, 2**20, 1024, 1], 32),
        ([8], [1], 32),
        ([1, 1, 5, 4], [0, 0, 2**20, 1], 32),
        ([1, 1, 8, 2], [0, 0, 2, 1], 64),
    ],
)
def test_these_transfers_are_right(sizes: list[int], strides: list[int], width: int) -> None:
    assert messages(sizes, strides, width) == []


@pytest.mark.parametrize(
    ("sizes", "strides", "width", "message", "hint"),
    [
        ([65, 1, 1, 8], [0, 0, 0, 1], 32, "sizes[0] is 65, but the outermost", "divide it: 5 x 13"),
        ([67, 1, 1, 8], [0, 0, 0, 1], 32, "sizes[0] is 67, but the outermost", "into several"),
        ([1, 2, 1, 8], [0, 0, 0, 1], 32, "strides[1] is 0, but a stride is positive", "outermost of four"),
        ([1, 1, 2, 8], [0, 0, -8, 1], 32, "strides[2] is -8, but a stride is positive", "outermost of four"),
        ([2, 1, 1, 8], [-8, 0, 0, 1], 32, "strides[0] is -8, but no stride is negative", ""),
        ([1, 1, 0, 8], [0, 0, 8, 1], 32, "sizes[2] is 0, but a size is positive", ""),
        ([1, 1, 1, 3], [0, 0, 0, 1], 16, "sizes[3] is 3 elements of 16 bits, 6 bytes", "multiple of 2"),
        ([1, 1, 4, 8], [0, 0, 6, 1], 8, "strides[2] is 6 elements of 8 bits, 6 bytes", "multiple of 4"),
        ([1, 1, 4, 8], [1, 0, 8, 1], 16, "write 0: its size is 1", "multiple of 2"),
        ([1, 1, 1, 8], [0, 0, 0, 2], 16, "strides[3] is 2, but the innermost stride", "words of 32 bits"),
        ([1, 1, 2, 2048], [0, 0, 4096, 1], 32, "sizes[3] is 2,048, but a shim", "divide it: 4 x 512"),
        ([1, 1, 2000, 2], [0, 0, 8, 1], 32, "sizes[2] is 2,000, but a shim", "divide it: 2 x 1000"),
        ([1, 1, 2, 4096], [0, 0, 8192, 1], 16, "(2,048 words of 32 bits)", "divide it: 4 x 1024"),
        ([1, 1, 2, 8], [0, 0, 2**20 + 1, 1], 32, "strides[2] is 1,048,577, but a shim", ""),
        ([1, 1, 1, 1, 8], [0, 0, 0, 0, 1], 32, "5 dimensions, but a transfer has 4", ""),
    ],
)
def test_each_rule_of_transfers(sizes: list[int], strides: list[int], width: int, message: str, hint: str) -> None:
    ((found, advice),) = messages(sizes, strides, width)[:1]
    assert message in found
    assert hint in advice


def test_the_proposed_division_keeps_the_limit() -> None:
    ((_, advice),) = messages([1, 1, 2, 2048], [0, 0, 4096, 1])
    outer, inner = map(int, advice.removeprefix("divide it: ").split(" x "))
    assert outer * inner == 2048
    assert inner <= SHIM.widest


def test_indices_are_those_of_the_users_own_list_when_it_is_shorter() -> None:
    ((found, _),) = messages([0, 8], [8, 1])
    assert found.startswith("sizes[0] is 0")


@settings(deadline=None)  # a busy machine is no fault
@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 64)), min_size=4, max_size=4),
    st.sampled_from([8, 16, 32]),
)
def test_a_transfer_without_faults_moves_whole_words_forward(dimensions: list[tuple[int, int]], width: int) -> None:
    pattern = pattern_of(dimensions)
    if list(runtime_faults(pattern, width, SHIM)):
        return
    words = [index * width // 32 for index in walked(pattern_of(dimensions[1:]))]
    per_word = 32 // width
    assert len(words) % per_word == 0
    groups = [words[start : start + per_word] for start in range(0, len(words), per_word)]
    assert all(len(set(group)) == 1 for group in groups)


def faults_of(
    dimensions: list[tuple[int, int]],
    elements: int,
    width: int = 32,
    kind: TileKind = MEM,
    length: int | None = None,
) -> list[str]:
    return [fault.message for fault in descriptor_faults(dimensions, elements, width, kind, length)]


def test_the_blocked_pattern_of_a_matrix_multiplication_is_right() -> None:
    assert faults_of([(8, 128), (8, 4), (4, 32), (4, 1)], 1024, 16, MEM, 1024) == []
    assert faults_of([(16, 1), (8, 16)], 128, 32, MEM, 128) == []


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (([(2, 8), (2, 4), (2, 2), (2, 1)], 16, 32, CORE, 16), "4 dimensions, but a descriptor of a core tile has 3"),
        (([(1, 1)] * 5, 16, 32, MEM, 1), "5 dimensions, but a descriptor of a mem tile has 4"),
        (([(4, 0), (4, 1)], 16, 32, MEM, 16), "<size = 4, stride = 0>: size and stride are positive"),
        (([(0, 4), (4, 1)], 16, 32, MEM, 16), "<size = 0, stride = 4>: size and stride are positive"),
        (([(4, 8), (4, 2)], 64, 16, MEM, 16), "the innermost stride of elements of 16 bits is 1"),
        (([(4, 3), (4, 1)], 64, 16, MEM, 16), "a stride of 6 bytes is no multiple of 4"),
        (([(4, 4), (3, 1)], 64, 16, MEM, 12), "a size of 6 bytes is no multiple of 4"),
        (([(2, 300), (300, 1)], 600, 32, CORE, 600), "the size is 300, but a core tile's DMA counts to 255"),
        (([(2, 2**13 + 1), (4, 1)], 2**14, 32, CORE, 8), "the stride is 8,193, but a core tile's DMA steps by 8,192"),
        (([(4, 4), (5, 1)], 16, 32, MEM, 20), "the pattern reaches element 16, but there are 16 (0 to 15)"),
        (([(4, 4), (2, 1)], 16, 32, MEM, 16), "the pattern visits 8 elements, but 16 are moved"),
    ],
)
def test_each_rule_of_descriptors(case: tuple[list[tuple[int, int]], int, int, TileKind, int], message: str) -> None:
    assert message in "\n".join(faults_of(*case))


def test_the_outermost_dimension_of_a_core_tile_has_no_wrap_register() -> None:
    assert faults_of([(300, 8), (2, 4), (2, 1)], 4096, 32, CORE, 1200) == []


def test_padding_leaves_the_length_open() -> None:
    assert faults_of([(4, 4), (2, 1)], 16, 32, MEM, None) == []


@settings(deadline=None)  # a busy machine is no fault
@given(DIMENSIONS, st.integers(1, 100))
def test_a_descriptor_without_faults_stays_in_its_buffer(dimensions: list[tuple[int, int]], elements: int) -> None:
    if not faults_of(dimensions, elements):
        indices = walked(pattern_of(dimensions))
        assert min(indices) >= 0
        assert max(indices) < elements


@pytest.mark.parametrize(
    ("elements", "width", "kind", "message"),
    [
        (3, 8, CORE, "3 elements of 8 bits are 3 bytes, which is no multiple of 4"),
        (2**14, 32, CORE, "16,384 elements of 32 bits are 16,384 words"),
        (2**17, 32, MEM, "counts 131,071 at most"),
    ],
)
def test_each_rule_of_lengths(elements: int, width: int, kind: TileKind, message: str) -> None:
    (fault,) = length_faults(elements, width, kind)
    assert message in fault.message


def test_the_longest_lengths_are_right() -> None:
    assert list(length_faults(2**14 - 1, 32, CORE)) == []
    assert list(length_faults(4, 8, CORE)) == []


def test_figures_at_their_limits_are_right() -> None:
    assert faults_of([(2, 2**13), (2, 255), (255, 1)], 2**14, 32, CORE) == []
    assert faults_of([(1023, 64), (4, 16), (4, 4), (4, 1)], 2**17, 32, MEM) == []
    assert faults_of([(1024, 64), (4, 16), (4, 4), (4, 1)], 2**17, 32, MEM) != []
    assert messages([64, 1, 1023, 1023], [0, 0, 2**20, 1]) == []


def test_a_transfer_is_not_longer_than_a_descriptor_counts() -> None:
    ((message, hint),) = messages([1, 1, 1, 2**17], [0, 0, 0, 1], 32, MEM)
    assert message.startswith("131,072 elements of 32 bits are 131,072 words")
    assert hint == "make the blocks smaller"
