"""The figures of the main job, each beside what it is compared with; prints a table.

`python bench/main_job.py [--rounds N]`: medians of N rounds (5), alternating, in a fresh copy of the project.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("SConstruct", "designs", "kernels", "templates", "site_scons")


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, the limit as text, and whether it was kept."""

    what: str
    measured: str
    limit: str
    kept: bool


def main() -> int:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="aiebuild-bench-") as name:
        folder = Path(name)
        project = copy_project(folder / "project")
        rows = [
            null_build(project, folder, rounds),
            run_of_512(project),
            parallel_build(folder),
            edit_to_result(project, rounds),
        ]
    width = max(len(row.what) for row in rows)
    for row in rows:
        print(f"{row.what:<{width}}  {row.measured:<44}  {row.limit:<22} {'kept' if row.kept else 'MISSED'}")
    return 0 if all(row.kept for row in rows) else 1


def copy_project(target: Path) -> Path:
    """Return a copy of the project without what was built."""
    target.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part)
        else:
            shutil.copy(source, target / part)
    return target


def scons(folder: Path, *words: str) -> float:
    """Run SCons and return the seconds that it took."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "SCons", "-Q", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def medians(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """Return the medians of several measures that are taken in turn."""
    taken = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def null_build(project: Path, folder: Path, rounds: int) -> Row:
    """`scons design=matmul` with nothing to do, beside `scons` on an empty `SConstruct`."""
    empty = folder / "empty"
    empty.mkdir()
    (empty / "SConstruct").touch()
    scons(project, "design=matmul")
    ours, bare = medians(rounds, lambda: scons(project, "design=matmul"), lambda: scons(empty))
    measured = f"{ours * 1000:.0f} ms : {bare * 1000:.0f} ms = {ours / bare:.2f}"
    return Row("nothing to do, beside an empty SConstruct", measured, "at most 1.5", ours / bare <= 1.5)


def run_of_512(project: Path) -> Row:
    """The run and the check of matmul 512x512x512, i16, blocks of 32: time, and the most memory of any step."""
    check = project / "build/host/designs/matmul/npu1_1col/check.json"
    check.unlink()
    before = scons(project, "design=passthrough")
    before = scons(project, "design=passthrough")
    seconds = scons(project, "design=matmul") - before
    gigabytes = children_memory() / 2**30
    measured = f"{seconds:.2f} s, {gigabytes:.2f} GiB"
    return Row("matmul 512, run and check", measured, "3 s, 2 GiB", seconds <= 3 and gigabytes <= 2)


def children_memory() -> int:
    """Return the largest resident size of any process that this one started, in bytes."""
    import resource  # noqa: PLC0415 - not on every system

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


SLOW = """\
#!{python} -I
import subprocess, sys, time
end = time.perf_counter() + 0.5 * ("-c" in sys.argv)
status = subprocess.run(["g++", *sys.argv[1:]]).returncode
while time.perf_counter() < end:
    pass
sys.exit(status)
"""


def parallel_build(folder: Path) -> Row:
    """40 kernels of half a second of CPU each, with -j2 beside -j1."""
    project = folder / "parallel"
    (project / "src").mkdir(parents=True)
    lines = ["from aiebuild.scons import aie", "DefaultEnvironment(tools=[])", "env = Environment(tools=[aie])"]
    for number in range(40):
        (project / f"src/k{number}.cc").write_text(f'extern "C" int k{number}() {{ return {number}; }}\n')
        lines.append(f'env.AieObject("out/k{number}.o", "src/k{number}.cc")')
    (project / "SConstruct").write_text("\n".join(lines) + "\n")
    compiler = project / "slow-g++"
    compiler.write_text(SLOW.format(python=sys.executable))
    compiler.chmod(0o755)
    one, two = (build_all(project, compiler, ("-j1",)), build_all(project, compiler, ("-j2",)))
    measured = f"{one:.1f} s : {two:.1f} s = {one / two:.2f}"
    return Row("40 kernels of 0.5 s, -j1 beside -j2", measured, "at least 1.7", one / two >= 1.7)


def build_all(project: Path, compiler: Path, words: Sequence[str]) -> float:
    """Build everything anew with a compiler, and return the seconds."""
    for name in ("out", "build"):
        shutil.rmtree(project / name, ignore_errors=True)
    environment = os.environ | {"CXX": str(compiler), "PYTHONPATH": str(ROOT / "site_scons")}
    started = time.perf_counter()
    command = [sys.executable, "-m", "SCons", "-Q", *words]
    subprocess.run(command, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def edit_to_result(project: Path, rounds: int) -> Row:
    """From an edit of matmul's template to its result line, M=K=N=64."""
    scons(project, "design=matmul", "variant=small")
    template = project / "designs/matmul/matmul.mlir.j2"

    def edit() -> float:
        text = template.read_text()
        template.write_text(text.replace("aie.end", "// an edit\n      aie.end", 1))
        return scons(project, "design=matmul", "variant=small")

    (seconds,) = medians(rounds, edit)
    return Row("edit of matmul's template to its result", f"{seconds:.2f} s", "2 s", seconds <= 2)


if __name__ == "__main__":
    sys.exit(main())
