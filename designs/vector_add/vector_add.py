"""Prints the MLIR of C = A + B on one core, a line at a time: `vector_add.py --device npu1_1col --length 4096`."""

import argparse

FIFOS = {"inA": ("A", "Consume"), "inB": ("B", "Consume"), "outC": ("C", "Produce")}


def fifo(name, line):
    ends = "%core, { %shim }" if name == "outC" else "%shim, { %core }"
    return f"    aie.objectfifo @{name}({ends}, 2 : i32) : !aie.objectfifo<{line}>"


def acquire(name, line):
    argument, port = FIFOS[name]
    view = f"!aie.objectfifosubview<{line}>"
    return f"""\
        %{argument}_view = aie.objectfifo.acquire @{name}({port}, 1) : {view}
        %{argument} = aie.objectfifo.subview.access %{argument}_view[0] : {view} -> {line}"""


def release(name):
    return f"        aie.objectfifo.release @{name}({FIFOS[name][1]}, 1)"


def copy(name, id_, length):
    argument, port = FIFOS[name]
    token = ", issue_token = true" if port == "Produce" else ""
    where = f"%{argument}[0, 0, 0, 0][1, 1, 1, {length}][0, 0, 0, 1]"
    return (
        f"      aiex.npu.dma_memcpy_nd({where}) {{id = {id_} : i64, metadata = @{name}{token}}} : memref<{length}xi32>"
    )


def design(device, length, line):
    """Return the module; `length` and `line` are in elements."""
    line_t = f"memref<{line}xi32>"
    arguments = ", ".join(f"%{argument}: memref<{length}xi32>" for argument, _ in FIFOS.values())
    parts = {
        "fifos": [fifo(name, line_t) for name in FIFOS],
        "acquires": [acquire(name, line_t) for name in FIFOS],
        "releases": [release(name) for name in FIFOS],
        "copies": [copy(name, id_, length) for id_, name in enumerate(FIFOS)],
    }
    text = {name: "\n".join(lines) for name, lines in parts.items()}
    types = f"({line_t}, {line_t}, {line_t}, i32)"
    return f"""\
module {{
  aie.device({device}) {{
    func.func private @vector_add_i32{types} attributes {{link_with = "vector_add.o"}}
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
{text["fifos"]}

    aie.core(%core) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %n = arith.constant {line} : i32
      scf.for %i = %c0 to %forever step %c1 {{
{text["acquires"]}
        func.call @vector_add_i32(%A, %B, %C, %n) : {types} -> ()
{text["releases"]}
      }}
      aie.end
    }}

    aie.runtime_sequence({arguments}) {{
{text["copies"]}
      aiex.npu.dma_wait {{symbol = @outC}}
    }}
  }}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--device", required=True)
    parser.add_argument("--length", type=int, required=True, help="elements of A, B and C")
    parser.add_argument("--line", type=int, required=True, help="elements that the core takes at a time")
    print(design(**vars(parser.parse_args())), end="")


if __name__ == "__main__":
    main()
