"""Names, symbols and objects: rows N1 to N10 of the behaviours that a build must show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from projects import CHECK, add_design, one_core_mlir

if TYPE_CHECKING:
    from projects import HandMade, Project

ADD = """\
extern "C" void add_one(int *x, int *y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + 1; }
extern "C" void keep(int *x, int *y) {}
"""
ONE_OBJECT = 'add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one", "keep"])\n'
DESIGN = 'env.Design(mlir="{name}.mlir.j2", link_with=[{links}], check="check.py")'


def design(name: str, links: str) -> str:
    """Return the Design call of a recipe."""
    return DESIGN.format(name=name, links=links)


def test_n1_one_source_with_one_set_of_flags_is_one_object_for_any_number_of_functions(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    functions = {"add_one": "add.o", "keep": "add.o"}
    add_design(project, "first", ONE_OBJECT + design("first", "add"), functions)
    add_design(project, "second", ONE_OBJECT + design("second", "add"), functions)
    built = project.build()
    assert built.compiled == ["kernels/add.cc"]
    assert len(project.objects()) == 1


def test_n1_the_name_of_an_object_does_not_make_it_another_one(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    other = ONE_OBJECT.replace('"add", source', '"plus", source')
    add_design(project, "first", ONE_OBJECT + design("first", "add"), {"add_one": "add.o"})
    add_design(project, "second", other + design("second", "add"), {"add_one": "plus.o"})
    assert project.build().compiled == ["kernels/add.cc"]
    assert project.build("design=second").steps == []


def test_n1_different_flags_are_two_objects_side_by_side(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    other = ONE_OBJECT.replace("functions", 'defines={"X": 1}, functions')
    add_design(project, "first", ONE_OBJECT + design("first", "add"), {"add_one": "add.o"})
    add_design(project, "second", other + design("second", "add"), {"add_one": "add.o"})
    assert project.build().compiled == ["kernels/add.cc"] * 2
    assert len(project.objects()) == 2
    assert project.build().steps == []


def test_n2_a_core_object_declares_any_number_of_functions(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    add_design(project, "x", ONE_OBJECT + design("x", "add"), {"add_one": "add.o", "keep": "add.o"})
    assert project.build().status == 0


def test_n3_a_core_links_several_objects_and_archives(project: Project) -> None:
    project.write("kernels/add.cc", ADD.splitlines()[0] + "\n")
    project.write("kernels/a.cc", 'extern "C" void a(int *x, int *y) {}\n')
    project.write("kernels/b.cc", 'extern "C" void b(int *x, int *y) {}\n')
    recipe = """\
add = env.CoreObject("add", source="#kernels/add.cc", functions=["add_one"])
more = env.CoreArchive("more", sources=["#kernels/a.cc", "#kernels/b.cc"], functions=["a", "b"])
"""
    functions = {"add_one": "add.o", "a": "libmore.a", "b": "libmore.a"}
    add_design(project, "x", recipe + design("x", "add, more"), functions)
    assert project.build().status == 0


ZERO = 'extern "C" void zero(int *x, int *y) {{}}\nextern "C" void {name}(int *x, int *y) {{ {body} }}\n'
ADD_BODY = "for (int i = 0; i < 16; ++i) y[i] = x[i] + 1;"
TWO_ZEROS = """\
one = env.CoreObject("one", source="#kernels/one.cc", functions=["zero", "add_one"])
two = env.CoreObject("two", source="#kernels/two.cc", functions=["zero", "twice"]{prefix})
"""


def two_zeros(project: Project, prefix: str, function: str) -> None:
    """Add a design with one core that links two objects which both define `zero`."""
    project.write("kernels/one.cc", ZERO.format(name="add_one", body=ADD_BODY))
    project.write("kernels/two.cc", ZERO.format(name="twice", body=""))
    functions = {"add_one": "one.o", function: "two.o"}
    add_design(project, "x", TWO_ZEROS.format(prefix=prefix) + design("x", "one, two"), functions)


def test_n4_two_objects_of_one_core_with_one_symbol_are_an_error_that_names_both(project: Project) -> None:
    two_zeros(project, "", "twice")
    failed = project.scons()
    assert failed.status == 2
    assert "one.o" in failed.err
    assert "two.o" in failed.err
    assert "zero" in failed.err
    assert "symbol_prefix" in failed.err
    assert not list((project.root / "build").rglob("*.kernels.zip"))


def test_n4_a_prefix_makes_them_different(project: Project) -> None:
    two_zeros(project, ', symbol_prefix="b"', "b_twice")
    assert project.build().status == 0


def test_n4_in_different_cores_one_symbol_is_legal(project: Project) -> None:
    two_zeros(project, "", "twice")
    text = one_core_mlir({"add_one": "one.o"})
    second = """\
    func.func private @twice(memref<16xi32>, memref<16xi32>) attributes {link_with = "two.o"}
    %other = aie.tile(0, 3)
    %local = aie.buffer(%other) {sym_name = "local"} : memref<16xi32>
    aie.core(%other) {
      func.call @twice(%local, %local) : (memref<16xi32>, memref<16xi32>) -> ()
      aie.end
    }
    aie.runtime_sequence("""
    project.write("designs/x/x.mlir.j2", text.replace("    aie.runtime_sequence(", second))
    assert project.build().status == 0


def test_n5_archives_share_a_member_and_duplicates_count_only_where_both_are_linked(project: Project) -> None:
    project.write("kernels/table.cc", 'extern "C" { extern const int table[1]; const int table[1] = {1}; }\n')
    body = "for (int i = 0; i < 16; ++i) y[i] = x[i] + table[0];"
    declared = 'extern "C" const int table[1];\n'
    project.write("kernels/add.cc", declared + f'extern "C" void add_one(int *x, int *y) {{ {body} }}\n')
    project.write("kernels/odd.cc", declared + 'extern "C" void odd(int *x, int *y) { x[0] += table[0] - 1; }\n')
    project.write("kernels/unused.cc", 'extern "C" const int table[1] = {7};\nextern "C" void unused() {}\n')
    recipe = """\
one = env.CoreArchive("one", sources=["#kernels/add.cc", "#kernels/odd.cc", "#kernels/table.cc"])
two = env.CoreArchive("two", sources=["#kernels/unused.cc"])
"""
    functions = {"add_one": "libone.a", "odd": "libone.a"}
    add_design(project, "x", recipe + design("x", "one, two"), functions)
    assert project.build().status == 0


def test_n7_the_users_file_name_is_the_one_that_link_with_uses(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    recipe = ONE_OBJECT.replace("functions", 'filename="my kernel.o", functions')
    add_design(project, "x", recipe + design("x", "add"), {"add_one": "my kernel.o"})
    assert project.build().status == 0


def test_n7_two_recipes_for_one_file_name_are_an_error_that_names_both_lines(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    second = 'more = env.CoreObject("add", source="#kernels/add.cc", flags=["-O1"])\n'
    add_design(project, "x", ONE_OBJECT + second + design("x", "add, more"), {"add_one": "add.o"})
    failed = project.scons()
    assert failed.status == 2
    assert "designs/x/SConscript:6: error: two different recipes for add.o" in failed.err
    assert "designs/x/SConscript:5" in failed.err


def test_n7_two_recipes_for_one_explicit_target_are_an_error_that_names_both_lines(hand_made: HandMade) -> None:
    lines = ['env.AieObject("out/a.o", "src/a.cc")', 'env.Clone().AieObject("out/a.o", "src/a.cc", flags=["-O1"])']
    hand_made.script("\n".join(lines))
    failed = hand_made.scons()
    assert failed.status == 2
    assert "SConstruct:6: error: two different recipes for out/a.o: the other one is at SConstruct:5" in failed.err
    assert not (hand_made.root / "out").exists()


def test_n8_a_second_design_in_one_process_still_gets_its_object(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    for name in ("first", "second"):
        add_design(project, name, ONE_OBJECT + design(name, "add"), {"add_one": "add.o"})
    project.build("design=first")
    built = project.build("design=first,second")
    assert built.compiled == []
    assert "run second (npu1_1col)" in built.steps


def test_n9_a_link_with_that_no_recipe_declares_is_an_error_with_the_declared_ones(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    add_design(project, "x", ONE_OBJECT + design("x", "add"), {"add_one": "ad.o"})
    failed = project.scons()
    assert failed.status == 2
    assert "designs/x/x.mlir.j2:7" in failed.err
    assert "ad.o" in failed.err
    assert "add.o" in failed.err
    assert not list((project.root / "build").rglob("*.generic.mlir"))


def test_n10_an_object_file_that_happens_to_be_there_is_not_linked(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    add_design(project, "x", ONE_OBJECT + design("x", "add"), {"add_one": "stray.o"})
    for place in ("stray.o", "designs/x/stray.o", "build/host/objects/stray.o"):
        project.write(place, "")
    failed = project.scons()
    assert failed.status == 2
    assert "stray.o" in failed.err


def test_a_function_that_its_object_does_not_define_is_an_error_with_those_that_it_does(project: Project) -> None:
    project.write("kernels/add.cc", ADD.replace('extern "C" void add_one', "void add_one"))
    add_design(project, "x", ONE_OBJECT + design("x", "add"), {"add_one": "add.o"})
    failed = project.scons()
    assert failed.status == 2
    assert "add_one" in failed.err
    assert 'extern "C"' in failed.err


def test_a_check_that_disagrees_fails_and_says_where(project: Project) -> None:
    project.write("kernels/add.cc", ADD.replace("x[i] + 1", "x[i] + (i == 3 ? 2 : 1)"))
    add_design(project, "x", ONE_OBJECT + design("x", "add"), {"add_one": "add.o"}, check=CHECK)
    failed = project.scons()
    assert failed.status == 2
    assert "Y" in failed.err
    assert "3" in failed.err
    assert not list((project.root / "build").rglob("check.json"))


def test_a_good_check_is_written_down(project: Project) -> None:
    project.write("kernels/add.cc", ADD)
    add_design(project, "x", ONE_OBJECT + design("x", "add"), {"add_one": "add.o"})
    project.build()
    record = json.loads(project.read("build/host/designs/x/npu1_1col/check.json"))
    assert record["ok"] is True
