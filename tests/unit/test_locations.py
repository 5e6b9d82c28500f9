from __future__ import annotations

import pytest
from aiebuild.errors import Location
from aiebuild.mlir.lines import Line
from aiebuild.mlir.locations import file_line_column, location_text
from aiebuild.mlir.normalise import normalise
from aiebuild.mlir.parse import parse
from aiebuild.mlir.write import write

PLACES = (
    Location("d.mlir.j2", 7, 3),
    Location("d.mlir.j2", 7),
    Location('a "b".mlir', 1).through(Location("t/aie.mlir.j2", 23)),
)


@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_the_same_after_it_was_written(place: Location) -> None:
    found = file_line_column(location_text(place))
    assert found is not None
    assert (found, found.inner) == (place, place.inner)


def test_a_column_that_is_not_known_is_0_as_mlir_has_it() -> None:
    assert location_text(Location("f", 7)) == '"f":7:0'


@pytest.mark.parametrize(
    "text",
    ['fused["a":1:2, "b":3:4]', 'callsite("a":1:2 at "b":3:4)', '"name"("a":1:2)', 'fused<"cse">["a":1:2, "b":3:4]'],
)
def test_other_locations_of_several_places_stand_for_their_first(text: str) -> None:
    found = file_line_column(text)
    assert (found, found and found.inner) == (Location("a", 1, 2), None)


def test_the_macros_line_is_kept_from_the_lines_to_the_generic_text_and_back() -> None:
    text = '"builtin.module"() ({\n  "x.y"() : () -> ()\n}) : () -> ()\n'
    lines = [Line("d.mlir.j2", 1), Line("d.mlir.j2", 2, ("aie.mlir.j2", 5)), Line("d.mlir.j2", 3)]
    module = parse(write(normalise(text, "build/d.mlir", lines=lines), locations=True), "x")
    op = next(iter(module.walk()))
    assert (module.where(op), module.where(op).inner) == (Location("d.mlir.j2", 2), Location("aie.mlir.j2", 5))
    assert (op.line, op.column) == (2, None)
