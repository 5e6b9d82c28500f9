"""What a check reads and looks for in vain is in its depfile: each of it can change the result."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from aiebuild.host import reads
from host_designs import CHECK, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def recorded(project: Project, check: str) -> dict[str, list[str]]:
    """Run a check with the lines before the usual one; return its depfile."""
    project.prepare(check=check + CHECK)
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "")
    return project.depfile()


def test_files_that_are_opened_and_imported(project: Project) -> None:
    project.write("designs/x/helper.py", "import json\n")
    project.write("designs/x/data.txt", "7")
    found = recorded(project, 'import helper\nDATA = open("designs/x/data.txt").read()\n')
    assert found["files"] == ["designs/x/check.py", "designs/x/data.txt", "designs/x/helper.py"]
    assert found["folders"] == []
    assert not project.exists("designs/x/__pycache__")


def test_files_outside_the_project_are_absolute(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "weights.bin"
    other.write_bytes(b"7")
    assert recorded(project, f"open({str(other)!r}).read()\n")["files"] == [str(other), "designs/x/check.py"]


def test_files_that_are_not_there(project: Project) -> None:
    found = recorded(
        project,
        "import contextlib, os.path, pathlib\n"
        'with contextlib.suppress(OSError): open("designs/x/cache.bin")\n'
        'os.path.exists("designs/x/one"), os.path.isfile("designs/two"), pathlib.Path("three").exists()\n'
        'with contextlib.suppress(OSError): os.stat("four")\n'
        'os.path.exists("/nowhere"), os.path.exists("designs/x/check.py")\n',
    )
    assert found["absent"] == ["/nowhere", "designs/two", "designs/x/cache.bin", "designs/x/one", "four", "three"]


def test_modules_that_would_win_over_those_that_were_imported(project: Project) -> None:
    project.write("lib/other.py", "")
    project.write("designs/x/helper.py", "")
    found = recorded(project, 'import sys; sys.path.insert(0, "lib"); import helper, other\n')
    assert {"lib/helper.py", "lib/helper/__init__.py", "designs/x/helper/__init__.py"} <= set(found["absent"])
    assert {"lib/other/__init__.py"} <= set(found["absent"])
    assert "designs/x/other.py" not in found["absent"]


def test_a_module_that_is_nowhere(project: Project) -> None:
    found = recorded(project, "try: import missing\nexcept ImportError: pass\n")
    assert {"designs/x/missing.py", "designs/x/missing/__init__.py"} <= set(found["absent"])


def test_an_edit_of_a_module_that_keeps_size_and_time_is_seen(project: Project) -> None:
    """A compiled module from elsewhere, as an editor's or a test runner's Python leaves one, is not taken for it."""
    helper = project.root / "designs/x/helper.py"
    project.write("designs/x/helper.py", "ADD = 0\n")
    project.prepare(check="import py_compile, helper\n" + CHECK.replace('{"B": A}', '{"B": A + np.uint8(helper.ADD)}'))
    project.host("--help")
    import py_compile  # noqa: PLC0415 - for this test alone

    py_compile.compile(str(helper))
    before = helper.stat()
    helper.write_text("ADD = 1\n")
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.run().returncode == 1


@pytest.mark.parametrize(
    "line",
    [
        'os.listdir("data")',
        'list(os.scandir("data"))',
        'glob.glob("data/*.txt")',
        'list(pathlib.Path("data").iterdir())',
    ],
)
def test_folders_that_are_listed(project: Project, line: str) -> None:
    project.write("data/one.txt", "")
    assert recorded(project, f"import glob, os, pathlib\n{line}\n")["folders"] == ["data"]


def test_the_projects_own_folder_is_a_dot_and_others_are_absolute(project: Project) -> None:
    assert recorded(project, "import os; os.listdir('.'); os.listdir('/usr')\n")["folders"] == [".", "/usr"]


ASKED = {
    "a size": ("import os; os.path.getsize('data')", "data"),
    "a file that is there": ("import pathlib; pathlib.Path('data').exists()", "data"),
    "a file that may be read": ("import os; os.access('data', os.R_OK)", "data"),
    "a link": ("import os; os.readlink('link')", "link"),
    "a database": ("import sqlite3; sqlite3.connect('file:data?mode=ro', uri=True)", "data"),
    "a link before a folder above": ("open('inside/../data').read()", "inside/../data"),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_a_check_asks_without_opening_it_is_read(project: Project, name: str) -> None:
    line, file = ASKED[name]
    project.write("data", "")
    project.write("a/inside/x", "")
    project.write("a/data", "")
    (project.root / "link").symlink_to("data")
    (project.root / "inside").symlink_to("a/inside")
    assert file in recorded(project, f"{line}\n")["files"]


def test_a_file_that_may_not_be_read_is_absent_where_it_is_not_there(project: Project) -> None:
    assert recorded(project, "import os; os.access('data', os.R_OK)\n")["absent"] == ["data"]


def test_what_the_check_wrote_itself_is_none_that_it_read(project: Project) -> None:
    project.prepare(check="open('made', 'w').close(); import os; os.path.getsize('made')\n" + CHECK)
    assert "the build does not see that file" in project.run().stderr
    assert "made" not in project.depfile()["files"]


def test_what_installed_packages_ask_of_the_machine_is_not_the_projects(project: Project) -> None:
    found = recorded(project, "import sqlite3; sqlite3.connect(':memory:'); import numpy, tempfile, ctypes.util\n")
    assert [name for names in found.values() for name in names] == ["designs/x/check.py"]


def test_programs_that_are_started_are_noted(project: Project) -> None:
    project.prepare(check='import subprocess\nsubprocess.run(["true"])\n' + CHECK)
    done = project.run()
    assert done.returncode == 0
    assert done.stderr == (
        "designs/x/check.py:2: warning: the check starts 'true': the build does not see what that reads\n"
    )


def test_a_depfile_is_made_in_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1500 files in ten folders, as NumPy's modules are, took seconds when each was resolved and compared."""
    monkeypatch.chdir(tmp_path)
    record = reads.Reads()
    for number in range(1500):
        folder = tmp_path / f"folder{number % 10}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.txt").touch()
        record.opened[str(folder / f"{number}.txt")] = True
    start = time.process_time()
    found = record.found([tmp_path / "folder9"])
    assert time.process_time() - start < 0.2
    assert len(found["files"]) == 1350


def test_folders_hold_what_lies_in_them_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    folders = reads.Folders([tmp_path / "link"])
    held = [str(tmp_path / name) for name in ("real/a", "link/a", "link/b/c", "real")]
    assert all(folders.hold(path) for path in held)
    assert not any(folders.hold(str(tmp_path / name)) for name in ("realm/a", "other", "a"))


def test_what_stands_for_itself_by_its_version_is_left_out() -> None:
    """NumPy and ml_dtypes are part of the identity of the step, wherever they are installed."""
    import ml_dtypes  # noqa: PLC0415 - where it is
    import numpy as np  # noqa: PLC0415 - the same

    folders = reads.Folders(reads.identified())
    assert all(folders.hold(str(module.__file__)) for module in (np, ml_dtypes))
    assert not folders.hold(str(Path(pytest.__file__)))
