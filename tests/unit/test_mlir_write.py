"""Properties of writing and reading, on modules that are made up."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

from aiebuild.errors import MlirError
from aiebuild.mlir.ir import Block, Module, Op, Region, Successor, Value
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T")
TYPES = (
    "i32",
    "memref<4x?xi16, strided<[64, 1], offset: 5>, 1>",
    "!aie.objectfifo<memref<4xi32>>",
    "(i32, f32) -> (i8, i8)",
    "(i32) -> i8",
    "tensor<2xf32, #x.y<{a = [1, 2]}>>",
    "memref<4xi32, affine_map<(d0) -> (d0 mod 2)>>",
    'tuple<i32, !s<"a>, (b">>',
)
TEXTS = (
    *TYPES,
    "unit",
    "-1 : i64",
    "@a::@b",
    "[1, [@x, {a, b = 2}]]",
    "affine_set<(d0) : (d0 >= 0, d0 == 1)>",
    '"a // b"',
    '"\\22}"',
    "dense<[1, -2]> : tensor<2xi32>",
    "array<i64>",
)
NAMES = ("a", "sym_name", "a.b$c", "a b", "1x", "=", "-", "x-y", "ä")
OP_NAMES = ("a.b", "func.func", "x", "aie.objectfifo.subview.access")


class Maker:
    """Makes modules up: each op uses values that are defined before it, and may branch to any block of its region."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def module(self) -> Module:
        op = Op("builtin.module")
        block = Block()
        op.regions = [Region([block], op)]
        block.parent = op.regions[0]
        self.fill(block, [], 3)
        return Module(op)

    def region(self, op: Op, visible: list[Value], depth: int) -> Region:
        region = Region(parent=op)
        region.blocks = [Block(self.values(2), parent=region) for _ in range(self.random.randrange(4))]
        for block in region.blocks:
            for index, value in enumerate(block.arguments):
                value.owner, value.index = block, index
            self.fill(block, [*visible, *block.arguments], depth)
            for last in block.ops[-1:]:
                last.successors = [Successor(target, self.some(visible)) for target in self.some(region.blocks)]
        return region

    def fill(self, block: Block, visible: list[Value], depth: int) -> None:
        for _ in range(self.random.randrange(5)):
            op = Op(self.random.choice(OP_NAMES), parent=block)
            op.operands = self.some(visible)
            op.properties, op.attributes = self.entries(), self.entries()
            op.results = self.values(3)
            for index, value in enumerate(op.results):
                value.owner, value.index = op, index
            if depth:
                op.regions = [self.region(op, visible, depth - 1) for _ in range(self.random.randrange(3))]
            visible += op.results
            block.ops.append(op)

    def values(self, limit: int) -> list[Value]:
        return [Value(self.random.choice(TYPES)) for _ in range(self.random.randrange(limit + 1))]

    def entries(self) -> dict[str, str]:
        return {name: self.random.choice(TEXTS) for name in self.some(NAMES)}

    def some(self, things: Sequence[_T]) -> list[_T]:
        return self.random.choices(things, k=self.random.randrange(4)) if things else []


def outline(op: Op) -> object:
    """What an op says, with numbers for the names of values and blocks."""
    numbers: dict[object, int] = {}

    def number(thing: object) -> int:
        return numbers.setdefault(thing, len(numbers))

    def values(found: list[Value]) -> list[tuple[int, str, int]]:
        return [(number(value), value.type, value.index) for value in found]

    def block_outline(block: Block) -> object:
        return number(block), values(block.arguments), [op_outline(op) for op in block.ops]

    def op_outline(op: Op) -> object:
        successors = [(number(each.block), values(each.operands)) for each in op.successors]
        regions = [[block_outline(block) for block in region.blocks] for region in op.regions]
        return op.name, op.properties, op.attributes, values(op.operands), values(op.results), successors, regions

    return op_outline(op)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_reading_what_was_written_gives_the_same_module(seed: int) -> None:
    module = Maker(seed).module()
    text = write(module)
    again = parse(text)
    assert outline(again.op) == outline(module.op)
    assert write(again) == text


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_locations_survive_writing_and_reading(seed: int) -> None:
    module = Maker(seed).module()
    for line, op in enumerate(module.walk(), 7):
        op.line, op.column, op.location = line, 1 + line % 5, f'"d.mlir":{line}:{1 + line % 5}'
    again = parse(write(module, locations=True), "other.mlir")
    assert [str(again.where(op)) for op in again.walk()] == [str(module.where(op)) for op in module.walk()]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_a_text_that_was_cut_fails_with_a_line_if_it_fails(seed: int) -> None:
    text = write(Maker(seed).module())
    assert line_of_error(text[: Random(seed).randrange(len(text))]) is not None


def line_of_error(text: str) -> int | None:
    """The line that is named by the error of reading a text; 0 where there is no error."""
    try:
        parse(text)
    except MlirError as error:
        return error.where.line if error.where else None
    return 0
