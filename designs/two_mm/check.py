"""What `two_mm` must compute: E = (A x B) x C + D in f32."""

import numpy as np

# The inputs are 0 to 9. An element of A x B is at most 22 * 81 = 1782, one of the result 18 * 1782 * 9 + 9 < 2**19:
# all sums are whole numbers below 2**24, which f32 holds exactly, so no order of adding them makes a difference.
TOLERANCE = {"rtol": 0.0, "atol": 0.0}

SHAPES = {"A": (16, 22), "B": (22, 18), "C": (18, 24), "D": (16, 24)}


def inputs(p, rng):  # noqa: ARG001 - every function of a check takes p
    return {name: rng.integers(0, 10, shape).astype(np.float32) for name, shape in SHAPES.items()}


def reference(p, A, B, C, D):  # noqa: ARG001, N803 - the same; arguments have the names of the contract
    a, b, c, d = (each.reshape(SHAPES[name]) for name, each in zip("ABCD", (A, B, C, D), strict=True))
    return {"E": a @ b @ c + d}
