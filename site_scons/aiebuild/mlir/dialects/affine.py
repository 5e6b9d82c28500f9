"""The text of affine maps and sets as MLIR prints it: with as few brackets as can be (xDSL brackets all)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineSymExpr,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineConstraintExpr, AffineExpr, AffineMap, AffineSet

_SIGNS = {
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "mod",
    AffineBinaryOpKind.FloorDiv: "floordiv",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
}


def map_text(affine: AffineMap) -> str:
    """Return `affine_map<(d0)[s0] -> (d0 + s0)>`."""
    dimensions = ", ".join(f"d{n}" for n in range(affine.num_dims))
    symbols = ", ".join(f"s{n}" for n in range(affine.num_symbols))
    results = ", ".join(_text(result) for result in affine.results)
    return f"affine_map<({dimensions}){f'[{symbols}]' if symbols else ''} -> ({results})>"


def set_text(affine: AffineSet) -> str:
    """Return `affine_set<(d0)[s0] : (d0 - s0 >= 0)>`; all that is compared is on the left side."""
    dimensions = ", ".join(f"d{n}" for n in range(affine.num_dims))
    symbols = ", ".join(f"s{n}" for n in range(affine.num_symbols))
    constraints = ", ".join(_constraint(each) for each in affine.constraints)
    return f"affine_set<({dimensions}){f'[{symbols}]' if symbols else ''} : ({constraints})>"


def _constraint(each: AffineConstraintExpr) -> str:
    """Return `d0 >= 0`."""
    less, more = (each.rhs, each.lhs) if each.kind is not AffineConstraintKind.le else (each.lhs, each.rhs)
    difference = more if less == AffineConstantExpr(0) else more - less
    return f"{_text(difference)} {'==' if each.kind is AffineConstraintKind.eq else '>='} 0"


def _text(expression: AffineExpr, *, tight: bool = False) -> str:
    """Return the text of an expression, in brackets where it is part of one that binds `tight`."""
    if isinstance(expression, AffineDimExpr):
        return f"d{expression.position}"
    if isinstance(expression, AffineSymExpr):
        return f"s{expression.position}"
    if not isinstance(expression, AffineBinaryOpExpr):
        return str(expression)
    is_sum = expression.kind is AffineBinaryOpKind.Add
    text = _sum(expression) if is_sum else _product(expression)
    return f"({text})" if tight else text


def _sum(expression: AffineBinaryOpExpr) -> str:
    """Return a sum; what is added with a minus is subtracted."""
    left, right = _text(expression.lhs), expression.rhs
    if isinstance(right, AffineConstantExpr) and right.value < 0:
        return f"{left} - {-right.value}"
    factor = _negative_factor(right)
    if factor is None or not isinstance(right, AffineBinaryOpExpr):
        return f"{left} + {_text(right)}"
    if factor == -1:
        return f"{left} - {_text(right.lhs, tight=_is_sum(right.lhs))}"
    return f"{left} - {_text(right.lhs, tight=True)} * {-factor}"


def _product(expression: AffineBinaryOpExpr) -> str:
    """Return a product, a quotient or a remainder."""
    if _negative_factor(expression) == -1:
        return f"-{_text(expression.lhs, tight=True)}"
    return f"{_text(expression.lhs, tight=True)} {_SIGNS[expression.kind]} {_text(expression.rhs, tight=True)}"


def _negative_factor(expression: AffineExpr) -> int | None:
    """Return the constant that an expression is multiplied with, if it is negative."""
    if not isinstance(expression, AffineBinaryOpExpr) or expression.kind is not AffineBinaryOpKind.Mul:
        return None
    factor = expression.rhs
    return factor.value if isinstance(factor, AffineConstantExpr) and factor.value < 0 else None


def _is_sum(expression: AffineExpr) -> bool:
    """Tell whether an expression is a sum."""
    return isinstance(expression, AffineBinaryOpExpr) and expression.kind is AffineBinaryOpKind.Add
