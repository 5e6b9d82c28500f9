"""Parameters, variant folders and where things are kept: rows F11, F14, F15, F17, F18, F21, U2, U20 and U21."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from aiebuild import options
from aiebuild.scons.project import elsewhere
from installations import install
from projects import CONTRACT, Project, add_design, new_project

KERNEL = """\
extern "C" void add_some(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + SOME; }
"""
PARAMETERS = """\
parameters:
  some: {type: int, default: 1}
  word: {type: string, default: "1"}
"""
RECIPE = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_some"], defines={"SOME": p.some})
env.Design(mlir="x.mlir.j2", link_with=[add], check="check.py")"""
CHECK = """\
import numpy as np


def inputs(p, rng):
    return {"X": rng.integers(-100, 100, 32, dtype=np.int32)}


def reference(p, X):
    return {"Y": X + p.some}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project of `adder`, built once."""
    project = with_design(new_project(tmp_path_factory.mktemp("made") / "project"))
    project.build("design=x")
    return project


@pytest.fixture
def built(made: Project, tmp_path: Path) -> Project:
    """The project of `adder` with its design built, for tests of what comes after that."""
    return made.copy_built(tmp_path / "project")


@pytest.fixture
def adder(project: Project) -> Project:
    """A project with a design `x` that adds its parameter `some`."""
    return with_design(project)


def with_design(project: Project) -> Project:
    """Add the design `x`."""
    project.write("kernels/add.cc", KERNEL)
    add_design(project, "x", RECIPE, {"add_some": "add.o"}, contract=CONTRACT + PARAMETERS, check=CHECK)
    return project


def test_f11_a_changed_parameter_rebuilds_its_dependents(built: Project) -> None:
    built.build("design=x")
    assert built.build("design=x", "some=2").compiled == ["kernels/add.cc"]
    assert built.build("design=x", "some=2").steps == []


def test_f11_a_parameter_that_no_kernel_uses_compiles_nothing(built: Project) -> None:
    built.build("design=x")
    again = built.build("design=x", "word=other")
    assert again.compiled == []
    assert "run x (npu1_1col,word=other)" in again.steps


def test_f11_values_are_typed(built: Project) -> None:
    built.build("design=x", "some=0x10")
    assert built.build("design=x", "some=16").steps == []
    record = json.loads(built.read("build/host/designs/x/npu1_1col,some=16/x.parameters.json"))
    assert record["parameters"] == {"some": 16, "word": "1"}


def test_f15_two_parameter_sets_live_side_by_side(built: Project) -> None:
    built.build("design=x")
    built.build("design=x", "some=2")
    folders = sorted(path.name for path in (built.root / "build/host/designs/x").iterdir())
    assert folders == ["npu1_1col", "npu1_1col,some=2"]
    assert len(built.objects()) == 2
    assert built.build("design=x").steps == []
    assert built.build("design=x", "some=2").steps == []


def test_f15_a_variant_is_the_same_folder_as_its_parameters(adder: Project) -> None:
    contract = adder.read("designs/x/design.yaml")
    adder.write("designs/x/design.yaml", contract + "variants:\n  two: {some: 2}\n")
    adder.build("design=x", "variant=two")
    assert adder.build("design=x", "some=2").steps == []


def test_u21_modes_and_devices_have_folders_of_their_own(adder: Project) -> None:
    adder.build("design=x", "mode=debug")
    adder.build("design=x", "device=npu2_1col")
    folders = sorted(path.name for path in (adder.root / "build/host/designs/x").iterdir())
    assert folders == ["npu1_1col-debug", "npu2_1col"]


def test_an_edit_of_a_help_text_in_the_contract_runs_nothing(built: Project) -> None:
    built.build("design=x")
    contract = built.read("designs/x/design.yaml").replace("{type: int,", "{help: added to each, type: int,")
    built.write("designs/x/design.yaml", contract)
    assert built.build("design=x").steps == []


def test_a_comment_in_the_recipe_runs_nothing(built: Project) -> None:
    built.build("design=x")
    built.write("designs/x/SConscript", "# why\n" + built.read("designs/x/SConscript"))
    assert built.build("design=x").steps == []


def test_an_edit_of_the_check_runs_the_check_alone(built: Project) -> None:
    built.build("design=x")
    built.write("designs/x/check.py", CHECK + "# why\n")
    assert built.build("design=x").steps == ["run x (npu1_1col)"]


def test_a_module_that_the_check_imports_is_an_input(built: Project) -> None:
    built.write("designs/x/model.py", "OFFSET = 0\n")
    lines = CHECK.replace("import numpy as np\n", "import numpy as np\n\nfrom model import OFFSET\n")
    built.write("designs/x/check.py", lines.replace("X + p.some", "X + p.some + OFFSET"))
    built.build("design=x")
    assert built.build("design=x").steps == []
    built.write("designs/x/model.py", "OFFSET = 5\n")
    failed = built.scons("design=x")
    assert failed.steps == ["run x (npu1_1col)"]
    assert failed.status == 2


def test_f10_a_macro_file_that_a_template_imports_is_an_input(built: Project) -> None:
    built.write("templates/words.mlir.j2", "{% macro two() %}2{% endmacro %}")
    template = built.read("designs/x/x.mlir.j2").replace("constant 2 : index", "constant {{ words.two() }} : index")
    built.write("designs/x/x.mlir.j2", '{% import "words.mlir.j2" as words %}\n' + template)
    built.build("design=x")
    assert built.build("design=x").steps == []
    built.write("templates/words.mlir.j2", "{% macro two() %}1 + 1{% endmacro %}")
    failed = built.scons("design=x")
    assert "render designs/x/x.mlir.j2" in failed.steps
    assert failed.status == 2


def test_a_template_that_shadows_a_shared_one_is_noticed(built: Project) -> None:
    built.write("templates/words.mlir.j2", "{% macro two() %}2{% endmacro %}")
    template = built.read("designs/x/x.mlir.j2").replace("constant 2 : index", "constant {{ words.two() }} : index")
    built.write("designs/x/x.mlir.j2", '{% import "words.mlir.j2" as words %}\n' + template)
    built.build("design=x")
    built.write("designs/x/words.mlir.j2", "{% macro two() %}02{% endmacro %}")
    assert "render designs/x/x.mlir.j2" in built.build("design=x").steps
    assert built.build("design=x").steps == []


def test_f17_nothing_is_kept_outside_the_build_folder(adder: Project, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    adder.variables["HOME"] = str(home)
    before = sources(adder.root)
    adder.build("design=x")
    assert list(home.iterdir()) == []
    assert sources(adder.root) == before


def sources(root: Path) -> list[str]:
    """Return the files of a project that are not below `build`, by name, without Python's own caches."""
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.parts[0] != "build")


def test_u2_the_whole_build_can_live_elsewhere(adder: Project) -> None:
    adder.build("design=x", "build_dir=out/of the way")
    assert (adder.root / "out/of the way/host/designs/x/npu1_1col/check.json").is_file()
    assert not (adder.root / "build").exists()
    assert adder.build("design=x", "build_dir=out/of the way").steps == []


def test_f21_a_build_after_one_that_shows_more_is_a_null_build(adder: Project) -> None:
    adder.build("design=x", "verbose=1")
    assert adder.build("design=x").steps == []
    assert adder.build("design=x", "run_timeout=60").steps == []


def test_u20_the_help_of_a_design_names_its_parameters(adder: Project) -> None:
    said = adder.build("-h", "design=x").out
    assert "some=int [1]" in said
    assert "arch=host|aie2|aie2p [host]" in said


def test_list_and_describe_answer_people_and_programs(adder: Project) -> None:
    assert "x  host, aie2, aie2p  a design of the tests" in adder.build("list").out
    assert "devices: npu1_1col, npu2_1col" in adder.build("describe", "design=x").out
    adder.build("describe", "design=x", "json=answer.json")
    (record,) = json.loads(adder.read("answer.json"))
    assert [item["name"] for item in record["parameters"]] == ["some", "word"]
    assert not (adder.root / "build/host").exists()
    adder.build("design=x")
    assert "x  host (fresh), aie2, aie2p  a design of the tests" in adder.build("list").out
    adder.write("kernels/add.cc", "// edited\n" + KERNEL)
    assert "x  host (stale), aie2, aie2p  a design of the tests" in adder.build("list").out


@pytest.fixture
def npu(adder: Project, tmp_path: Path) -> Project:
    """The same project with stand-ins for the NPU's tools."""
    adder.variables |= install(tmp_path / "tools", "C2").variables | {"AIE_STUB_LOG": str(tmp_path / "log")}
    return adder


NOWHERE = "build_dir=/proc/aiebuild"
"""A folder that not even root can make: like that of a project that is read-only."""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_what_only_answers_needs_no_folder_that_can_be_written(adder: Project) -> None:
    for words in (("list",), ("describe", "design=x"), ("doctor",), ("explain",), ("-h",), ("-n",)):
        built = adder.scons(*words, NOWHERE)
        assert (built.status, built.err) == (0, ""), words
    assert adder.scons("-q", "design=x", NOWHERE).status == 1
    assert adder.scons("design=x", NOWHERE).status == 2


@pytest.mark.parametrize("place", ["SConstruct", "notes/sub/sub"])
def test_a_file_in_the_way_of_the_build_folder_is_named(adder: Project, place: str) -> None:
    adder.write("notes", "a file")
    file = place.removesuffix("/sub/sub")
    failed = adder.scons("design=x", f"build_dir={place}")
    assert failed.status == 2
    assert f"error: build_dir={place} cannot be a folder: {file} is a file\n" in failed.err


def test_notes_that_cannot_be_written_are_no_failure_of_a_build(adder: Project) -> None:
    (adder.root / "build/host/designs/x/npu1_1col/last-run.json").mkdir(parents=True)
    adder.write("build/.aiebuild/fresh", "")
    built = adder.build("design=x")
    assert built.out.splitlines()[-1].startswith("x: 9 steps run, built in build/host/designs/x/npu1_1col")
    record, last = sorted(built.err.splitlines())
    assert record.startswith("warning: build/.aiebuild/fresh/x-host-")
    assert record.endswith(" cannot be written: File exists; the next build reads the recipe again")
    assert last == "warning: build/host/designs/x/npu1_1col/last-run.json cannot be written: Is a directory"


def test_signatures_that_cannot_be_written_fail_the_run_and_no_step(adder: Project) -> None:
    (adder.root / "build/.aiebuild/signatures.tmp").mkdir(parents=True)
    built = adder.scons("design=x")
    assert built.status == 2
    lost = "the next build makes again what this one has made"
    assert built.err == f"build/.aiebuild/signatures.dblite: error: Is a directory\n  {lost}\n"
    (adder.root / "build/.aiebuild/signatures.tmp").rmdir()
    assert adder.build("mode=debug").err == ""


def test_a_folder_in_the_way_of_the_signatures_is_named(adder: Project) -> None:
    (adder.root / "build/.aiebuild/signatures.dblite").mkdir(parents=True)
    said = "error: build/.aiebuild/signatures.dblite is a folder, and SCons keeps its signatures in a file there\n"
    assert adder.scons("design=x").err.startswith(said)


def test_a_folder_or_file_in_the_way_of_what_is_built_is_named(adder: Project) -> None:
    recipe, output = "designs/x/SConscript:6: error: ", "build/host/designs/x/npu1_1col/x.mlir"
    (adder.root / output).mkdir(parents=True)
    assert adder.scons("design=x").err.startswith(f"{recipe}{output} is a folder, and a step writes a file there\n")
    shutil.rmtree(adder.root / "build/host")
    adder.write("build/host", "")
    said = "build/host is a file, and steps write into a folder of that name\n  move it away\n"
    assert said in adder.scons("design=x").err
    (adder.root / "build/host").unlink()
    adder.write("LICENSE", "MIT\n")
    (adder.root / "dist/x-0.0.0-host.zip").mkdir(parents=True)
    failed = adder.scons("package", "format=zip", "design=x")
    assert failed.err == f"{recipe}dist/x-0.0.0-host.zip is a folder, and a step writes a file there\n  move it away\n"


def test_a_file_in_the_way_of_an_editors_folder_is_named_once(adder: Project) -> None:
    adder.write(".vscode", "")
    failed = adder.scons("ide")
    assert failed.status == 2
    assert failed.err.count(".vscode: error: this is a file, and a folder belongs there\n  move it away\n") == 1


def test_an_answer_leaves_no_build_folder(adder: Project) -> None:
    for words in (("list",), ("describe",), ("doctor",), ("-h",), ("explain",), ("new", "design=other")):
        adder.build(*words)
        assert not (adder.root / "build").exists(), words


@pytest.mark.parametrize(
    ("number", "file", "is_said"),
    [
        (errno.EROFS, "build/.aiebuild/lock", True),
        (errno.EACCES, "build", True),
        (errno.ENOSPC, "build/.aiebuild/lock", False),
        (errno.EACCES, "designs/x/design.yaml", False),
    ],
)
def test_a_build_folder_that_cannot_be_written_may_be_elsewhere(number: int, file: str, is_said: bool) -> None:
    hint = elsewhere(OSError(number, os.strerror(number), file), options.understand(()))
    assert ("build_dir=DIR" in hint) == is_said


def test_f14_switching_the_arch_keeps_both_results_side_by_side(npu: Project) -> None:
    assert npu.build("design=x", "arch=aie2").compiled == ["kernels/add.cc"]
    assert npu.build("design=x", "arch=aie2p").compiled == ["kernels/add.cc"]
    assert npu.build("design=x", "arch=aie2").steps == []
    assert len(npu.objects("aie2")) == len(npu.objects("aie2p")) == 1
    assert npu.objects("aie2")[0].read_bytes() != npu.objects("aie2p")[0].read_bytes()


def test_u5_every_declared_option_reaches_the_compiler(npu: Project, tmp_path: Path) -> None:
    recipe = RECIPE.replace('"SOME": p.some', '"SOME": p.some, "Y": None').replace(
        "functions", 'include_dirs=["#inc", "here"], flags=["-O3", "-fno-exceptions"], functions'
    )
    npu.write("designs/x/SConscript", f'Import("env", "p")\n\n{recipe}\n')
    npu.write("include/x.h", "")
    said = npu.build("design=x", "arch=aie2").err
    assert "warning: designs/x/SConscript:3: CoreObject 'add': include_dirs: inc is no folder (did you mean 'in" in said
    calls = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    (argv,) = (call["argv"] for call in calls if "kernels/add.cc" in call["argv"])
    wanted = ["-DSOME=1", "-DY", "-Iinc", "-Idesigns/x/here", "-O3", "-fno-exceptions"]
    assert [word for word in argv if word in wanted] == wanted
    assert "--target=aie2-none-unknown-elf" in argv


def test_f18_every_target_has_a_source_and_every_source_is_read(adder: Project) -> None:
    """The graph as SCons prints it: no target stands alone, and every file of the project is below the run."""
    said = adder.build("-n", "--tree=all", "design=x").out
    for name in ("designs/x/x.mlir.j2", "designs/x/check.py", "kernels/add.cc"):
        assert name in said
    lines = [line for line in said.splitlines() if "+-" in line]
    depth = [line.index("+-") for line in lines]
    for position, line in enumerate(lines):
        if "+-build/" in line and "/objects/" not in line:
            assert position + 1 < len(lines)
            assert depth[position + 1] > depth[position], f"{line} has no source"


def test_the_steps_need_no_shell(adder: Project, tmp_path: Path) -> None:
    """U18: a folder on PATH without `sh`, `awk` and `make` is enough."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("g++", "ar", "as", "ld", "objcopy"):
        (tools / name).symlink_to(os.path.realpath(str(shutil.which(name))))
    adder.variables["PATH"] = str(tools)
    assert adder.build("design=x").status == 0


def test_a_file_outside_the_project_that_the_check_opens_is_an_input(built: Project, tmp_path: Path) -> None:
    outside = tmp_path / "offset.txt"
    outside.write_text("0")
    lines = CHECK.replace("X + p.some", f'X + p.some + int(open("{outside}").read())')
    built.write("designs/x/check.py", lines)
    built.build("design=x")
    assert built.build("design=x").steps == []
    outside.write_text("1")
    failed = built.scons("design=x")
    assert failed.steps == ["run x (npu1_1col)"]
    assert failed.status == 2


def test_the_source_folders_get_no_bytecode(adder: Project) -> None:
    adder.write("designs/x/model.py", "OFFSET = 0\n")
    adder.write("designs/x/check.py", CHECK.replace("import numpy as np\n", "import model\nimport numpy as np\n"))
    before = sources(adder.root)
    adder.build("design=x")
    assert sources(adder.root) == before
