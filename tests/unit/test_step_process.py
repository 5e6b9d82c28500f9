"""How a step ends: with its status, and with all that it has said."""

from __future__ import annotations

import subprocess
import sys

import pytest
from projects import PACKAGE

PROGRAM = """\
import atexit, gc, sys
from aiebuild import step_process

def main(argv):
    print("out", *argv, gc.isenabled())
    print("err", file=sys.stderr)
    {body}

atexit.register(print, "taken apart")
step_process.run(main)
"""


def step(body: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM.format(body=body), "a", "b"]
    return subprocess.run(command, env={"PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("status", [0, 1, 2])
def test_a_step_ends_at_once_with_its_status_and_all_that_it_said(status: int) -> None:
    done = step(f"return {status}")
    assert (done.returncode, done.stdout, done.stderr) == (status, "out a b False\n", "err\n")


def test_a_step_that_leaves_by_an_exception_ends_as_any_program() -> None:
    done = step("raise SystemExit(3)")
    assert (done.returncode, done.stdout) == (3, "out a b False\ntaken apart\n")
    assert "ValueError: no" in step("raise ValueError('no')").stderr


def test_a_full_disk_is_said_with_the_file_and_is_no_fault_of_the_program() -> None:
    done = step("from aiebuild.files import write_atomically; write_atomically('/dev/full', 'x' * 9999)")
    assert done.returncode == 2
    assert done.stderr.endswith("err\n/dev/full: error: No space left on device\n")
    assert "Traceback" in step("open('/nowhere')").stderr
