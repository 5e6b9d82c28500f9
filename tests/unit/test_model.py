"""The words of a recipe as values: what is equal, what is shared, what is refused."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiebuild
import pytest
from aiebuild.errors import Location, RecipeError
from aiebuild.keywords import make
from aiebuild.model import Compilation, CoreArchive, CoreObject, Design
from hypothesis import given
from hypothesis import strategies as st

HERE = Location("designs/x/SConscript", 5)
BASE = Compilation("host", "host", "release", "kernels/a.cc")

CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "toolchain": st.sampled_from(["host", "peano"]),
        "arch": st.sampled_from(["host", "aie2", "aie2p"]),
        "mode": st.sampled_from(["release", "debug"]),
        "source": st.sampled_from(["kernels/a.cc", "kernels/b.cc"]),
        "is_text": st.booleans(),
        "flags": st.lists(st.sampled_from(["-O3", "-g", "-DA"]), max_size=3).map(tuple),
        "defines": st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from([None, "", "1"])), max_size=2).map(tuple),
        "include_dirs": st.lists(st.sampled_from(["inc", "src"]), max_size=2).map(tuple),
        "renames": st.lists(st.tuples(st.just("f"), st.sampled_from(["a_f", "b_f"])), max_size=1).map(tuple),
    },
)


@given(CHANGES, CHANGES)
def test_keys_are_equal_exactly_where_recipes_are(one: dict[str, Any], other: dict[str, Any]) -> None:
    first = dataclasses.replace(BASE, **one)
    second = dataclasses.replace(BASE, **other)
    assert (first.key == second.key) == (first == second)


def test_a_key_does_not_depend_on_the_process() -> None:
    program = f"from aiebuild.model import *; print({BASE!r}.key)"
    for seed in ("1", "2"):
        environment = {"PYTHONPATH": str(Path(aiebuild.__file__).parents[1]), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == BASE.key
    assert BASE.object_name == "a-" + BASE.key + ".o"


def test_lists_and_mappings_of_a_recipe_become_frozen_in_their_order() -> None:
    made = make(CoreObject, {"name": "a", "source": "a.cc", "defines": {"B": 1, "A": None, "C": True}}, HERE)
    assert made.defines == (("B", "1"), ("A", None), ("C", "1"))
    assert hash(made) == hash(dataclasses.replace(made, where=None))


def test_the_line_of_a_recipe_makes_no_difference_to_what_is_equal() -> None:
    one = make(CoreObject, {"name": "a", "source": "a.cc"}, HERE)
    other = make(CoreObject, {"name": "a", "source": "a.cc"}, Location("elsewhere", 1))
    assert one == other
    Design(mlir="x.mlir", link_with=(one, other))


def test_a_prefix_renames_each_function() -> None:
    made = make(CoreObject, {"name": "a", "source": "a.cc", "functions": ["f", "g"], "symbol_prefix": "p"}, HERE)
    assert made.renames == (("f", "p_f"), ("g", "p_g"))


@pytest.mark.parametrize(
    ("word", "values", "message"),
    [
        (CoreObject, {"name": "a/b", "source": "x.cc"}, "is not a name for a file"),
        (CoreObject, {"name": "a", "source": "x.cc", "defines": ["A"]}, "defines is a mapping"),
        (CoreObject, {"name": "a", "source": "x.cc", "defines": {"A B": 1}}, "not a name that the preprocessor"),
        (CoreObject, {"name": "a", "source": 3}, "source is a text, not 3"),
        (CoreArchive, {"name": "a", "sources": ["x.cc", "x.cc"]}, "names the source 'x.cc' twice"),
        (Design, {"link_with": []}, "Design needs 'mlir'"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(word: Any, values: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        make(word, values, HERE)
    assert message in str(caught.value)
    assert str(caught.value).startswith("designs/x/SConscript:5: error: ")
