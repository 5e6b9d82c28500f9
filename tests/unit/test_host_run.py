"""The host's steps as commands: translate, link and run, and what they say when something is wrong."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiebuild.host.link import command, linker_name
from host_designs import CHECK, KERNEL, SITE, Project

if TYPE_CHECKING:
    from collections.abc import Callable


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


def test_a_file_with_another_suffix_is_linked_as_an_object(project: Project) -> None:
    """Compilers would take `copy.ll` for LLVM's text, and refuse the object in it or compile it."""
    project.prepare()
    text = (project.root / "build/x.facts.json").read_text().replace("passthrough.o", "copy.ll")
    project.write("build/x.facts.json", text)
    project.write(
        "strict", '#!/bin/sh\ncase "$*" in *.ll\\ *) echo "$*: compiles that" >&2; exit 1;; esac\nexec g++ "$@"\n'
    )
    (project.root / "strict").chmod(0o755)
    done = project.link("--object", "copy.ll=build/passthrough.o", "--cxx", f"{project.root}/strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert [linker_name(name, ["a.ll", "a.ll.o", "b.o"]) for name in ("a.ll", "a.ll.o", "b.o")] == [
        *("a.ll.o.o", "a.ll.o", "b.o")
    ]


def test_functions_that_a_recipe_promises_must_be_there(project: Project) -> None:
    """Whether something calls them or not; the error has the recipe's line, which the environment gives."""
    project.prepare()
    project.recipe = "designs/x/SConscript:5"
    done = project.link(
        "--object", "passthrough.o=build/passthrough.o", "--promises", "passthrough.o", "passthrough_u8"
    )
    assert (done.returncode, done.stderr) == (0, "")
    done = project.link(
        *("--object", "passthrough.o=build/passthrough.o", "--promises", "passthrough.o", "passthru_u8,negate"),
    )
    assert done.returncode == 1
    assert done.stderr == (
        "designs/x/SConscript:5: error: passthrough.o does not define 'passthru_u8', which the recipe promises "
        "(functions=)\n  did you mean 'passthrough_u8'? it defines: passthrough_u8\n"
        "designs/x/SConscript:5: error: passthrough.o does not define 'negate', which the recipe promises "
        "(functions=)\n  it defines: passthrough_u8\n"
    )
    assert not project.exists("build/x.zip")


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


@pytest.mark.parametrize("has_bf16", [False, True])
def test_ml_dtypes_is_loaded_for_bf16_alone_and_before_the_check(project: Project, has_bf16: bool) -> None:
    project.prepare(check=f"import sys\n\nassert ('ml_dtypes' in sys.modules) is {has_bf16}\n{CHECK}")
    if has_bf16:
        text = (project.root / "build/x.generic.mlir").read_text()
        constant = '%e = "arith.constant"() <{value = 1.0 : bf16}> : () -> bf16\n'
        project.write("build/x.generic.mlir", text.replace('"scf.for"', f'{constant}"scf.for"', 1))
        assert project.host("translate", "build/x.generic.mlir", "-o", "build/x.cores.py").returncode == 0
    done = project.run()
    assert done.returncode == 0, done.stderr


def interrupted(project: Project, words: tuple[str, ...], sign: str) -> tuple[int, str, str]:
    """Start a step, send it what Ctrl-C sends once `sign` exists, and return its status and what it said."""
    step = subprocess.Popen(
        words,
        cwd=project.root,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: project.exists(sign))
    step.send_signal(signal.SIGINT)
    said, errors = step.communicate(timeout=300)
    return step.returncode, said, errors


def test_an_interrupted_run_ends_quietly(project: Project) -> None:
    project.prepare(
        f'fclose(fopen("{project.root}/began", "w")); for (;;) sleep(1);',
        kernel="#include <cstdio>\n#include <unistd.h>\n" + KERNEL,
    )
    assert project.link().returncode == 0
    assert interrupted(project, project.run_command(), "began") == (130, "", "")


def test_an_interrupted_link_ends_quietly_and_leaves_no_work_folder(project: Project) -> None:
    project.prepare()
    project.write("slow", f"#!/bin/sh\ntouch {project.root}/began\nexec sleep 60\n")
    (project.root / "slow").chmod(0o755)
    words = ("link", "--facts", "build/x.facts.json", "--object", "passthrough.o=build/passthrough.o")
    command = (sys.executable, "-m", "aiebuild.host", *words, "--cxx", f"{project.root}/slow", "-o", "build/x.zip")
    assert interrupted(project, command, "began") == (130, "", "")
    assert not [path for path in (project.root / "build").iterdir() if path.name.startswith(".link")]


def test_an_output_that_is_not_waited_for_is_noted(project: Project) -> None:
    """Here it arrives all the same; on the NPU the host would read too early."""
    project.prepare()
    text = (project.root / "build/x.generic.mlir").read_text()
    lines = [line for line in text.splitlines() if "aiex.npu.dma_wait" not in line]
    project.write("build/x.generic.mlir", "\n".join(lines) + "\n")
    assert project.host("translate", "build/x.generic.mlir", "-o", "build/x.cores.py").returncode == 0
    done = project.run()
    assert done.returncode == 0
    assert done.stderr == (
        "build/x.generic.mlir:30:7: note: the sequence does not wait for this transfer of `out` into B: here it was "
        "complete, on the NPU the host may read B too early; add aiex.npu.dma_wait {symbol = @out}\n"
    )


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
