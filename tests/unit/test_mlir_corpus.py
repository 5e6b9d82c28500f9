"""Own modules with every op that a normal program uses: MLIR's own printer, our reader and writer, and MLIR again."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import mlir_tools
import pytest
from aiebuild.mlir.check import check_names
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write

CORPUS = Path(__file__).parents[1] / "golden" / "corpus"
NAMES = sorted(path.stem for path in CORPUS.glob("*.mlir"))
# MLIR's own verifier takes an unregistered op for a symbol table, so it refuses calls inside of cores.
FLAGS = {
    "other": ("--allow-unregistered-dialect",),
    "aie": ("--allow-unregistered-dialect", "--mlir-very-unsafe-disable-verifier-on-parsing", "--verify-each=0"),
}
WANTED = {
    "affine": "apply delinearize_index for if linearize_index load max min parallel prefetch store vector_load "
    "vector_store yield",
    "arith": "addf addi addui_extended andi bitcast ceildivsi ceildivui cmpf cmpi constant divf divsi divui extf extsi "
    "extui floordivsi fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf minnumf minsi minui "
    "mulf muli mulsi_extended mului_extended negf ori remf remsi remui select shli shrsi shrui sitofp subf subi truncf "
    "trunci uitofp xori",
    "builtin": "module unrealized_conversion_cast",
    "cf": "assert br cond_br switch",
    "func": "call call_indirect constant func return",
    "linalg": "add batch_matmul broadcast conv_2d_nhwc_hwcf copy dot exp fill generic index map matmul matvec "
    "pooling_nhwc_max reduce transpose yield",
    "llvm": "add alloca atomicrmw bitcast br call cmpxchg comdat cond_br extractelement extractvalue fadd fcmp fence "
    "freeze func getelementptr icmp insertvalue intr.memcpy intr.smax inttoptr invoke landingpad load mlir.addressof "
    "mlir.alias mlir.constant mlir.global mlir.global_ctors mlir.poison mlir.undef mlir.zero module_flags ptrtoint "
    "resume return select sext shl shufflevector sitofp store switch trunc udiv unreachable",
    "memref": "alloc alloca alloca_scope assume_alignment atomic_rmw cast collapse_shape copy dealloc dim dma_start "
    "dma_wait expand_shape extract_aligned_pointer_as_index extract_strided_metadata generic_atomic_rmw get_global "
    "global load memory_space_cast prefetch rank realloc reinterpret_cast reshape store subview transpose view",
    "scf": "condition execute_region for forall forall.in_parallel if index_switch parallel reduce reduce.return while "
    "yield",
    "tensor": "bitcast cast collapse_shape concat dim empty expand_shape extract extract_slice from_elements generate "
    "insert insert_slice pad parallel_insert_slice rank reshape splat yield",
    "vector": "bitcast broadcast compressstore constant_mask contract create_mask deinterleave expandload extract "
    "extract_strided_slice fma from_elements gather insert insert_strided_slice interleave load mask maskedload "
    "maskedstore multi_reduction outerproduct print reduction scan scatter shape_cast shuffle step store to_elements "
    "transfer_read transfer_write transpose vscale",
    "aie": "buffer core device dma_bd dma_start end lock memtile_dma next_bd objectfifo objectfifo.acquire "
    "objectfifo.release objectfifo.subview.access runtime_sequence tile use_lock",
    "aiex": "configure npu.load_pdi run",
}


def flags(name: str) -> tuple[str, ...]:
    return FLAGS.get(name.partition("_")[0], ())


def text_of(name: str) -> str:
    return (CORPUS / f"{name}.mlir").read_text()


def test_the_corpus_is_large_enough() -> None:
    assert len(NAMES) >= 60


@functools.cache
def the_whole_corpus(*, generic: bool) -> str:
    return "".join(mlir_tools.generic(text_of(name), *flags(name)) if generic else text_of(name) for name in NAMES)


@pytest.mark.parametrize("dialect", WANTED)
def test_the_corpus_uses_every_op_that_a_program_uses(dialect: str) -> None:
    everything = the_whole_corpus(generic=dialect not in ("aie", "aiex"))
    used = set(re.findall(rf'"{dialect}\.([\w.]+)"', everything))
    assert set(WANTED[dialect].split()) <= used


@pytest.mark.parametrize("name", NAMES)
def test_what_we_write_is_the_same_to_mlir(name: str) -> None:
    first = mlir_tools.generic(text_of(name), *flags(name))
    assert mlir_tools.generic(write(parse(first)), *flags(name)) == first


@pytest.mark.parametrize("name", NAMES)
def test_writing_what_was_read_gives_the_same_text_again(name: str) -> None:
    once = write(parse(mlir_tools.generic(text_of(name), *flags(name))))
    assert write(parse(once)) == once


@pytest.mark.parametrize("name", NAMES)
def test_places_come_back_as_they_were(name: str) -> None:
    first = mlir_tools.generic(text_of(name), "--mlir-print-debuginfo", *flags(name))
    again = mlir_tools.generic(write(parse(first), locations=True), "--mlir-print-debuginfo", *flags(name))
    # Arguments of blocks have places as well, which are not kept: without one, a place is unknown.
    argument = re.compile(r"(%\w+: [^\n]*?) loc\((?:[^()]|\([^()]*\))*\)(?=[,)])")
    assert _without_places_of_arguments(again, argument) == _without_places_of_arguments(first, argument)


def _without_places_of_arguments(text: str, argument: re.Pattern[str]) -> str:
    lines = []
    for line in text.splitlines():
        shown = line
        while line.lstrip().startswith("^") and argument.search(shown):
            shown = argument.sub(r"\1", shown, count=1)
        lines.append(shown)
    return "\n".join(lines)


@pytest.mark.parametrize("name", NAMES)
def test_what_mlir_accepts_has_no_errors_for_us(name: str) -> None:
    if name in ("other_attributes", "other_graph_region"):
        pytest.skip("it names symbols that are not there, on purpose")
    module = parse(mlir_tools.generic(text_of(name), *flags(name)))
    assert [str(problem) for problem in check_names(module) if problem.is_error] == []
