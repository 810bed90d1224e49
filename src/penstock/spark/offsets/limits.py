"""How much of what waits goes into one micro-batch."""

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")


def share_limit(backlogs: Mapping[Key, int], limit: int) -> dict[Key, int]:
    """How many offsets of each backlog to take: ``limit`` in all, or all if that is less.

    Shares are in proportion to the backlogs, but nobody who waits gets nothing as long as ``limit`` allows
    it: a partition with a few records must not wait for one with millions.
    """
    waiting = {key: size for key, size in backlogs.items() if size > 0}
    total = sum(waiting.values())
    if total <= limit:
        return {key: max(0, size) for key, size in backlogs.items()}
    taken = dict.fromkeys(backlogs, 0)
    largest_first = sorted(waiting, key=lambda key: -waiting[key])
    for key in largest_first[:limit]:
        taken[key] = 1
    spare = limit - min(limit, len(waiting))
    rest = total - len(waiting)
    for key in largest_first:
        # Rounded over all that is left, so that the shares add up exactly.
        share = spare * (waiting[key] - 1) // rest if rest else 0
        taken[key] += share
        spare -= share
        rest -= waiting[key] - 1
    return taken
