"""What `activations` must compute: S = silu(X) and G = gelu(X), the latter in its form by tanh."""

import ml_dtypes
import numpy as np

DTYPES = {"bf16": ml_dtypes.bfloat16, "f32": np.float32}

# A straight line between two values of the table, 1/32 apart, multiplied by x, is off by at most
# (1/32)**2 / 8 * |x * sigmoid''(x)| = 2e-5. With bf16 (8 significant bits) both results are rounded as well,
# and two that differ by a little may become neighbours: 2**-7 of the value.
TOLERANCE = {"rtol": 2.0**-7, "atol": 3e-5}


def inputs(p, rng):
    # Where the functions bend, their flat ends beyond the table, and numbers whose cube overflows.
    x = rng.normal(0.0, 4.0, p.length)
    x[: p.length // 16] = rng.uniform(-40.0, 40.0, p.length // 16)
    x[:4] = (0.0, -0.0, 1e30, -1e30)[: p.length]
    return {"X": x.astype(DTYPES[p.dtype])}


def reference(p, X):  # noqa: N803 - arguments have the names of the contract
    x = X.astype(np.float64)
    s = x * sigmoid(x)
    g = x * sigmoid(2.0 * np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3))
    return {"S": s.astype(DTYPES[p.dtype]), "G": g.astype(DTYPES[p.dtype])}


def sigmoid(x):
    # exp(-700) is the smallest step before exp overflows or its result is denormal.
    return 1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0)))
