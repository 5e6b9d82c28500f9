"""DESIGN decision 9: the fast path is a proof, not a guess. Whatever it takes for up to date, SCons does too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from aiebuild import freshness, options
from aiebuild.stamps import Table, pack
from edits import UNSHRUNK, Edits
from fast_path import (
    NOT_MINDED,
    NOTICED,
    OUTPUT,
    RECIPE,
    SHARED,
    artifacts,
    forget_headers,
    is_never_wrong,
    record_file,
    restore,
    rewrite_record,
    scons_agrees,
    sources,
    status,
    whole_project,
)
from hypothesis import HealthCheck, settings
from projects import PACKAGE, add_design

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from projects import Project

READ = "the recipe of one is read"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[Path, bytes]]:
    """A project that the tests edit one after the other, and its sources."""
    project = whole_project(tmp_path_factory.mktemp("fast") / "project")
    return project, sources(project)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that is built once, and that nobody edits."""
    project = whole_project(tmp_path_factory.mktemp("made") / "project")
    project.build("design=one")
    return project


@pytest.fixture
def fresh(shared: tuple[Project, dict[Path, bytes]]) -> Project:
    """The shared project, as it was at first, and up to date."""
    project, kept = shared
    restore(project, kept)
    project.build("design=one")
    assert status(project) == (True, [])
    return project


@pytest.mark.parametrize("name", NOTICED)
def test_an_edit_is_noticed_and_built(fresh: Project, name: str) -> None:
    NOTICED[name](fresh)
    is_fresh, reasons = status(fresh)
    assert not is_fresh
    assert reasons
    assert READ in fresh.build("design=one").out
    assert status(fresh) == (True, [])
    assert READ not in fresh.build("design=one").out


@pytest.mark.parametrize("name", NOT_MINDED)
def test_what_the_result_does_not_depend_on_is_not_minded(fresh: Project, name: str) -> None:
    NOT_MINDED[name](fresh)
    assert status(fresh) == (True, [])
    assert scons_agrees(fresh)


@pytest.mark.parametrize("verbs", [("check",), ("build", "check")])
def test_a_check_on_the_host_is_a_build(fresh: Project, verbs: tuple[str, ...]) -> None:
    assert READ not in fresh.build(*verbs, "design=one").out
    NOTICED["the check edited"](fresh)
    assert READ in fresh.build(*verbs, "design=one").out
    assert READ not in fresh.build("design=one").out


def test_notes_of_what_compilers_read_are_nothing_that_a_result_is_made_of(fresh: Project, tmp_path: Path) -> None:
    forget_headers(fresh)
    assert status(fresh) == (True, [])
    copy = fresh.copy(tmp_path / "copy")
    for project in (fresh, copy):
        NOTICED["a header edited"](project)
        assert project.build("design=one").compiled == ["kernels/add.cc"]
    assert artifacts(fresh) == artifacts(copy)


@pytest.mark.parametrize("name", ["PEANO_INSTALL_DIR", "PYTHONOPTIMIZE", "LD_LIBRARY_PATH"])
def test_a_changed_tool_variable_is_named(fresh: Project, name: str) -> None:
    fresh.variables[name] = "1"
    assert status(fresh)[1][0] == f"the variable {name} changed"
    del fresh.variables[name]


def test_a_link_to_a_tool_that_leads_elsewhere_is_noticed(fresh: Project) -> None:
    link = fresh.root / "tools" / "cxx"
    link.symlink_to("a/cxx")
    before, fresh.variables["CXX"] = fresh.variables["CXX"], str(link)
    fresh.build("design=one")
    assert status(fresh)[0]
    link.unlink()
    link.symlink_to("b/cxx")
    assert not status(fresh)[0]
    fresh.variables["CXX"] = before
    link.unlink()


def test_a_folder_of_path_that_comes_to_be_is_noticed(fresh: Project) -> None:
    del fresh.variables["CXX"]
    fresh.variables["PATH"] = f"{fresh.root / 'bin'}:{fresh.environment['PATH']}"
    fresh.build("design=one")
    assert status(fresh)[0]
    (fresh.root / "bin").mkdir()
    shutil.copy(fresh.root / "tools/a/cxx", fresh.root / "bin" / "clang++")
    assert not status(fresh)[0]
    shutil.rmtree(fresh.root / "bin")
    del fresh.variables["PATH"]
    fresh.variables["CXX"] = str(fresh.root / "tools" / "a" / "cxx")


@pytest.mark.parametrize(
    "words",
    [
        ("-n",),
        ("-q",),
        ("--tree=all",),
        ("--debug=explain",),
        ("-f", "SConstruct"),
        (f"{OUTPUT}/check.json",),
        ("explain",),
        ("-c",),
    ],
    ids=lambda words: words[0],
)
def test_whoever_wants_the_graph_gets_it(fresh: Project, words: tuple[str, ...]) -> None:
    assert READ not in fresh.build("design=one").out
    assert READ in fresh.build(*words, "design=one").out


@pytest.mark.parametrize(
    "words",
    [
        *(("M=1", "M=2"), ("verbose=2",), ("run_timeout=soon",), ("run_timeout=0",), ("aiecc_jobs=00",), ("arch=npu",)),
        ("json=answer.json",),
    ],
    ids=lambda words: words[0],
)
def test_a_wrong_command_line_is_refused_though_all_is_built(fresh: Project, words: tuple[str, ...]) -> None:
    assert fresh.scons("design=one", *words).status == 2


def test_a_parameter_without_a_design_is_not_looked_up() -> None:
    assert freshness.is_plain([("design", "one"), ("M", "1")])
    assert not freshness.is_plain([("M", "1")])


def test_the_words_that_all_designs_share_are_options() -> None:
    assert {option.name for option in options.OPTIONS} >= freshness.SHARED


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda record: b"",
    "truncated": lambda record: record[: len(record) // 2],
    "one bit": lambda record: record[:500] + bytes([record[500] ^ 1]) + record[501:],
    "foreign": lambda record: b'{"files": {}}',
    "a list": lambda record: b"00000000\n[]",
    "no text": lambda record: b"\xff\xfe\n",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_record_is_none(fresh: Project, name: str) -> None:
    file = record_file(fresh)
    file.write_bytes(DAMAGES[name](file.read_bytes()))
    assert status(fresh) == (False, ["there is no record of a build"])
    assert READ in fresh.build("design=one").out
    assert status(fresh)[0]


def test_a_missing_record_is_none(fresh: Project) -> None:
    record_file(fresh).unlink()
    assert status(fresh) == (False, ["there is no record of a build"])


@pytest.mark.parametrize(("field", "value"), [("version", "0.0"), ("form", 0), ("request", "[]"), ("python", ["2.7"])])
def test_the_record_of_another_aiebuild_python_or_request_is_none(fresh: Project, field: str, value: object) -> None:
    rewrite_record(fresh, lambda known: known.update({field: value}))
    assert not status(fresh)[0]
    assert READ in fresh.build("design=one").out


def test_a_copy_of_a_built_project_is_not_taken_for_up_to_date(fresh: Project, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(fresh.root, copy, symlinks=True)
    assert not status(type(fresh)(copy, fresh.variables))[0]


def test_an_incomplete_record_would_be_found_out(fresh: Project) -> None:
    """The judge of these tests is no pushover: a record that forgets a header is caught."""

    def forget(known: dict[str, dict[str, object]]) -> None:
        files = dict(Table(known["files"]).items())
        del files["alt/add.h"]
        known["files"] = pack(files)
        known["young"].pop("alt/add.h", None)
        known["folders"] = {}

    rewrite_record(fresh, forget)  # type: ignore[arg-type] # of a record's values, the ones that are tables
    NOTICED["a header edited"](fresh)
    with pytest.raises(AssertionError, match="SCons would build"):
        is_never_wrong(fresh)


FAULTS = {
    "no sources": (
        "import aiebuild.scons.closure as c\nc.walk, c._add_reads = lambda nodes, _=0: nodes, lambda *_: None\n",
        "a header edited",
    ),
    "no variables": ("from aiebuild import freshness\nfreshness.VARIABLES = ()\n", "another compiler"),
    "no folders": (
        "import aiebuild.scons.closure as c\nc._add_hidden = lambda names, found, session: None\n",
        "a header that hides another",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_what_is_recorded_would_be_found_out(
    fresh: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fault, edit = FAULTS[name]
    # Not a module of the project: one that SConstruct imports is a doubt, and leaves nothing to be found out.
    (tmp_path / "fault.py").write_text(fault)
    monkeypatch.setitem(fresh.variables, "PYTHONPATH", f"{PACKAGE}{os.pathsep}{tmp_path}")
    start = fresh.read("SConstruct")
    fresh.write("SConstruct", start.replace("\n\n", "\nimport fault\n", 1))
    fresh.build("design=one")
    NOTICED[edit](fresh)
    with pytest.raises(AssertionError, match="SCons would build"):
        is_never_wrong(fresh)


MEDDLING = {
    "an input edited": "echo '#define MORE 1' >> alt/add.h",
    "an input that was read before": "echo '// more' >> designs/one/one.mlir.j2",
    "an input gone": "rm alt/add.h; mkdir -p kernels; echo '#define VERSION 9' > kernels/add.h",
    "a header that hides another": "echo '#define VERSION 9' > inc/add.h",
    "an output edited": f"echo '// more' >> {OUTPUT}/one.mlir",
    "the clock's word on an input": "echo '// more' >> kernels/add.cc; touch -d '2001-01-01' kernels/add.cc",
}


@pytest.mark.parametrize("name", MEDDLING)
def test_what_changes_while_the_build_runs_leaves_no_record(made: Project, tmp_path: Path, name: str) -> None:
    project = made.copy_built(tmp_path / "project")
    project.build("design=one")
    assert status(project)[0]
    if name == "an output edited":
        # What reads a changed file is built first; here the compiler runs after SCons has looked at the MLIR.
        project.objects()[0].unlink()
    else:
        NOTICED["a header edited"](project)
    project.write("meddle", MEDDLING[name])
    assert project.scons("design=one").status in {0, 2}
    assert not (project.root / "meddle").exists()
    assert not status(project)[0]
    project.build("design=one")
    assert status(project)[0]
    assert scons_agrees(project)


def test_plain_scons_reads_the_recipes_of_stale_designs_alone(tmp_path: Path) -> None:
    project = whole_project(tmp_path / "project")
    add_design(project, "two", RECIPE.format(name="two"), {"add_one": "add.o"})
    project.build()
    assert status(project, "design=one,two")[0]
    project.write("designs/two/check.py", project.read("designs/two/check.py") + "\n")
    said = project.build().out
    assert "recipe of two is read" in said
    assert READ not in said
    assert "recipe" not in project.build().out


@pytest.mark.parametrize(
    "line", ['open("extra.txt").read()', 'import os; os.path.exists("../../inc/extra.h")', 'Glob("#more/*.cc")']
)
def test_what_a_recipe_itself_reads_is_noticed(tmp_path: Path, line: str) -> None:
    project = whole_project(tmp_path / "project")
    project.write("designs/one/extra.txt", "1\n")
    project.write("more/one.cc", "\n")
    recipe = project.read("designs/one/SConscript")
    project.write("designs/one/SConscript", recipe.replace("import shared\n", f"import shared\n{line}\n"))
    project.build("design=one")
    assert status(project)[0]
    project.write("designs/one/extra.txt", "2\n")
    project.write("inc/extra.h", "\n")
    project.write("more/two.cc", "\n")
    assert not status(project)[0]


def test_no_option_makes_scons_trust_the_times_of_files(made: Project, tmp_path: Path) -> None:
    project = made.copy_built(tmp_path / "project")
    names = "max_drift", "implicit_cache", "implicit_deps_unchanged", "hash_format"
    with_line(project, f"print([GetOption(name) for name in {names}])")
    options = "--max-drift=0", "--implicit-cache", "--implicit-deps-unchanged", "--hash-format=md5"
    assert "[-1, False, False, 'sha256']" in project.build("design=one", *options).out


ASKED = {
    "a file outside": ('open("../../../outside.txt").read()', ("../outside.txt", "2\n")),
    "a name outside": ('import os; os.path.exists("../../../new.txt")', ("../new.txt", "")),
    "a folder outside": ('import os; os.listdir("../../../outside")', ("../outside/new.txt", "")),
    "a module outside": (
        'import sys; sys.path.insert(0, Dir("#/../outside").abspath); import beyond',
        ("../outside/beyond.py", "VALUE = 2\n"),
    ),
    "a module by its path": (
        "import importlib.machinery as i; i.SourceFileLoader('m', '../../lib/m.py').exec_module(type(i)('m'))",
        ("lib/m.py", "VALUE = 2\n"),
    ),
    "a size": ('import os; os.path.getsize("../../lib/m.py")', ("lib/m.py", "VALUE = 22\n")),
    "a file that is there": ('from pathlib import Path; Path("../../lib/m.py").exists()', ("lib/m.py", None)),
    "a name that may be read": ('import os; os.access("../../lib/new", os.R_OK)', ("lib/new", "")),
    "a link that is not there": ('import os; os.path.lexists("../../lib/new")', ("lib/new", "")),
    "a database": ('import sqlite3; sqlite3.connect("../../lib/d.db").close()', ("lib/d.db", "2")),
}
"""Lines of a recipe, and an edit: a file, and its text or None where it goes."""


@pytest.mark.parametrize("name", ASKED)
def test_whatever_a_recipe_asks_of_files_is_noticed(made: Project, tmp_path: Path, name: str) -> None:
    line, (file, text) = ASKED[name]
    project = made.copy_built(tmp_path / "project")
    for given in ("../outside.txt", "../outside/x.txt", "lib/d.db"):
        project.write(given, "")
    for module in ("../outside/beyond.py", "lib/m.py"):
        project.write(module, "VALUE = 1\n")
    with_line(project, line)
    for _ in range(2):  # the second time Python has a cache of modules
        project.write("kernels/add.cc", project.read("kernels/add.cc") + "\n")
        project.build("design=one")
    assert status(project)[0]
    if text is None:
        (project.root / file).unlink()
    else:
        project.write(file, text)
    assert not status(project)[0]


def test_a_module_is_read_anew_though_its_size_and_time_are_the_same(made: Project, tmp_path: Path) -> None:
    project = made.copy_built(tmp_path / "project")
    project.build("design=one")
    file = project.root / "site_scons/shared.py"
    before = file.stat()
    file.write_text(file.read_text().replace("-O1", "-O2"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.build("design=one").compiled == ["kernels/add.cc"]


def test_resolving_a_path_is_no_reason_to_read_a_recipe_again(made: Project, tmp_path: Path) -> None:
    project = made.copy_built(tmp_path / "project")
    with_line(project, 'from pathlib import Path; Path("one.mlir.j2").resolve(); Path("../one").absolute()')
    project.build("design=one")
    (tmp_path / "other").touch()
    assert status(project)[0]


BEFORE = {
    "a value": ("SConstruct", "import os\nos.environ.get('COLOUR')\n", "SConstruct:2 is run"),
    "a module": ("SConstruct", "import shared\n", "site_scons/shared.py is imported"),
    "an argument": (
        "SConstruct",
        "import os\nfrom aiebuild.scons import start\nstart.main([('design', os.getenv('M'))], [])\n",
        "SConstruct:3 is run",
    ),
    "SCons's own": (
        "site_scons/site_init.py",
        "import os\nif os.getenv('COLOUR'):\n    pass\n",
        "site_init.py:2 is run",
    ),
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_is_run_before_recipes_are_watched_is_never_up_to_date(made: Project, tmp_path: Path, name: str) -> None:
    file, text, message = BEFORE[name]
    project = made.copy_built(tmp_path / "project")
    project.variables["M"] = "one"
    start = project.read("SConstruct") if file == "SConstruct" and "start" not in text else ""
    project.write(file, text + start)
    project.build("design=one")
    said = status(project)[1]
    assert len(said) == 1
    assert f"{message} before anything is watched, and may read something else each time" in said[0]


VARIABLE = {
    "in bytes": 'import os; os.getenvb(b"COLOUR")',
    "get": 'import os; os.environ.get("COLOUR", "plain")',
    "getenv": 'import os; os.getenv("COLOUR")',
    "item": 'import os; os.environ["COLOUR"]',
    "in": 'import os; "COLOUR" in os.environ',
    "expanded": 'import os; os.path.expandvars("$COLOUR")',
    "a function of a module": "shared.colour()",
}


@pytest.fixture(scope="module")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = whole_project(tmp_path_factory.mktemp("coloured") / "project")
    project.write("site_scons/shared.py", SHARED + "def colour():\n    return os.environ.get('COLOUR')\n")
    return project


def with_line(project: Project, line: str) -> None:
    """Put a line into the recipe, before anything is said of kernels."""
    head, add, rest = project.read("designs/one/SConscript").partition("add = ")
    start = head.partition("import shared\n")[0]
    project.write("designs/one/SConscript", f'{start}import shared\n{line}\nprint("{READ}")\n{add}{rest}')


@pytest.mark.parametrize("how", VARIABLE)
def test_a_variable_that_a_recipe_asks_for_is_noticed(coloured: Project, how: str) -> None:
    coloured.variables["COLOUR"] = "red"
    with_line(coloured, VARIABLE[how])
    coloured.build("design=one")
    assert status(coloured) == (True, [])
    coloured.variables["SAVOUR"] = "another one"
    assert status(coloured)[0]
    coloured.variables["COLOUR"] = "blue"
    assert status(coloured) == (False, ["the variable COLOUR changed"])
    assert READ in coloured.build("design=one").out
    assert status(coloured)[0]


def test_a_variable_that_is_set_to_nothing_is_another_one_than_none(coloured: Project) -> None:
    coloured.variables.pop("COLOUR", None)
    with_line(coloured, VARIABLE["in"])
    coloured.build("design=one")
    assert status(coloured)[0]
    coloured.variables["COLOUR"] = ""
    assert not status(coloured)[0]


@pytest.mark.parametrize("reads", ['os.environ.get("COLOUR")', 'os.path.exists("extra.h")', 'open("data.txt").read()'])
def test_what_a_module_reads_at_its_import_counts_for_each_design(tmp_path: Path, reads: str) -> None:
    project = whole_project(tmp_path / "project")
    add_design(project, "two", RECIPE.format(name="two"), {"add_one": "add.o"})
    project.write("site_scons/data.txt", "1\n")
    inside = reads.replace('"extra', 'ROOT + "/extra').replace('"data', 'ROOT + "/data')
    project.write("site_scons/shared.py", SHARED + f"ROOT = os.path.dirname(__file__)\n{inside}\n")
    project.build()
    assert status(project, "design=one,two")[0]
    project.variables["COLOUR"] = "blue"
    project.write("site_scons/extra.h", "\n")
    project.write("site_scons/data.txt", "2\n")
    assert not status(project, "design=one")[0]
    assert not status(project, "design=two")[0]


DOUBTS = {
    'import subprocess; subprocess.run(["true"])': "runs a program",
    'import os; os.system("true")': "runs a program",
    "import os; os.fork() or os._exit(0)": "runs a program",
    "import os; dict(os.environ)": "goes through all environment variables",
    "import os; os.environ | {}": "goes through all environment variables",
    'import socket; socket.getaddrinfo("127.0.0.1", 80)': "asks another computer",
}


@pytest.mark.parametrize("line", DOUBTS)
def test_a_recipe_whose_answer_nobody_can_compare_is_never_up_to_date(coloured: Project, line: str) -> None:
    with_line(coloured, line)
    coloured.build("design=one")
    at = coloured.read("designs/one/SConscript").splitlines().index(line) + 1
    said = f"designs/one/SConscript:{at} {DOUBTS[line]}, and the answer may be another one each time"
    assert status(coloured) == (False, [said])
    assert READ in coloured.build("design=one").out
    assert scons_agrees(coloured)


TestEdits = Edits.TestCase
TestEdits.settings = settings(
    max_examples=3,
    stateful_step_count=7,
    phases=UNSHRUNK,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_what_is_not_understood_is_never_up_to_date(made: Project, tmp_path: Path) -> None:
    project = made.copy_built(tmp_path / "project")
    project.build("design=one")
    assert "nothing to do" in project.build("design=one").out
    for word in ("--foo", "--design=one", "design=,"):
        failed = project.scons(word, *(() if word.startswith("design") else ("design=one",)))
        assert failed.status == 2
        assert "nothing to do" not in failed.out
    add_design(project, "two", RECIPE.format(name="two"), {"add_one": "add.o"})
    last = project.build(f"{OUTPUT}/one.mlir").out.splitlines()[-1]
    assert last.startswith(f"{OUTPUT}/one.mlir: nothing to do (")
    command = [sys.executable, "-c", "import sys; from aiebuild.cli import main; sys.exit(main())", "status"]
    for word, message in (("desing=one", "did you mean 'design'?"), ("one", "'one' means nothing for status")):
        done = subprocess.run(
            [*command, word], cwd=project.root, env=project.environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
