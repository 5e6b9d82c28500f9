from __future__ import annotations

import dataclasses

import pytest
from aiebuild.errors import AieBuildError, Location, did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "choices", "expected"),
    [
        ("desing", ["design", "device"], "design"),
        ("integer", ["int", "float"], "int"),
        ("AIE2", ["aie2", "aie2p", "host"], "aie2"),
        ("m", ["M", "N"], "M"),
        ("dim_m", ["dim_M", "dim_n"], "dim_M"),
        ("kk", ["K", "k"], "k"),
        ("KK", ["K", "k"], "K"),
        ("autor", ["description", "generator", "variants"], None),
        ("x", [], None),
    ],
)
def test_the_nearest_choice_is_found_whatever_its_case(word: str, choices: list[str], expected: str | None) -> None:
    assert nearest(word, choices) == expected
    assert nearest(word, reversed(choices)) == expected


def test_a_hint_names_the_nearest_choice_or_all_of_them() -> None:
    assert did_you_mean("AIE2", ("host", "aie2")) == "did you mean 'aie2'?"
    assert did_you_mean("zzz", ("host", "aie2")) == "one of: aie2, host"
    assert did_you_mean("zzz", ()) == ""


def test_an_error_says_where_what_and_what_instead() -> None:
    assert str(AieBuildError("no")) == "error: no"
    assert str(AieBuildError("no", Location("f", 2, 3), "yes")) == "f:2:3: error: no\n  yes"


def test_an_error_in_the_text_of_a_macro_names_the_macro_below_the_designs_line() -> None:
    place = Location("d.mlir.j2", 7).through(Location("aie.mlir.j2", 23))
    assert str(AieBuildError("no", place, "yes")) == "d.mlir.j2:7: error: no\n  in aie.mlir.j2:23\n  yes"
    assert str(AieBuildError("no", place)) == "d.mlir.j2:7: error: no\n  in aie.mlir.j2:23"


def test_the_macros_line_makes_no_difference_between_places() -> None:
    place = Location("d", 7)
    through = place.through(Location("m", 1))
    assert (through, hash(through), str(through)) == (place, hash(place), "d:7")
    assert dataclasses.asdict(through) == {"file": "d", "line": 7, "column": None}
    assert (place.inner, through.inner) == (None, Location("m", 1))
