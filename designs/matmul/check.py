"""What `matmul` must compute: C = A x B; integers wrap at 32 bits."""

import ml_dtypes
import numpy as np

DTYPES = {"i8": np.int8, "i16": np.int16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}

# Integers are compared exactly. Sums of f32 and bf16 are taken in f32; A is scaled so that they are about 1/3
# for any K. A sum of that size is rounded by 1e-8 (2**-26 / sqrt(3)) on average, either way, K times over: by
# sqrt(K) * 1e-8 in all, that is 2e-7 for K = 512 and 2e-6 for K = 32768; ten times that for the worst of a
# million elements, which is also a larger one. A product left out is a difference of 1 / (3 * sqrt(K)): 2e-2
# and 2e-3.
TOLERANCE = {"rtol": 0.0, "atol": 3e-5}


def inputs(p, rng):
    return {"A": matrix(p, rng, p.M, p.K, p.K**-0.5), "B": matrix(p, rng, p.K, p.N, 1.0)}


def matrix(p, rng, rows, columns, scale):
    dtype = DTYPES[p.dtype_in]
    if p.dtype_out == "i32":
        # The whole range: long sums overflow, and must wrap as the core's do.
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, (rows, columns), dtype=dtype, endpoint=True)
    return rng.uniform(-scale, scale, (rows, columns)).astype(dtype)


def reference(p, A, B):  # noqa: N803 - arguments have the names of the contract
    # In float64 there is a fast product, and it is exact for integers: those of 16 bits multiply to 2**30 at
    # most, and 2**23 of them add up to what its 53 bits hold.
    product = A.reshape(p.M, p.K).astype(np.float64) @ B.reshape(p.K, p.N).astype(np.float64)
    if p.dtype_out == "i32":
        return {"C": product.astype(np.int64).astype(np.int32)}  # keeps the low 32 bits
    return {"C": product.astype(np.float32)}
