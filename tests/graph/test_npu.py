"""The NPU's steps with stand-in tools: what each edit and each exchanged tool runs again, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from installations import Installation, install
from projects import CONTRACT, REPOSITORY, Built, HandMade, Project, add_design, new_project, one_core_mlir

if TYPE_CHECKING:
    from collections.abc import Sequence

DIALECTS = ("A", "B", "C0", "C1", "C2")
KERNEL = 'extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }\n'
ADD = 'add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])\n'
DESIGN = 'env.Design(mlir="x.mlir.j2", link_with=[add], check="check.py"{more})'


@pytest.fixture
def tools(tmp_path: Path) -> Installation:
    """Stand-ins for Peano and mlir-aie, the newest dialect."""
    return install(tmp_path / "tools", "C2")


@pytest.fixture
def npu(project: Project, tools: Installation, tmp_path: Path) -> Project:
    """A project with a design of one core, for the NPU."""
    return with_tools(adder(project), tools, tmp_path / "log")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project of `npu`, built once for aie2."""
    folder = tmp_path_factory.mktemp("made")
    project = with_tools(adder(new_project(folder / "project")), install(folder / "tools", "C2"), folder / "log")
    project.build("arch=aie2")
    return project


@pytest.fixture
def built(made: Project, tools: Installation, tmp_path: Path) -> Project:
    """The project of `npu` with its design built for aie2, for tests of what comes after that."""
    return with_tools(made.copy_built(tmp_path / "project"), tools, tmp_path / "log")


def adder(project: Project, more: str = "", recipe: str = ADD, functions: dict[str, str] | None = None) -> Project:
    """Add the design `x`."""
    project.write("kernels/add.cc", KERNEL)
    add_design(project, "x", recipe + DESIGN.format(more=more), functions or {"add_one": "add.o"})
    return project


def with_tools(project: Project, tools: Installation, log: Path) -> Project:
    """Let a project find the stand-ins, and let them log their calls."""
    project.variables |= tools.variables | {"AIE_STUB_LOG": str(log)}
    return project


def calls(log: Path, tool: str) -> list[list[str]]:
    """Return the arguments of each call of a stand-in that was there to do something."""
    said = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    asking = {"--version", "--aie-version", "--help", "--print-targets"}
    return [call["argv"] for call in said if call["tool"] == tool and not asking & set(call["argv"])]


def aiecc_steps(steps: Sequence[str]) -> list[str]:
    """Return the names of what aiecc made."""
    return sorted(step.rpartition("/")[2] for step in steps if step.startswith("aiecc "))


def test_f14_the_third_switch_of_the_arch_does_nothing(built: Project) -> None:
    built.build("arch=aie2")
    built.build("arch=aie2p")
    assert built.build("arch=aie2").steps == []


def test_a_check_that_has_nothing_to_do_reads_no_recipe_and_hides_no_fault(npu: Project) -> None:
    npu.write("designs/x/SConscript", npu.read("designs/x/SConscript") + '\nprint("the recipe is read")\n')
    words = ("design=x", "arch=aie2", "toolchain=peano")
    assert "run x (npu1_1col)" in npu.build("check", *words).steps
    said = npu.build("check", *words).out
    assert "x: nothing to do" in said
    assert "the recipe is read" not in said
    npu.write("designs/x/check.py", npu.read("designs/x/check.py") + "# other\n")
    assert "the recipe is read" not in npu.build(*words).out
    assert "run x (npu1_1col)" in npu.build("check", *words).steps
    # The run on the host was one without this toolchain, which nobody can ask for there.
    assert "toolchain=peano" in npu.scons("design=x", "toolchain=peano").err


def test_f7_another_aiecc_makes_xclbin_and_insts_anew_and_compiles_nothing(built: Project, tools: Installation) -> None:
    built.build("arch=aie2")
    tools.touch("aiecc", "another build")
    again = built.build("arch=aie2")
    assert aiecc_steps(again.steps) == ["x.insts.bin", "x.xclbin"]
    assert again.compiled == []
    assert built.build("arch=aie2").steps == []


def test_f8_another_compiler_rebuilds_kernels_and_what_links_them(built: Project, tools: Installation) -> None:
    built.build("arch=aie2")
    tools.touch("clang++", "another build")
    again = built.build("arch=aie2")
    assert again.compiled == ["kernels/add.cc"]
    assert aiecc_steps(again.steps) == ["x.xclbin"]


def test_f8_another_header_that_the_tools_ship_rebuilds_kernels(built: Project, tools: Installation) -> None:
    built.build("arch=aie2")
    header = next(tools.mlir_aie.rglob("aie_api/*.hpp"))
    header.write_text(header.read_text() + "// upgraded\n")
    assert built.build("arch=aie2").compiled == ["kernels/add.cc"]


def test_f22_an_edit_of_the_sequence_makes_insts_alone(built: Project) -> None:
    built.build("arch=aie2")
    text = built.read("designs/x/x.mlir.j2").replace("{id = 1 : i64", "{id = 2 : i64")
    built.write("designs/x/x.mlir.j2", text)
    assert aiecc_steps(built.build("arch=aie2").steps) == ["x.insts.bin"]


def test_c11_an_edit_of_a_kernel_makes_no_insts(built: Project) -> None:
    built.build("arch=aie2")
    built.write("kernels/add.cc", KERNEL.replace("+ 1", "+ 1 + 0 * i + 0x0") + "int other;\n")
    again = built.build("arch=aie2")
    assert again.compiled == ["kernels/add.cc"]
    assert aiecc_steps(again.steps) == ["x.xclbin"]


def test_f23_a_comment_in_a_kernel_links_nothing(built: Project) -> None:
    built.build("arch=aie2")
    built.write("kernels/add.cc", "// why\n" + KERNEL)
    assert built.build("arch=aie2").steps == ["compile kernels/add.cc"]


TWO_SEQUENCES = """\
    aie.runtime_sequence @{name}(%X: memref<32xi32>, %Y: memref<32xi32>) {{
      aiex.npu.dma_memcpy_nd(%X[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1])
        {{id = {id} : i64, metadata = @in}} : memref<32xi32>
      aiex.npu.dma_memcpy_nd(%Y[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1])
        {{id = 1 : i64, metadata = @out, issue_token = true}} : memref<32xi32>
      aiex.npu.dma_wait {{symbol = @out}}
    }}
"""


def two_sequences(project: Project, identifier: int) -> None:
    """Give the design two named runtime sequences; the second one uses a BD of its own."""
    text = one_core_mlir({"add_one": "add.o"})
    start, end = text.index("    aie.runtime_sequence"), text.rindex("  }\n}")
    first, second = TWO_SEQUENCES.format(name="first", id=0), TWO_SEQUENCES.format(name="second", id=identifier)
    project.write("designs/x/x.mlir.j2", text[:start] + first + second + text[end:])
    project.write("designs/x/design.yaml", CONTRACT + "arguments: {X: a, Y: b}\nsequences: [first, second]\n")


def test_c12_two_sequences_share_one_xclbin_and_are_nodes_of_their_own(npu: Project) -> None:
    two_sequences(npu, 2)
    built = npu.build("arch=aie2")
    assert aiecc_steps(built.steps) == ["x.first.insts.bin", "x.second.insts.bin", "x.xclbin"]
    two_sequences(npu, 3)
    assert aiecc_steps(npu.build("arch=aie2").steps) == ["x.second.insts.bin"]


def test_f24_a_stale_object_beside_the_sources_is_never_linked(npu: Project, tmp_path: Path) -> None:
    for place in ("add.o", "designs/x/add.o", "build/aie2/designs/x/npu1_1col/add.o"):
        npu.write(place, "stale\n")
    npu.build("arch=aie2")
    assert npu.read("add.o") == "stale\n"
    said = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    places = {call["cwd"] for call in said if call["tool"] == "aiecc" and "--aie-version" not in call["argv"]}
    assert str(npu.root) not in {place.rstrip("/") for place in places if "--help" not in place} or len(places) > 1


def test_c2_a_tool_that_is_killed_while_it_writes_leaves_nothing(built: Project) -> None:
    assert again_with(built, "AIE_STUB_PARTIAL").status == 2
    artifacts = [path.name for path in (built.root / "build/aie2/designs/x/npu1_1col").iterdir() if path.is_file()]
    assert "x.xclbin" not in artifacts
    assert "x.insts.bin" not in artifacts
    del built.variables["AIE_STUB_PARTIAL"]
    assert "x.xclbin" in aiecc_steps(built.build("arch=aie2").steps)


def again_with(project: Project, fault: str) -> Built:
    """Build, and then make the artifacts anew with an aiecc that misbehaves."""
    project.build("arch=aie2")
    for name in ("x.xclbin", "x.insts.bin"):
        (project.root / "build/aie2/designs/x/npu1_1col" / name).unlink()
    project.variables[fault] = "aiecc"
    return project.scons("arch=aie2", "-k")


def test_u17_a_tool_that_ends_well_with_nothing_written_is_a_failure(built: Project) -> None:
    failed = again_with(built, "AIE_STUB_SILENT")
    assert failed.status == 2
    assert "was not written" in failed.err
    assert "to repeat: cd '" in failed.err
    assert not (built.root / "build/aie2/designs/x/npu1_1col/x.xclbin").exists()


def test_a_failed_aiecc_shows_its_words_and_keeps_its_folder(built: Project) -> None:
    failed = again_with(built, "AIE_STUB_FAIL")
    assert failed.status == 2
    found = re.search(r"to repeat: cd '([^']+)'", failed.err)
    assert found is not None
    assert sorted(path.name for path in Path(found[1]).iterdir() if path.suffix) == ["add.o", "x.mlir"]
    assert "designs/x/SConscript:6: error: Design 'x': `aiecc" in failed.err


def test_c5_designs_in_parallel_have_folders_of_their_own(npu: Project) -> None:
    npu.variables["AIE_STUB_LITTER"] = "1"
    for number in range(5):
        recipe = ADD + DESIGN.format(more="").replace("x.mlir", f"d{number}.mlir")
        add_design(npu, f"d{number}", recipe, {"add_one": "add.o"})
    built = npu.build("-j4", "arch=aie2")
    assert len(aiecc_steps(built.steps)) == 12
    assert npu.build("-j4", "arch=aie2").steps == []
    assert not list(npu.root.glob("*.prj"))


def test_c7_insts_and_xclbin_each_have_one_rule(npu: Project) -> None:
    folder = "build/aie2/designs/x/npu1_1col"
    built = npu.build("-j4", "arch=aie2", f"{folder}/x.insts.bin", f"{folder}/x.xclbin")
    assert aiecc_steps(built.steps) == ["x.insts.bin", "x.xclbin"]
    assert npu.build("arch=aie2", f"{folder}/x.insts.bin").steps == []


def test_insts_alone_compile_no_kernel(npu: Project) -> None:
    built = npu.build("arch=aie2", "build/aie2/designs/x/npu1_1col/x.insts.bin")
    assert built.compiled == []
    assert aiecc_steps(built.steps) == ["x.insts.bin"]


def test_c9_the_number_of_threads_is_no_part_of_the_signature(npu: Project, tmp_path: Path) -> None:
    npu.build("arch=aie2", "aiecc_jobs=1")
    assert npu.build("arch=aie2", "aiecc_jobs=7", "-j3").steps == []
    assert any("-j1" in argv for argv in calls(tmp_path / "log", "aiecc"))


def test_c9_chess_never_runs_twice_at_the_same_time(project: Project, tmp_path: Path) -> None:
    tools = install(tmp_path / "tools", "C2", chess=True)
    adder(project)
    project.write("kernels/two.cc", 'extern "C" void two(int *x, int *y) {}\n')
    recipe = ADD + 'two = env.CoreObject("two", source="#kernels/two.cc", functions=["two"])\n'
    add_design(project, "x", recipe + DESIGN.format(more="").replace("[add]", "[add, two]"), {"add_one": "add.o"})
    with_tools(project, tools, tmp_path / "log")
    built = project.build("-j4", "arch=aie2", "toolchain=chess")
    assert built.compiled == ["kernels/add.cc", "kernels/two.cc"]
    assert (project.root / "build/aie2/designs/x/npu1_1col-chess/x.xclbin").is_file()


def test_chess_writes_no_depfile_and_headers_are_found_by_scanning(project: Project, tmp_path: Path) -> None:
    tools = install(tmp_path / "tools", "C2", chess=True)
    with_tools(adder(project), tools, tmp_path / "log")
    project.write("kernels/add.cc", '#include "one.h"\n' + KERNEL)
    project.write("kernels/one.h", '#include "deep.h"\n')
    project.write("kernels/deep.h", "// one\n")
    project.build("arch=aie2", "toolchain=chess")
    assert project.build("arch=aie2", "toolchain=chess").steps == []
    project.write("kernels/deep.h", "// other\n")
    assert project.build("arch=aie2", "toolchain=chess").compiled == ["kernels/add.cc"]


def test_n6_a_prefix_of_a_symbol_that_is_not_there_fails_with_the_ones_that_are(npu: Project) -> None:
    recipe = ADD.replace('["add_one"]', '["add_on"], symbol_prefix="p"')
    adder(npu, recipe=recipe, functions={"p_add_on": "add.o"})
    failed = npu.scons("arch=aie2")
    assert failed.status == 2
    assert "does not define 'add_on'" in failed.err
    assert "did you mean 'add_one'?" in failed.err
    assert npu.objects("aie2") == []


def test_n6_a_prefix_renames(npu: Project) -> None:
    adder(npu, recipe=ADD.replace('["add_one"]', '["add_one"], symbol_prefix="p"'), functions={"p_add_one": "add.o"})
    assert npu.build("arch=aie2").status == 0


def test_n11_an_inline_kernel_is_llvm_ir_that_is_merged(npu: Project, tmp_path: Path) -> None:
    recipe = ADD.replace('["add_one"]', '["add_one"], inline=True')
    adder(npu, recipe=recipe, functions={"add_one": "add.ll"})
    text = npu.read("designs/x/x.mlir.j2").replace('"add.ll"', '"add.ll", link_with_mode = "merge"')
    npu.write("designs/x/x.mlir.j2", text)
    assert npu.build("arch=aie2").status == 0
    (ir,) = (npu.root / "build/aie2/objects").glob("*.ll")
    assert "alwaysinline" in ir.read_text()
    assert any("-emit-llvm" in argv for argv in calls(tmp_path / "log", "clang++"))
    assert npu.build("arch=host").status == 0


def test_n11_llvm_ir_that_the_module_does_not_merge_is_an_error(npu: Project) -> None:
    adder(npu, recipe=ADD.replace('["add_one"]', '["add_one"], inline=True'), functions={"add_one": "add.ll"})
    failed = npu.scons("arch=aie2")
    assert failed.status == 2
    assert 'link_with_mode = "merge"' in failed.err


def test_u7_an_output_that_this_aiecc_cannot_make_is_said_before_anything_runs(
    project: Project, tmp_path: Path
) -> None:
    tools = install(tmp_path / "tools", "A")
    with_tools(adder(project, more=', outputs=["full_elf"]'), tools, tmp_path / "log")
    failed = project.scons("arch=aie2")
    assert failed.status == 2
    assert "designs/x/SConscript:6: error: full_elf needs aiecc dialect B or later" in failed.err
    assert failed.steps == []


@pytest.mark.parametrize("kinds", [["pdi"], ["elf"], ["cdo"], ["txn"], ["ctrlpkt"], ["core_elfs"], ["physical_mlir"]])
def test_u16_each_output_is_a_node_of_its_own(built: Project, kinds: list[str]) -> None:
    adder(built, more=f", outputs={kinds}")
    made = aiecc_steps(built.build("arch=aie2").steps)
    assert len(made) == len(kinds)
    assert built.build("arch=aie2").steps == []


def test_an_option_of_aiecc_is_a_keyword_of_the_design(built: Project, tmp_path: Path) -> None:
    built.build("arch=aie2")
    adder(built, more=', alloc_scheme="basic-sequential"')
    assert aiecc_steps(built.build("arch=aie2").steps) == ["x.insts.bin", "x.xclbin"]
    assert any("--alloc-scheme=basic-sequential" in argv for argv in calls(tmp_path / "log", "aiecc"))
    adder(built, more=', aloc_scheme="basic-sequential"')
    failed = built.scons("arch=aie2")
    assert "designs/x/SConscript:6: error: Design has no 'aloc_scheme'\n  did you mean 'alloc_scheme'?" in failed.err


def test_a_seed_of_zero_is_never_taken_for_up_to_date(npu: Project) -> None:
    adder(npu, more=', placer="sa_placer", sa_seed=0')
    npu.build("arch=aie2")
    assert "x.xclbin" in aiecc_steps(npu.build("arch=aie2").steps)


def test_u8_a_named_place_that_does_not_exist_is_an_error(npu: Project) -> None:
    npu.variables["PEANO_INSTALL_DIR"] = "/nowhere/llvm-aie"
    failed = npu.scons("arch=aie2")
    assert failed.status == 2
    assert "PEANO_INSTALL_DIR" in failed.err
    assert "/nowhere/llvm-aie" in failed.err


def test_u8_a_host_llvm_on_path_is_never_taken(project: Project, tools: Installation) -> None:
    adder(project)
    project.variables["PATH"] = f"{tools.peano / 'bin'}:/usr/bin:/bin"
    failed = project.scons("arch=aie2")
    assert failed.status == 2
    assert "needs Peano, which is not installed" in failed.err


def test_u10_a_compiler_without_the_arch_is_said_before_anything_runs(project: Project, tmp_path: Path) -> None:
    tools = install(tmp_path / "tools", "C2", refuse="aie2p")
    with_tools(adder(project), tools, tmp_path / "log")
    failed = project.scons("arch=aie2p")
    assert failed.status == 2
    assert "aie2p" in failed.err
    assert failed.steps == []
    assert project.build("arch=aie2").status == 0


def test_u11_an_arch_that_no_device_of_the_contract_has_is_refused(npu: Project) -> None:
    npu.write("designs/x/design.yaml", "description: x\ndevices: [npu1]\narguments: {X: a, Y: b}\n")
    failed = npu.scons("arch=aie2p")
    assert failed.status == 2
    assert "designs/x/design.yaml:2: error: design 'x' has no device of arch 'aie2p'" in failed.err


def test_u9_doctor_says_where_each_tool_was_found(npu: Project, tools: Installation) -> None:
    said = npu.build("doctor").out
    assert str(tools.peano / "bin" / "clang++") in said
    assert "aiecc dialect: C2" in said
    npu.build("doctor", "json=doctor.json")
    assert json.loads(npu.read("doctor.json"))


def test_u3_nothing_of_an_npu_is_needed_to_build(npu: Project, tmp_path: Path) -> None:
    npu.variables["PATH"] = "/usr/bin:/bin"
    npu.build("arch=aie2")
    assert calls(tmp_path / "log", "xrt-smi") == []


def test_without_tools_the_commands_are_shown_and_nothing_is_written(project: Project) -> None:
    adder(project)
    shown = project.build("-n", "arch=aie2p").out
    assert "clang++" in shown
    assert "--target=aie2p-none-unknown-elf" in shown
    assert "--get-xclbin" in shown
    assert not (project.root / "build").exists()
    failed = project.scons("arch=aie2p")
    assert failed.status == 2
    assert failed.err.count("error:") == 1
    assert "needs Peano, which is not installed" in failed.err


def test_without_chess_its_commands_are_shown(project: Project) -> None:
    shown = adder(project).build("-n", "arch=aie2", "toolchain=chess").out
    assert "'<mlir_aie>/bin/xchesscc_wrapper' aie2 -aietools '<aietools>' '-I<mlir_aie>/include' -DNDEBUG" in shown
    failed = project.scons("arch=aie2", "toolchain=chess")
    assert failed.status == 2
    assert failed.err.count("error:") == 1


VENDOR = 'add = env.Prebuilt("add", file="#lib/add.o", functions=["add_one"]{more})\n'


def with_vendors_object(project: Project, tmp_path: Path) -> Project:
    """Put an object of Chess where the design `x` takes its function from, and install both compilers."""
    tools = install(tmp_path / "tools", "C2", chess=True)
    adder(with_tools(project, tools, tmp_path / "log"), recipe=VENDOR.format(more=""))
    (project.root / "lib").mkdir()
    wrapper = [str(tools.mlir_aie / "bin/xchesscc_wrapper"), "aie2", "-aietools", str(tools.aietools)]
    subprocess.run([*wrapper, "-c", "kernels/add.cc", "-o", "lib/add.o"], cwd=project.root, check=True)
    return project


def test_objects_of_chess_and_of_peano_do_not_go_into_one_design(project: Project, tmp_path: Path) -> None:
    with_vendors_object(project, tmp_path)
    failed = project.scons("arch=aie2")
    assert failed.status == 2
    assert re.search(
        r"^designs/x/x.mlir.j2:\d+:\d+: error: add.o was compiled by Chess, but this design is linked by Peano: "
        r"Peano's linker refuses the sections that Chess writes",
        failed.err,
        re.MULTILINE,
    )
    assert not list((project.root / "build/aie2/designs").rglob("*.xclbin"))
    project.build("arch=aie2", "toolchain=chess")

    said = VENDOR.format(more=', toolchain="chess"') + DESIGN.format(more="")
    add_design(project, "x", said, {"add_one": "add.o"})
    failed = project.scons("arch=aie2", "-n")
    assert failed.status == 2
    assert "designs/x/SConscript:5: error: Prebuilt 'add' was compiled by Chess, but" in failed.err
    project.build("arch=aie2", "toolchain=chess")


def test_a_core_whose_kernels_are_larger_than_its_program_memory_is_refused(npu: Project) -> None:
    filler = 'asm volatile(".fill 17000, 1, 0x90"); '
    npu.write("kernels/add.cc", KERNEL.replace("{ for", "{ " + filler + "for"))
    failed = npu.scons("arch=aie2")
    assert failed.status == 2
    assert re.search(
        r"core \(0, 2\) links 17,\d\d\d B of code, and its program memory holds 16,384 B: add.o:", failed.err
    )
    assert not list((npu.root / "build/aie2/designs").rglob("*.xclbin"))


def test_a_kernel_that_grows_beyond_the_program_memory_is_refused_before_aiecc_runs(built: Project) -> None:
    built.build("arch=aie2")
    built.write("kernels/add.cc", KERNEL.replace("{ for", '{ asm volatile(".fill 17000, 1, 0x90"); for'))
    failed = built.scons("arch=aie2")
    assert failed.status == 2
    assert "its program memory holds 16,384 B" in failed.err
    assert aiecc_steps(failed.steps) == []


def test_u24_the_shown_command_of_a_kernel_is_the_one_that_runs(npu: Project, tmp_path: Path) -> None:
    shown = npu.build("-n", "arch=aie2").out
    (line,) = (line for line in shown.splitlines() if "kernels/add.cc" in line)
    npu.build("arch=aie2")
    (argv,) = (argv for argv in calls(tmp_path / "log", "clang++") if "kernels/add.cc" in argv)
    words = line.split()[1:]
    assert [word for word in words if "/objects/" not in word] == [word for word in argv if "/objects/" not in word]


def test_u14_what_reproduces_is_the_same_in_another_folder(npu: Project, tmp_path: Path) -> None:
    npu.build("arch=aie2")
    other = npu.copy(tmp_path / "other folder")
    other.build("arch=aie2")
    for name in ("x.insts.bin", "x.generic.mlir", "x.config.mlir"):
        path = f"build/aie2/designs/x/npu1_1col/{name}"
        assert (npu.root / path).read_bytes() == (other.root / path).read_bytes()
    assert npu.objects("aie2")[0].read_bytes() == other.objects("aie2")[0].read_bytes()


def test_every_shipped_design_builds_for_both_archs_with_every_dialect(tmp_path: Path) -> None:
    """One project, one aiecc after another: what they make is made anew, and nothing is compiled again."""
    project = shipped(tmp_path / "project")
    for dialect in DIALECTS:
        shutil.rmtree(tmp_path / "tools", ignore_errors=True)
        tools = install(tmp_path / "tools", dialect, aie_opt=True)
        built = with_tools(project, tools, tmp_path / "log").build("-j2", "arch=aie2,aie2p")
        assert "aiecc" in built.kinds
        assert ("compile" in built.kinds) == (dialect == DIALECTS[0])
        assert len(aiecc_steps(built.steps)) == 2 * 2 * len(list((REPOSITORY / "designs").iterdir()))
    assert project.build("arch=aie2,aie2p").steps == []


def shipped(root: Path) -> Project:
    """Return a project with the shipped designs."""
    project = new_project(root)
    for name in ("designs", "kernels", "templates"):
        (root / name).symlink_to(REPOSITORY / name)
    return project


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_commands_of_every_shipped_design_are_the_golden_ones(
    tmp_path: Path, dialect: str, request: pytest.FixtureRequest
) -> None:
    """`pytest --rewrite` writes them anew from what is seen."""
    tools = install(tmp_path / "tools", dialect, aie_opt=True)
    project = with_tools(shipped(tmp_path / "project"), tools, tmp_path / "log")
    for arch in ("aie2", "aie2p"):
        shown = project.build("-n", f"arch={arch}", "aiecc_jobs=2").out
        kept = [line for line in shown.splitlines() if "-m aiebuild." not in line and not line.startswith("#")]
        said = "\n".join(plain(line, tools, project) for line in kept) + "\n"
        golden = REPOSITORY / "tests" / "golden" / "commands" / f"{arch}.{dialect}.txt"
        if request.config.getoption("--rewrite"):
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(said, encoding="utf-8")
        assert said == golden.read_text(encoding="utf-8")


def plain(line: str, tools: Installation, project: Project) -> str:
    """Return a command without the places of this run."""
    for path, name in ((tools.peano, "<llvm-aie>"), (tools.mlir_aie, "<mlir_aie>"), (project.root, "<project>")):
        line = line.replace(str(path), name)
    return line


CHAIN = """\
one = env.Design(mlir="x.mlir.j2", link_with=[add], name="one"{first})
two = env.Design(mlir="x.mlir.j2", link_with=[add], name="two"{second})
env.XclbinChain("both", designs=[one, two])"""


def chained(project: Project, first: str = "", second: str = "") -> None:
    """Give the recipe two designs that are chained into one xclbin."""
    text = f'Import("env", "p")\n\n{ADD}{CHAIN.format(first=first, second=second)}\n'
    project.write("designs/x/SConscript", text)


def test_n13_a_chain_adds_the_kernels_to_one_xclbin_with_ids_of_their_own(npu: Project, tmp_path: Path) -> None:
    chained(npu)
    made = aiecc_steps(npu.build("arch=aie2").steps)
    assert "both.xclbin" in made
    ids = {word for argv in calls(tmp_path / "log", "aiecc") for word in argv if word.startswith("--xclbin-kernel-id=")}
    assert ids == {"--xclbin-kernel-id=0x901", "--xclbin-kernel-id=0x902"}
    assert npu.build("arch=aie2").steps == []
    assert npu.build("arch=host").status == 0


def test_n13_one_kernel_id_twice_is_an_error_that_names_both(npu: Project) -> None:
    chained(npu, ", xclbin_kernel_id=0x950", ", xclbin_kernel_id=0x950")
    failed = npu.scons("arch=aie2")
    assert failed.status == 2
    assert "two has the kernel id 0x950, which one has too at designs/x/SConscript:4" in failed.err


def test_u12_versions_that_are_known_not_to_fit_are_warned_about_once(project: Project, tmp_path: Path) -> None:
    with_tools(adder(project), install(tmp_path / "tools", "C2", clang="20.0.0"), tmp_path / "log")
    built = project.build("arch=aie2")
    assert built.err.count("warning: this aiecc writes LLVM IR that Peano before 21 does not read") == 1
    assert project.build("arch=host").err == ""


def test_u1_xclbin_and_insts_by_hand(tmp_path: Path) -> None:
    project = HandMade(tmp_path / "project")
    with_tools(project, install(tmp_path / "tools", "C2"), tmp_path / "log")
    project.write("src/add.cc", KERNEL)
    project.write("src/x.mlir.j2", one_core_mlir({"add_one": "add.o"}))
    project.script("""\
npu = env.Clone(AIE_ARCH="aie2p", tools=[aie])
add = npu.AieObject("out/add.o", "src/add.cc")
design = dict(device="npu2_1col", link_with={"add.o": add})
npu.AieXclbin("out/x.xclbin", "src/x.mlir.j2", **design)
npu.AieInsts("out/insts/x.insts.bin", "src/x.mlir.j2", **design)
""")
    assert aiecc_steps(project.build().steps) == ["x.insts.bin", "x.xclbin"]
    assert project.build().steps == []
