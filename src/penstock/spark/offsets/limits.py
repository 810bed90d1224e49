"""How much of what waits goes into one micro-batch."""

from collections.abc import Mapping, Sequence
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
    largest_first = sorted(waiting, key=lambda key: -waiting[key])
    if limit <= len(waiting):
        return dict.fromkeys(backlogs, 0) | dict.fromkeys(largest_first[:limit], 1)
    shares = {key: max(1, waiting[key] * limit // total) for key in largest_first}
    _settle(shares, limit, largest_first)
    return dict.fromkeys(backlogs, 0) | shares


def _settle(shares: dict[Key, int], limit: int, largest_first: Sequence[Key]) -> None:
    """Make rounded shares add up: what is over goes to the largest, what is too much comes from them."""
    over = limit - sum(shares.values())
    for key in largest_first:
        change = min(over, 1) if over > 0 else max(over, 1 - shares[key])
        shares[key] += change
        over -= change
