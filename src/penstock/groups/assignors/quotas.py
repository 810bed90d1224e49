"""How many each member may have, and which of those it had it keeps: the part all assignors share.

Every member is to have as many as every other, and some one more if it does not come out even. Who has more
than its share already is the first to be one of those: then nothing moves that need not.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def keep_within_quotas(
    had: Mapping[str, Sequence[Item]], item_count: int
) -> tuple[dict[str, list[Item]], dict[str, int]]:
    """What each keeps of what it had, its first ones, and how many more it may still be given.

    No two may have had the same. Together, members may be given exactly what nobody keeps.
    """
    share, surplus_count = divmod(item_count, len(had))
    kept = {member_id: list(items[:share]) for member_id, items in had.items()}
    room = {member_id: share - len(items) for member_id, items in kept.items()}
    for member_id, items in had.items():
        if surplus_count and len(items) > share:
            kept[member_id].append(items[share])
            surplus_count -= 1
    for member_id in [each for each in had if len(kept[each]) <= share][:surplus_count]:
        room[member_id] += 1
    return kept, room
