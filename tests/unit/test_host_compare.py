"""Comparing results: exact for integers, within the tolerance for floats, and what is said of a difference."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from aiebuild.host.compare import Tolerance, compare, failure

NONE = Tolerance()


def array(*values: float, dtype: Any = np.float32) -> np.ndarray:
    return np.array(values, dtype)


def test_equal_arrays_agree_and_say_shape_and_type() -> None:
    found = compare("C", np.zeros(6, np.int32), np.zeros((2, 3), np.int32), NONE)
    assert found.ok
    assert str(found) == "C agrees with the reference, largest error 0 (2x3 i32)"


def test_integers_ignore_the_tolerance() -> None:
    found = compare("C", array(1, 2, dtype=np.int8), array(1, 3, dtype=np.int8), Tolerance(atol=10))
    assert (found.wrong, found.max_error) == (1, 1)


def test_the_largest_integer_error_does_not_wrap() -> None:
    limits = np.iinfo(np.int64)
    found = compare("C", array(limits.min, dtype=np.int64), array(limits.max, dtype=np.int64), NONE)
    assert found.max_error == 2**64 - 1


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "ok"),
    [
        (1.0, 1.001, NONE, False),
        (1.0, 1.001, Tolerance(atol=0.01), True),
        (1000.0, 1001.0, Tolerance(rtol=0.01), True),
        (1000.0, 1020.0, Tolerance(rtol=0.01), False),
        (np.nan, np.nan, NONE, True),
        (np.inf, np.inf, NONE, True),
        (np.inf, -np.inf, Tolerance(rtol=1, atol=1), False),
        (1.0, np.inf, Tolerance(rtol=1, atol=1), False),
        (1.0, np.nan, Tolerance(rtol=1, atol=1), False),
        (np.nan, 1.0, Tolerance(rtol=1, atol=1), False),
    ],
)
def test_floats_agree_within_the_tolerance(got: float, expected: float, tolerance: Tolerance, ok: bool) -> None:
    assert compare("C", array(got), array(expected), tolerance).ok is ok


def test_bf16_is_compared_and_named() -> None:
    found = compare("S", array(1, 2, dtype=ml_dtypes.bfloat16), array(1, 2.5, dtype=ml_dtypes.bfloat16), NONE)
    assert (found.element, found.wrong, found.max_error) == ("bf16", 1, 0.5)


def test_a_failure_names_argument_count_and_first_difference() -> None:
    got = np.array([[1, 2, 3], [4, 50, 60]], np.int16)
    found = compare("C", got.ravel(), np.array([[1, 2, 3], [4, 5, 6]], np.int16), NONE)
    text = failure("matmul", "", found).message
    assert text == (
        "matmul: C differs from the reference in 2 of 6 elements, first at [1, 1]: got 50, expected 5; "
        "the largest error is 54 (i16)"
    )


def test_what_is_not_finite_can_be_written_as_json() -> None:
    found = compare("C", array(np.inf), array(1.0), NONE)
    assert found.to_json()["max_error"] == "inf"
