"""The process of a step: it does one thing, and is over."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def run(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a command with this process's arguments, and end the process with the status that it returns.

    To look for cycles meanwhile, and to take all objects apart at the end, would be a sixth of the time of checking a
    small module; the system takes the memory back at once. A command that leaves by an exception ends as usual.
    """
    gc.disable()
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
