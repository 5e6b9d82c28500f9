"""What `vector_scale` must compute: Y = f * X, the product cut to 32 bits."""

import numpy as np

I32 = np.iinfo(np.int32)


def inputs(p, rng):
    # The whole range: most products overflow, and must wrap as the cores' do.
    return {
        "X": rng.integers(I32.min, I32.max, p.length, dtype=np.int32, endpoint=True),
        "F": rng.integers(I32.min, I32.max, 1, dtype=np.int32, endpoint=True),
    }


def reference(p, X, F):  # noqa: ARG001, N803 - every reference takes p; arguments have the names of the contract
    # |x * f| <= 2**62 fits 64 bits, and the cast keeps the low 32.
    return {"Y": (X.astype(np.int64) * np.int64(F[0])).astype(np.int32)}
