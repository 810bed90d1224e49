"""Where a page begins or ends: an offset for each partition, as it stands in a link: ``0:42,1:7``."""

from collections.abc import Mapping

from penstock.model.errors import UsageError

Cursor = Mapping[int, int]
"""Offsets by partition."""

PARTITIONS_MAX = 100
"""Shown together on one page; somebody who has more chooses some."""


def format_cursor(cursor: Cursor) -> str:
    """The cursor as text."""
    return ",".join(f"{partition}:{offset}" for partition, offset in sorted(cursor.items()))


def parse_cursor(text: str) -> Cursor:
    """The offsets in a text; UsageError for something else."""
    cursor: dict[int, int] = {}
    for part in text.split(","):
        partition, _, offset = part.partition(":")
        if not (partition.isdecimal() and offset.isdecimal()):
            raise UsageError(f"{part!r} is no place in a topic; one is written PARTITION:OFFSET, as in 0:42.")
        cursor[int(partition)] = int(offset)
    return cursor


def parse_partitions(text: str) -> frozenset[int]:
    """Numbers of partitions, separated by commas; none means all."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"{text!r} is no list of partitions; write their numbers with commas, as in 0,3.")
    return frozenset(map(int, parts))
