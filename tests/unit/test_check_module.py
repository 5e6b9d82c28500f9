from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import Location
from aiebuild.mlir.check import check_module
from aiebuild.mlir.parse import parse

if TYPE_CHECKING:
    from aiebuild.errors import CheckError
    from aiebuild.mlir.ir import Module

GOLDEN = Path(__file__).parents[1] / "golden" / "mlir"
DEVICES = {"device = 5 : i32": 'device = "npu1_1col"', "device = 9 : i32": 'device = "npu2_1col"'}
VIEW = "!aie.objectfifosubview<memref<64xi32>>"
ACQUIRE_X = f'acquire"() <{{objFifo_name = @x, port = 1 : i32, size = 1 : i32}}> : () -> {VIEW}'
ACCESS_X = f'access"(%8) <{{index = 0 : i32}}> : ({VIEW})'
NAMES = sorted(path.name.removesuffix(".generic.mlir") for path in GOLDEN.glob("*.generic.mlir"))


def golden(name: str, *changes: tuple[str, str]) -> Module:
    text = (GOLDEN / f"{name}.generic.mlir").read_text()
    for old, new in DEVICES.items():
        text = text.replace(old, new)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return parse(text, f"{name}.mlir")


def only(module: Module, declared: list[str] | None = None) -> CheckError:
    errors = check_module(module, declared)
    assert len(errors) == 1, [str(error) for error in errors]
    return errors[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_designs_that_the_real_tools_accept_are_right(name: str) -> None:
    assert check_module(golden(name)) == []


def test_all_problems_are_told_at_once_in_the_order_of_the_lines() -> None:
    module = golden(
        "matmul",
        ("callee = @zero_i32", "callee = @zero_i16"),
        ("objFifo_name = @memA, port = 1 : i32, size = 1", "objFifo_name = @memA, port = 1 : i32, size = 3"),
        ("fifoIns = [@inB]", "fifoIns = [@inBB]"),
        ("symbol = @outC", "symbol = @memC"),
    )
    errors = check_module(module, ["kernel.o"])
    lines = [error.where.line for error in errors if error.where]
    assert lines == sorted(line for line in lines if line)
    messages = "\n".join(error.message for error in errors)
    for part in ("'mm.o'", "@zero_i16", "3 objects of @memA", "@inBB", "@memC leads"):
        assert part in messages


# Symbols and calls


def test_a_call_of_what_is_not_declared_gives_the_nearest() -> None:
    error = only(golden("matmul", ("callee = @zero_i32", "callee = @zero_i16")))
    assert error.message == "@zero_i16 is called, but not declared"
    assert error.hint == "did you mean 'zero_i32'?"
    assert error.where == Location("matmul.mlir", 31, 11)


def test_a_function_at_the_modules_level_is_not_seen_inside_a_device() -> None:
    outside = """
    "func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "private"}> ({}) : () -> ()
    "aie.device"() <{device = "npu1_1col", sym_name = "dev"}> ({
      "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
        "func.call"() <{callee = @f}> : () -> ()
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
    """
    error = only(parse(outside, "x.mlir"))
    assert error.message == "@f is defined in another symbol table, the module's, which this call does not see"
    assert error.hint == "move it into that of aie.device @dev"


def test_a_function_of_a_device_is_reached_from_outside_by_its_path() -> None:
    text = """
    "aie.device"() <{device = "npu1_1col", sym_name = "dev"}> ({
      "func.func"() <{function_type = () -> (), sym_name = "k"}> ({
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
    "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
      "func.call"() <{callee = @k}> : () -> ()
      "func.return"() : () -> ()
    }) : () -> ()
    """
    error = only(parse(text, "x.mlir"))
    assert error.message.startswith("@k is defined in another symbol table, that of aie.device @dev")
    assert error.hint == "write @dev::@k, or move it to the module's"
    assert check_module(parse(text.replace("callee = @k", "callee = @dev::@k"), "x.mlir")) == []


def test_a_call_of_what_is_no_function_is_told() -> None:
    error = only(
        golden(
            "rtp",
            (
                '"arith.muli"(%13, %12) <{overflowFlags = #arith.overflow<none>}>',
                '"func.call"(%13, %12) <{callee = @rtp}>',
            ),
        )
    )
    assert error.message.startswith("@rtp is not a function: it is an aie.buffer, defined at rtp.mlir:5:5")


def test_an_argument_of_another_type_is_told_with_its_position_and_both_types() -> None:
    error = only(
        golden(
            "tasks",
            (
                "(memref<16xi16>, memref<16xi16>, i32) -> (), sym_name",
                "(memref<16xi16>, memref<4x4xi16>, i32) -> (), sym_name",
            ),
        )
    )
    assert error.message == (
        "argument 1 of @negate_i16 is memref<16xi16> in the call, but memref<4x4xi16> in its declaration"
    )
    assert error.hint.endswith("; memref.expand_shape divides a dimension")


def test_another_number_of_arguments_is_told() -> None:
    error = only(
        golden("tasks", ("(memref<16xi16>, memref<16xi16>, i32) -> (), sym_name", "(memref<16xi16>) -> (), sym_name"))
    )
    assert error.message == "@negate_i16 has 1 argument, the call 3"


def test_a_result_of_another_type_is_told() -> None:
    text = """
    "func.func"() <{function_type = () -> i32, sym_name = "f", sym_visibility = "private"}> ({}) : () -> ()
    "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
      %0 = "func.call"() <{callee = @f}> : () -> i64
      "func.return"() : () -> ()
    }) : () -> ()
    """
    assert only(parse(text, "x.mlir")).message == "result 0 of @f is i64 in the call, but i32 in its declaration"


def test_a_name_that_is_defined_twice_is_told_with_the_first_place() -> None:
    error = check_module(golden("matmul", ('sym_name = "memB"', 'sym_name = "memA"')))[0]
    assert error.message == "@memA is defined twice"
    assert error.hint == "the first one is at matmul.mlir:11:5 (aie.objectfifo)"


def test_the_same_name_in_two_tables_is_no_clash_but_two_unnamed_devices_are() -> None:
    device = '"aie.device"() <{{device = "npu1_1col"{}}}> ({{ {} }}) : () -> ()\n'
    tile = '%t = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index'
    lock = f'{tile} "aie.lock"(%t) <{{sym_name = "l"}}> : (index) -> ()'
    named = device.format(', sym_name = "a"', lock) + device.format(', sym_name = "b"', lock)
    assert check_module(parse(named, "x.mlir")) == []
    assert only(parse(device.format("", "") * 2, "x.mlir")).message == "@main is defined twice"


# link_with


def test_a_file_that_the_recipe_does_not_declare_lists_those_that_it_does() -> None:
    errors = check_module(golden("matmul"), ["libact.a", "mm2.o"], Location("designs/matmul/SConscript", 12))
    assert {error.message for error in errors} == {"link_with names 'mm.o', which the recipe does not declare"}
    assert errors[0].hint == (
        "did you mean 'mm2.o'? declared files: libact.a, mm2.o (declared at designs/matmul/SConscript:12)"
    )
    assert errors[0].where == Location("matmul.mlir", 3, 5)


def test_a_recipe_that_links_nothing_is_told_what_to_write() -> None:
    errors = check_module(golden("matmul"), [])
    assert errors[0].hint == "the recipe links nothing: give Design a link_with=[...] with the object"


def test_declared_files_are_right() -> None:
    assert check_module(golden("matmul"), ["mm.o", "unused.o"]) == []


def test_a_called_declaration_without_a_file_is_told_once() -> None:
    module = golden("scale4", ('{link_with = "scale.o"} ', ""))
    error = only(module, declared=["scale.o"])
    assert error.message == "@scale_i32 is called, but nothing defines it: its declaration names no file"
    declaration, call = (next(op for op in module.walk() if op.name == name) for name in ("func.func", "func.call"))
    assert error.where == module.where(call)
    how = 'name the object that defines it: attributes {link_with = "scale.o"}'
    assert error.hint == f"it is declared at {module.where(declaration)}; {how}"


def test_a_misspelt_link_with_is_named() -> None:
    error = only(golden("scale4", ("{link_with = ", "{link_wiht = ")), declared=["scale.o"])
    assert error.hint.endswith("it has `link_wiht`: did you mean link_with?")


def test_the_older_form_with_the_file_at_the_core_is_right() -> None:
    module = golden(
        "passthrough",
        ('{link_with = "passthrough.o"} ', ""),
        ("stack_size = 1024 : i32", 'link_with = "passthrough.o", stack_size = 1024 : i32'),
    )
    assert check_module(module, ["passthrough.o"]) == []
    assert len(check_module(module, ["other.o"])) == 1


# FIFOs and cores


@pytest.mark.parametrize("name", ["objFifo_name = @memC, port = 0 : i32, size = 1 : i32}> : () -> ()", "[@memA]"])
def test_a_misspelt_fifo_is_one_error(name: str) -> None:
    misspelt = name.replace("@memC", "@memD").replace("@memA", "@memX")
    error = only(golden("matmul", (name, misspelt)), declared=["mm.o"])
    assert error.message.startswith("there is no object FIFO @mem")
    assert error.hint == "did you mean 'memC'?"


def test_other_references_name_the_nearest_symbol_of_any_kind() -> None:
    module = parse('"own.op"() {of = @tabel} : () -> ()\n"memref.global"() <{sym_name = "table"}> : () -> ()', "x.mlir")
    (error,) = check_module(module, [])
    assert error.hint == "did you mean 'table'?"


@pytest.mark.parametrize(
    ("name", "changes", "message", "hint"),
    [
        (
            "matmul",
            [('acquire"() <{objFifo_name = @memC', 'acquire"() <{objFifo_name = @memD')],
            "there is no object FIFO @memD",
            "did you mean 'memC'?",
        ),
        (
            "matmul",
            [("fifoOuts = [@memA]", "fifoOuts = [@memX]")],
            "there is no object FIFO @memX",
            "did you mean 'memC'?",
        ),
        (
            "matmul",
            [('acquire"() <{objFifo_name = @memA, port = 1', 'acquire"() <{objFifo_name = @memA, port = 0')],
            "core (0, 2) acquires @memA as Produce, but @memA leads from (0, 1) to (0, 2)",
            "write Consume: core (0, 2) is a consumer",
        ),
        (
            "matmul",
            [('release"() <{objFifo_name = @memC, port = 0', 'release"() <{objFifo_name = @memC, port = 1')],
            "core (0, 2) releases @memC as Consume, but @memC leads from (0, 2) to (0, 1)",
            "write Produce: core (0, 2) is its producer",
        ),
        (
            "rtp",
            [(ACQUIRE_X, ACQUIRE_X.replace("size = 1", "size = 3"))],
            "the core acquires 3 objects of @x, whose depth is 2",
            "a depth of 3 or more, or fewer objects",
        ),
        (
            "rtp",
            [
                (
                    'release"() <{objFifo_name = @x, port = 1 : i32, size = 1',
                    'release"() <{objFifo_name = @x, port = 1 : i32, size = 0',
                )
            ],
            "the core releases 0 objects of @x, whose depth is 2",
            "at least 1",
        ),
        (
            "deadlock",
            [('access"(%7) <{index = 0', 'access"(%7) <{index = 2')],
            "object 2 is accessed, but 2 were acquired",
            "0 to 1, or acquire 3",
        ),
        (
            "rtp",
            [(text, text.replace("64x", "32x")) for text in (ACQUIRE_X, ACCESS_X)],
            f"@x is acquired as {VIEW.replace('64', '32')}, but is declared as {VIEW.replace('subview', '')}",
            "",
        ),
        (
            "scale4",
            [("dst_offsets = [0, 64, 128, 192]", "dst_offsets = [0, 64, 128, 193]")],
            "@x3 takes elements 193 to 256 of an object of @x, which has 256",
            "",
        ),
        (
            "scale4",
            [("src_offsets = [0, 64, 128, 192]", "src_offsets = [0, 64, 128]")],
            "the link has 4 pieces and 3 offsets",
            "give the offset of each of y0, y1, y2, y3 in an object of @y, in elements",
        ),
        (
            "matmul",
            [
                ("fifoIns = [@inB], fifoOuts = [@memB]", "fifoIns = [@memC], fifoOuts = [@memB]"),
                ("fifoIns = [@memC], fifoOuts = [@outC]", "fifoIns = [@inB], fifoOuts = [@outC]"),
                ("fifoIns = [@inA], fifoOuts = [@memA]", "fifoIns = [@memA], fifoOuts = [@outC]"),
            ],
            "the FIFOs of a link do not meet in one tile: inputs must end where all outputs begin",
            "@memA leads from (0, 1) to (0, 2); @outC leads from (0, 1) to (0, 0)",
        ),
        (
            "rtp",
            [("elemNumber = 2 : i32", "elemNumber = [2 : i32, 2 : i32, 2 : i32]")],
            "@x has 2 ends and 3 depths",
            "give one depth for all ends, or one for each, the producer's first",
        ),
        (
            "locks",
            [("row = 2 : i32", "row = 1 : i32")],
            "a core is put on tile (0, 1), which is a mem tile",
            "npu1_1col has 1 column of 6 rows (row 0 shim, 1 mem, 2 to 5 cores)",
        ),
        (
            "scale4",
            [('"aie.core"(%3)', '"aie.core"(%2)')],
            "two cores are put on tile (0, 2)",
            "the first one is at scale4.mlir:24:5",
        ),
    ],
)
def test_each_rule_of_fifos_and_cores(name: str, changes: list[tuple[str, str]], message: str, hint: str) -> None:
    errors = {error.message: error for error in check_module(golden(name, *changes))}
    assert message in errors, list(errors)
    assert errors[message].hint == hint
    assert errors[message].where is not None


def test_a_core_with_no_end_of_a_fifo_cannot_use_it() -> None:
    errors = check_module(golden("scale4", ("objFifo_name = @x0", "objFifo_name = @x1")))
    assert errors[0].message == "core (0, 2) acquires @x1 as Consume, but @x1 leads from (0, 1) to (0, 3)"
    assert errors[0].hint == "it has no end there"


# Runtime sequences


@pytest.mark.parametrize(
    ("name", "old", "new", "message", "hint"),
    [
        ("matmul", "metadata = @inA", "metadata = @inAA", "there is no object FIFO @inAA", "did you mean 'inA'?"),
        (
            "matmul",
            "metadata = @inA",
            "metadata = @memA",
            "@memA leads from (0, 1) to (0, 2): a runtime sequence reaches only ends at a shim tile (row 0)",
            "one of: inA, inB, outC",
        ),
        ("tasks", "alloc = @src", "alloc = @srcc", "there is no object FIFO @srcc", "did you mean 'src'?"),
        (
            "matmul",
            "symbol = @outC",
            "symbol = @inA",
            "dma_wait on @inA would never end: no transfer of it before issues a token",
            "write issue_token = true on the last dma_memcpy_nd of it",
        ),
        (
            "tasks",
            "alloc = @dst, issue_token = true",
            "alloc = @dst",
            "the task that is awaited issues no token: it is configured at tasks.mlir:36:7",
            "write {issue_token = true} on its configuration",
        ),
        (
            "tasks",
            '"aiex.dma_start_task"(%4) : (index) -> ()',
            "",
            "the task that is awaited was not started before: it is configured at tasks.mlir:36:7",
            "write aiex.dma_start_task before it",
        ),
        (
            "matmul",
            "static_offsets = array<i64: 0, 0, 0, 2048>",
            "static_offsets = array<i64: 0, 0, 0, 2049>",
            "the transfer reaches element 4,096 of a buffer of 4,096 (0 to 4,095)",
            "offset 2049, sizes [2, 2, 32, 32], strides [0, 32, 64, 1]",
        ),
        (
            "tasks",
            "len = 32 : i32, offset = 0",
            "len = 32 : i32, offset = 1",
            "the transfer reaches element 64 of a buffer of 64 (0 to 63)",
            "offset 1, sizes [2, 2, 4, 4], strides [32, 4, 8, 1]",
        ),
        (
            "matmul",
            "memref<4096xi32>",
            "memref<4096xi16>",
            "the buffer's elements are i16, those of @outC are i32",
            "declare the sequence's argument as a memref of i32",
        ),
        ("rtp", "buffer = @rtp", "buffer = @rtq", "there is no aie.buffer @rtq", "did you mean 'rtp'?"),
        ("rtp", "index = 0 : ui32", "index = 2 : ui32", "index 2 is outside of @rtp, which has 2 elements", ""),
    ],
)
def test_each_rule_of_sequences(name: str, old: str, new: str, message: str, hint: str) -> None:
    errors = {error.message: error for error in check_module(golden(name, (old, new)))}
    assert message in errors, list(errors)
    assert errors[message].hint == hint


def test_offsets_count_in_strides_of_their_dimension() -> None:
    inside = ("static_offsets = array<i64: 0, 0, 0, 2048>", "static_offsets = array<i64: 0, 0, 32, 0>")
    outside = ("static_offsets = array<i64: 0, 0, 0, 2048>", "static_offsets = array<i64: 0, 0, 33, 0>")
    assert check_module(golden("matmul", inside)) == []
    assert only(golden("matmul", outside)).message.startswith("the transfer reaches element 4,159 ")


def test_a_transfer_out_of_the_array_issues_a_token_unasked() -> None:
    assert check_module(golden("passthrough", ("issue_token = true, ", ""))) == []


def test_a_wait_before_its_transfer_is_told() -> None:
    wait = '"aiex.npu.dma_wait"() <{symbol = @out}> : () -> ()\n'
    module = golden("passthrough", ('      "aiex.npu.dma_memcpy_nd"(%arg0)', f'{wait}"aiex.npu.dma_memcpy_nd"(%arg0)'))
    error = only(module)
    assert error.message == "dma_wait on @out would never end: no transfer of it was started before"
    assert error.hint == "started before: nothing"


def test_a_sequence_may_name_an_allocated_channel() -> None:
    assert check_module(golden("locks")) == []
    errors = check_module(golden("locks", ("metadata = @x", "metadata = @xx")))
    assert errors[0].hint == "did you mean 'x'?"


@pytest.mark.parametrize("raw", ["memref<1024xi32>", "memref<4096xi8>"])
def test_buffers_of_plain_words_or_bytes_may_feed_any_fifo(raw: str) -> None:
    size = raw.removeprefix("memref<").split("x")[0]
    module = golden("passthrough", ("memref<4096xui8>", raw), ("1, 1, 1, 4096", f"1, 1, 1, {size}"))
    assert check_module(module) == []


# Texts that are not as they should be


def test_a_part_that_cannot_be_read_is_an_error_and_the_rest_is_still_checked() -> None:
    module = golden("matmul", ("elemNumber = 2 : i32", 'elemNumber = "two"'), ("callee = @zero_i32", "callee = @zero"))
    messages = [error.message for error in check_module(module)]
    assert "@zero is called, but not declared" in messages
    assert any("expected an integer" in message for message in messages)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_property_never_ends_in_a_traceback(name: str) -> None:
    for index in range(len(list(golden(name).walk()))):
        module = golden(name)
        op = list(module.walk())[index]
        op.properties.clear()
        check_module(module)


def test_each_end_has_its_own_depth() -> None:
    depths = ("elemNumber = 2 : i32", "elemNumber = [2 : i32, 4 : i32]")
    four = (ACQUIRE_X, ACQUIRE_X.replace("size = 1", "size = 4"))
    assert check_module(golden("rtp", depths, four)) == []
    produced = (
        'acquire"() <{objFifo_name = @y, port = 0 : i32, size = 1',
        'acquire"() <{objFifo_name = @y, port = 0 : i32, size = 4',
    )
    assert only(golden("rtp", depths, produced)).message == "the core acquires 4 objects of @y, whose depth is 2"


@pytest.mark.parametrize(
    ("declared", "hint"),
    [
        ("memref<4x4xi16>", "; memref.expand_shape divides a dimension"),
        ("memref<?xi16>", "; memref.cast forgets or restores sizes"),
        ("memref<8xi16>", "tasks.mlir:7:5"),
        ("memref<16xi32>", "tasks.mlir:7:5"),
        ("i32", "tasks.mlir:7:5"),
    ],
)
def test_the_hint_names_the_op_that_would_make_the_type_fit(declared: str, hint: str) -> None:
    types = "(memref<16xi16>, {}, i32) -> (), sym_name"
    error = only(golden("tasks", (types.format("memref<16xi16>"), types.format(declared))))
    assert error.hint.endswith(hint)
