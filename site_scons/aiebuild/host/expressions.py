"""The ops of `arith` and `math` as Python expressions.

Integers are Python ints in their signed reading (`i1`: 0 and 1); ops that read them as unsigned convert them. `f32`,
`f64`, `f16` and `bf16` are NumPy scalars of that type, so that each op rounds as the type does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiebuild.host import elements, ranges

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Operand:
    """A value in an expression: its text (an atom), its type, and the interval that it lies in."""

    text: str
    type: str
    range: ranges.Range = (0, 0)

    @property
    def bits(self) -> int:
        """The width of an integer."""
        return elements.width(self.type) or 0

    @property
    def constant(self) -> int | None:
        """The value, where it is known."""
        return self.range[0] if self.bits and self.range[0] == self.range[1] else None

    @property
    def signed(self) -> str:
        """The text of the signed reading: an `i1` that is set is -1."""
        return f"(-{self.text})" if self.bits == 1 else self.text

    @property
    def unsigned(self) -> str:
        """The text of the unsigned reading."""
        return self.text if self.range[0] >= 0 else f"({self.text} & {mask(self.bits)})"

    @property
    def unsigned_range(self) -> ranges.Range:
        """The interval of the unsigned reading."""
        return self.range if self.range[0] >= 0 else (0, mask(self.bits))


@dataclass(frozen=True)
class Result:
    """An expression and the interval of its values."""

    text: str
    range: ranges.Range = (0, 0)


class Unsupported(Exception):  # noqa: N818 - a signal inside the translator, never shown
    """There is no expression for an op."""


def mask(bits: int) -> int:
    """Return the number whose lowest `bits` bits are set."""
    return (1 << bits) - 1


def wrap(text: str, bits: int, interval: ranges.Range) -> Result:
    """Return an expression brought back into its type, where it can leave it."""
    inside = ranges.limits(bits)
    if ranges.within(interval, inside):
        return Result(text, interval)
    if bits == 1:
        return Result(f"({text}) & 1", inside)
    half = 1 << (bits - 1)
    return Result(f"(({text} + {half}) & {mask(bits)}) - {half}", inside)


def _plain(text: str, bits: int) -> Result:
    return Result(text, ranges.limits(bits))


def _ring(sign: str, interval: Callable[[ranges.Range, ranges.Range], ranges.Range]) -> Callable[..., Result]:
    def make(left: Operand, right: Operand) -> Result:
        return wrap(f"{left.text} {sign} {right.text}", left.bits, interval(left.range, right.range))

    return make


def _bitwise(sign: str) -> Callable[..., Result]:
    def make(left: Operand, right: Operand) -> Result:
        if sign == "&" and right.range[0] >= 0:
            return Result(f"{left.text} & {right.text}", (0, right.range[1]))
        return _plain(f"{left.text} {sign} {right.text}", left.bits)

    return make


def _signed_division(name: str) -> Callable[..., Result]:
    """All round towards zero or down, which `//` and `%` do where nothing is negative; `ceildivsi` rounds up."""

    def make(left: Operand, right: Operand) -> Result:
        divisor = right.constant
        if divisor is not None and divisor > 0 and left.bits > 1:
            if left.range[0] >= 0 and name != "ceildivsi":
                sign, interval = ("%", ranges.remainder) if name == "remsi" else ("//", ranges.divide)
                return Result(f"{left.text} {sign} {divisor}", interval(left.range, divisor))
            if name == "remsi":
                return Result(f"_remsi({left.text}, {divisor}, {left.bits})", ranges.remainder(left.range, divisor))
        return wrap_i1(f"_{name}({left.signed}, {right.signed}, {left.bits})", left.bits)

    return make


def wrap_i1(text: str, bits: int) -> Result:
    """Return a signed result as it is kept: a set `i1` is 1."""
    return Result(f"{text} & 1", (0, 1)) if bits == 1 else _plain(text, bits)


def _unsigned_division(name: str) -> Callable[..., Result]:
    signs = {"divui": ("//", ranges.divide), "remui": ("%", ranges.remainder)}

    def make(left: Operand, right: Operand) -> Result:
        divisor = right.constant
        if divisor is not None and divisor > 0 and name in signs:
            sign, interval = signs[name]
            return wrap(f"{left.unsigned} {sign} {divisor}", left.bits, interval(left.unsigned_range, divisor))
        return wrap(f"_{name}({left.unsigned}, {right.unsigned})", left.bits, (0, mask(left.bits)))

    return make


def _shift(name: str) -> Callable[..., Result]:
    def make(left: Operand, right: Operand) -> Result:
        bits, amount = left.bits, right.constant
        if amount is None or not 0 <= amount < bits:
            return _plain(f"_{name}({left.text}, {right.unsigned}, {bits})", bits)
        if name == "shli":
            factor = 1 << amount
            return wrap(f"({left.text} << {amount})", bits, ranges.multiply(left.range, (factor, factor)))
        if name == "shrsi":
            return Result(f"{left.text} >> {amount}", (left.range[0] >> amount, left.range[1] >> amount))
        low, high = left.unsigned_range
        return wrap(f"({left.unsigned} >> {amount})", bits, (low >> amount, high >> amount))

    return make


def _choose(sign: str, reading: str) -> Callable[..., Result]:
    def make(left: Operand, right: Operand) -> Result:
        one, other = getattr(left, reading), getattr(right, reading)
        test = f"{left.text} if {one} {sign} {other} else {right.text}"
        return Result(test, ranges.union(left.range, right.range))

    return make


def _float(sign: str) -> Callable[..., Result]:
    return lambda left, right: Result(f"{left.text} {sign} {right.text}")


def _float_call(name: str) -> Callable[..., Result]:
    """A NumPy function: it keeps the type of its arguments."""
    return lambda *values: Result(f"_np.{name}({', '.join(value.text for value in values)})")


def _rounded(text: str, type_name: str) -> Result:
    return Result(f"_{type_name}({text})")


BINARY: dict[str, Callable[..., Result]] = {
    "arith.addi": _ring("+", ranges.add),
    "arith.subi": _ring("-", ranges.subtract),
    "arith.muli": _ring("*", ranges.multiply),
    "arith.andi": _bitwise("&"),
    "arith.ori": _bitwise("|"),
    "arith.xori": _bitwise("^"),
    "arith.divsi": _signed_division("divsi"),
    "arith.remsi": _signed_division("remsi"),
    "arith.ceildivsi": _signed_division("ceildivsi"),
    "arith.floordivsi": _signed_division("floordivsi"),
    "arith.divui": _unsigned_division("divui"),
    "arith.remui": _unsigned_division("remui"),
    "arith.ceildivui": _unsigned_division("ceildivui"),
    "arith.shli": _shift("shli"),
    "arith.shrsi": _shift("shrsi"),
    "arith.shrui": _shift("shrui"),
    "arith.maxsi": _choose(">", "signed"),
    "arith.minsi": _choose("<", "signed"),
    "arith.maxui": _choose(">", "unsigned"),
    "arith.minui": _choose("<", "unsigned"),
    "arith.addf": _float("+"),
    "arith.subf": _float("-"),
    "arith.mulf": _float("*"),
    "arith.divf": _float("/"),
    "arith.remf": _float_call("fmod"),
    "arith.maximumf": _float_call("maximum"),
    "arith.minimumf": _float_call("minimum"),
    "arith.maxnumf": _float_call("fmax"),
    "arith.minnumf": _float_call("fmin"),
    "math.powf": _float_call("power"),
    "math.atan2": _float_call("arctan2"),
    "math.copysign": _float_call("copysign"),
}
_UNARY_MATH = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "tanh": "tanh", "sin": "sin", "cos": "cos", "tan": "tan", "atan": "arctan", "absf": "abs",
    "ceil": "ceil", "floor": "floor", "trunc": "trunc", "roundeven": "rint", "cbrt": "cbrt",
}  # fmt: skip
UNARY: dict[str, Callable[[Operand], Result]] = {
    "arith.negf": lambda value: Result(f"-{value.text}"),
    "math.absi": lambda value: wrap(f"abs({value.text})", value.bits, (0, 1 << (value.bits - 1))),
    "math.rsqrt": lambda value: Result(f"_{value.type}(1.0) / _np.sqrt({value.text})"),
    "math.erf": lambda value: _rounded(f"_math.erf({value.text})", value.type),
    "math.round": lambda value: _rounded(f"_round_half_away({value.text})", value.type),
    **{f"math.{name}": _float_call(numpy) for name, numpy in _UNARY_MATH.items()},
}
_ORDER = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
# In the order of MLIR's numbers; `u` forms hold too where a value is not a number, so they negate the opposite test.
_FLOAT_ORDER = (
    "False", "{a} == {b}", "{a} > {b}", "{a} >= {b}", "{a} < {b}", "{a} <= {b}", "{a} < {b} or {a} > {b}",
    "{a} == {a} and {b} == {b}", "not ({a} < {b} or {a} > {b})", "not {a} <= {b}", "not {a} < {b}", "not {a} >= {b}",
    "not {a} > {b}", "{a} != {b}", "{a} != {a} or {b} != {b}", "True",
)  # fmt: skip
_EQUALITY, _UNSIGNED = 2, 6


def compare(predicate: int, left: Operand, right: Operand) -> Result:
    """Return the test of `arith.cmpi`; predicates are MLIR's numbers (eq, ne, slt, sle, sgt, sge, ult, ...)."""
    reading = "text" if predicate < _EQUALITY else "signed" if predicate < _UNSIGNED else "unsigned"
    return Result(f"{getattr(left, reading)} {_ORDER[predicate]} {getattr(right, reading)}", (0, 1))


def compare_floats(predicate: int, left: Operand, right: Operand) -> Result:
    """Return the test of `arith.cmpf`; predicates are MLIR's numbers (false, oeq, ogt, ...)."""
    return Result(f"bool({_FLOAT_ORDER[predicate].format(a=left.text, b=right.text)})", (0, 1))


def convert(name: str, value: Operand, target: str) -> Result:
    """Return the conversion `name` (without its dialect) of a value to the type `target`.

    Raises:
        Unsupported: there is no such conversion here.
    """
    bits = elements.width(target)
    if name in {"extf", "truncf"}:
        return _rounded(value.text, target)
    if name in {"sitofp", "uitofp"}:
        text = value.signed if name == "sitofp" else value.unsigned
        return _rounded(text if value.bits <= 32 else f"_wide({text})", target)
    if name == "bitcast":
        return _bitcast(value, target)
    if bits is None:
        raise Unsupported
    if name in {"fptosi", "fptoui"}:
        return wrap(
            f"_{name}({value.text}, {bits})", bits, (0, mask(bits)) if name == "fptoui" else ranges.limits(bits)
        )
    return _resize(name, value, bits)


def _resize(name: str, value: Operand, bits: int) -> Result:
    """Extend or truncate an integer; `index_cast` does either."""
    unsigned = name in {"extui", "index_castui"}
    if name not in {"extsi", "extui", "trunci", "index_cast", "index_castui"}:
        raise Unsupported
    if unsigned or value.bits == 1:
        interval = value.unsigned_range
        text = f"+{value.unsigned}" if value.bits == 1 else value.unsigned
        if value.bits == 1 and not unsigned:
            text, interval = value.signed, (-1, 0)
        return wrap(text, bits, interval)
    return wrap(value.text, bits, value.range)


def _bitcast(value: Operand, target: str) -> Result:
    bits = elements.width(target)
    text = f"_bitcast({value.text}, {value.type!r}, {target!r})"
    return _plain(text, bits) if bits is not None else Result(text)
