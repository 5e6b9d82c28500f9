"""Prints the MLIR of NAME: `python generate.py --device npu1_1col --length 4096 --line 256`."""

import argparse

MLIR = """\
module {{
  aie.device({device}) {{
    func.func private @NAME_line({line_t}, {line_t}) attributes {{link_with = "NAME.o"}}

    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @x(%shim, {{ %core }}, 2 : i32) : !aie.objectfifo<{line_t}>
    aie.objectfifo @y(%core, {{ %shim }}, 2 : i32) : !aie.objectfifo<{line_t}>

    aie.core(%core) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %i = %c0 to %forever step %c1 {{
{acquires}
        func.call @NAME_line(%x, %y) : ({line_t}, {line_t}) -> ()
        aie.objectfifo.release @x(Consume, 1)
        aie.objectfifo.release @y(Produce, 1)
      }}
      aie.end
    }}

    aie.runtime_sequence(%X: {all_t}, %Y: {all_t}) {{
      aiex.npu.dma_memcpy_nd(%X{all}) {{id = 0 : i64, metadata = @x}} : {all_t}
      aiex.npu.dma_memcpy_nd(%Y{all}) {{id = 1 : i64, metadata = @y, issue_token = true}} : {all_t}
      aiex.npu.dma_wait {{symbol = @y}}
    }}
  }}
}}
"""


def acquire(name, port, line_t):
    """Return the lines by which the core waits for an object of a FIFO, and calls it by the FIFO's name."""
    view = f"!aie.objectfifosubview<{line_t}>"
    return f"""\
        %{name}_view = aie.objectfifo.acquire @{name}({port}, 1) : {view}
        %{name} = aie.objectfifo.subview.access %{name}_view[0] : {view} -> {line_t}"""


def main():
    """Print the module; lengths are in elements."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--device", required=True)
    parser.add_argument("--length", type=int, required=True, help="elements of X and Y")
    parser.add_argument("--line", type=int, required=True, help="elements that the core takes at a time")
    options = parser.parse_args()
    line_t = f"memref<{options.line}xi32>"
    text = MLIR.format(
        device=options.device,
        line_t=line_t,
        all_t=f"memref<{options.length}xi32>",
        all=f"[0, 0, 0, 0][1, 1, 1, {options.length}][0, 0, 0, 1]",
        acquires="\n".join(acquire(*end, line_t) for end in (("x", "Consume"), ("y", "Produce"))),
    )
    print(text, end="")


if __name__ == "__main__":
    main()
