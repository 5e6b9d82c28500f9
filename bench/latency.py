"""What asking and building again cost, each figure beside what it is compared with; prints a table.

`python bench/latency.py [--rounds N] [--largest N]`: medians of N rounds (7), taken in turn, in projects that are made
for it: kernels of one line each, and designs of one core that link an archive of them. The bare SConstruct holds
`DefaultEnvironment(tools=[])` alone; ninja and make are given the same list of objects, with a rule that only touches
them. Byte code is kept, as it is for users, whatever this process's environment says.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "site_scons"
sys.path.insert(0, str(PACKAGE))

from aiebuild import Project  # noqa: E402 - found by the line above

if TYPE_CHECKING:
    from collections.abc import Callable

os.environ["PYTHONPATH"] = str(PACKAGE)
for name in ("PYTHONDONTWRITEBYTECODE", "CXX"):
    os.environ.pop(name, None)
ENVIRONMENT = dict(os.environ)
PASS = (sys.executable, "-c", "pass")
AIEBUILD = (sys.executable, "-c", "import sys; from aiebuild.cli import main; sys.exit(main())", "build")
SCONS = (sys.executable, "-m", "SCons", "-Q")
PLAIN_SCONS = (*SCONS, "-f", "plain.scons")
MS = 1000.0


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, the limit as text, and whether it was kept; None where none is set."""

    what: str
    measured: str
    limit: str
    kept: bool | None


TEMPLATE = """\
module {
  aie.device({{ device }}) {
    func.func private @NAME_k0(memref<16xi32>, memref<16xi32>) attributes {link_with = "libNAME.a"}
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @in(%shim, { %core }, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%core, { %shim }, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.core(%core) {
      %x_view = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
      %x = aie.objectfifo.subview.access %x_view[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      %y_view = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
      %y = aie.objectfifo.subview.access %y_view[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      func.call @NAME_k0(%x, %y) : (memref<16xi32>, memref<16xi32>) -> ()
      aie.objectfifo.release @in(Consume, 1)
      aie.objectfifo.release @out(Produce, 1)
      aie.end
    }
    aie.runtime_sequence(%X: memref<16xi32>, %Y: memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%X[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<16xi32>
      aiex.npu.dma_memcpy_nd(%Y[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<16xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""  # noqa: E501 - the text of a template
RECIPE = """\
Import("env", "p")

archive = env.CoreArchive("NAME", sources=[f"#kernels/NAME_k{number}.cc" for number in range(COUNT)])

env.Design(mlir="NAME.mlir.j2", link_with=[archive])
"""


def make_project(root: Path, designs: int, kernels: int) -> Path:
    """Make a project of some designs with some kernels each, and return its folder."""
    (root / "kernels").mkdir(parents=True)
    shutil.copy(ROOT / "SConstruct", root / "SConstruct")
    for number in range(designs):
        name, folder = f"d{number}", root / f"designs/d{number}"
        folder.mkdir(parents=True)
        (folder / "design.yaml").write_text("description: of the benchmark\ndevices: [npu1_1col]\n")
        (folder / f"{name}.mlir.j2").write_text(TEMPLATE.replace("NAME", name))
        (folder / "SConscript").write_text(RECIPE.replace("NAME", name).replace("COUNT", str(kernels)))
        for kernel in range(kernels):
            (root / f"kernels/{name}_k{kernel}.cc").write_text(source(f"{name}_k{kernel}", 0))
    return root


def source(function: str, edit: int) -> str:
    """Return a kernel of one line."""
    return f'extern "C" void {function}(int *x, int *y) {{ y[0] = x[0] + {edit}; }}\n'


def seconds(folder: Path, *command: str) -> float:
    """Run a command and return the seconds that it took."""
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def medians(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """Return the medians of several measures that are taken in turn, after one round that does not count."""
    taken = [[measure() for measure in measures] for _ in range(rounds + 1)][1:]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def of_age() -> None:
    """Wait until files that were just written can be told apart by their times."""
    time.sleep(2.5)


def build(root: Path, *words: str) -> Path:
    """Build a project, and let its files come of age."""
    seconds(root, *SCONS, "-j2", *words)
    of_age()
    seconds(root, *AIEBUILD, "design=d0")
    return root


def status_time(root: Path, rounds: int) -> float:
    """Return the seconds of one `Project.status` in a warm process."""
    project = Project(root)
    if not project.status("d0"):
        sys.exit(f"{root} is not up to date: {project.status('d0').reasons}")

    def ask() -> float:
        started = time.perf_counter()
        project.status("d0")
        return time.perf_counter() - started

    return medians(rounds * 20, ask)[0]


def status_rows(projects: dict[int, Path], rounds: int) -> list[Row]:
    """`Project.status` in a warm process, beside its limits and, by size, beside a straight line."""
    times = {size: status_time(root, rounds) * MS for size, root in projects.items()}
    limits = {60: 1.0, 1000: 10.0}
    rows = [
        Row(f"Project.status, warm, {size} objects", f"{times[size]:.2f} ms", f"{limit:g} ms", times[size] <= limit)
        for size, limit in limits.items()
    ]
    small, *_, large = sorted(set(times) - {60})
    slope = (times[large] - times[small]) / (large - small)
    middle = times[small] + slope * (1000 - small)
    shown = ", ".join(f"{size}: {times[size]:.2f}" for size in sorted(times))
    return [*rows, Row("the same by size, ms", shown, "a straight line, 25 %", abs(times[1000] / middle - 1) <= 0.25)]


def null_row(root: Path, rounds: int) -> Row:
    """`aiebuild build` with nothing to do, 60 objects, beside `python -c pass`."""
    ours, bare = medians(rounds, lambda: seconds(root, *AIEBUILD, "design=d0"), lambda: seconds(root, *PASS))
    measured = f"{ours * MS:.0f} ms : {bare * MS:.0f} ms = {ours / bare:.2f}"
    kept = ours / bare <= 2.5 and ours <= 0.05
    return Row("aiebuild build, nothing to do, 60 objects : python -c pass", measured, "2.5 and 50 ms", kept)


def write_ninja(root: Path, size: int) -> tuple[str, ...]:
    """Write what ninja has to make, and return its command."""
    rules = ["rule cc", "  command = touch $out"]
    rules += [f"build ninja/k{number}.o: cc kernels/d0_k{number}.cc" for number in range(size)]
    (root / "build.ninja").write_text("\n".join(rules) + "\n")
    return ("ninja",)


def write_make(root: Path, size: int) -> tuple[str, ...]:
    """Write what make has to make, and return its command."""
    (root / "make").mkdir(exist_ok=True)
    objects = [f"make/k{number}.o" for number in range(size)]
    rules = [f"make/k{number}.o: kernels/d0_k{number}.cc\n\ttouch $@" for number in range(size)]
    (root / "objects.make").write_text("\n".join([f"all: {' '.join(objects)}", *rules]) + "\n")
    return ("make", "-f", "objects.make")


def other_rows(root: Path, size: int, rounds: int) -> list[Row]:
    """`aiebuild build` with nothing to do beside ninja and make with the same objects, and Python's start."""
    rows = []
    for write, times in ((write_ninja, 4), (write_make, None)):
        command = write(root, size)
        what = f"aiebuild build, nothing to do, {size} objects : {command[0]}"
        limit = f"{times} x {command[0]} + Python" if times else "beside it"
        if shutil.which(command[0]) is None:
            rows.append(Row(what, f"{command[0]} is not installed", limit, None))
            continue
        seconds(root, *command)
        ours, theirs, bare = medians(
            rounds,
            lambda: seconds(root, *AIEBUILD, "design=d0"),
            lambda command=command: seconds(root, *command),  # type: ignore[misc] # bound in this round of the loop
            lambda: seconds(root, *PASS),
        )
        measured = f"{ours * MS:.0f} ms : {theirs * MS:.0f} ms, Python {bare * MS:.0f} ms"
        rows.append(Row(what, measured, limit, None if times is None else ours <= times * theirs + bare))
    return rows


def scons_row(root: Path, size: int, folder: Path, rounds: int) -> Row:
    """`scons design=X` with nothing to do beside a bare SConstruct."""
    ours, bare = medians(rounds, lambda: seconds(root, *SCONS, "design=d0"), lambda: seconds(folder, *SCONS))
    measured = f"{ours * MS:.0f} ms : {bare * MS:.0f} ms = {ours / bare:.2f}"
    return Row(f"scons, nothing to do, {size} objects : bare SConstruct", measured, "1.15", ours / bare <= 1.15)


NOTING = """\
#!/bin/sh
case "$*" in *{kernel}.cc*) date +%s%N > {note};; esac
exec g++ "$@"
"""
PLAIN = """\
DefaultEnvironment(tools=[])
env = Environment(tools=["g++"], CXX="{compiler}", CXXFLAGS=["-O2"], OBJSUFFIX=".o")
Default([env.Object("plain/" + source.name + ".o", source) for source in Glob("kernels/*.cc")])
"""


class EditedProject:
    """A built project, of which one kernel is edited: one of the last, in any order.

    Args:
        folder: where it is made.
        designs: how many.
        kernels: of each.
    """

    def __init__(self, folder: Path, designs: int, kernels: int) -> None:
        self.root = make_project(folder / "project", designs, kernels)
        self.design = f"d{(designs - 1) // 2}"
        self.name = f"{self.design}_k{kernels - 1}"
        self.kernel = self.root / f"kernels/{self.name}.cc"
        # Apart from each other: another name beside a compiler may be a tool that is to be found first.
        self.note, self.compiler = folder / "started", folder / "tools/noting-g++"
        self.compiler.parent.mkdir()
        self.compiler.write_text(NOTING.format(kernel=self.name, note=self.note))
        self.compiler.chmod(0o755)
        (self.root / "plain.scons").write_text(PLAIN.format(compiler=self.compiler))
        ENVIRONMENT["CXX"] = str(self.compiler)
        seconds(self.root, *PLAIN_SCONS, "-j2")
        build(self.root)

    def edit(self) -> int:
        """Edit the kernel, and return the moment (ns)."""
        self.note.unlink()
        moment = time.time_ns()
        self.kernel.write_text(source(self.name, moment % 1000000))
        return moment

    def started_after(self, moment: int) -> float:
        """Return the seconds until the compiler was started for it."""
        return (int(self.note.read_text()) - moment) / 1e9

    def until_started(self, *command: str) -> float:
        """Edit, run a command, and return the seconds from the edit to the compiler's start."""
        edited = self.edit()
        subprocess.run(command, cwd=self.root, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
        return self.started_after(edited)


def edit_rows(folder: Path, rounds: int) -> list[Row]:
    """From an edit of one kernel to the compiler's start: 1,000 objects in 20 designs, and in one."""
    many, alone = EditedProject(folder / "many", 20, 50), EditedProject(folder / "alone", 1, 1000)
    ENVIRONMENT["CXX"] = str(many.compiler)
    one, whole, theirs = medians(
        rounds,
        lambda: many.until_started(*SCONS, f"design={many.design}"),
        lambda: many.until_started(*SCONS),
        lambda: many.until_started(*PLAIN_SCONS),
    )
    saved = watch_time(many, rounds)
    ENVIRONMENT["CXX"] = str(alone.compiler)
    large, plain = medians(rounds, lambda: alone.until_started(*SCONS), lambda: alone.until_started(*PLAIN_SCONS))
    del ENVIRONMENT["CXX"]
    return [
        Row("save to compiler, 1000 objects, aiebuild watch", f"{saved * MS:.0f} ms", "200 ms", saved <= 0.2),
        Row("edit to compiler, 20 designs of 50 objects, one of them", f"{one * MS:.0f} ms", "400 ms", one <= 0.4),
        against_plain("edit to compiler, 20 designs of 50, whole project : plain SCons", whole, theirs),
        against_plain("edit to compiler, 1 design of 1000 objects : plain SCons", large, plain),
    ]


def against_plain(what: str, ours: float, theirs: float) -> Row:
    """Return the row of a figure that is to be half of plain SCons's."""
    measured = f"{ours * MS:.0f} ms : {theirs * MS:.0f} ms = {ours / theirs:.2f}"
    return Row(what, measured, "0.5", ours / theirs <= 0.5)


def watch_time(project: EditedProject, rounds: int) -> float:
    """Return the seconds from the save of a kernel to the compiler's start, where `aiebuild watch` runs."""
    command = [*AIEBUILD[:-1], "watch"]
    with subprocess.Popen(command, cwd=project.root, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None

        def waits() -> None:
            while not next(watching.stdout).startswith("watching"):  # type: ignore[arg-type] # it is a pipe
                pass

        def save() -> float:
            of_age()
            saved = project.edit()
            waits()
            return project.started_after(saved)

        waits()
        taken = medians(rounds, save)[0]
        watching.send_signal(signal.SIGINT)
    return taken


def measure(folder: Path, rounds: int, largest: int) -> list[Row]:
    """Make the projects, and return all rows."""
    bare = folder / "bare"
    bare.mkdir()
    (bare / "SConstruct").write_text("DefaultEnvironment(tools=[])\n")
    sizes = sorted({60, 100, 1000, largest})
    projects = {size: build(make_project(folder / f"p{size}", 1, size)) for size in sizes}
    return [
        *status_rows(projects, rounds),
        null_row(projects[60], rounds),
        *other_rows(projects[1000], 1000, rounds),
        *(scons_row(projects[size], size, bare, rounds) for size in sizes if size != 100),
        *edit_rows(folder, rounds),
    ]


def main() -> int:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--largest", type=int, default=5000, help="objects of the largest project")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aiebuild-bench-") as name:
        rows = measure(Path(name), given.rounds, given.largest)
    width = max(len(row.what) for row in rows)
    verdicts = {True: "kept", False: "MISSED", None: "-"}
    for row in rows:
        print(f"{row.what:<{width}}  {row.measured:<46}  {row.limit:<22} {verdicts[row.kept]}")
    return 1 if any(row.kept is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
