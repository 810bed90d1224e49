"""Whether a process holds a data directory, seen without touching its lock.

Taking the lock for a moment would tell as well, and keep a broker that starts in that moment from starting.
"""

import os
from pathlib import Path

LOCKS = Path("/proc/locks")
LOCK_FILE = "LOCK"


def holder_of(directory: Path, *, locks: Path = LOCKS) -> int | None:
    """The id of the process that holds ``directory``; None if nobody does, or nobody can tell."""
    try:
        facts = os.stat(directory / LOCK_FILE)
        table = locks.read_text()
    except OSError:
        return None
    wanted = f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x}:{facts.st_ino}"
    for line in table.splitlines():
        fields = line.split()
        if wanted in fields and len(fields) > 4 and fields[4].isdecimal():
            return int(fields[4])
    return None
