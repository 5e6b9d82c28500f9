"""What `passthrough` must compute: B is a copy of A."""

import numpy as np


def inputs(p, rng):
    return {"A": rng.integers(0, 256, p.n, dtype=np.uint8)}


def reference(p, A):  # noqa: ARG001, N803 - every reference takes p; arguments have the names of the contract
    return {"B": A}
