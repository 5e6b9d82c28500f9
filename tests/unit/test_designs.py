"""The designs that are shipped: what their MLIR says, what recipes promise, what contracts refuse."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from aiebuild import contract
from aiebuild.errors import ContractError
from aiebuild.mlir import attributes, template
from aiebuild.mlir.check import check_module
from aiebuild.mlir.limits import check_limits
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.write import write
from aiebuild.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiebuild.contract import Contract
    from aiebuild.mlir.ir import Module, Op

    Array = np.ndarray[Any, np.dtype[Any]]

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "mlir"
DESIGNS = ("passthrough", "vector_scale", "matmul", "activations")
DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "ui8": np.uint8,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
}


# What a design is for given parameters


def contract_of(design: str) -> Contract:
    return contract.load(ROOT / "designs" / design / "design.yaml")


def settled(design: str, *, device: str | None = None, variant: str | None = None, **given: object) -> dict[str, Any]:
    """Return the parameters file of a configuration, as the contract makes it."""
    texts = {name: str(value) for name, value in given.items()}
    return contract_of(design).settle(arch="host", device=device, variant=variant, given=texts).to_json()


def render(configuration: dict[str, Any]) -> str:
    file = ROOT / "designs" / configuration["design"] / f"{configuration['design']}.mlir.j2"
    return template.render(file, Parameters.from_json(configuration), [ROOT / "templates"]).text


def module_of(design: str, **options: Any) -> Module:
    return normalise(render(settled(design, **options)), f"{design}.mlir")


def ops(module: Module, name: str) -> list[Op]:
    return [op for op in module.walk() if op.name == name]


def declared(module: Module) -> dict[str, str]:
    """Return the external functions, each with the file that it is linked with."""
    found = [op for op in ops(module, "func.func") if op.get("link_with")]
    pairs = ([text_of(op, name) for name in ("sym_name", "link_with")] for op in found)
    return {attributes.string(name): attributes.string(file) for name, file in pairs}


def text_of(op: Op, name: str) -> str:
    text = op.get(name)
    assert text is not None, f"{op.name} has no {name}"
    return text


@pytest.mark.parametrize(
    ("design", "options", "golden"),
    [
        ("passthrough", {"device": "npu1_1col"}, "passthrough"),
        ("matmul", {"device": "npu1_1col", "M": 64, "K": 64, "N": 64}, "matmul"),
        ("vector_scale", {"device": "npu2_1col"}, "scale4"),
    ],
)
def test_a_design_has_the_ops_that_the_real_tools_accept(design: str, options: dict[str, Any], golden: str) -> None:
    expected = normalise((GOLDEN / f"{golden}.mlir").read_text(), f"{golden}.mlir")
    assert write(module_of(design, **options)) == write(expected)


@pytest.mark.parametrize("device", ["npu1_1col", "npu2_1col"])
@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_is_for_the_device_that_is_asked_for(design: str, device: str) -> None:
    (op,) = ops(module_of(design, device=device), "aie.device")
    assert attributes.string(text_of(op, "device")) == device


VARIANTS = [(design, name) for design in DESIGNS for name in (None, *contract_of(design).variant_names)]

# What `settled` and `module_of` take, for every variant and every type of elements.
CONFIGURATIONS: list[tuple[str, dict[str, Any]]] = [
    *((design, {"variant": variant}) for design, variant in VARIANTS),
    *(("matmul", {"dtype_in": dtype}) for dtype in ("i8", "i16", "f32", "bf16")),
    ("activations", {"dtype": "f32"}),
]


@pytest.mark.parametrize("device", ["npu1_1col", "npu2_1col"])
@pytest.mark.parametrize(("design", "variant"), VARIANTS)
def test_a_variant_breaks_no_rule_that_is_checked_before_the_tools(
    design: str, variant: str | None, device: str
) -> None:
    module = module_of(design, device=device, variant=variant)
    files = sorted(set(declared(module).values()))
    assert [*check_module(module, files), *check_limits(module)] == []


@pytest.mark.parametrize("cores", [1, 2, 3, 4])
def test_vector_scale_deals_an_object_out_to_each_core(cores: int) -> None:
    module = module_of("vector_scale", cores=cores, length=64 * cores * 3)
    assert len(ops(module, "aie.core")) == cores
    deal, join = ops(module, "aie.objectfifo.link")
    offsets = [64 * core for core in range(cores)] if cores > 1 else []
    assert attributes.integers(text_of(deal, "dst_offsets")) == offsets
    assert attributes.integers(text_of(join, "src_offsets")) == offsets
    assert len(attributes.array(text_of(deal, "fifoOuts"))) == cores
    assert [*check_module(module, ["scale.o"]), *check_limits(module)] == []


# Recipes


class Recorder:
    """Stands in for SCons's environment: notes what a recipe says."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, Any]] = {}

    def __getattr__(self, word: str) -> Any:
        return lambda name="", **values: self.said.setdefault(word, {"name": name, **values})


def recipe(configuration: dict[str, Any]) -> dict[str, dict[str, Any]]:
    source = (ROOT / "designs" / configuration["design"] / "SConscript").read_text()
    env = Recorder()
    p = SimpleNamespace(**configuration["parameters"])
    exec(compile(source, "SConscript", "exec"), {"Import": lambda *_: None, "env": env, "p": p})
    return env.said


@pytest.mark.parametrize(("design", "options"), CONFIGURATIONS)
def test_a_recipe_promises_what_the_mlir_declares(design: str, options: dict[str, Any]) -> None:
    words = recipe(settled(design, **options))
    kind, value = next((kind, value) for kind, value in words.items() if kind != "Design")
    file = f"lib{value['name']}.a" if kind == "CoreArchive" else f"{value['name']}.o"
    assert declared(module_of(design, **options)) == dict.fromkeys(value["functions"], file)
    assert words["Design"]["link_with"] == [value]


@pytest.mark.parametrize("design", DESIGNS)
def test_a_recipe_is_short_and_only_names_things(design: str) -> None:
    source = (ROOT / "designs" / design / "SConscript").read_text()
    assert source.startswith('"""')
    assert len(source.splitlines()) <= 25
    assert not {"if", "for", "while", "def"} & set(source.split('"""')[2].split())


# What check.py says


def checks_of(design: str) -> ModuleType:
    path = ROOT / "designs" / design / "check.py"
    spec = importlib.util.spec_from_file_location(f"check_{design}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments_of(module: Module) -> list[tuple[Any, int]]:
    """Return dtype and number of elements of each argument of the only sequence."""
    (sequence,) = ops(module, "aie.runtime_sequence")
    types = [attributes.memref(value.type) for value in sequence.regions[0].blocks[0].arguments]
    return [(DTYPES[found.element], int(np.prod([size or 0 for size in found.shape]))) for found in types]


@pytest.mark.parametrize(("design", "options"), CONFIGURATIONS)
def test_inputs_and_reference_fit_the_arguments_of_the_sequence(design: str, options: dict[str, Any]) -> None:
    configuration = settled(design, **options)
    check = checks_of(design)
    p = SimpleNamespace(**configuration["parameters"])
    given_arrays = check.inputs(p, np.random.default_rng(1))
    expected = check.reference(p, **given_arrays)

    names = list(contract_of(design).arguments)
    kinds = dict(zip(names, arguments_of(module_of(design, **options)), strict=True))
    assert set(given_arrays) | set(expected) == set(names)
    for argument, array in [*given_arrays.items(), *expected.items()]:
        assert (array.dtype, array.size) == kinds[argument], argument


@pytest.mark.parametrize("design", DESIGNS)
def test_the_same_seed_gives_the_same_inputs(design: str) -> None:
    p = SimpleNamespace(**settled(design, variant="small")["parameters"])
    first, again, other = (checks_of(design).inputs(p, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


def test_the_reference_of_matmul_wraps_at_32_bits() -> None:
    p = SimpleNamespace(M=1, K=3, N=1, dtype_in="i16", dtype_out="i32")
    lowest = np.full((1, 3), -32768, np.int16)
    assert checks_of("matmul").reference(p, lowest, lowest.T)["C"] == 3 * 2**30 - 2**32


# Rules of the contracts: each is broken by a configuration that breaks no other

BROKEN = [
    ("passthrough", {"n": 100, "line": 64}, "n must be a multiple of line"),
    ("passthrough", {"n": 30, "line": 10}, "line must be a multiple of 4"),
    ("vector_scale", {"length": 100}, "length must be a multiple of line * cores"),
    ("matmul", {"M": 33}, "M must be a multiple of the block's rows m"),
    ("matmul", {"K": 48}, "K must be a multiple of the block's depth k"),
    ("matmul", {"N": 16}, "N must be a multiple of the block's columns n"),
    ("matmul", {"k": 2, "dtype_in": "i8"}, "a block's row of A (k elements) must fill whole 32-bit words"),
    ("matmul", {"n": 1, "dtype_in": "bf16"}, "a block's row of B (n elements) must fill whole 32-bit words"),
    ("matmul", {"m": 1024, "M": 1024}, "m, k and n must be below 1024"),
    ("matmul", {"k": 1024, "K": 1024}, "m, k and n must be below 1024"),
    ("matmul", {"n": 1024, "N": 1024}, "m, k and n must be below 1024"),
    ("matmul", {"N": 2**17}, "a row of blocks of B (k * N elements) may have at most 4 MiB"),
    ("activations", {"length": 1000}, "length must be a multiple of line"),
    ("activations", {"length": 99, "line": 33}, "a line must fill whole 32-bit words"),
]


@pytest.mark.parametrize(("design", "given", "message"), BROKEN)
def test_a_rule_that_is_broken_says_what_must_hold(design: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        settled(design, **given)
    assert message in str(caught.value)
    assert f"designs/{design}/design.yaml:" in str(caught.value)


def test_every_rule_of_the_contracts_is_among_the_broken_ones() -> None:
    for design in DESIGNS:
        broken = tuple(message for name, _, message in BROKEN if name == design)
        assert all(rule.message.startswith(broken) for rule in contract_of(design).rules)


# The runtime sequence of matmul


@dataclass(frozen=True)
class Transfer:
    """A `dma_memcpy_nd`; sizes and strides outermost first, the outermost is the repeat."""

    fifo: str
    id: int
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    token: bool

    @property
    def indices(self) -> Array:
        """The elements that it moves, in order."""
        steps = (np.arange(size) * stride for size, stride in zip(self.sizes, self.strides, strict=True))
        result = np.array(self.offset)
        for step in steps:
            result = np.add.outer(result, step)
        return result.ravel()


def transfer(op: Op) -> Transfer:
    offsets = attributes.integers(text_of(op, "static_offsets"))
    assert offsets[:3] == [0, 0, 0]
    return Transfer(
        attributes.symbol(text_of(op, "metadata")),
        attributes.integer(text_of(op, "id")),
        offsets[3],
        tuple(attributes.integers(text_of(op, "static_sizes"))),
        tuple(attributes.integers(text_of(op, "static_strides"))),
        op.get("issue_token") == "true",
    )


def groups_in_flight(module: Module) -> Iterator[tuple[list[Transfer], list[list[Transfer]]]]:
    """Yield each group (C, then its A and B) with those that were started before it and not awaited."""
    flying: list[list[Transfer]] = []
    for op in ops(module, "aie.runtime_sequence")[0].body:
        if op.name == "aiex.npu.dma_wait":
            assert attributes.symbol(text_of(op, "symbol")) == "outC"
            yield flying.pop(0), list(flying)
            continue
        found = transfer(op)
        assert found.token == (found.fifo == "outC")
        if found.token:
            flying.append([])
        assert found.id not in {other.id for group in flying for other in group}
        flying[-1].append(found)
    assert not flying, "a group is never awaited"


SHAPES = [
    {},
    {"M": 32, "K": 32, "N": 32},
    {"M": 64, "K": 64, "N": 64},
    {"M": 96, "K": 64, "N": 160, "dtype_in": "i8"},
    {"M": 1024, "K": 32, "N": 64, "dtype_in": "bf16"},
    {"M": 12, "K": 24, "N": 4 * 130, "m": 4, "k": 8, "n": 4, "dtype_in": "f32"},
    {"M": 9, "K": 20, "N": 8 * 64, "m": 3, "k": 4, "n": 8, "dtype_in": "i8"},
    {"M": 80, "K": 4, "N": 2**15, "m": 40, "k": 4, "n": 64, "dtype_in": "i8"},
    {"M": 64, "K": 4096, "N": 64, "k": 4, "dtype_in": "i8"},
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_breaks_no_rule_that_is_checked_before_the_tools(shape: dict[str, Any]) -> None:
    module = module_of("matmul", **shape)
    assert [*check_module(module, ["mm.o"]), *check_limits(module)] == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_descriptor_is_used_again_only_after_the_wait_that_frees_it(shape: dict[str, Any]) -> None:
    groups = list(groups_in_flight(module_of("matmul", **shape)))  # asserts it on the way
    assert {used.id for group, _ in groups for used in group} <= set(range(16))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_next_group_is_started_before_the_previous_one_is_awaited(shape: dict[str, Any]) -> None:
    *waits, last = [len(others) for _, others in groups_in_flight(module_of("matmul", **shape))]
    assert set(waits) <= {1}
    assert last == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_no_channel_has_more_transfers_than_its_queue_holds(shape: dict[str, Any]) -> None:
    for group, others in groups_in_flight(module_of("matmul", **shape)):
        fifos = [started.fifo for started in (*group, *(one for other in others for one in other))]
        assert max(fifos.count(name) for name in ("inA", "inB", "outC")) <= 4


@pytest.mark.parametrize("shape", SHAPES)
def test_every_transfer_is_within_the_limits_of_a_shim_tile(shape: dict[str, Any]) -> None:
    module = module_of("matmul", **shape)
    elements = dict(zip(("inA", "inB", "outC"), arguments_of(module), strict=True))
    for op in ops(module, "aiex.npu.dma_memcpy_nd"):
        found = transfer(op)
        dtype, count = elements[found.fifo]
        width = np.dtype(dtype).itemsize
        repeat, _, rows, row = found.sizes
        assert 1 <= repeat <= 64
        assert rows < 1024
        assert row * width % 4 == 0
        assert row * width // 4 < 1024
        assert found.strides[3] == 1
        assert found.offset * width % 4 == 0
        for size, stride in zip(found.sizes[:3], found.strides[:3], strict=True):
            assert stride * width % 4 == 0
            assert stride * width // 4 <= 2**20 or size == 1
        assert 0 <= found.indices.min() <= found.indices.max() < count


@pytest.mark.parametrize("shape", SHAPES)
def test_the_sequence_sends_the_blocks_that_make_c(shape: dict[str, Any]) -> None:
    p = SimpleNamespace(**settled("matmul", **shape)["parameters"])
    streams: dict[str, list[Array]] = {"inA": [], "inB": [], "outC": []}
    for op in ops(module_of("matmul", **shape), "aiex.npu.dma_memcpy_nd"):
        streams[transfer(op).fifo].append(transfer(op).indices)
    a, b, c = (np.concatenate(streams[name]) for name in ("inA", "inB", "outC"))
    assert np.array_equal(np.sort(c), np.arange(p.M * p.N)), "each element of C is written once"

    rng = np.random.default_rng(5)
    left, right = (rng.integers(-9, 10, size).astype(np.float64) for size in (p.M * p.K, p.K * p.N))
    depth = p.K // p.k
    blocks = np.matmul(left[a].reshape(-1, p.m, p.k), right[b].reshape(-1, p.k, p.n))
    result = np.empty(p.M * p.N)
    result[c] = blocks.reshape(-1, depth, p.m * p.n).sum(axis=1).ravel()
    assert np.array_equal(result.reshape(p.M, p.N), left.reshape(p.M, p.K) @ right.reshape(p.K, p.N))
