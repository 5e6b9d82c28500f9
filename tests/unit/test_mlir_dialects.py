"""Each form of our own dialect definitions, against what `aie-opt` prints for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aiebuild.errors import MlirError
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.write import write

FORMS = Path(__file__).parents[1] / "golden" / "forms"
TILES = """
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
"""


def forms(name: str) -> list[tuple[str, str]]:
    """Pairs of custom and generic form, from a file of golden forms."""
    text = (FORMS / f"{name}.txt").read_text()
    return [(custom, generic) for custom, generic in re.findall(r"^(.+)\n=> (.+)$", text, re.MULTILINE)]


def generic(body: str) -> list[str]:
    """The lines of generic text of ops in a device, names of values left out, in the order of the text."""
    module = normalise(f"module {{\n  aie.device(npu1) {{{TILES}{body}\n  }}\n}}\n", "d.mlir")
    lines = write(module).splitlines()
    named = [re.sub(r"%\w+(#\d+)?", "%", line).strip() for line in lines[5:-3]]
    assert lines[-3].strip() == '"aie.end"() : () -> ()'
    return named


def in_core(body: str) -> list[str]:
    return generic(f"aie.core(%core) {{\n{body}\naie.end\n}}")[1:-2]


def in_sequence(body: str) -> list[str]:
    return generic(f"aie.runtime_sequence(%a: memref<64xi32>, %n: i64, %v: i32) {{\n{body}\n}}")[2:-1]


def refused(body: str) -> str:
    with pytest.raises(MlirError) as caught:
        generic(body)
    return str(caught.value)


@pytest.mark.parametrize(("text", "expected"), forms("device"))
def test_ops_of_a_device(text: str, expected: str) -> None:
    assert generic(text) == [expected]


def test_external_buffers_are_registered_with_their_types() -> None:
    text = "%b = aie.external_buffer : memref<8xi32>\naie.objectfifo.register_external_buffers @f(%shim, {%b, %b}) : "
    assert generic(text + "(memref<8xi32>, memref<8xi32>)")[-1] == (
        '"aie.objectfifo.register_external_buffers"(%, %, %) <{objFifo_name = @f}> '
        ": (index, memref<8xi32>, memref<8xi32>) -> ()"
    )


def test_a_device_has_a_name_and_keeps_that_of_its_kind() -> None:
    plain = write(normalise("aie.device(npu2_4col) {\n}", "d.mlir"))
    named = write(normalise("module {\n aie.device(npu1) @mine {\n aie.end\n }\n}", "d.mlir"))
    assert '"aie.device"() <{device = "npu2_4col", sym_name = "main"}> ({' in plain
    assert '"aie.device"() <{device = "npu1", sym_name = "mine"}> ({' in named
    assert plain.count('"aie.end"') == named.count('"aie.end"') == 1


@pytest.mark.parametrize(
    ("dictionary", "properties"),
    [
        ("", "stack_size = 1024 : i32"),
        ("{stack_size = 0xD00 : i32}", "stack_size = 3328 : i32"),
        ('{elf_file = "a.elf", link_with = "b.o"}', 'elf_file = "a.elf", link_with = "b.o", stack_size = 1024 : i32'),
        ("{dynamic_objfifo_lowering = true}", "dynamic_objfifo_lowering = true, stack_size = 1024 : i32"),
    ],
)
def test_a_cores_entries_stand_behind_its_body(dictionary: str, properties: str) -> None:
    assert generic(f"%c = aie.core(%core) {{\naie.end\n}} {dictionary}") == [
        f'% = "aie.core"(%) <{{{properties}}}> ({{',
        '"aie.end"() : () -> ()',
        "}) : (index) -> index",
    ]


@pytest.mark.parametrize(("text", "expected"), forms("core"))
def test_ops_of_a_core(text: str, expected: str) -> None:
    assert in_core(text) == [expected]


def test_values_go_through_views_and_cascades() -> None:
    text = """
    %s = aie.objectfifo.acquire @f(Consume, 1) : !aie.objectfifosubview<memref<4xi32>>
    %m = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>
    %c = aie.get_cascade() : vector<16xi32>
    aie.put_cascade(%c : vector<16xi32>)
    """
    lines = in_core(text)
    assert lines[1] == (
        '% = "aie.objectfifo.subview.access"(%) <{index = 0 : i32}> '
        ": (!aie.objectfifosubview<memref<4xi32>>) -> memref<4xi32>"
    )
    assert lines[3] == '"aie.put_cascade"(%) : (vector<16xi32>) -> ()'


@pytest.mark.parametrize(
    ("arguments", "properties"),
    [
        ("AcquireGreaterEqual, 1", "action = 2 : i32, value = 1 : i32"),
        ("Acquire", "action = 0 : i32"),
        ('"Release", 2', "action = 1 : i32, value = 2 : i32"),
        ("Acquire, 1, NonBlocking", "action = 0 : i32, blocking = 0 : i32, value = 1 : i32"),
        ("Acquire, Blocking", "action = 0 : i32, blocking = 1 : i32"),
    ],
)
def test_forms_of_using_a_lock(arguments: str, properties: str) -> None:
    lines = generic(f"%l = aie.lock(%core, 0)\naie.core(%core) {{\naie.use_lock(%l, {arguments})\naie.end\n}}")
    assert lines[2] == f'"aie.use_lock"(%) <{{{properties}}}> : (index) -> ()'


@pytest.mark.parametrize("kind", ["mem", "memtile_dma", "shim_dma"])
def test_dmas_are_blocks_that_name_each_other(kind: str) -> None:
    text = f"""
    %b = aie.buffer(%core) : memref<8xi32>
    %d = aie.{kind}(%core) {{
      %s = aie.dma_start(S2MM, 1, ^bd, ^rest, repeat_count = 3)
    ^bd:
      aie.dma_bd_packet(0x4, 0xD)
      aie.dma_bd(%b : memref<8xi32>)
      aie.next_bd ^bd
    ^rest:
      aie.end
    }}
    """
    assert generic(text)[1:] == [
        f'% = "aie.{kind}"(%) ({{',
        "^bb0:",
        f'% = "aie.dma_start"()[^bb1, ^bb2] <{{{START}}}> : () -> i1',
        "^bb1:",
        '"aie.dma_bd_packet"() <{packet_id = 13 : i32, packet_type = 4 : i32}> : () -> ()',
        '"aie.dma_bd"(%) <{offset = 0 : i32}> : (memref<8xi32>) -> ()',
        '"aie.next_bd"()[^bb1] : () -> ()',
        "^bb2:",
        '"aie.end"() : () -> ()',
        "}) : (index) -> index",
    ]


DIMENSIONS = "dimensions = #aie<bd_dim_layout_array[<size = 2, stride = 4>, <size = 4, stride = 1>]>, "
PADS = "[<const_pad_before = 1, const_pad_after = 0>]"
PAD = f"pad_dimensions = #aie<bd_pad_layout_array{PADS}>, "
START = "channel_dir = 0 : i32, channel_index = 1 : i32, repeat_count = 3 : i32"


@pytest.mark.parametrize(
    ("arguments", "properties"),
    [
        ("", "offset = 0 : i32"),
        (", 4", "offset = 4 : i32"),
        (", 4, 8", "len = 8 : i32, offset = 4 : i32"),
        (", 0, 8, [<size = 2, stride = 4>, <size = 4, stride = 1>]", f"{DIMENSIONS}len = 8 : i32, offset = 0 : i32"),
        (
            f", 0, 8, [<size = 2, stride = 4>, <size = 4, stride = 1>], {PADS}, pad_value = 7",
            f"{DIMENSIONS}len = 8 : i32, offset = 0 : i32, {PAD}pad_value = 7 : i32",
        ),
        (", 0, 8, pad_value = 7", "len = 8 : i32, offset = 0 : i32, pad_value = 7 : i32"),
        (" offset = 4 len = 8", "len = 8 : i32, offset = 4 : i32"),
        (" len = 8", "len = 8 : i32, offset = 0 : i32"),
        (" offset = 0 len = 8 sizes = [2, 4] strides = [4, 1]", f"{DIMENSIONS}len = 8 : i32, offset = 0 : i32"),
    ],
)
def test_both_forms_of_a_bd_give_the_same_entries(arguments: str, properties: str) -> None:
    lines = in_sequence(
        f"%t = aiex.dma_configure_task_for @f {{\naie.dma_bd(%a : memref<64xi32>{arguments})\naie.end\n}}"
    )
    assert lines[1] == f'"aie.dma_bd"(%) <{{{properties}}}> : (memref<64xi32>) -> ()'


def test_a_bd_has_entries_of_its_own() -> None:
    text = (
        "%t = aiex.dma_configure_task_for @f {\naie.dma_bd(%a : memref<64xi32>, 0, 8) {bd_id = 3 : i32, next_bd_id = "
    )
    text += "4 : i32, burst_length = 64 : i32, packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}\naie.end\n}"
    assert in_sequence(text)[1] == (
        '"aie.dma_bd"(%) <{bd_id = 3 : i32, burst_length = 64 : i32, len = 8 : i32, next_bd_id = 4 : i32, '
        "offset = 0 : i32, packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}> : (memref<64xi32>) -> ()"
    )


def test_a_packet_flow_ends_by_itself() -> None:
    text = """
    aie.packet_flow(0x1) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%core, "DMA" : 1>
    } {keep_pkt_header = true}
    """
    assert generic(text) == [
        '"aie.packet_flow"() <{ID = 1 : i8, keep_pkt_header = true}> ({',
        '"aie.packet_source"(%) <{bundle = 1 : i32, channel = 0 : i32}> : (index) -> ()',
        '"aie.packet_dest"(%) <{bundle = 1 : i32, channel = 1 : i32}> : (index) -> ()',
        '"aie.end"() : () -> ()',
        "}) : () -> ()",
    ]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("aie.runtime_sequence", "sequence"),
        ("aie.runtime_sequence @mine", "mine"),
        ("aiex.runtime_sequence", "sequence"),
        ("aiex.runtime_sequence @mine", "mine"),
    ],
)
def test_a_sequence_has_a_name_under_both_spellings(head: str, name: str) -> None:
    assert generic(f"{head}(%a: memref<4xi32>, %b: i32) {{\n}}") == [
        f'"aie.runtime_sequence"() <{{sym_name = "{name}"}}> ({{',
        "^bb0(%: memref<4xi32>, %: i32):",
        "}) : () -> ()",
    ]


@pytest.mark.parametrize(("text", "expected"), forms("sequence"))
def test_ops_of_a_sequence(text: str, expected: str) -> None:
    assert in_sequence(text) == [expected]


def test_a_sequence_configures_devices_and_runs_their_sequences() -> None:
    text = "aiex.configure @other {\naiex.run @main(%a, %v) : (memref<64xi32>, i32)\n}"
    assert in_sequence(text) == [
        '% = "aiex.configure"() <{symbol = @other}> ({',
        '"aiex.run"(%, %) <{runtime_sequence_symbol = @main}> : (memref<64xi32>, i32) -> ()',
        "}) : () -> index",
    ]


def test_tasks_are_configured_started_awaited_and_freed() -> None:
    text = """
    %t = aiex.dma_configure_task(%shim, MM2S, 1) {
      aie.dma_bd(%a : memref<64xi32>, 0, 8)
      aie.next_bd ^second
    ^second:
      aie.dma_bd(%a : memref<64xi32>, 8, 8)
      aie.end
    } {issue_token = true, repeat_count = 2 : i32}
    aiex.dma_start_task(%t)
    aiex.dma_await_task(%t)
    aiex.dma_free_task(%t)
    """
    lines = in_sequence(text)
    assert lines[0] == (
        '% = "aiex.dma_configure_task"(%) <{channel = 1 : i32, direction = 1 : i32, issue_token = true, '
        "repeat_count = 2 : i32}> ({"
    )
    assert lines[-3:] == [f'"aiex.dma_{verb}_task"(%) : (index) -> ()' for verb in ("start", "await", "free")]


def test_chains_of_bds_are_defined_and_started() -> None:
    text = """
    aie.bd_chain @chain(%b: memref<8xi32>) {
      aie.dma_bd(%b : memref<8xi32>, 0, 8)
      aie.end
    }
    aie.runtime_sequence(%a: memref<8xi32>) {
      %t = aiex.dma_start_bd_chain @chain(%a) : (memref<8xi32>) on (%shim, MM2S, 0) {issue_token = true}
      %u = aiex.dma_start_bd_chain_for @chain(%a) : (memref<8xi32>) for @f
    }
    """
    lines = generic(text)
    assert lines[0] == '"aie.bd_chain"() <{sym_name = "chain"}> ({'
    assert lines[7] == (
        '% = "aiex.dma_start_bd_chain"(%, %) <{channel = 0 : i32, direction = 1 : i32, issue_token = true, '
        "symbol = @chain}> : (memref<8xi32>, index) -> index"
    )
    assert lines[8] == '% = "aiex.dma_start_bd_chain_for"(%) <{alloc = @f, symbol = @chain}> : (memref<8xi32>) -> index'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aie.flow(%shim, DNA : 0, %core, DMA : 0)", "`DNA` is not a port of a tile\n  did you mean 'DMA'?"),
        ("aie.flow(%shim, DMA, %core, DMA : 0)", "expected `:`, found `,`"),
        ("%l = aie.lock(%core) {init = 1}", "`init` of aie.lock must be written like `1 : i32`, found `1 : i64`"),
        ("aie.objectfifo @f(%shim, {%core}, 2) : !aie.objectfifo<memref<4xi32>>", "must be written like `2 : i32`"),
        ("aie.objectfifo @f(%shim, {%core}, 2 : i32) : memref<4xi32>", "expected a type such as `!aie.objectfifo<"),
        ("aie.objectfifo f(%shim, {%core}, 2 : i32) : i32", "expected a symbol such as `@name`, found `f`"),
        ("aie.objectfifo @f(%mem dimensionsToStream [<size = 2>], {%core}, 2 : i32) : i32", "`stride` is missing"),
        ("aie.objectfifo @f(%mem dimensionsToStream [<2, 1>], {%core}, 2 : i32) : i32", "expected `<size = 1, stride"),
        ("aie.core(%core) {\n}", "expected `aie.end` at the end of a block of aie.core"),
        ("%b = aie.buffer(%core) : i32 = dense<0>", "i32 cannot have an initial value"),
        ("aie.runtime_sequence(%a: memref<4xi32>) {\naiex.npu.dma_wait\n}", "must have `symbol` in its `{...}`"),
        (
            "aie.runtime_sequence(%a: i32) {\naiex.npu.dma_memcpy_nd(%a[0, 0, 0][1, 1, 1, 4][0, 0, 0, 1])",
            "has four offsets",
        ),
        (
            "aie.bd_chain @c(%a: memref<8xi32>) {\naie.dma_bd(%a : memref<8xi32> sizes = [2, 4] strides = [1])",
            "2 sizes, but 1 strides",
        ),
        (
            "aie.bd_chain @c(%a: memref<8xi32>, %n: i32) {\naie.dma_bd(%a : memref<8xi32> offset = %n len = 1)",
            "`offset` of a BD is a value, not a number",
        ),
    ],
)
def test_a_wrong_form_says_what_was_expected(text: str, message: str) -> None:
    assert message in refused(text)
