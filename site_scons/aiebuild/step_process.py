"""The process of a step: it does one thing, and is over."""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from aiebuild.files import project_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO})
"""What the system says where a file cannot be written, and no program is to blame."""


def answered(main: Callable[[Sequence[str]], int]) -> int:
    """Return the status of a command with this process's arguments; where the disk is full it says so."""
    try:
        return main(sys.argv[1:])
    except OSError as error:
        if error.filename is None or error.errno not in UNWRITABLE:
            raise
        sys.stderr.write(f"{project_path(error.filename)}: error: {error.strerror}\n")
        return 2


def run(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a command with this process's arguments, and end the process with the status that it returns.

    To look for cycles meanwhile, and to take all objects apart at the end, would be a sixth of the time of checking a
    small module; the system takes the memory back at once. A command that leaves by an exception ends as usual.
    """
    gc.disable()
    status = answered(main)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
