from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from aiebuild import expression
from aiebuild.errors import ContractError
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from aiebuild.expression_tree import Scalar

VALUES: dict[str, Scalar] = {"M": 100, "m": 32, "n": 0, "x": 0.5, "dtype": "i16", "flag": True}


def evaluate(text: str) -> object:
    return expression.parse(text).evaluate(VALUES)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("6 / 3", 2.0),
        ("2 ** 3 ** 2", 512),
        ("-2 ** 2", -4),
        ("0x10 + .5 + 1. + 1e2", 117.5),
        ("M % m == 0", False),
        ("1 < 2 < 3", True),
        ("3 > 2 > 2", False),
        ("not M == 1 and flag", True),
        ("dtype in ['i8', \"i16\"]", True),
        ("dtype not in ['i8', 'f32']", True),
        ("M in []", False),
        ("dtype == 'i16' or 1 // n == 0", True),
        ("dtype != 'i16' and 1 // n == 0", False),
        ("min(M, m, 7) + max(1, 2) + abs(-3)", 12),
        ("true", True),
        ("flag == false", False),
        ("  M  ", 100),
    ],
)
def test_an_expression_means_what_it_means_in_python(text: str, value: object) -> None:
    found = evaluate(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "in '', column 1: expected a value, not the end"),
        ("M %", "in 'M %', column 4: expected a value, not the end"),
        ("M % % m", "in 'M % % m', column 5: expected a value, not '%'"),
        ("M m", "in 'M m', column 3: expected an operator or the end, not 'm'"),
        ("(M", "in '(M', column 3: expected ')', not the end"),
        ("3m", "in '3m', column 1: '3m' is not a number"),
        ("1.2.3", "in '1.2.3', column 1: '1.2.' is not a number"),
        ("1_000", "in '1_000', column 1: '1_' is not a number"),
        ("010", "in '010', column 1: '010' has leading zeros"),
        ("1e999", "in '1e999', column 1: '1e999' is too large for a float"),
        ("M = 1", "in 'M = 1', column 3: unexpected '='"),
        ("M == 1 && m == 2", "in 'M == 1 && m == 2', column 8: unexpected '&'"),
        ("__import__('os')", "in \"__import__('os')\", column 1: '__import__' is not a function"),
        ("M.real", "in 'M.real', column 2: unexpected '.'"),
        ("'abc", 'in "\'abc", column 1: a string is not closed on its line, or has a backslash in it'),
        ("dtype in 'i16'", "in \"dtype in 'i16'\", column 10: 'in' needs a list such as [a, b], not \"'i16'\""),
        ("[1, 2]", "in '[1, 2]', column 1: expected a value, not '['"),
        ("M in [1] == true", "in 'M in [1] == true', column 10: '==' cannot follow a list"),
        ("M not 1", "in 'M not 1', column 7: expected 'in', not '1'"),
        ("1 + not true", "in '1 + not true', column 5: expected a value, not 'not'"),
        ("min", "in 'min', column 4: expected '(' after 'min', not the end"),
        ("min()", "in 'min()', column 1: 'min' takes one number or more, not 0"),
        ("abs(1, 2)", "in 'abs(1, 2)', column 1: 'abs' takes one number, not 2"),
        ("min(1,)", "in 'min(1,)', column 7: expected a value, not ')'"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_column(text: str, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        expression.parse(text)
    assert (caught.value.message, caught.value.where) == (message, None)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("dtpe == 'i8'", "in \"dtpe == 'i8'\": unknown name 'dtpe'", "did you mean 'dtype'?"),
        ("dtype + 1", "in 'dtype + 1': '+' takes numbers, not 'i16'", ""),
        ("flag * 2", "in 'flag * 2': '*' takes numbers, not true", ""),
        ("-dtype", "in '-dtype': '-' takes numbers, not 'i16'", ""),
        ("M and flag", "in 'M and flag': 'and' takes true or false, not 100", ""),
        ("flag and M", "in 'flag and M': 'and' takes true or false, not 100", ""),
        ("not M", "in 'not M': 'not' takes true or false, not 100", ""),
        ("M == dtype", "in 'M == dtype': '==' cannot compare 100 with 'i16'", ""),
        ("flag == 1", "in 'flag == 1': '==' cannot compare true with 1", ""),
        ("dtype < 'j'", "in \"dtype < 'j'\": '<' takes numbers, not 'i16'", ""),
        ("M in ['a']", "in \"M in ['a']\": 'in' cannot compare 100 with 'a'", ""),
        ("min(1, dtype)", "in 'min(1, dtype)': 'min' takes numbers, not 'i16'", ""),
        ("M // n", "in 'M // n': 100 // 0 divides by zero", ""),
        ("M % n", "in 'M % n': 100 % 0 divides by zero", ""),
        ("x / n", "in 'x / n': 0.5 / 0 divides by zero", ""),
        ("2 ** -1", "in '2 ** -1': the exponent of '**' must be a whole number from 0, not -1", ""),
        ("2 ** x", "in '2 ** x': the exponent of '**' must be a whole number from 0, not 0.5", ""),
        ("2 ** 9999", "in '2 ** 9999': the number is too large (more than 1024 bits)", ""),
        ("1.5 ** 99999", "in '1.5 ** 99999': the number is too large (more than 1024 bits)", ""),
        ("1e308 * 10", "in '1e308 * 10': the number is too large (more than 1024 bits)", ""),
        ("2 ** 1000 * 2 ** 1000", "in '2 ** 1000 * 2 ** 1000': the number is too large (more than 1024 bits)", ""),
    ],
)
def test_what_cannot_be_computed_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(ContractError) as caught:
        evaluate(text)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_names_are_in_the_order_of_the_text_each_once() -> None:
    parsed = expression.parse("b + a * b == c or min(d, a) in [e, 1] and not -f < 2 ** g")
    assert parsed.names == ("b", "a", "c", "d", "e", "f", "g")


@pytest.mark.parametrize("text", ["(" * 90 + "1" + ")" * 90, "-" * 90 + "1", "2" + "**1" * 90, "1" + "+1" * 90])
def test_deep_expressions_are_read(text: str) -> None:
    assert isinstance(evaluate(text), int)


@pytest.mark.parametrize("text", ["(" * 300 + "1", "-" * 300 + "1", "not " * 200 + "true", "1" + "+1" * 300])
def test_absurd_expressions_are_refused_without_harm(text: str) -> None:
    with pytest.raises(ContractError, match="more than 100 operands"):
        expression.parse(text)


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ContractError, match="an expression has at most 1000 characters, this one has 1001"):
        expression.parse("1" * 1001)


def expressions() -> st.SearchStrategy[str]:
    """Texts of conditions; brackets are put at random, so that precedence decides what the others mean."""
    whole = st.integers(0, 20).map(str)
    simple = st.one_of(whole, st.sampled_from(["M", "m", "n", "x", "0x1f", "2.5", "1e1"]))
    numbers = st.recursive(simple, _larger_numbers, max_leaves=8)
    word = st.sampled_from(["'i8'", "dtype", '"i16"'])
    compared = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    chains = st.lists(st.tuples(compared, numbers), min_size=1, max_size=3)
    plain = st.one_of(
        st.sampled_from(["true", "false", "flag"]),
        st.builds(lambda first, rest: first + "".join(f" {sign} {text}" for sign, text in rest), numbers, chains),
        st.builds(lambda left, sign, right: f"{left} {sign} {right}", word, st.sampled_from(["==", "!="]), word),
        st.builds(_membership, numbers, st.sampled_from(["in", "not in"]), st.lists(numbers, max_size=3)),
    )
    return st.recursive(plain, _larger_conditions, max_leaves=6)


def _membership(value: str, sign: str, among: list[str]) -> str:
    return f"{value} {sign} [{', '.join(among)}]"


def _larger_numbers(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    sign = st.sampled_from(["+", "-", "*", "/", "//", "%"])
    return st.one_of(
        st.builds(lambda left, sign, right: f"{left} {sign} {right}", smaller, sign, smaller),
        smaller.map(lambda text: f"({text})"),
        smaller.map(lambda text: f"-{text}"),
        st.builds(lambda base, exponent: f"{base} ** {exponent}", smaller, st.integers(0, 3)),
        st.builds(lambda name, some: f"{name}({', '.join(some)})", st.sampled_from(["min", "max"]), _two(smaller)),
        smaller.map(lambda text: f"abs({text})"),
    )


def _two(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(smaller, min_size=2, max_size=3)


def _larger_conditions(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda left, sign, right: f"{left} {sign} {right}", smaller, st.sampled_from(["and", "or"]), smaller),
        smaller.map(lambda text: f"not {text}"),
        smaller.map(lambda text: f"({text})"),
        st.builds(lambda left, right: f"({left}) == ({right})", smaller, smaller),
    )


def as_python(text: str) -> object:
    text = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))
    return eval(text, {"__builtins__": {}, "min": min, "max": max, "abs": abs}, VALUES)  # the text is our own


def outcome(text: str) -> object:
    """Return the value with its type, or the message of what went wrong."""
    try:
        found = expression.parse(text).evaluate(VALUES)
    except ContractError as error:
        return error.message
    return type(found), found


@given(expressions())
def test_an_expression_agrees_with_python(text: str) -> None:
    found = outcome(text)
    try:
        expected = as_python(text)
    except (ZeroDivisionError, OverflowError):
        assert "divides by zero" in str(found) or "too large" in str(found)
        return
    assert found == (type(expected), expected) or "too large" in str(found)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_its_column(text: str) -> None:
    message = ""
    try:
        expression.parse(text)
    except ContractError as error:
        message = error.message
    assert not message or message.startswith(f"in {text!r}, column ")
