"""Records of several partitions in the order of their times; within a partition its own order stays."""

import heapq
from collections.abc import Collection, Mapping, Sequence

from penstock.gateway.console.messages.reading import Located
from penstock.records.record import Record

NEWEST_FIRST = -1
OLDEST_FIRST = 1


def merged(
    lists: Mapping[int, Sequence[Record]], *, count: int, direction: int, unfinished: Collection[int] = ()
) -> list[Located]:
    """The first ``count`` of all lists, each of which is in the order of ``direction`` already.

    It stops where the next record of an unfinished list would be needed, since that might come first.
    """
    if any(not lists[number] for number in unfinished):
        return []
    heap = [(direction * records[0].timestamp, number, 0) for number, records in lists.items() if records]
    heapq.heapify(heap)
    taken: list[Located] = []
    while heap and len(taken) < count:
        _, number, index = heapq.heappop(heap)
        records = lists[number]
        taken.append(Located(number, records[index]))
        if index + 1 < len(records):
            heapq.heappush(heap, (direction * records[index + 1].timestamp, number, index + 1))
        elif number in unfinished:
            break
    return taken
