"""U15: the UUID of an xclbin is unique, and the same in each build of the same inputs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from aiebuild.errors import ToolchainError
from aiebuild.inspect import xclbin
from aiebuild.npu import stable_uuid
from projects import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = ((GOLDEN / "inspect" / f"{name}.xclbin").read_bytes() for name in ("one", "two"))
COPIES = """\
#!{python}
import shutil, sys

words = sys.argv
shutil.copy(words[words.index("--input") + 1], words[words.index("--output") + 1])
"""


def with_uuid(content: bytes, byte: int) -> bytes:
    """Return an xclbin with another UUID."""
    identity = bytes.fromhex(xclbin.read(content, "x").uuid.replace("-", ""))
    assert content.count(identity) == 1
    return content.replace(identity, bytes([byte]) * 16)


def test_the_uuid_follows_from_the_content_and_not_from_the_uuid_before() -> None:
    assert stable_uuid.of(with_uuid(ONE, 1), "x") == stable_uuid.of(with_uuid(ONE, 2), "x") == stable_uuid.of(ONE, "x")
    assert stable_uuid.of(ONE, "x") != stable_uuid.of(TWO, "x")
    assert stable_uuid.of(ONE, "x").version == 5


def test_an_xclbinutil_that_fails_or_does_not_set_it_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "x.xclbin"
    file.write_bytes(ONE)
    with pytest.raises(ToolchainError, match=r"xclbinutil failed \(exit status 1\)\n  to repeat: "):
        _raise_whole(file, "false")
    program = tmp_path / "xclbinutil"
    program.write_text(COPIES.format(python=sys.executable))
    program.chmod(0o755)
    with pytest.raises(ToolchainError, match=f"gave the xclbin the UUID {xclbin.read(ONE, 'x').uuid}, not "):
        _raise_whole(file, str(program))
    assert file.read_bytes() == ONE


def _raise_whole(file: Path, program: str) -> None:
    """Raise the error with its hint in the message, as people see both."""
    try:
        stable_uuid.give(file, program)
    except ToolchainError as error:
        raise ToolchainError(str(error)) from None
