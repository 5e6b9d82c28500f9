"""Freshness: neither stale nor needless. Each test is named after a row of the behaviours that a build must show."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from projects import TWO_OBJECTS

if TYPE_CHECKING:
    from pathlib import Path

    from projects import HandMade

ALL = ["compile src/a.cc", "compile src/b.cc", "archive out/libab.a"]


def test_a_null_build_runs_nothing(hand_made: HandMade) -> None:
    assert sorted(hand_made.build().steps) == sorted(ALL)
    assert hand_made.build().steps == []


def test_f1_an_edited_header_rebuilds_exactly_what_includes_it(hand_made: HandMade) -> None:
    hand_made.build()
    hand_made.write("src/h.h", "#define ONE 11\n")
    assert hand_made.build().steps == ["compile src/a.cc", "archive out/libab.a"]
    assert hand_made.build().steps == []


def test_f2_a_source_included_by_a_source_and_what_it_includes_are_inputs(hand_made: HandMade) -> None:
    hand_made.write("src/deep/leaf.h", "#define LEAF 3\n")
    hand_made.write("src/zero.cc", '#include "deep/leaf.h"\nextern "C" int zero() { return LEAF; }\n')
    hand_made.write("src/a.cc", '#include "zero.cc"\nextern "C" int a() { return zero(); }\n')
    hand_made.build()
    hand_made.write("src/zero.cc", '#include "deep/leaf.h"\nextern "C" int zero() { return 1 + LEAF; }\n')
    assert hand_made.build().compiled == ["src/a.cc"]
    hand_made.write("src/deep/leaf.h", "#define LEAF 4\n")
    assert hand_made.build().compiled == ["src/a.cc"]


def test_f2_an_unrelated_file_in_an_include_folder_rebuilds_nothing(hand_made: HandMade) -> None:
    hand_made.write("inc/used.h", "#define USED 1\n")
    hand_made.write("src/a.cc", '#include "used.h"\nextern "C" int a() { return USED; }\n')
    hand_made.script('env.AieObject("out/a.o", "src/a.cc", include_dirs=["inc"])')
    hand_made.build()
    hand_made.write("inc/unrelated.h", "#define OTHER 1\n")
    hand_made.write("src/unrelated.h", "#define OTHER 1\n")
    assert hand_made.build().steps == []


def test_f3_new_content_with_the_old_time_rebuilds(hand_made: HandMade) -> None:
    source = hand_made.root / "src/b.cc"
    hand_made.build()
    before = source.stat()
    hand_made.write("src/b.cc", 'extern "C" int b() { return 2222; }\n')
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert hand_made.build().compiled == ["src/b.cc"]


def test_f3_a_new_time_with_the_old_content_rebuilds_nothing(hand_made: HandMade) -> None:
    hand_made.build()
    for path in hand_made.root.glob("src/*"):
        os.utime(path, (1, 2_000_000_000))
    assert hand_made.build().steps == []


def test_f5_an_edit_of_the_same_length_at_the_same_time_rebuilds(hand_made: HandMade) -> None:
    header = hand_made.root / "src/h.h"
    hand_made.build()
    before = header.stat()
    hand_made.write("src/h.h", "#define ONE 7\n")
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert header.stat().st_size == before.st_size
    assert hand_made.build().compiled == ["src/a.cc"]


def test_f6_an_edited_source_alone_rebuilds(hand_made: HandMade) -> None:
    hand_made.build()
    hand_made.write("src/b.cc", 'extern "C" int b() { return 3; }\n')
    assert hand_made.build().steps == ["compile src/b.cc", "archive out/libab.a"]


def test_two_edits_within_one_second_each_give_the_right_object(hand_made: HandMade) -> None:
    hand_made.script('env.AieObject("out/a.o", "src/a.cc")')
    for value in (21, 22, 23, 24):
        hand_made.write("src/h.h", f"#define ONE {value}\n")
        assert hand_made.build().compiled == ["src/a.cc"]
        assert run_function(hand_made.root, "out/a.o", "a") == value


def run_function(root: Path, name: str, function: str) -> int:
    """Return what a function of an object returns."""
    program = root / "out" / "main"
    source = root / "out" / "main.cc"
    source.write_text(f'extern "C" int {function}(); int main() {{ return {function}(); }}\n')
    subprocess.run(["g++", source, root / name, "-o", program], check=True)
    return subprocess.run([program], check=False).returncode


MACRO_INCLUDE = '#define WHICH "%s"\n#include WHICH\nextern "C" int a() { return ONE; }\n'


def test_a_header_included_through_a_macro_is_an_input(hand_made: HandMade) -> None:
    hand_made.write("src/a.cc", MACRO_INCLUDE % "h.h")
    hand_made.build()
    hand_made.write("src/h.h", "#define ONE 12\n")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert hand_made.build().steps == []


def test_a_header_chosen_by_a_define_is_an_input(hand_made: HandMade) -> None:
    hand_made.write("src/a.cc", '#include HEADER\nextern "C" int a() { return ONE; }\n')
    hand_made.script("""env.AieObject("out/a.o", "src/a.cc", defines={"HEADER": '"h.h"'})""")
    hand_made.build()
    hand_made.write("src/h.h", "#define ONE 12\n")
    assert hand_made.build().compiled == ["src/a.cc"]


def test_a_header_forced_by_a_flag_is_an_input(hand_made: HandMade) -> None:
    hand_made.write("src/a.cc", 'extern "C" int a() { return ONE; }\n')
    hand_made.script('env.AieObject("out/a.o", "src/a.cc", flags=["-include", "src/h.h"])')
    hand_made.build()
    assert hand_made.build().steps == []
    hand_made.write("src/h.h", "#define ONE 12\n")
    assert hand_made.build().compiled == ["src/a.cc"]


def test_a_removed_header_and_include_build_without_complaint(hand_made: HandMade) -> None:
    hand_made.build()
    (hand_made.root / "src/h.h").unlink()
    hand_made.write("src/a.cc", 'extern "C" int a() { return 1; }\n')
    assert hand_made.build().compiled == ["src/a.cc"]
    assert hand_made.build().steps == []


def test_a_removed_header_that_is_still_included_is_the_compilers_error(hand_made: HandMade) -> None:
    hand_made.build()
    (hand_made.root / "src/h.h").unlink()
    failed = hand_made.scons()
    assert failed.status != 0
    assert "h.h" in failed.err
    assert "SConstruct:5: error: AieObject 'out/a.o': `compile src/a.cc` failed" in failed.err
    assert not (hand_made.root / "out/a.o").exists()


SHADOW = '#include "over.h"\nextern "C" int a() { return OVER; }\n'


def test_a_new_header_in_an_earlier_folder_is_noticed(hand_made: HandMade) -> None:
    hand_made.write("second/over.h", "#define OVER 1\n")
    hand_made.write("src/a.cc", SHADOW)
    hand_made.script('env.AieObject("out/a.o", "src/a.cc", include_dirs=["first", "second"])')
    hand_made.build()
    hand_made.write("first/over.h", "#define OVER 2\n")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 2
    assert hand_made.build().steps == []


def test_a_new_header_beside_the_source_is_noticed(hand_made: HandMade) -> None:
    hand_made.write("inc/over.h", "#define OVER 1\n")
    hand_made.write("src/a.cc", SHADOW)
    hand_made.script('env.AieObject("out/a.o", "src/a.cc", include_dirs=["inc"])')
    hand_made.build()
    hand_made.write("src/over.h", "#define OVER 2\n")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 2
    (hand_made.root / "src/over.h").unlink()
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 1


def test_a_new_header_that_hides_one_of_the_compilers_is_noticed(hand_made: HandMade) -> None:
    hand_made.write("src/a.cc", '#include <cstdint>\nextern "C" int a() { return sizeof(std::int8_t); }\n')
    hand_made.script('(env.Dir("inc"), env.AieObject("out/a.o", "src/a.cc", include_dirs=["inc"]))')
    hand_made.build()
    hand_made.write("inc/cstdint", "namespace std { struct int8_t { char c[5]; }; }\n")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 5


def test_a_header_that_a_source_asks_for_is_noticed_when_it_comes(hand_made: HandMade) -> None:
    text = '#if __has_include("maybe.h")\n#include "maybe.h"\n#else\n#define MAYBE 0\n#endif\n'
    hand_made.write("src/a.cc", text + 'extern "C" int a() { return MAYBE; }\n')
    hand_made.build()
    hand_made.write("src/maybe.h", "#define MAYBE 6\n")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 6


HANDED = 'asm(".section .rodata\\n.global data\\ndata:\\n.incbin \\"" NAME "\\"\\n.previous");\n'
ASKED = '#if __has_include(NAME)\nextern "C" int a() { return 1; }\n#else\nextern "C" int a() { return 0; }\n#endif\n'
FOO = 'extern "C" int a() { return FOO; }\n'
OVER = f"#include <over.h>\n{FOO}"
ONE, TWO = "#define FOO 1\n", "#define FOO 2\n"

UNNAMED = {
    "data of a macro": ((), '#define NAME "data/d"\n' + HANDED, {"data/d": "1"}, ("data/d", "2")),
    "data of a flag": (('-DNAME="data/d"',), HANDED, {"data/d": "1"}, ("data/d", "2")),
    "an assembler's file": (
        (),
        'asm(".include \\"data/d.s\\"");\n',
        {"data/d.s": '.incbin "data/d"\n', "data/d": "1"},
        ("data/d", "2"),
    ),
    "a header that is asked for by a macro": ((), '#define NAME "new.h"\n' + ASKED, {}, ("src/new.h", "")),
    "a header that is asked for by a flag": (('-DNAME="new.h"',), ASKED, {}, ("src/new.h", "")),
    "a response file": (("@all.rsp",), FOO, {"all.rsp": "-DFOO=1"}, ("all.rsp", "-DFOO=2")),
    "a response file's own": (("@all.rsp",), FOO, {"all.rsp": "@r", "r": "-DFOO=1"}, ("r", "-DFOO=2")),
    "a folder of a response file": (
        ("@all.rsp",),
        OVER,
        {"all.rsp": "-Ifirst -Isecond", "first/x.h": "", "second/over.h": ONE},
        ("first/over.h", TWO),
    ),
    "a flag's folder": (
        ("-isystem", "second", "-iquote", "third", "-Ifirst"),
        OVER.replace("<over.h>", '"over.h"'),
        {"first/x.h": "", "third/x.h": "", "second/over.h": ONE},
        ("third/over.h", TWO),
    ),
    "a file that an option names": (
        ("-specs=all.specs",),
        FOO,
        {"all.specs": "*cpp_unique_options:\n+ -DFOO=1\n\n"},
        ("all.specs", "*cpp_unique_options:\n+ -DFOO=2\n\n"),
    ),
}
"""Flags, a source, further files, and an edit that the compiler's own depfile says nothing of."""


@pytest.mark.parametrize("name", UNNAMED)
def test_what_no_depfile_names_is_an_input(hand_made: HandMade, name: str) -> None:
    flags, source, files, (changed, text) = UNNAMED[name]
    hand_made.variables["CXX"] = "g++"
    for file, content in files.items():
        hand_made.write(file, content)
    hand_made.write("src/a.cc", source)
    hand_made.script(f'env.AieObject("out/a.o", "src/a.cc", flags={list(flags)!r})')
    hand_made.build()
    assert hand_made.build().steps == []
    hand_made.write(changed, text)
    assert hand_made.build().compiled == ["src/a.cc"]
    assert hand_made.build().steps == []


def test_a_link_before_a_folder_above_may_come_to_lead_elsewhere(hand_made: HandMade) -> None:
    for name, text in (("one", ONE), ("two", TWO)):
        hand_made.write(f"{name}/over.h", text)
        hand_made.write(f"{name}/inside/x.h", "")
    link = hand_made.root / "link"
    link.symlink_to("one/inside")
    hand_made.write("src/a.cc", OVER.replace("<over.h>", '"../link/../over.h"'))
    hand_made.build()
    assert hand_made.build().steps == []
    link.unlink()
    link.symlink_to("two/inside")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 2
    assert hand_made.build().steps == []


def test_a_file_outside_that_changes_while_the_compiler_runs_is_built_again(hand_made: HandMade) -> None:
    header = hand_made.root.parent / "over.h"
    header.write_text(ONE)
    compiler = hand_made.write("cxx", f"#!/bin/sh\ng++ \"$@\"\n[ ! -e slow ] || echo '{TWO.strip()}' > '{header}'\n")
    compiler.chmod(0o755)
    hand_made.variables["CXX"] = str(compiler)
    hand_made.write("src/a.cc", OVER.replace("<over.h>", f'"{header}"'))
    hand_made.script('env.AieObject("out/a.o", "src/a.cc")')
    hand_made.write("slow", "")
    hand_made.build()
    (hand_made.root / "slow").unlink()
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 2


@pytest.mark.parametrize("asks", ['#if __has_include("over.h")\n#include "over.h"\n#endif\n', '#include "over.h"\n'])
def test_a_source_outside_of_the_project_is_read_like_one_inside(hand_made: HandMade, asks: str) -> None:
    outside = hand_made.root.parent / "outside"
    for name, text in (("inc/over.h", "#define FOO 0\n"), ("src/a.cc", f"{asks}{FOO}")):
        (outside / name).parent.mkdir(parents=True)
        (outside / name).write_text(text)
    hand_made.script(f'env.AieObject("out/a.o", "{outside}/src/a.cc", include_dirs=["{outside}/inc"])')
    hand_made.build()
    assert hand_made.build().steps == []
    (outside / "src/over.h").write_text(TWO)
    assert len(hand_made.build().compiled) == 1
    assert run_function(hand_made.root, "out/a.o", "a") == 2


def test_a_generated_header_is_built_before_what_includes_it(hand_made: HandMade) -> None:
    hand_made.write("src/a.cc", '#include "made.h"\nextern "C" int a() { return MADE; }\n')
    hand_made.write("src/made.h.in", "#define MADE 4\n")
    hand_made.script(
        """\
env.AieObject("out/a.o", "src/a.cc", include_dirs=["gen"])
env.Command("gen/made.h", "src/made.h.in", Copy("$TARGET", "$SOURCE"))
"""
    )
    assert hand_made.build("-j2").compiled == ["src/a.cc"]
    assert hand_made.build().steps == []
    hand_made.write("src/made.h.in", "#define MADE 5\n")
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 5
    assert hand_made.build().steps == []


def test_a_lost_record_of_what_was_read_costs_one_build(hand_made: HandMade) -> None:
    hand_made.build()
    for record in hand_made.root.glob("out/*.reads.json"):
        record.unlink()
    assert hand_made.build().compiled == ["src/a.cc", "src/b.cc"]
    assert hand_made.build().steps == []


def test_an_input_that_changes_while_the_compiler_runs_is_built_again(hand_made: HandMade) -> None:
    real = shutil.which("g++")
    slow = hand_made.write(
        "slow-g++",
        f'#!/bin/sh\n{real} "$@" || exit 1\ncase " $* " in *" -c "*) echo "#define ONE 9" > src/h.h ;; esac\n',
    )
    slow.chmod(0o755)
    hand_made.variables["CXX"] = str(slow)
    hand_made.script('env.AieObject("out/a.o", "src/a.cc")')
    hand_made.build()
    hand_made.variables["CXX"] = str(slow)
    assert hand_made.build().compiled == ["src/a.cc"]
    assert run_function(hand_made.root, "out/a.o", "a") == 9


def test_f9_a_second_process_finds_nothing_to_do(hand_made: HandMade) -> None:
    hand_made.build()
    listing = sorted(path.name for path in (hand_made.root / "out").iterdir())
    hand_made.variables["PYTHONHASHSEED"] = "77"
    assert hand_made.build().steps == []
    assert sorted(path.name for path in (hand_made.root / "out").iterdir()) == listing


@pytest.mark.parametrize(
    "change",
    ['flags=["-O3"]', 'defines={"X": 2}', 'include_dirs=["src"]', 'defines={"X": None}', 'flags=["-g"]'],
)
def test_f12_any_change_of_the_flags_rebuilds(hand_made: HandMade, change: str) -> None:
    hand_made.script('env.AieObject("out/a.o", "src/a.cc", defines={"X": 1})')
    hand_made.build()
    hand_made.script(f'env.AieObject("out/a.o", "src/a.cc", {change})')
    assert hand_made.build().compiled == ["src/a.cc"]
    assert hand_made.build().steps == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('include_dirs=["p", "q"]', 'include_dirs=["q", "p"]'),
        ('flags=["-DA=1", "-DB=2"]', 'flags=["-DB=2", "-DA=1"]'),
        ('defines={"A": 1, "B": 2}', 'defines={"B": 2, "A": 1}'),
    ],
)
def test_f13_the_order_of_flags_and_folders_counts(hand_made: HandMade, before: str, after: str) -> None:
    hand_made.script(f'env.AieObject("out/a.o", "src/a.cc", {before})')
    hand_made.build()
    hand_made.script(f'env.AieObject("out/a.o", "src/a.cc", {after})')
    assert hand_made.build().compiled == ["src/a.cc"]


def test_f19_a_source_removed_from_an_archive_is_no_longer_a_member(hand_made: HandMade) -> None:
    hand_made.build()
    assert archive_members(hand_made.root / "out/libab.a") == ["a.o", "b.o"]
    hand_made.script(TWO_OBJECTS.replace("[a, b]", "[b]"))
    assert hand_made.build().steps == ["archive out/libab.a"]
    assert archive_members(hand_made.root / "out/libab.a") == ["b.o"]


def archive_members(path: Path) -> list[str]:
    """Return the members' names, as the real `ar` lists them."""
    listed = subprocess.run(["ar", "t", path], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def test_f20_an_object_at_an_explicit_path_is_rebuilt_although_it_exists(hand_made: HandMade) -> None:
    hand_made.write("out/b.o", "not an object\n")
    assert "src/b.cc" in hand_made.build().compiled
    hand_made.write("src/b.cc", 'extern "C" int b() { return 33; }\n')
    assert hand_made.build().compiled == ["src/b.cc"]
    assert run_function(hand_made.root, "out/b.o", "b") == 33


def test_f23_an_edit_that_leaves_the_object_identical_goes_no_further(hand_made: HandMade) -> None:
    hand_made.build()
    hand_made.write("src/b.cc", '// a comment\nextern "C" int b() { return 2; }\n')
    assert hand_made.build().steps == ["compile src/b.cc"]
    assert hand_made.build().steps == []


def test_another_compiler_rebuilds_what_it_compiles(hand_made: HandMade) -> None:
    hand_made.build()
    other = hand_made.write("other/g++", f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n')
    other.chmod(0o755)
    hand_made.variables["CXX"] = str(other)
    assert hand_made.build().compiled == ["src/a.cc", "src/b.cc"]
    assert hand_made.build().steps == []
    other.write_text(other.read_text() + "# another build of it\n")
    assert hand_made.build().compiled == ["src/a.cc", "src/b.cc"]


def test_a_deleted_output_is_made_again(hand_made: HandMade) -> None:
    hand_made.build()
    (hand_made.root / "out/b.o").unlink()
    assert hand_made.build().steps == ["compile src/b.cc"]


def test_a_failed_step_leaves_no_target_and_the_next_build_is_right(hand_made: HandMade) -> None:
    hand_made.build()
    good = hand_made.read("src/b.cc")
    hand_made.write("src/b.cc", "not C++\n")
    assert hand_made.scons().status == 2
    assert not (hand_made.root / "out/b.o").exists()
    assert [path.name for path in (hand_made.root / "out").iterdir() if path.name.startswith(".")] == []
    hand_made.write("src/b.cc", good)
    assert hand_made.build().compiled == ["src/b.cc"]
    assert hand_made.build().steps == []


def test_include_variables_of_the_shell_do_not_reach_the_compiler(hand_made: HandMade) -> None:
    hand_made.write("elsewhere/only.h", "#define ONLY 1\n")
    hand_made.write("src/b.cc", '#include <only.h>\nextern "C" int b() { return ONLY; }\n')
    hand_made.variables["CPLUS_INCLUDE_PATH"] = str(hand_made.root / "elsewhere")
    hand_made.variables["CPATH"] = str(hand_made.root / "elsewhere")
    assert hand_made.scons().status == 2


def test_an_output_that_something_else_changed_is_made_again(hand_made: HandMade) -> None:
    hand_made.build()
    good = {name: (hand_made.root / name).read_bytes() for name in ("out/a.o", "out/libab.a")}
    hand_made.write("out/a.o", "truncated")
    assert hand_made.build().compiled == ["src/a.cc"]
    hand_made.write("out/libab.a", "truncated")
    assert hand_made.build().steps == ["archive out/libab.a"]
    assert {name: (hand_made.root / name).read_bytes() for name in good} == good
    assert hand_made.build().steps == []


def test_a_killed_build_keeps_what_it_had_finished(hand_made: HandMade) -> None:
    real = shutil.which("g++")
    compiler = hand_made.write(
        "slow-g++",
        '#!/bin/sh\ncase "$*" in *src/a.cc*) sleep 2.2;; *src/b.cc*) test -e fast || sleep 60;; esac\n'
        f'exec {real} "$@"\n',
    )
    compiler.chmod(0o755)
    hand_made.variables["CXX"] = str(compiler)
    running = hand_made.start()
    wait_for(hand_made.root / "out/a.o.reads.json")
    time.sleep(1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    hand_made.write("fast", "")
    assert hand_made.build().compiled == ["src/b.cc"]


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")
