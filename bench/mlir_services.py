"""The figures of the MLIR services, beside what mlir-opt and xDSL take to read the same text; prints a table.

`python bench/mlir_services.py [--functions N]`: a module of about 100,000 lines by default; each row in a process of
its own where memory is measured. Rows of tools that are not installed are left out.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "site_scons"))

from aiebuild.mlir.check import check_module, check_names  # noqa: E402 - the package is not installed
from aiebuild.mlir.link import link  # noqa: E402 - the same
from aiebuild.mlir.parse import parse  # noqa: E402 - the same
from aiebuild.mlir.write import write  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTION = """\
  "func.func"() <{{function_type = (memref<16x22xf32>, f32, index) -> f32, sym_name = "f{n}"}}> ({{
  ^bb0(%a: memref<16x22xf32>, %x: f32, %n: index):
    %c = "arith.constant"() <{{value = 1.000000e+00 : f32}}> : () -> f32
    "affine.for"(%n) <{{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 1, 0>, \
step = 1 : index, upperBoundMap = affine_map<(d0) -> (d0)>}}> ({{
    ^bb0(%i: index):
      %0 = "affine.load"(%a, %i, %i) <{{map = affine_map<(d0, d1) -> (d0, d1)>}}> \
: (memref<16x22xf32>, index, index) -> f32
      %1 = "arith.mulf"(%0, %x) <{{fastmath = #arith.fastmath<none>}}> : (f32, f32) -> f32
      "affine.store"(%1, %a, %i, %i) <{{map = affine_map<(d0, d1) -> (d0, d1)>}}> \
: (f32, memref<16x22xf32>, index, index) -> ()
      "affine.yield"() : () -> ()
    }}) {{loop_name = "i"}} : (index) -> ()
    %2 = "arith.cmpf"(%x, %c) <{{fastmath = #arith.fastmath<none>, predicate = 4 : i64}}> : (f32, f32) -> i1
    %3 = "scf.if"(%2) ({{
      %4 = "func.call"(%a, %x, %n) <{{callee = @f{next}}}> : (memref<16x22xf32>, f32, index) -> f32
      "scf.yield"(%4) : (f32) -> ()
    }}, {{
      "scf.yield"(%c) : (f32) -> ()
    }}) : (i1) -> f32
    "func.return"(%3) : (f32) -> ()
  }}) : () -> ()
"""
MAIN = """\
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16x22xf32>, f32, index) -> f32, sym_name = "f0", \
sym_visibility = "private"}> ({
  }) : () -> ()
}) : () -> ()
"""


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, the limit as text, and whether it was kept."""

    what: str
    measured: str
    limit: str = ""
    kept: bool | None = None


def main() -> int:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=5300)
    parser.add_argument("--whole", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.whole:
        return whole(options.whole)
    text = module(options.functions)
    rows = [reading(text), *linear(options.functions), separately(options.functions), design()]
    rows += beside(text)
    width = max(len(row.what) for row in rows)
    for row in rows:
        verdict = "" if row.kept is None else "kept" if row.kept else "MISSED"
        print(f"{row.what:<{width}}  {row.measured:<34}  {row.limit:<24} {verdict}")
    return 0 if all(row.kept is not False for row in rows) else 1


def module(functions: int) -> str:
    """Return a module of that many functions of 19 lines, each calling the next."""
    body = "".join(FUNCTION.format(n=n, next=(n + 1) % functions) for n in range(functions))
    return f'"builtin.module"() ({{\n{body}}}) : () -> ()\n'


def seconds(work: Callable[[], object]) -> float:
    """Return the time of the best of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def reading(text: str) -> Row:
    """Read generic text."""
    lines, took = text.count("\n"), seconds(lambda: parse(text))
    rate = lines / took
    return Row(f"reading {lines:,} lines", f"{took:.2f} s, {rate:,.0f} lines/s", ">= 15,000 lines/s", rate >= 15_000)


def linear(functions: int) -> list[Row]:
    """Link, check and write modules of a quarter, a half and the whole size: the time a line must stay."""
    rates = []
    rows = []
    for part in (4, 2, 1):
        text = module(functions // part)
        start = time.process_time()  # of this process alone: other load must not look like growth
        work(text)
        took = time.process_time() - start
        rates.append(took / text.count("\n"))
        rows.append(Row(f"read, link, check, write {text.count(chr(10)):,} lines", f"{took:.2f} s"))
    growth = rates[-1] / rates[0]
    rows.append(Row("time a line, whole size to a quarter", f"{growth:.2f}", "<= 1.5 (linear)", growth <= 1.5))
    return rows


def work(text: str) -> None:
    """Read, link, check and write."""
    linked = link(parse(MAIN), [parse(text, "code.mlir")], None).module
    if any(problem.is_error for problem in check_names(linked)):
        raise SystemExit("the module of the benchmark has errors")
    write(linked)


def whole(functions: int) -> int:
    """Do the work once in this process, and print time and memory."""
    text = module(functions)
    start = time.perf_counter()
    work(text)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.perf_counter() - start, peak, text.count("\n"))
    return 0


def separately(functions: int) -> Row:
    """The whole work in a process of its own."""
    command = [sys.executable, __file__, "--whole", str(functions)]
    took, peak, lines = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    what = f"the same in a process of its own, {lines:,.0f} lines"
    return Row(what, f"{took:.2f} s, {peak:,.0f} MiB", "<= 15 s, <= 1,024 MiB", took <= 15 and peak <= 1024)


def design() -> Row:
    """Check a design of about 500 lines: many cores with calls."""
    calls = "".join(f'      "func.call"() <{{callee = @k{n % 8}}}> : () -> ()\n' for n in range(110))
    cores = "".join(
        f"""    %t{n} = "aie.tile"() <{{col = 0 : i32, row = {n} : i32}}> : () -> index
    "aie.core"(%t{n}) ({{
{calls}      "aie.end"() : () -> ()
    }}) : (index) -> ()
"""
        for n in range(2, 6)
    )
    declared = "".join(
        f"""    "func.func"() <{{function_type = () -> (), sym_name = "k{n}", sym_visibility = "private"}}> ({{
    }}) {{link_with = "k.o"}} : () -> ()
"""
        for n in range(8)
    )
    text = (
        f'"builtin.module"() ({{\n  "aie.device"() <{{device = "npu1_1col"}}> ({{\n{declared}{cores}'
        '    "aie.end"() : () -> ()\n  }) : () -> ()\n}) : () -> ()\n'
    )
    read = parse(text, "design.mlir")
    if check_module(read, ["k.o"]):
        raise SystemExit("the design of the benchmark has errors")
    took = seconds(lambda: check_module(read, ["k.o"])) * 1000
    return Row(f"checking a design of {text.count(chr(10))} lines", f"{took:.1f} ms", "<= 50 ms", took <= 50)


def beside(text: str) -> list[Row]:
    """The same text through mlir-opt, and a tenth of it through xDSL."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="aiebuild-bench-") as folder:
        path = Path(folder, "module.mlir")
        path.write_text(text)
        tool = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
        if tool:
            command = [tool, str(path), "--mlir-print-op-generic", "-o", "/dev/null"]
            took = seconds(lambda: subprocess.run(command, check=True))
            rows.append(
                Row("mlir-opt: read, verify, write", f"{took:.2f} s, {text.count(chr(10)) / took:,.0f} lines/s")
            )
    ours = seconds(lambda: write(parse(text)))
    rows.append(Row("ours: read, write", f"{ours:.2f} s, {text.count(chr(10)) / ours:,.0f} lines/s"))
    return [*rows, xdsl_reading(module(text.count("func.func") // 10))]


def xdsl_reading(text: str) -> Row:
    """Read with xDSL."""
    from xdsl.context import Context  # noqa: PLC0415 - only this row needs it
    from xdsl.dialects import get_all_dialects  # noqa: PLC0415 - the same
    from xdsl.parser import Parser  # noqa: PLC0415 - the same

    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    start = time.perf_counter()
    Parser(context, text).parse_module()
    took = time.perf_counter() - start
    return Row(
        f"xDSL: reading {text.count(chr(10)):,} lines", f"{took:.2f} s, {text.count(chr(10)) / took:,.0f} lines/s"
    )


if __name__ == "__main__":
    sys.exit(main())
