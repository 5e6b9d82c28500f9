"""`Project` and `Built`: what Python programs are given."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from aiebuild import BuildError, Built, Project
from aiebuild.built_run import RunNote
from aiebuild.environment import variables
from aiebuild.errors import RunError
from aiebuild.record import keep, recall
from aiebuild.stamps import digest
from projects import CONTRACT, PACKAGE, add_design, new_project
from projects import Project as Files

if TYPE_CHECKING:
    from pathlib import Path

ADD = """\
#ifndef SOME
#define SOME 1
#endif
extern "C" void add(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + SOME; }
"""
RECIPE = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add"], defines={"SOME": p.some})
env.Design(mlir="adder.mlir.j2", link_with=[add], check="check.py")
"""
PARAMETER = "parameters: {some: {type: int, default: 1}}\n"
CHECK = """\
import numpy as np


def inputs(p, rng):
    return {"X": rng.integers(-100, 100, 32, dtype=np.int32)}


def reference(p, X):
    return {"Y": X + p.some}
"""
X = np.arange(32, dtype=np.int32)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in variables():
        if name.startswith(("AIE", "PEANO", "MLIR_AIE", "CXX")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))


def adder(root: Path) -> Files:
    files = new_project(root)
    files.write("kernels/add.cc", ADD)
    add_design(files, "adder", RECIPE, {"add": "add.o"}, contract=CONTRACT + PARAMETER, check=CHECK)
    return files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return the design as it stands, built once for all that only look at it or run it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(PACKAGE))
        return Project(adder(tmp_path_factory.mktemp("made") / "project").root).build("adder")


@pytest.fixture
def files(made: Built, tmp_path: Path) -> Files:
    """Return a copy of the project with the design built, for tests of what comes after that."""
    return Files(made.root).copy_built(tmp_path / "project")


@pytest.fixture
def unbuilt(tmp_path: Path) -> Files:
    """Return the project without anything built."""
    return adder(tmp_path / "project")


def test_the_designs_are_listed_and_described(files: Files) -> None:
    project = Project(files.root)
    assert project.designs() == ("adder",)
    described = project.describe("adder")
    assert described["name"] == "adder"
    assert described["parameters"][0]["name"] == "some"


def test_a_folder_without_a_project_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="there is no SConstruct in"):
        Project(tmp_path)


def test_describing_an_unknown_design_names_the_nearest(files: Files) -> None:
    with pytest.raises(BuildError, match="did you mean 'adder'"):
        Project(files.root).describe("ader")


def test_a_wrong_contract_is_said_with_its_line_relative_to_the_project(files: Files) -> None:
    files.write("designs/adder/design.yaml", "description: x\ndevices: [npu7]\n")
    with pytest.raises(BuildError, match=r"^designs/adder/design.yaml:2: error: "):
        Project(files.root).describe("adder")


def test_a_design_is_built_once_and_is_fresh_afterwards(unbuilt: Files) -> None:
    project = Project(unbuilt.root)
    assert not project.status("adder")
    lines: list[str] = []
    built = project.build("adder", progress=lines.append)
    assert not built.was_fresh
    assert built.compiled == ("kernels/add.cc",)
    assert "".join(f"{line}\n" for line in lines) == built.log
    assert project.status("adder").fresh
    again = project.build("adder")
    assert again.was_fresh
    assert again.steps == ()
    assert "nothing to do" in again.log
    assert again.artifacts == built.artifacts


def test_the_record_is_shared_with_the_command_line(unbuilt: Files) -> None:
    unbuilt.build("design=adder", "some=4")
    project = Project(unbuilt.root)
    assert project.status("adder", some=4).fresh
    assert project.build("adder", some=4).was_fresh
    assert not project.status("adder", some=5).fresh
    project.build("adder", some=5)
    assert unbuilt.build("design=adder", "some=5").steps == []


def test_an_edited_kernel_is_the_reason_and_is_rebuilt(files: Files) -> None:
    project = Project(files.root)
    project.build("adder")
    files.write("kernels/add.cc", ADD + "// an edit\n")
    status = project.status("adder")
    assert not status.fresh
    assert status.reasons == ("kernels/add.cc changed",)
    assert project.build("adder").compiled == ("kernels/add.cc",)


def test_an_edit_of_the_same_size_with_the_old_times_is_noticed(files: Files) -> None:
    project = Project(files.root)
    project.build("adder")
    path = files.root / "kernels/add.cc"
    before = path.stat()
    path.write_text(ADD.replace("+ SOME", "- SOME"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not project.status("adder").fresh


def test_a_deleted_output_is_noticed_though_the_record_was_read_before(files: Files) -> None:
    project = Project(files.root)
    built = project.build("adder")
    assert project.status("adder")
    built.artifacts["kernels"].unlink()
    assert not project.status("adder")
    assert project.build("adder").artifacts["kernels"].is_file()


def test_a_damaged_record_is_no_record(files: Files) -> None:
    project = Project(files.root)
    project.build("adder")
    assert project.status("adder")
    (record,) = (files.root / "build/.aiebuild/fresh").iterdir()
    record.write_bytes(record.read_bytes().replace(b"kernels", b"kernles"))
    assert not project.status("adder")
    assert Project(files.root).build("adder").steps == ()


def test_files_come_of_age_without_a_build(files: Files) -> None:
    project = Project(files.root)
    project.build("adder")
    (record,) = (files.root / "build/.aiebuild/fresh").iterdir()
    known = recall(str(record))
    known["young"] = {"kernels/add.cc": digest(str(files.root / "kernels/add.cc"))}
    keep(str(record), known)
    time.sleep(2.2)
    assert project.status("adder")
    assert recall(str(record))["young"] == {}
    assert project.status("adder")


def test_the_current_folder_makes_no_difference(files: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(files.root)
    project = Project(".")
    monkeypatch.chdir(tmp_path)
    built = project.build("adder")
    assert all(path.is_absolute() and path.is_file() for path in built.artifacts.values())
    assert project.status("adder")
    assert built.run(X)[0].tolist() == (X + 1).tolist()


def test_two_projects_in_one_process_are_apart(tmp_path: Path) -> None:
    one, two = adder(tmp_path / "one"), adder(tmp_path / "two")
    two.write("kernels/add.cc", ADD.replace("+ SOME", "+ SOME + 0"))
    first, second = Project(one.root).build("adder"), Project(two.root).build("adder", some=7)
    assert first.folder.is_relative_to(one.root)
    assert first.run(X)[0][0] == 1
    assert second.run(X)[0][0] == 7


def test_the_artifacts_of_the_host(made: Built) -> None:
    assert set(made.artifacts) == {"mlir", "generic", "facts", "parameters", "cores", "kernels", "check"}
    assert made.folder == made.root / "build/host/designs/adder/npu1_1col"
    assert made.manifest is not None
    assert made.manifest["design"] == made.design


def test_artifacts_of_several_sequences_are_told_apart(tmp_path: Path) -> None:
    for name in ("d.one.insts.bin", "d.two.insts.bin", "d.xclbin", "d.mlir", "manifest.json"):
        (tmp_path / name).write_text("{}")
    built = Built("d", "aie2", tmp_path, tmp_path, "")
    assert set(built.artifacts) == {"insts.one", "insts.two", "xclbin", "mlir"}
    assert built.manifest == {}
    with pytest.raises(BuildError, match="this machine cannot run"):
        built.run()


def test_an_error_has_the_text_of_the_command(unbuilt: Files) -> None:
    unbuilt.write("kernels/add.cc", "int add( {\n")
    said = unbuilt.scons("design=adder")
    with pytest.raises(BuildError) as caught:
        Project(unbuilt.root).build("adder")
    assert str(caught.value) == said.err.strip()
    assert "designs/adder/SConscript:5: error: CoreObject 'add'" in str(caught.value)
    assert "failed after" in caught.value.log


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"some": "x"}, "some=x is not an int"),
        ({"sme": 1}, "did you mean 'some'"),
        ({"mode": "relase"}, "did you mean 'release'"),
        ({"device": "npu1_2col"}, "is not for device 'npu1_2col'"),
        ({"arch": "host,aie2"}, "one design and one arch at a time"),
        ({"json": "x"}, "json= cannot be given here"),
    ],
)
def test_a_wrong_word_is_an_error(files: Files, words: dict[str, str], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        Project(files.root).build("adder", **words)  # type: ignore[arg-type] # wrong on purpose


def test_several_threads_may_build_one_design(unbuilt: Files) -> None:
    project = Project(unbuilt.root)
    results: list[Built] = []
    notes: list[str] = []

    def build() -> None:
        results.append(project.build("adder", progress=notes.append))

    threads = [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3
    assert sum(len(built.compiled) for built in results) == 1
    assert any(line.startswith("waiting for the build of process") for line in notes)


def test_a_callback_that_raises_ends_the_build(unbuilt: Files) -> None:
    def stop(line: str) -> None:
        raise KeyboardInterrupt(line)

    with pytest.raises(KeyboardInterrupt):
        Project(unbuilt.root).build("adder", progress=stop)
    assert Project(unbuilt.root).build("adder").run(X)[0][0] == 1


def test_a_run_returns_what_the_sequence_writes(files: Files) -> None:
    built = Project(files.root).build("adder", some=3)
    (y,) = built.run(X.reshape(4, 8))
    assert y.dtype == np.int32
    assert y.tolist() == (X + 3).tolist()


def test_an_output_that_is_given_gets_the_result(made: Built) -> None:
    mine = np.zeros((2, 16), np.int32)
    (y,) = made.run(X, mine)
    assert y is mine
    assert mine.ravel().tolist() == (X + 1).tolist()


def test_inputs_that_are_left_out_are_zeros(made: Built) -> None:
    assert made.run()[0].tolist() == [1] * 32
    assert made.run(None)[0].tolist() == [1] * 32


def test_arrays_that_do_not_fit_are_errors(made: Built) -> None:
    with pytest.raises(RunError, match=r"X is given 32 elements of int64, the design has 32 of int32(.|\n)*X.astype"):
        made.run(X.astype(np.int64))
    with pytest.raises(RunError, match="X is given 16 elements"):
        made.run(X[:16])
    with pytest.raises(RunError, match=r"is given 3 arrays; its arguments: X \(in, memref<32xi32>\), Y \(out"):
        made.run(X, X, X)
    with pytest.raises(RunError, match="no runtime sequence 'other'"):
        made.run(X, sequence="other")


def test_a_run_prints_nothing_and_works_in_a_thread(files: Files, capfd: pytest.CaptureFixture[str]) -> None:
    files.write("kernels/add.cc", "#include <cstdio>\n" + ADD.replace("{ for", '{ std::puts("called"); for'))
    built = Project(files.root).build("adder")
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(int(built.run(X)[0][5])))
    thread.start()
    thread.join()
    assert found == [6]
    assert capfd.readouterr() == ("", "")


def test_a_kernel_that_crashes_is_named_with_its_core(files: Files) -> None:
    files.write("kernels/add.cc", "#include <cstdlib>\n" + ADD.replace("{ for", "{ if (x[0] == 7) abort(); for"))
    files.write("designs/adder/check.py", CHECK.replace("-100, 100", "8, 100"))
    built = Project(files.root).build("adder")
    with pytest.raises(RunError, match=r"kernel `add` called by core \(0, 2\) crashed \(SIGABRT\)"):
        built.run(X + 7)


def test_a_run_that_does_not_end_is_stopped(files: Files) -> None:
    files.write("designs/adder/check.py", CHECK.replace("-100, 100", "8, 100"))
    files.write("kernels/add.cc", ADD.replace("{ for", "{ while (((volatile int *)x)[0] == 7) { } for"))
    built = Project(files.root).build("adder")
    with pytest.raises(RunError, match=r"still running after 0\.5 s"):
        built.run(X * 0 + 7, timeout=0.5)


def test_a_deadlock_has_the_text_of_the_command(files: Files) -> None:
    text = files.read("designs/adder/adder.mlir.j2")
    files.write("designs/adder/adder.mlir.j2", text.replace("aie.objectfifo.release @out", "// nothing is sent: @out"))
    recipe = files.read("designs/adder/SConscript").replace(', check="check.py"', "")
    files.write("designs/adder/SConscript", recipe)
    built = Project(files.root).build("adder")
    with pytest.raises(RunError, match=r"designs/adder/adder.mlir.j2(.|\n)*deadlock"):
        built.run(X)


def test_a_transfer_that_is_not_waited_for_is_a_warning(files: Files) -> None:
    template = files.read("designs/adder/adder.mlir.j2").replace("aiex.npu.dma_wait {symbol = @out}", "")
    files.write("designs/adder/adder.mlir.j2", template)
    built = Project(files.root).build("adder")
    with pytest.warns(RunNote, match="does not wait"):
        built.run(X)


def test_a_run_that_is_whole_warns_of_nothing(made: Built) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.run(X)


def test_a_trace_has_the_events_of_a_run(made: Built) -> None:
    events = made.trace(X)
    assert {event["event"] for event in events} >= {"acquire", "transfer"}
    assert all("who" in event for event in events)


def test_importing_the_package_does_not_load_the_api() -> None:
    code = "import sys, aiebuild; sys.exit(any(name.startswith('aiebuild.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    import aiebuild  # noqa: PLC0415 - what is tested

    with pytest.raises(AttributeError, match="Projekt"):
        aiebuild.Projekt  # noqa: B018 - the same
