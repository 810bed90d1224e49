"""Ending with the process that started this one, however that one ends.

A broker that a supervisor started must not outlive it: nobody would ever stop it. A supervisor that is killed
cannot say so, but Linux can. Elsewhere a killed supervisor leaves its brokers running.
"""

import ctypes
import os
import signal

from penstock.model.errors import OperatingError

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Have the kernel ask this process to stop when ``parent`` is gone; fails if it is gone already."""
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
    if os.getppid() != parent:
        raise OperatingError(f"Process {parent}, which started this broker, is gone.")
