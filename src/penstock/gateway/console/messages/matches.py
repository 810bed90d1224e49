"""What one round of a search has found: the newest of each partition, within a bound of count and bytes."""

from collections import deque
from collections.abc import Iterable

from penstock.gateway.console.messages.merging import NEWEST_FIRST, merged
from penstock.gateway.console.messages.reading import Located
from penstock.records.record import Record
from penstock.wire_client.fetching import OffsetRange

BYTES_MAX = 64 * 1024 * 1024


class Matches:
    """Takes records in the order of offsets and forgets the oldest when they are too many."""

    def __init__(self, partitions: Iterable[int], *, count_max: int, bytes_max: int = BYTES_MAX) -> None:
        self._found: dict[int, deque[Record]] = {number: deque() for number in partitions}
        self._forgotten: set[int] = set()
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._bytes = 0

    def add(self, partition: int, record: Record) -> None:
        """Keep a record."""
        found = self._found[partition]
        found.append(record)
        self._bytes += _size(record)
        while len(found) > self._count_max or (self._bytes > self._bytes_max and len(found) > 1):
            self._bytes -= _size(found.popleft())
            self._forgotten.add(partition)

    def __len__(self) -> int:
        return sum(map(len, self._found.values()))

    def newest(self) -> list[Located]:
        """The newest of all partitions, newest first, as many as may be told."""
        lists = {number: list(reversed(found)) for number, found in self._found.items()}
        taken = merged(
            lists, count=self._count_max, direction=NEWEST_FIRST, unfinished=self._cut_short(lists)
        )
        return taken

    def place(self, partition: int, told: Iterable[Located], window: OffsetRange) -> int:
        """Where the next round goes on in a partition, once these were told: all from there on is done."""
        own = [record.offset for number, record in told if number == partition]
        if len(own) == len(self._found[partition]) and partition not in self._forgotten:
            return window.start
        return own[-1] if own else window.end

    def _cut_short(self, lists: dict[int, list[Record]]) -> set[int]:
        return {number for number in self._forgotten if lists[number]}


def _size(record: Record) -> int:
    return len(record.key or b"") + len(record.value or b"")
