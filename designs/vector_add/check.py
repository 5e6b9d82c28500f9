"""What `vector_add` must compute: C = A + B, the sum cut to 32 bits."""

import numpy as np

I32 = np.iinfo(np.int32)


def inputs(p, rng):
    # The whole range: a quarter of the sums overflow, and must wrap as the core's do.
    return {name: rng.integers(I32.min, I32.max, p.length, dtype=np.int32, endpoint=True) for name in ("A", "B")}


def reference(p, A, B):  # noqa: ARG001, N803 - every reference takes p; arguments have the names of the contract
    return {"C": (A.astype(np.int64) + B).astype(np.int32)}  # keeps the low 32 bits
