from __future__ import annotations

import re
from collections import Counter
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild.mlir.limits import budget, check_limits
from aiebuild.mlir.parse import parse

if TYPE_CHECKING:
    from aiebuild.errors import CheckError
    from aiebuild.mlir.ir import Module

GOLDEN = Path(__file__).parents[1] / "golden" / "mlir"
DEVICES = {"device = 5 : i32": 'device = "npu1_1col"', "device = 9 : i32": 'device = "npu2_1col"'}
NAMES = sorted(path.name.removesuffix(".generic.mlir") for path in GOLDEN.glob("*.generic.mlir"))
LOWERED = sorted(path.name.removesuffix(".lowered.mlir") for path in GOLDEN.glob("*.lowered.mlir"))
Place = tuple[int, int]


def golden(name: str, *changes: tuple[str, str]) -> Module:
    text = (GOLDEN / f"{name}.generic.mlir").read_text()
    for old, new in DEVICES.items():
        text = text.replace(old, new)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return parse(text, f"{name}.mlir")


def only(module: Module) -> CheckError:
    errors = check_limits(module)
    assert len(errors) == 1, [str(error) for error in errors]
    return errors[0]


# What FIFOs cost, against what mlir-aie made of them


def lowered(name: str) -> list[tuple[Place, str]]:
    """Return (tile, line) for each op of the lowered text that belongs to a tile."""
    text = (GOLDEN / f"{name}.lowered.mlir").read_text()
    places = {
        found[1]: (int(found[2]), int(found[3])) for found in re.finditer(r"%(\w+) = aie.tile\((\d), (\d)\)", text)
    }
    lines, program = [], None
    for line in text.splitlines():
        opened = re.search(r"aie\.(?:mem|memtile_dma)\(%(\w+)\) \{", line)
        program = opened[1] if opened else None if line == "    }" else program
        named = re.search(r"aie\.(?:buffer|lock|shim_dma_allocation)(?: @\w+)?\(%(\w+)", line)
        owner = named[1] if named else program
        if owner is not None:
            lines.append((places[owner], line))
    return lines


def count(lines: list[tuple[Place, str]], pattern: str) -> Counter[Place]:
    return Counter(place for place, line in lines if re.search(pattern, line))


def buffer_bytes(lines: list[tuple[Place, str]]) -> Counter[Place]:
    total: Counter[Place] = Counter()
    for place, line in lines:
        if found := re.search(r"aie\.buffer.*memref<([\dx]+)x[su]?i(\d+)>", line):
            total[place] += prod(map(int, found[1].split("x"))) * int(found[2]) // 8
    return total


@pytest.mark.parametrize("name", LOWERED)
def test_the_budget_is_what_the_real_lowering_makes(name: str) -> None:
    real = lowered(name)
    mine = budget(golden(name))
    assert {(each.column, each.row) for each in mine} == {place for place, _ in real}
    for each in mine:
        place = (each.column, each.row)
        parts = [part.amount for part in each.memory if not part.what.startswith("stack")]
        assert sum(parts) == buffer_bytes(real)[place]
        assert each.locks_used == count(real, r"aie\.lock\(")[place]
        assert each.descriptors == count(real, r"aie\.dma_bd\(")[place]
        assert each.channels_in == count(real, r"dma_start\(S2MM|allocation.*S2MM")[place]
        assert each.channels_out == count(real, r"dma_start\(MM2S|allocation.*MM2S")[place]


@pytest.mark.parametrize("name", LOWERED)
def test_the_channels_have_the_numbers_that_the_real_lowering_gives(name: str) -> None:
    real: dict[tuple[Place, int, int], int] = {}
    key = None
    for place, line in lowered(name):
        if found := re.search(r"dma_start\((S2MM|MM2S), (\d)", line):
            key = (place, int(found[1] == "MM2S"), int(found[2]))
            real[key] = 0
        elif "aie.dma_bd(" in line and key is not None:
            real[key] += 1
    mine = {
        ((each.column, each.row), channel.direction, channel.index): channel.descriptors
        for each in budget(golden(name))
        for channel in each.channels
        if each.row > 0
    }
    assert mine == real


# What is right


@pytest.mark.parametrize("name", NAMES)
def test_the_designs_that_the_real_tools_accept_are_within_the_limits(name: str) -> None:
    assert check_limits(golden(name)) == []


def test_distributing_to_four_cores_and_back_takes_all_descriptors_of_the_even_channels() -> None:
    (mem,) = [each for each in budget(golden("scale4")) if each.kind.name == "mem"]
    assert sum(channel.descriptors for channel in mem.group(0)) == mem.kind.descriptors_per_group == 24
    assert sum(channel.descriptors for channel in mem.group(1)) == 8


# Devices and tiles


def test_an_unknown_device_gives_the_nearest() -> None:
    error = only(golden("matmul", ("npu1_1col", "npu1_1coll")))
    assert (error.message, error.hint) == ("unknown device 'npu1_1coll'", "did you mean 'npu1_1col'?")
    assert str(error.where) == "matmul.mlir:2:3"


def test_a_device_written_as_a_number_is_refused() -> None:
    error = only(parse((GOLDEN / "matmul.generic.mlir").read_text(), "matmul.mlir"))
    assert error.message.startswith("the device is written as 5 : i32")


def test_a_tile_outside_of_the_grid_is_named_at_its_line() -> None:
    errors = check_limits(golden("matmul", ("row = 2 : i32", "row = 6 : i32")))
    assert errors[0].message == "tile (0, 6) is outside of npu1_1col"
    assert errors[0].hint == "npu1_1col has 1 column of 6 rows (row 0 shim, 1 mem, 2 to 5 cores)"
    assert str(errors[0].where) == "matmul.mlir:9:5"


def test_what_is_put_on_the_wrong_kind_of_tile_is_named() -> None:
    errors = check_limits(golden("locks", ("row = 2 : i32", "row = 1 : i32")))
    messages = [error.message for error in errors]
    assert "aie.mem is put on tile (0, 1), which is a mem tile" in messages
    errors = check_limits(golden("rtp", ('"aie.buffer"(%1)', '"aie.buffer"(%0)')))
    assert errors[0].message == "aie.buffer @rtp is put on tile (0, 0), which is a shim tile"
    assert errors[0].hint.startswith("it belongs on a core or mem tile")


def test_a_fifo_of_a_versal_shim_without_a_dma_is_refused() -> None:
    errors = check_limits(golden("passthrough", ("npu1_1col", "xcve2302")))
    assert [error.message for error in errors] == [
        "@in ends at shim tile (0, 0), which has no DMA",
        "@out ends at shim tile (0, 0), which has no DMA",
    ]
    assert errors[0].hint == "columns with one: 2, 3, 6, 7, 10, 11"


# Channels, descriptors, locks, memory


def fifo(name: str, *ends: str, element: str = "memref<16xi32>", depth: str = "2 : i32", more: str = "") -> str:
    consumers = ", ".join("[]" for _ in ends[1:])
    types = ", ".join("index" for _ in ends)
    return (
        f'"aie.objectfifo"({", ".join(ends)}) <{{dimensionsFromStreamPerConsumer = '
        f"#aie<bd_dim_layout_array_array[{consumers}]>, dimensionsToStream = #aie<bd_dim_layout_array[]>, "
        f"disable_synchronization = false, elemNumber = {depth}, elemType = !aie.objectfifo<{element}>, "
        f'plio = false, sym_name = "{name}", via_DMA = false{more}}}> : ({types}) -> ()'
    )


def design(*lines: str, device: str = "npu1") -> Module:
    """Return a device with the tiles %s (shim), %m (mem), %a and %b (cores above each other), %c (beside %a), %d."""
    places = {"s": (0, 0), "m": (0, 1), "n": (1, 1), "a": (0, 2), "b": (0, 3), "c": (1, 2), "d": (3, 5)}
    tiles = [
        f'%{name} = "aie.tile"() <{{col = {column} : i32, row = {row} : i32}}> : () -> index'
        for name, (column, row) in places.items()
    ]
    body = "\n".join([*tiles, *lines])
    return parse(f'"aie.device"() <{{device = "{device}", sym_name = "main"}}> ({{\n{body}\n}}) : () -> ()', "d.mlir")


def at(module: Module, column: int, row: int) -> tuple[int, int, int, int, int]:
    """Return channels in, channels out, descriptors, locks, bytes of a tile."""
    for each in budget(module):
        if (each.column, each.row) == (column, row):
            return each.channels_in, each.channels_out, each.descriptors, each.locks_used, each.memory_used
    return (0, 0, 0, 0, 0)


def test_neighbours_share_memory_and_need_no_dma() -> None:
    module = design(fifo("f", "%a", "%b", depth="4 : i32"))
    assert at(module, 0, 2) == (0, 0, 0, 2, 256)
    assert at(module, 0, 3) == (0, 0, 0, 0, 0)


def test_the_memory_is_the_one_that_both_reach() -> None:
    module = design(fifo("f", "%c", "%a"))
    assert at(module, 0, 2) == (0, 0, 0, 2, 128)
    assert at(module, 1, 2) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("reason", ["via_DMA = true", "repeat_count = 1 : i32"])
def test_neighbours_use_their_dmas_when_they_have_to(reason: str) -> None:
    text = fifo("f", "%a", "%b")
    text = text.replace("via_DMA = false", reason) if "via" in reason else fifo("f", "%a", "%b", more=f", {reason}")
    module = design(text)
    assert at(module, 0, 2) == (0, 1, 2, 2, 128)
    assert at(module, 0, 3) == (1, 0, 2, 2, 128)


def test_an_access_pattern_needs_a_dma() -> None:
    pattern = "dimensionsToStream = #aie<bd_dim_layout_array[<size = 4, stride = 1>, <size = 4, stride = 4>]>"
    text = fifo("f", "%a", "%b").replace("dimensionsToStream = #aie<bd_dim_layout_array[]>", pattern)
    assert at(design(text), 0, 2)[1] == 1


def test_distant_cores_pay_at_both_ends() -> None:
    module = design(fifo("f", "%a", "%d", depth="3 : i32"))
    assert at(module, 0, 2) == (0, 1, 3, 2, 192)
    assert at(module, 3, 5) == (1, 0, 3, 2, 192)


def test_a_broadcast_pays_one_channel_at_the_producer_and_one_at_each_consumer() -> None:
    module = design(fifo("f", "%a", "%b", "%c", "%d"))
    assert at(module, 0, 2)[:3] == (0, 1, 2)
    assert [at(module, *place)[:3] for place in ((0, 3), (1, 2), (3, 5))] == [(1, 0, 2)] * 3


def test_a_depth_for_each_end_is_taken_at_its_word() -> None:
    module = design(fifo("f", "%s", "%a", depth="[2 : i32, 5 : i32]"))
    assert at(module, 0, 2) == (1, 0, 5, 2, 320)


def test_a_repeat_count_costs_descriptors_at_the_producer() -> None:
    assert at(design(fifo("f", "%m", "%a", more=", repeat_count = 3 : i32")), 0, 1)[2] == 6


def test_three_fifos_into_one_core_are_one_too_many() -> None:
    error = only(design(*(fifo(name, "%s", "%d") for name in "xy"), fifo("z", "%m", "%d")))
    assert error.message == "core tile (3, 5) has 2 DMA channels into it, but 3 are used: fifo x, fifo y, fifo z"
    assert error.where is not None
    assert error.where.line == 11
    assert "objectfifo.link" in error.hint


def test_three_fifos_from_one_shim_tile_are_one_too_many() -> None:
    error = only(design(fifo("x", "%s", "%a"), fifo("y", "%s", "%b"), fifo("z", "%s", "%c")))
    assert error.message.startswith("shim tile (0, 0) has 2 DMA channels out of it, but 3 are used")


def test_channels_that_are_used_by_hand_are_not_given_to_fifos() -> None:
    module = golden("locks", ("channel_index = 0 : i32, repeat", "channel_index = 2 : i32, repeat"))
    messages = [error.message for error in check_limits(module)]
    assert "DMA channel 2 into it is used on core tile (0, 2), which has 2: 0 to 1" in messages


def test_too_many_descriptors_are_told_by_their_parts() -> None:
    error = only(design(fifo("x", "%s", "%d", depth="9 : i32"), fifo("y", "%d", "%s", depth="8 : i32")))
    assert error.message == ("core tile (3, 5) has 16 buffer descriptors, but 17 are used: fifo x 9 + fifo y 8")
    assert error.where is not None
    assert error.where.line == 9


def test_a_mem_tile_has_24_descriptors_for_the_even_channels() -> None:
    error = only(
        golden(
            "scale4",
            (
                "elemNumber = 2 : i32, elemType = !aie.objectfifo<memref<256xi32>>",
                "elemNumber = 3 : i32, elemType = !aie.objectfifo<memref<256xi32>>",
            ),
        )
    )
    assert error.message.startswith("mem tile (0, 1) has 24 buffer descriptors for even channels, but 36 are used")


def test_too_many_locks_are_told_by_their_parts() -> None:
    lines = [fifo(f"f{index}", "%a", "%b") for index in range(9)]
    error = only(design(*lines))
    assert error.message.startswith("core tile (0, 2) has 16 locks, but 18 are used: fifo f0 2 + fifo f1 2")


def test_locks_have_numbers_and_values_in_range_and_once() -> None:
    changes = (("init = 1 : i32, lockID = 2", "init = 64 : i32, lockID = 16"), ("lockID = 1 :", "lockID = 0 :"))
    messages = [error.message for error in check_limits(golden("locks", *changes))]
    assert messages == [
        "@in_full is lock 0 of tile (0, 2), which @in_free is already",
        "lock 16 of a core tile: it has 0 to 15",
        "@out_free begins as 64: a lock counts from 0 to 63",
    ]


def test_a_core_tile_holds_exactly_64_kib() -> None:
    stack = 3328
    rest = (65536 - stack - 4 * 2048) // 2 // 4
    right = f"memref<1x{rest}xi32>"
    assert check_limits(golden("matmul", ("memref<32x32xi32>", right))) == []
    error = only(golden("matmul", ("memref<32x32xi32>", f"memref<1x{rest + 1}xi32>")))
    assert error.message == (
        "core tile (0, 2) does not hold its data: fifo memC 2 x 27,012 B, fifo memA 2 x 2,048 B, "
        "fifo memB 2 x 2,048 B, stack 3,328 B = 65,544 B of 65,536 B"
    )
    assert error.hint == "8 B too many: give @memC the depth 1, or make the blocks smaller"
    assert str(error.where) == "matmul.mlir:16:5"


def test_a_full_mem_tile_uses_the_one_beside_it_where_the_device_has_one() -> None:
    big = fifo("f", "%s", "%m", element="memref<80000xi32>")
    assert check_limits(design(big)) == []
    messages = [error.message for error in check_limits(design(big, device="npu1_1col"))]
    assert "mem tile (0, 1) does not hold its data: fifo f 2 x 320,000 B = 640,000 B of 524,288 B" in messages
    used = '%big = "aie.buffer"(%n) <{sym_name = "big"}> : (index) -> memref<100000xi32>'
    assert check_limits(design(big, used)) == []
    more = '%more = "aie.buffer"(%n) <{sym_name = "more"}> : (index) -> memref<10000xi32>'
    assert only(design(big, used, more)).message in messages


# Access patterns


def transfer(sizes: str, strides: str, more: str = "id = 0 : i64") -> str:
    return (
        f'"aiex.npu.dma_memcpy_nd"(%x) <{{{more}, metadata = @f, operandSegmentSizes = array<i32: 1, 0, 0, 0>, '
        f"static_offsets = array<i64: 0, 0, 0, 0>, static_sizes = array<i64: {sizes}>, "
        f"static_strides = array<i64: {strides}>}}> : (memref<65536xi32>) -> ()"
    )


def sequence(*lines: str) -> Module:
    body = "\n".join(lines)
    return design(
        fifo("f", "%s", "%a"),
        f'"aie.runtime_sequence"() <{{sym_name = "go"}}> ({{\n^bb0(%x: memref<65536xi32>):\n{body}\n}}) : () -> ()',
    )


def test_a_transfer_of_a_sequence_keeps_the_rules_of_the_shim() -> None:
    assert check_limits(sequence(transfer("1, 1, 1, 65536", "0, 0, 0, 1"))) == []
    error = only(sequence(transfer("1, 1, 2, 2048", "0, 0, 4096, 1")))
    assert error.message == (
        "the transfer of @f: sizes[3] is 2,048, but a shim tile's DMA counts to 1,023 in a dimension"
    )
    assert error.hint == "divide it: 4 x 512"
    assert error.where is not None
    assert error.where.line == 12


def test_a_shim_tile_has_sixteen_descriptors_by_number() -> None:
    assert check_limits(sequence(transfer("1, 1, 1, 8", "0, 0, 0, 1", "id = 15 : i64"))) == []
    error = only(sequence(transfer("1, 1, 1, 8", "0, 0, 0, 1", "id = 16 : i64")))
    assert error.message == "buffer descriptor 16: a shim tile has 0 to 15"


def test_packets_have_few_bits() -> None:
    packet = "id = 0 : i64, packet = #aie.packet_info<pkt_type = 0, pkt_id = 32>"
    assert only(sequence(transfer("1, 1, 1, 8", "0, 0, 0, 1", packet))).message == (
        "packet type 0, id 32: types are 0 to 7, ids 0 to 31"
    )


def test_sizes_that_are_known_at_run_time_only_are_not_judged() -> None:
    dynamic = "1, 1, 1, -9223372036854775808"
    text = (
        transfer(dynamic, "0, 0, 0, 1")
        .replace("(%x)", "(%x, %n)")
        .replace("(memref<65536xi32>)", "(memref<65536xi32>, index)")
    )
    assert check_limits(sequence('%n = "arith.constant"() <{value = 3 : index}> : () -> index', text)) == []


def test_a_tasks_length_is_that_of_one_pass() -> None:
    assert check_limits(golden("tasks")) == []
    errors = check_limits(golden("tasks", ("len = 32", "len = 64")))
    assert errors[0].message == (
        "the transfer of @src: its length is 64 elements, but one pass of the lowest three dimensions moves 32, "
        "the outermost (2) is the repeat"
    )
    assert errors[0].hint == "write 32"


def test_a_task_repeats_a_limited_number_of_times() -> None:
    errors = check_limits(golden("tasks", ("issue_token = true", "issue_token = true, repeat_count = 256 : i32")))
    assert [error.message for error in errors] == ["repeat_count is 256, but a task repeats 0 to 255 times"]


def tasks(count: int, *, freed: bool) -> Module:
    lines = []
    for index in range(count):
        bd = '"aie.dma_bd"(%x) <{len = 8 : i32, offset = 0 : i32}> : (memref<65536xi32>) -> ()'
        lines.append(
            f'%t{index} = "aiex.dma_configure_task_for"() <{{alloc = @f}}> ({{\n{bd}\n"aie.end"() : () -> ()\n}}) '
            f": () -> index"
        )
        if freed:
            lines.append(f'"aiex.dma_free_task"(%t{index}) : (index) -> ()')
    return sequence(*lines)


def test_no_more_tasks_are_under_way_than_there_are_descriptors() -> None:
    assert check_limits(tasks(16, freed=False)) == []
    assert check_limits(tasks(40, freed=True)) == []
    error = only(tasks(18, freed=False))
    assert error.message == ("17 buffer descriptors are used at once on shim tile (0, 0), which has 16")


def test_a_fifos_pattern_is_checked_at_the_tile_that_applies_it() -> None:
    errors = check_limits(
        golden(
            "layout",
            ("<size = 16, stride = 1>, <size = 8, stride = 16>", "<size = 16, stride = 2>, <size = 8, stride = 16>"),
        )
    )
    assert [error.message for error in errors] == [
        "dimensionsToStream of @a_t: the pattern reaches element 142, but there are 128 (0 to 127)",
        "dimensionsFromStream of @b_t: the pattern reaches element 142, but there are 128 (0 to 127)",
    ]


def test_objects_are_whole_words() -> None:
    error = check_limits(design(fifo("f", "%s", "%a", element="memref<3xi8>")))[0]
    assert error.message == "@f: 3 elements of 8 bits are 3 bytes, which is no multiple of 4"


def test_objects_in_shared_memory_may_be_of_any_size() -> None:
    assert check_limits(design(fifo("f", "%a", "%b", element="memref<3xi8>"))) == []


@pytest.mark.parametrize(
    ("producer", "more", "device", "message"),
    [
        ("%a", "", "npu2", "@f pads what a core tile sends: only a mem tile's DMA can"),
        ("%m", ", padValue = 5 : i32", "npu1", "@f pads with 5: npu1 pads with 0 only"),
    ],
)
def test_padding_is_for_mem_tiles_and_values_for_npu2(producer: str, more: str, device: str, message: str) -> None:
    pad = ", padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 2, const_pad_after = 2>]>"
    assert only(design(fifo("f", producer, "%d", more=pad + more), device=device)).message == message
    assert check_limits(design(fifo("f", "%m", "%d", more=f"{pad}, padValue = 5 : i32"), device="npu2")) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "len = 32 : i32, offset = 0",
            "len = 32 : i32, offset = 1",
            "the descriptor moves elements 1 to 32 of a buffer of 32",
        ),
        (
            "len = 32 : i32, offset = 0 : i32",
            "dimensions = #aie<bd_dim_layout_array[<size = 32, stride = 2>]>, len = 32 : i32, offset = 0 : i32",
            "the descriptor: the pattern reaches element 62, but there are 32 (0 to 31)",
        ),
    ],
)
def test_a_descriptor_of_a_dma_program_stays_in_its_buffer(old: str, new: str, message: str) -> None:
    assert check_limits(golden("locks", (old, new)))[0].message == message


def test_a_core_tiles_dma_works_in_its_own_memory() -> None:
    program = """
    %buf = "aie.buffer"(%b) <{sym_name = "buf"}> : (index) -> memref<32xi32>
    %mem = "aie.mem"(%a) ({
      %s0 = "aie.dma_start"()[^bb1, ^bb2] <{channel_dir = 0 : i32, channel_index = 0 : i32}> : () -> i1
    ^bb1:
      "aie.dma_bd"(%buf) <{len = 32 : i32, offset = 0 : i32}> : (memref<32xi32>) -> ()
      "aie.next_bd"()[^bb1] : () -> ()
    ^bb2:
      "aie.end"() : () -> ()
    }) : (index) -> index
    """
    error = only(design(program))
    assert error.message == "the DMA of core tile (0, 2) is given a buffer of tile (0, 3): it reaches its own only"


def test_all_problems_are_told_in_the_order_of_the_lines() -> None:
    errors = check_limits(
        golden(
            "matmul", ("memref<32x32xi32>", "memref<96x96xi32>"), ("32, 64, 1", "32, 64, 0"), ("row = 1 ", "row = 7 ")
        )
    )
    assert len(errors) >= 4
    lines = [error.where.line for error in errors if error.where and error.where.line]
    assert lines == sorted(lines)


# Figures at their edges


def core(tile: str, *acquired: tuple[str, int, int]) -> str:
    """Return a core that acquires (FIFO, port, objects)."""
    acquires = "\n".join(
        f'%{name}{port} = "aie.objectfifo.acquire"() <{{objFifo_name = @{name}, port = {port} : i32, '
        f"size = {size} : i32}}> : () -> !aie.objectfifosubview<memref<16xi32>>"
        for name, port, size in acquired
    )
    body = f'{acquires}\n"aie.end"() : () -> ()'
    return f'%core = "aie.core"({tile}) <{{stack_size = 1024 : i32}}> ({{\n{body}\n}}) : (index) -> index'


def test_what_a_core_acquires_of_one_fifo_does_not_count_for_another() -> None:
    module = design(
        fifo("x", "%s", "%d", depth="4 : i32"),
        fifo("y", "%s", "%d", depth="4 : i32"),
        core("%d", ("x", 1, 3), ("y", 1, 1)),
    )
    (tile,) = [each for each in budget(module) if each.kind.name == "core"]
    assert [channel.descriptors for channel in tile.channels] == [4, 2]


def test_what_a_core_acquires_counts_at_its_own_tile_only() -> None:
    module = design(fifo("x", "%a", "%d", depth="4 : i32"), core("%d", ("x", 1, 1)))
    assert at(module, 3, 5)[2] == 2
    assert at(module, 0, 2)[2] == 4


def test_all_locks_of_a_tile_may_be_used() -> None:
    assert check_limits(design(*(fifo(f"f{index}", "%a", "%b") for index in range(8)))) == []


def test_a_delegate_tile_holds_the_objects_of_a_shared_fifo() -> None:
    allocate = '"aie.objectfifo.allocate"(%b) <{objFifo_name = @f}> : (index) -> ()'
    module = design(fifo("f", "%a", "%b"), fifo("g", "%a", "%b"), allocate)
    assert at(module, 0, 2)[3:] == (2, 128)
    assert at(module, 0, 3)[3:] == (2, 128)


def test_an_allocated_channel_is_used_unless_it_leads_to_programmable_logic() -> None:
    channel = 'channel_dir = 1 : i32, channel_index = 1 : i64, plio = PLIO, sym_name = "x"'
    allocation = f'"aie.shim_dma_allocation"(%s) <{{{channel}}}> : (index) -> ()'
    assert at(design(allocation.replace("PLIO", "false")), 0, 0)[1] == 1
    assert at(design(allocation.replace("PLIO", "true")), 0, 0)[1] == 0


def test_the_largest_packet_numbers_are_right() -> None:
    packet = "id = 0 : i64, packet = #aie.packet_info<pkt_type = 7, pkt_id = 31>"
    assert check_limits(sequence(transfer("1, 1, 1, 8", "0, 0, 0, 1", packet))) == []
    worse = packet.replace("pkt_type = 7", "pkt_type = 8")
    assert len(check_limits(sequence(transfer("1, 1, 1, 8", "0, 0, 0, 1", worse)))) == 1


def test_padding_leaves_a_descriptors_length_open() -> None:
    old = "len = 32 : i32, offset = 0 : i32"
    pattern = "dimensions = #aie<bd_dim_layout_array[<size = 16, stride = 1>]>, " + old
    pad = "pad_dimensions = #aie<bd_pad_layout_array[<const_pad_before = 8, const_pad_after = 8>]>"
    assert check_limits(golden("locks", (old, pattern)))[0].message == (
        "the descriptor: the pattern visits 16 elements, but 32 are moved"
    )
    assert check_limits(golden("locks", (old, f"{pattern}, {pad}"))) == []


def test_only_padding_leaves_the_length_of_a_fifos_pattern_open() -> None:
    pattern = "dimensionsToStream = #aie<bd_dim_layout_array[<size = 8, stride = 1>]>"
    pad = ", padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 4, const_pad_after = 4>]>"
    plain, padded = (
        fifo("f", "%m", "%d", more=more).replace("dimensionsToStream = #aie<bd_dim_layout_array[]>", pattern)
        for more in ("", pad)
    )
    assert only(design(plain)).message.endswith("the pattern visits 8 elements, but 16 are moved")
    assert check_limits(design(padded)) == []
