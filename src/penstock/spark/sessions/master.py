"""Whether Spark's work is done on this machine, and by how many cores."""

import os
import re
from pathlib import Path

DEFAULT_MASTER = "local[*,4]"
"""All cores; four attempts for each task, where plain ``local[*]`` lets a query die of the first failure."""

QUOTA = Path("/sys/fs/cgroup/cpu.max")

_LOCAL = re.compile(r"local(?:\[\s*(\*|\d+)\s*(?:,\s*\d+\s*)?\])?")


def local_core_count(master: str) -> int | None:
    """How many cores ``local``, ``local[2]`` or ``local[*,4]`` stand for; None for anything elsewhere."""
    match = _LOCAL.fullmatch(master.strip())
    if match is None:
        return None
    if match[1] == "*":
        return available_core_count()
    return int(match[1] or 1)


def available_core_count(quota: Path = QUOTA) -> int:
    """What Java would count: the cores we may run on, or fewer if a container is granted less."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        granted, period = quota.read_text().split()
    except (OSError, ValueError):
        return count
    if granted == "max":
        return count
    return max(1, min(count, -(-int(granted) // int(period))))
