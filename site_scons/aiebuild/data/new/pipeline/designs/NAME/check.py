"""What NAME must compute: Y = factor * X + bias. Arguments have the names of design.yaml; `p` has its parameters."""

import numpy as np


def inputs(p, rng):
    return {"X": rng.integers(-1000, 1000, p.length, dtype=np.int32)}


def reference(p, X):
    return {"Y": p.factor * X + p.bias}
