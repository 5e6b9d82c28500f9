"""Giving an xclbin a UUID that follows from its content: unique, and the same in each build of the same inputs.

aiecc and xclbinutil give it a random one, and XRT takes two xclbins with one UUID for the same.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

from aiebuild.errors import ToolchainError

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = uuid.UUID("6f4c9a1e-3d57-5b0a-9c1f-2b8e47d0a963")
"""Under which the UUIDs of contents are made (RFC 4122, section 4.3); any fixed one would do."""


def command(xclbinutil: str, before: str, after: str, identity: str) -> tuple[str, ...]:
    """Return the argv that sets a UUID; without `--skip-uuid-insertion` a random one would replace it."""
    key = f"SYS:XclbinUUID:{identity}"
    return (
        *(xclbinutil, "--input", before, "--key-value", key, "--skip-uuid-insertion"),
        *("--output", after, "--force", "--quiet"),
    )


def of(content: bytes, name: str) -> uuid.UUID:
    """Return the UUID of an xclbin's content, without what differs between two builds of the same inputs.

    Raises:
        InspectError: it is damaged or no xclbin.
    """
    from aiebuild.inspect import xclbin  # noqa: PLC0415 - planning does not need it

    return uuid.uuid5(NAMESPACE, hashlib.sha256(xclbin.masked(content, name)).hexdigest())


def give(file: Path, xclbinutil: str) -> None:
    """Give an xclbin the UUID of its content.

    Raises:
        ToolchainError: xclbinutil failed, or did not set it.
        InspectError: the file is damaged or no xclbin.
    """
    from aiebuild.inspect import xclbin  # noqa: PLC0415 - the same

    wanted = of(file.read_bytes(), file.name)
    after = file.with_name(f"stable-{file.name}")
    argv = command(xclbinutil, str(file), str(after), str(wanted))
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not after.is_file():
        sys.stderr.write(done.stdout + done.stderr)
        raise ToolchainError(f"xclbinutil failed (exit status {done.returncode})", hint=f"to repeat: {' '.join(argv)}")
    found = xclbin.read(after.read_bytes(), after.name).uuid
    if uuid.UUID(found) != wanted:
        hint = "leave out stable_uuid=True, or install another XRT"
        raise ToolchainError(f"xclbinutil gave the xclbin the UUID {found}, not {wanted}", hint=hint)
    after.replace(file)
