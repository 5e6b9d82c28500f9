"""Made-up functions are outlined, linked, compiled by MLIR's own tools and run: the numbers must not change."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import mlir_tools
import pytest
from aiebuild.mlir.attributes import symbol
from aiebuild.mlir.link import link
from aiebuild.mlir.outline import outline
from aiebuild.mlir.outline_cut import Cut
from aiebuild.mlir.parse import parse
from aiebuild.mlir.problems import ProblemsError
from aiebuild.mlir.signatures import signature
from aiebuild.mlir.symbols import is_declaration, reference_text, symbols
from aiebuild.mlir.write import write
from mlir_modules import Maker, program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiebuild.mlir.ir import Module, Op

COUNT = 240
PER_PROCESS = 60
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"intermediates": "local"}, {"dedupe": False}, {})


def made(seed: int) -> tuple[str, Module, Maker]:
    maker = Maker(seed, f"top_{seed}")
    return maker.name, parse(maker.text(), f"{seed}.mlir"), maker


def outlined(seed: int) -> Module:
    """Outline what a seed asks for; requests that overlap are replaced by the next ones of the same seed."""
    name, module, maker = made(seed)
    for _ in range(50):
        try:
            result = outline(module, name, maker.requests(), **OPTIONS[seed % 4])
        except ProblemsError as error:
            if set(error.codes) != {"E-OUTLINE-OVERLAP"}:
                raise
            continue
        assert any(part.is_new for part in result.parts)
        return result.module
    raise AssertionError("no requests without overlap")


@cache
def main_program(seeds: Sequence[int]) -> Module:
    return parse(mlir_tools.generic(program([f"top_{seed}" for seed in seeds])))


def numbers(seeds: Sequence[int], module_of: Callable[[int], Module]) -> list[str]:
    """Return what each function leaves behind, run in one program."""
    text = write(link(main_program(seeds), [module_of(seed) for seed in seeds], None).module)
    blocks = mlir_tools.run(text).split("rank = 2")[1:]
    assert len(blocks) == len(seeds)
    return blocks


@cache
def original_numbers(seeds: Sequence[int]) -> list[str]:
    return numbers(seeds, lambda seed: made(seed)[1])


@pytest.mark.parametrize("start", range(0, COUNT, PER_PROCESS))
def test_outlined_functions_compute_what_they_did_before(start: int) -> None:
    mlir_tools.require("mlir-opt", "mlir-runner")
    seeds = range(start, start + PER_PROCESS)
    before = original_numbers(seeds)
    assert len(set(before)) > PER_PROCESS // 2, "functions that all do the same prove nothing"
    after = numbers(seeds, outlined)
    wrong = [seed for seed, old, new in zip(seeds, before, after, strict=True) if old != new]
    assert not wrong


# Mutants: each breaks the outliner in one way, and the same comparison must notice


def drop_hoists(patch: pytest.MonkeyPatch) -> None:
    """A buffer that is used after the part is allocated a second time, inside."""
    function = Cut.function

    def mutated(self: Cut, name: str) -> Op:
        kept = [op for op in self.hoisted if op.name == "memref.alloc" and not op.operands]
        self._remade.update(dict.fromkeys(kept))
        gone = {op.results[0] for op in kept}
        self.arguments = [value for value in self.arguments if value not in gone]
        return function(self, name)

    patch.setattr(Cut, "function", mutated)


def drop_constants(patch: pytest.MonkeyPatch) -> None:
    """Constants that are made again all become one."""
    function = Cut.function

    def mutated(self: Cut, name: str) -> Op:
        made_ = function(self, name)
        for op in made_.regions[0].blocks[0].ops:
            if op.name == "arith.constant" and op.properties["value"].endswith(": i32"):
                op.properties["value"] = "1 : i32"
        return made_

    patch.setattr(Cut, "function", mutated)


def swap_arguments(patch: pytest.MonkeyPatch) -> None:
    """Two arguments of one type change places in the call."""
    replace = Cut.replace

    def mutated(self: Cut, callee: str, stage: str) -> Op:
        call = replace(self, callee, stage)
        for number in range(len(call.operands) - 1):
            one, other = call.operands[number : number + 2]
            if one.type == other.type:
                call.operands[number : number + 2] = [other, one]
                break
        return call

    patch.setattr(Cut, "replace", mutated)


MUTANTS = (drop_hoists, drop_constants, swap_arguments)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_notices_a_broken_outliner(mutant: Callable[[pytest.MonkeyPatch], None]) -> None:
    mlir_tools.require("mlir-opt", "mlir-runner")
    seeds = range(PER_PROCESS)
    with pytest.MonkeyPatch.context() as patch:
        mutant(patch)
        after = numbers(seeds, outlined)
    wrong = sum(1 for old, new in zip(original_numbers(seeds), after, strict=True) if old != new)
    assert wrong >= 3, f"{mutant.__name__} changed the numbers of {wrong} functions"


def test_the_comparison_notices_calls_of_another_function() -> None:
    mlir_tools.require("mlir-opt", "mlir-runner")
    mutants = {seed: mutant for seed in range(COUNT) if (mutant := wrong_callee(outlined(seed))) is not None}
    assert len(mutants) >= 3
    seeds = tuple(mutants)
    after = numbers(seeds, mutants.__getitem__)
    assert sum(1 for old, new in zip(original_numbers(seeds), after, strict=True) if old != new) >= len(seeds) // 2


def wrong_callee(module: Module) -> Module | None:
    """Let the first call of a new function call another one of the same type; None, if there is none.

    Calls inside of new functions stay, since two of those could then call each other without end.
    """
    functions = {name: op for name, op in symbols(module.op).items() if not is_declaration(op)}
    top = next(op for name, op in functions.items() if name.startswith("top"))
    for call in (op for op in top.walk() if op.name == "func.call"):
        wanted = functions[symbol(call.properties["callee"])]
        for name, op in functions.items():
            same = str(signature(op)) == str(signature(wanted))
            if op is not wanted and same and name.startswith("Stage"):
                call.properties["callee"] = reference_text(name)
                return module
    return None


@pytest.mark.parametrize("what", ["hoists", "constants"])
def test_a_value_that_was_forgotten_altogether_cannot_even_be_written(what: str) -> None:
    """The cruder mutants: what should be kept, or made again, is left out."""
    caught = 0
    for seed in range(40):
        with pytest.MonkeyPatch.context() as patch:
            replace, function = Cut.replace, Cut.function

            def without_hoists(self: Cut, callee: str, stage: str) -> Op:
                self.hoisted.clear()
                return replace(self, callee, stage)  # noqa: B023 - it is called in this round

            def without_constants(self: Cut, name: str) -> Op:
                self._remade.clear()
                return function(self, name)  # noqa: B023 - it is called in this round

            if what == "hoists":
                patch.setattr(Cut, "replace", without_hoists)
            else:
                patch.setattr(Cut, "function", without_constants)
            try:
                text = write(outlined(seed))
            except KeyError:
                caught += 1
                continue
            if mlir_tools.find("mlir-opt") and mlir_tools.verified(text):
                caught += 1
    assert caught >= 3
