"""Two external functions from one source, each on a core of its own: y = x + 3. `python docs/examples/pipeline.py`.

Run it twice: the first time compiles the source, once for both functions; after that nothing is compiled.
"""

import numpy as np
from aiebuild.jit import ExternalFunction, transform

CODE = """\
extern "C" {

void add_constant_1(int *in, int *out, int n) {
  for (int i = 0; i < n; ++i)
    out[i] = in[i] + 1;
}

void add_constant_2(int *in, int *out, int n) {
  for (int i = 0; i < n; ++i)
    out[i] = in[i] + 2;
}

}
"""


def main() -> None:
    """Build the pipeline where it is not built yet, run it, and say what was done."""
    tile = np.ndarray[(16,), np.dtype[np.int32]]
    one = ExternalFunction("add_constant_1", source_string=CODE, arg_types=[tile, tile, np.int32])
    two = ExternalFunction("add_constant_2", source_string=CODE, arg_types=[tile, tile, np.int32])
    x = np.arange(1024, dtype=np.int32)
    y = np.zeros_like(x)

    built = transform(x, y, one, two)

    count = len(built.compiled)
    print(f"{count} compilation{'s' if count > 1 else ''} ran" if count else "nothing was compiled")
    print("output = input + 3" if np.array_equal(y, x + 3) else "output differs from input + 3")
    print(f"built in {built.folder}")


if __name__ == "__main__":
    main()
