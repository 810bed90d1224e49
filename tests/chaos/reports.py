"""Figures that a test has seen, for people: printed, and kept where ``PENSTOCK_REPORT`` says.

Nothing is asserted of them: how long something takes on a shared machine is to be read, not to be failed on.
"""

import json
import os
import statistics
from collections.abc import Sequence
from pathlib import Path


def report(what: str, **figures: object) -> None:
    """Tell what was measured."""
    line = json.dumps({"what": what, **figures})
    print(line)
    if path := os.environ.get("PENSTOCK_REPORT"):
        with Path(path).open("a") as file:
            file.write(line + "\n")


def report_gaps(what: str, gaps: Sequence[float]) -> None:
    """Tell how long nobody was served, over some accidents."""
    report(
        what,
        accidents=len(gaps),
        median_seconds=round(statistics.median(gaps), 3),
        longest_seconds=round(max(gaps), 3),
        seconds=[round(gap, 3) for gap in gaps],
    )
