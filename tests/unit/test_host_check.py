"""A design's own `check.py`: what is wrong with it, said with its line, and nothing of aiebuild in between."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import aiebuild
import pytest
from host_designs import CHECK, Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{"B": A}', '{"B": A / missing}', "designs/x/check.py:7: error: NameError: name 'missing' is not defined"),
        ('{"B": A}', '{"B": p.k}', "designs/x/check.py:7: error: design 'copy' has no parameter 'k'"),
        ('{"B": A}', '{"C": A}', "designs/x/check.py:6: error: `reference` gives 'C', which is no argument"),
        (
            '{"B": A}',
            '{"B": A * 1.0}',
            "designs/x/check.py:6: error: `reference` gives B with 4096 elements of float64",
        ),
        ('{"B": A}', '{"B": A[1:]}', "gives B with 4095 elements of uint8, the design has 4096 of uint8"),
        ('{"B": A}', '{"B": [[1], [1, 2]]}', "designs/x/check.py:6: error: `reference` gives no array for B"),
        ('{"B": A}', "{}", "designs/x/check.py:6: error: `reference` gives nothing to compare"),
        ('return {"B": A}', "pass", "check.py:6: error: `reference` must return a dictionary of arrays by name, it"),
        ('return {"A"', 'return None, {"A"', "check.py:3: error: `inputs` must return a dictionary of arrays by name"),
        ("p.n,", "p.n - 1,", "designs/x/check.py:3: error: `inputs` gives A with 4095 elements of uint8"),
        ("def reference(", "def reference(:", "designs/x/check.py:6: error: SyntaxError"),
        ('{"B": A}', 'exit("no")', "designs/x/check.py:7: error: check.py ended the run: SystemExit('no')"),
        (
            "import numpy",
            "raise KeyboardInterrupt\nimport numpy",
            "check.py:1: error: check.py ended the run: Keyboard",
        ),
    ],
)
def test_errors_in_check_py_are_shown_as_the_users_own(project: Project, old: str, new: str, message: str) -> None:
    project.prepare(check=CHECK.replace(old, new))
    done = project.run()
    assert done.returncode == 1
    assert message in done.stderr
    assert "aiebuild/" not in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("TOLERANCE = 3", "TOLERANCE must be a dictionary, it is 3"),
        ("TOLERANCE = None", "TOLERANCE must be a dictionary, it is None"),
        ('TOLERANCE = {"rtoll": 1}', "TOLERANCE has no 'rtoll'\n  did you mean 'rtol'?"),
        ('TOLERANCE = {"rtol": "1e-3"}', "TOLERANCE['rtol'] must be a number from 0 on, it is '1e-3'"),
        ('TOLERANCE = {"atol": True}', "TOLERANCE['atol'] must be a number from 0 on, it is True"),
        ('TOLERANCE = {"atol": -1}', "TOLERANCE['atol'] must be a number from 0 on, it is -1"),
        ('TOLERANCE = {"atol": float("nan")}', "TOLERANCE['atol'] must be a number from 0 on, it is nan"),
        ('TOLERANCE = {"atol": np.ones(2)}', "TOLERANCE['atol'] must be a number from 0 on"),
        ('TOLERANC = {"rtol": 1}', "nothing uses TOLERANC\n  did you mean 'TOLERANCE'?"),
        ('TOLERENCE: dict = {"rtol": 1}', "nothing uses TOLERENCE\n  did you mean 'TOLERANCE'?"),
    ],
)
def test_a_wrong_tolerance_is_an_error_at_its_line(project: Project, line: str, message: str) -> None:
    project.prepare(check=f"{CHECK}\n{line}\n")
    done = project.run()
    assert done.returncode == 1
    assert f"designs/x/check.py:9: error: {message}" in done.stderr


@pytest.mark.parametrize(
    "lines",
    [
        'TOLERANCE = {"rtol": 0, "atol": np.float32(0.5)}',
        "TOLERANCE = {}",
        'TOLERANCE_F32 = {"rtol": 1}',
        'TOLERANCE = {}\nTOLERANCES = {"i8": TOLERANCE}',
        "REFERENCE = 3",
    ],
)
def test_other_names_and_numbers_of_any_kind_are_right(project: Project, lines: str) -> None:
    project.prepare(check=f"{CHECK}\n{lines}\n")
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "")


def test_the_text_of_a_check_is_whatever_python_reads(project: Project) -> None:
    project.prepare()
    check = project.root / "designs/x/check.py"
    check.write_bytes(b"\xef\xbb\xbf" + CHECK.encode() + b"TOLERANCE = {'rtol': 0.5}\n")
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "")
    check.write_bytes(b"# coding: latin-1\n# \xfc\n" + CHECK.encode())
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "")
    check.write_bytes(b"word = '\xfc'\n" + CHECK.encode())
    done = project.run()
    assert done.returncode == 1
    assert "designs/x/check.py:1: error: SyntaxError: (unicode error) 'utf-8' codec can't decode byte" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_users_traceback_is_cut_to_the_users_frames(project: Project) -> None:
    project.write("designs/x/helper.py", "def fail():\n    raise ValueError('seven')\n")
    project.prepare(check="import helper\n" + CHECK.replace('{"B": A}', "helper.fail()"))
    lines = project.run().stderr.splitlines()
    assert lines[0] == "designs/x/helper.py:2: error: ValueError: seven"
    files = [line for line in lines if line.startswith("  File ")]
    assert len(files) == 2
    assert "designs/x/check.py" in files[0]


def test_aiebuild_inside_the_project_is_not_the_users(project: Project, tmp_path: Path) -> None:
    """A project that brings aiebuild along in site_scons has its frames below its own folder."""
    source = aiebuild.__path__[0]
    shutil.copytree(source, tmp_path / "site_scons/aiebuild", ignore=shutil.ignore_patterns("__pycache__"))
    project.site = tmp_path / "site_scons"
    project.prepare(check=CHECK.replace("p.n,", "p.nn,"))
    done = project.run()
    assert done.returncode == 1
    assert done.stderr.startswith(
        "designs/x/check.py:4: error: design 'copy' has no parameter 'nn'\n  did you mean 'n'?"
    )
    assert "aiebuild" not in done.stderr
    project.write("designs/x/check.py", CHECK)
    assert project.run().returncode == 0
    assert project.depfile() == {"files": ["designs/x/check.py"], "absent": [], "folders": []}


def test_a_check_without_a_reference_is_told_what_it_would_take(project: Project) -> None:
    """The inputs that there are; the outputs are what it gives."""
    project.prepare(check=CHECK.partition("def reference")[0])
    done = project.run()
    assert done.returncode == 1
    assert done.stderr == ("designs/x/check.py: error: there is no function `reference`\n  def reference(p, A): ...\n")


def test_a_misspelt_reference_is_found(project: Project) -> None:
    project.prepare(check=CHECK.replace("def reference", "def refrence"))
    assert project.run().stderr == (
        "designs/x/check.py:6: error: there is no function `reference`\n"
        "  is `refrence` meant to be it? def reference(p, A): ...\n"
    )


def test_a_reference_that_is_no_function_is_told_so(project: Project) -> None:
    project.prepare(check=CHECK.replace("def reference", "reference = 3\ndef other"))
    assert "designs/x/check.py: error: `reference` must be a function, it is 3" in project.run().stderr


def test_a_check_that_takes_too_long_is_named(project: Project) -> None:
    project.prepare(check=CHECK.replace('    return {"B": A}', "    while True: pass"))
    done = project.run("--timeout", "0.5")
    assert done.returncode == 1
    assert "`reference` of designs/x/check.py was still running after 0.5 s" in done.stderr
    assert "Design(" not in done.stderr
