"""The host's steps as commands: translate, link and run, and what they say when something is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import aiebuild
import pytest
from aiebuild.host.link import command
from aiebuild.mlir.facts import facts
from aiebuild.mlir.parse import parse
from host_designs import GOLDEN

if TYPE_CHECKING:
    from collections.abc import Callable

SITE = Path(aiebuild.__file__).resolve().parents[1]
CHECK = """\
import numpy as np

def inputs(p, rng):
    return {"A": rng.integers(0, 256, p.n, dtype=np.uint8)}

def reference(p, A):
    return {"B": A}
"""
KERNEL = """\
#include <cstdint>
extern "C" void passthrough_u8(const uint8_t *from, uint8_t *to, int32_t count) {
  BODY
  for (int32_t i = 0; i < count; ++i) to[i] = from[i];
}
"""


@dataclass
class Project:
    """A project's folder with one design, `passthrough` unless another golden one is named."""

    root: Path
    name: str = "passthrough"

    def write(self, file: str, text: str) -> None:
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    def host(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "aiebuild.host", *arguments)
        return subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=False)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(SITE), "PYTHONSAFEPATH": "1"}

    def run_command(self, *more: str, arguments: str = "A,B") -> tuple[str, ...]:
        return (
            *(sys.executable, "-m", "aiebuild.host"),
            *("run", "build/x.cores.py", "--kernels", "build/x.zip", "--check", "designs/x/check.py"),
            *("--parameters", "build/p.json", "--arguments", arguments, "-o", "build/out/check.json"),
            *("--depfile", "build/out/check.d", *more),
        )

    def prepare(self, body: str = "", check: str = CHECK, kernel: str = KERNEL) -> None:
        """Write everything, compile the kernel and make the steps before the run."""
        text = (GOLDEN / "mlir" / f"{self.name}.generic.mlir").read_text()
        text = re.sub(r"device = \d+ : i32", 'device = "npu1_1col"', text)
        self.write("build/x.generic.mlir", text)
        self.write("build/x.facts.json", facts(parse(text, "build/x.generic.mlir")).to_json())
        parameters = {
            "arch": "host",
            "device": "npu1_1col",
            "design": "copy",
            "mode": "release",
            "parameters": {"n": 4096},
        }
        self.write("build/p.json", json.dumps(parameters))
        self.write("designs/x/check.py", check)
        self.compile("passthrough.o", kernel.replace("BODY", body))
        assert self.host("translate", "build/x.generic.mlir", "-o", "build/x.cores.py").returncode == 0

    def compile(self, name: str, text: str) -> None:
        self.write(f"build/{name}.cc", text)
        source = f"build/{name}.cc"
        subprocess.run(["g++", "-O1", "-fPIC", "-c", "-o", f"build/{name}", source], cwd=self.root, check=True)

    def link(self, *more: str) -> subprocess.CompletedProcess[str]:
        words = more or ("--object", "passthrough.o=build/passthrough.o")
        return self.host("link", "--facts", "build/x.facts.json", *words, "--cxx", "g++", "-o", "build/x.zip")

    def run(self, *more: str, arguments: str = "A,B") -> subprocess.CompletedProcess[str]:
        linked = self.link()
        assert linked.returncode == 0, linked.stderr
        return self.host(*self.run_command(*more, arguments=arguments)[3:])

    def exists(self, name: str) -> bool:
        return (self.root / name).exists()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_design_is_run_compared_and_recorded(project: Project) -> None:
    project.prepare()
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "copy: B agrees with the reference, largest error 0 (4096 ui8)\n"
    record = json.loads((project.root / "build/out/check.json").read_text())
    outputs = [{"name": "B", "max_error": 0, "ok": True, "elements": 4096, "dtype": "ui8"}]
    assert record == {
        "design": "copy",
        "device": "npu1_1col",
        "sequences": [{"name": "sequence", "outputs": outputs}],
        "ok": True,
    }


def test_equal_inputs_give_equal_bytes(project: Project) -> None:
    project.prepare()
    seen = []
    for _ in range(2):
        assert project.run("--trace", "build/trace").returncode == 0
        names = ("build/x.cores.py", "build/x.zip", "build/out/check.json", "build/out/check.d", "build/trace")
        seen.append([(project.root / name).read_bytes() for name in names])
    assert seen[0] == seen[1]
    events = [json.loads(line) for line in seen[0][4].splitlines()]
    assert {"who": "core (0, 2)", "event": "acquire", "fifo": "in", "port": "consume", "objects": [3]} in events


def test_the_depfile_has_what_check_py_opened_and_imported(project: Project) -> None:
    check = 'import helper\nDATA = open("designs/x/data.txt").read()\n' + CHECK
    project.write("designs/x/helper.py", "import json\n")
    project.write("designs/x/data.txt", "7")
    project.prepare(check=check)
    assert project.run().returncode == 0
    files = json.loads((project.root / "build/out/check.d").read_text())["files"]
    assert files == ["designs/x/check.py", "designs/x/data.txt", "designs/x/helper.py"]
    assert not project.exists("designs/x/__pycache__")


def test_a_wrong_result_names_argument_count_and_first_difference(project: Project) -> None:
    project.prepare(check=CHECK.replace('{"B": A}', '{"B": np.where(np.arange(4096) < 4090, A, A + 1)}'))
    done = project.run()
    assert done.returncode == 1
    assert re.search(
        r"copy: B differs from the reference in 6 of 4096 elements, first at \[4090\]: got \d+, expected \d+; "
        r"the largest error is \d+ \(ui8\)",
        done.stderr,
    )
    assert not project.exists("build/out/check.json")
    assert not project.exists("build/out/check.d")


def test_an_old_result_does_not_survive_a_failure(project: Project) -> None:
    project.prepare()
    assert project.run().returncode == 0
    project.write("designs/x/check.py", CHECK.replace('{"B": A}', '{"B": A + 1}'))
    assert project.run().returncode == 1
    assert not project.exists("build/out/check.json")


def test_a_crash_names_kernel_core_line_and_signal(project: Project) -> None:
    project.prepare("if (from[0] < 256) *(volatile int *)8 = 1;")
    done = project.run()
    assert done.returncode == 1
    assert done.stderr == (
        "error: kernel `passthrough_u8` called by core (0, 2) at build/x.generic.mlir:20:9 crashed (SIGSEGV)\n"
    )
    assert not project.exists("build/out/check.json")


def test_a_kernel_that_ends_the_process_is_named(project: Project) -> None:
    project.prepare("exit(0);", kernel="#include <cstdlib>\n" + KERNEL)
    done = project.run()
    assert done.returncode == 1
    assert "kernel `passthrough_u8` called by core (0, 2) at build/x.generic.mlir:20:9 ended the process" in done.stderr


def test_a_kernel_that_never_returns_is_named_after_the_limit(project: Project) -> None:
    project.prepare("volatile bool forever = true; while (forever) {}")
    done = project.run("--timeout", "0.5")
    assert done.returncode == 1
    assert "kernel `passthrough_u8` called by core (0, 2) at build/x.generic.mlir:20:9 was still running" in done.stderr
    assert "run_timeout=" in done.stderr


def test_a_core_that_never_waits_is_named_after_the_limit(project: Project) -> None:
    project.prepare()
    text = (project.root / "build/x.generic.mlir").read_text()
    position = text.index('"scf.for"')
    spin = '"scf.for"(%3, %5, %4) ({\n^bb0(%spin: index):\n"scf.yield"() : () -> ()\n}) : (index, index, index) -> ()\n'
    project.write("build/x.generic.mlir", text[:position] + spin + text[position:])
    assert project.host("translate", "build/x.generic.mlir", "-o", "build/x.cores.py").returncode == 0
    done = project.run("--timeout", "0.5")
    assert done.returncode == 1
    line = text[:position].count("\n") + 1
    assert f"build/x.generic.mlir:{line}:7: error: core (0, 2) (scf.for) was still running after 0.5 s" in done.stderr
    assert "run_timeout=" in done.stderr


def test_a_check_that_takes_too_long_is_named(project: Project) -> None:
    project.prepare(check=CHECK.replace('    return {"B": A}', "    while True: pass"))
    done = project.run("--timeout", "0.5")
    assert done.returncode == 1
    assert "`reference` of designs/x/check.py was still running after 0.5 s" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{"B": A}', '{"B": A / missing}', "designs/x/check.py:7: error: NameError: name 'missing' is not defined"),
        ('{"B": A}', '{"B": p.k}', "designs/x/check.py:7: error: design 'copy' has no parameter 'k'"),
        ('{"B": A}', '{"C": A}', "designs/x/check.py: error: `reference` gives 'C', which is no argument"),
        ('{"B": A}', '{"B": A * 1.0}', "gives B with 4096 elements of float64, the design has 4096 of uint8"),
        ('{"B": A}', '{"B": A[1:]}', "gives B with 4095 elements of uint8, the design has 4096 of uint8"),
        ('{"B": A}', "{}", "`reference` gives nothing to compare"),
        ("def reference", "def refrence", "there is no function `reference`"),
        ("def reference", "def reference(:", "designs/x/check.py:6: error: SyntaxError"),
        ("def reference", 'TOLERANCE = {"rtoll": 1}\ndef reference', "TOLERANCE has no 'rtoll'"),
    ],
)
def test_errors_in_check_py_are_shown_as_the_users_own(project: Project, old: str, new: str, message: str) -> None:
    project.prepare(check=CHECK.replace(old, new))
    done = project.run()
    assert done.returncode == 1
    assert message in done.stderr
    assert "aiebuild/host" not in done.stderr


def test_the_users_traceback_is_cut_to_the_users_frames(project: Project) -> None:
    project.write("designs/x/helper.py", "def fail():\n    raise ValueError('seven')\n")
    project.prepare(check="import helper\n" + CHECK.replace('{"B": A}', "helper.fail()"))
    lines = project.run().stderr.splitlines()
    assert lines[0] == "designs/x/helper.py:2: error: ValueError: seven"
    files = [line for line in lines if line.startswith("  File ")]
    assert len(files) == 2
    assert "designs/x/check.py" in files[0]


def test_the_contract_must_name_all_arguments(project: Project) -> None:
    project.prepare()
    done = project.run(arguments="A")
    assert done.returncode == 1
    assert "the contract names 1 arguments (A), the sequence 'sequence' has 2" in done.stderr


def test_an_unknown_sequence_is_an_error_with_the_nearest_name(project: Project) -> None:
    project.prepare()
    done = project.run("--sequence", "sequenze")
    assert done.returncode == 1
    assert "there is no runtime sequence 'sequenze'" in done.stderr
    assert "did you mean 'sequence'?" in done.stderr


def test_several_sequences_are_run_and_named_in_one_line(project: Project) -> None:
    project.name = "rtp"
    check = """\
import numpy as np

def inputs(p, rng, sequence):
    return {"X": rng.integers(-100, 100, 128 if sequence == "triple" else 256, dtype=np.int32)}

def reference(p, X, sequence):
    if sequence == "triple":
        return {"Y": np.maximum(3 * X, 3)}
    return {"Y": np.maximum(5 * X.reshape(4, 64)[[0, 2]], 5)}
"""
    project.prepare(check=check)
    done = project.run("--sequence", "triple", "--sequence", "halves", arguments="X,Y")
    assert done.stdout == (
        "copy: triple: Y agrees with the reference, largest error 0 (128 i32); "
        "halves: Y agrees with the reference, largest error 0 (2x64 i32)\n"
    )
    record = json.loads((project.root / "build/out/check.json").read_text())
    assert [each["name"] for each in record["sequences"]] == ["triple", "halves"]


def test_a_deadlock_is_reported_and_leaves_no_result(project: Project) -> None:
    project.name = "deadlock"
    check = (
        "import numpy as np\ndef inputs(p, rng): return {'X': np.arange(48, dtype=np.int32)}\n"
        "def reference(p, X): return {'Y': X}\n"
    )
    project.prepare(check=check)
    done = project.run("--trace", "build/trace", arguments="X,Y")
    assert done.returncode == 1
    assert "the core at (0, 2) waits for a second object of `in`, one is there" in done.stderr
    assert "the host waits for `out`" in done.stderr
    assert not project.exists("build/out/check.json")
    assert project.exists("build/trace")


def test_the_library_is_a_zip_of_stored_members_with_an_index(project: Project) -> None:
    project.prepare()
    assert project.link().returncode == 0
    with zipfile.ZipFile(project.root / "build/x.zip") as library:
        assert [entry.filename for entry in library.infolist()] == ["index.json", "kernels_0.so"]
        assert {entry.compress_type for entry in library.infolist()} == {zipfile.ZIP_STORED}
        assert {entry.date_time for entry in library.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert json.loads(library.read("index.json"))["cores"] == {"0,2": "kernels_0.so"}
    assert not [path for path in (project.root / "build").iterdir() if path.name.startswith(".link")]


def test_all_errors_of_the_objects_are_said_before_linking(project: Project) -> None:
    project.name = "matmul"
    project.prepare()
    project.compile("mm.o", 'extern "C" void something_else() {}')
    done = project.link("--object", "mm.o=build/mm.o")
    assert done.returncode == 1
    assert "zero_i32" in done.stderr
    assert "matmul_i16_i32" in done.stderr
    assert not project.exists("build/x.zip")


def test_a_file_that_was_not_given_is_named(project: Project) -> None:
    project.prepare()
    done = project.link("--object", "passthru.o=build/passthrough.o")
    assert done.returncode == 1
    assert "no file was given for 'passthrough.o'" in done.stderr
    assert "did you mean 'passthru.o'?" in done.stderr


def test_what_no_file_defines_is_said_by_the_linker_and_summed_up(project: Project) -> None:
    project.prepare("extern void elsewhere(int); elsewhere(1);")
    done = project.link()
    assert done.returncode == 1
    assert "the kernels of passthrough_u8 cannot be linked" in done.stderr
    assert "not defined anywhere: elsewhere" in done.stderr


def test_a_function_is_taken_out_of_an_archive(project: Project) -> None:
    project.prepare()
    archive = ("ar", "rcs", "build/libcopy.a", "build/passthrough.o")
    subprocess.run(archive, cwd=project.root, check=True)
    text = (project.root / "build/x.facts.json").read_text().replace("passthrough.o", "libcopy.a")
    project.write("build/x.facts.json", text)
    assert project.link("--object", "libcopy.a=build/libcopy.a").returncode == 0
    with zipfile.ZipFile(project.root / "build/x.zip") as library:
        assert b"passthrough_u8" in library.read("kernels_0.so")


def test_a_design_without_kernels_is_linked_to_nothing_and_runs(project: Project) -> None:
    project.name = "layout"
    check = CHECK.replace("0, 256, p.n, dtype=np.uint8", "0, 256, 512, dtype=np.int32").replace('"B": A', '"B": A + 1')
    project.prepare(check=check)
    assert project.run().stdout == "copy: B agrees with the reference, largest error 0 (512 i32)\n"


def test_objects_come_before_archives() -> None:
    words = command(["a.a", "b.o", "c.a", "d.o"], ["f"], "g++ -m64")
    assert [word for word in words if word.endswith((".o", ".a"))] == ["b.o", "d.o", "a.a", "c.a"]
    assert words[1] == "-m64"
    assert "-Wl,-u,f" in words


@pytest.mark.parametrize("words", [(), ("transalte",), ("link", "--object", "x", "--facts", "f", "-o", "z")])
def test_wrong_usage_has_exit_status_two(project: Project, words: tuple[str, ...]) -> None:
    assert project.host(*words).returncode == 2


def test_an_unsupported_op_leaves_no_text(project: Project) -> None:
    project.prepare()
    text = (project.root / "build/x.generic.mlir").read_text()
    project.write("build/x.generic.mlir", text.replace('"aie.end"() : () -> ()', '"aie.event"() : () -> ()', 1))
    done = project.host("translate", "build/x.generic.mlir", "-o", "build/x.cores.py")
    assert done.returncode == 1
    assert "core (0, 2): op `aie.event` is not supported on the host" in done.stderr
    assert not project.exists("build/x.cores.py")


def test_the_parent_of_a_run_imports_nothing_slow() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import aiebuild.host.__main__, aiebuild.host.run; "
        "print([name for name in ('numpy', 'ml_dtypes', 'xdsl', 'jinja2', 'yaml') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, SITE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_a_child_whose_parent_is_killed_ends_too(project: Project) -> None:
    project.prepare(
        f'FILE *mark = fopen("{project.root}/pid", "w"); fprintf(mark, "%d", getpid()); fclose(mark); '
        "for (;;) sleep(1);",
        kernel="#include <cstdio>\n#include <unistd.h>\n" + KERNEL,
    )
    assert project.link().returncode == 0
    parent = subprocess.Popen(project.run_command(), cwd=project.root, env=project.environment)
    mark = project.root / "pid"
    wait_until(lambda: mark.exists() and mark.read_text() != "")
    child = Path("/proc") / mark.read_text() / "stat"
    assert child.exists()
    parent.kill()
    parent.wait()
    wait_until(lambda: not child.exists() or child.read_text().split(")")[1].split()[0] == "Z")


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for something to hold."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to hold")
