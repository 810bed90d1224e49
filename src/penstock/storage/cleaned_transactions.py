"""Transactions as a cleaner meets them, walking over a log from its beginning.

Records of an aborted transaction go, whatever their key. A marker stays as long as any batch of its
transaction was met in the same walk, emptied ones too: a batch without its marker would be an open
transaction for ever. Which transactions were aborted is known beforehand, from the transaction index.
"""

from collections import defaultdict, deque
from collections.abc import Iterable

from penstock.records.batch import BatchHeader
from penstock.storage.transaction_index import AbortedTransaction


class AbortedRanges:
    """Aborted transactions by producer, passed once from front to back."""

    __slots__ = ("_by_producer",)

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._by_producer: defaultdict[int, deque[AbortedTransaction]] = defaultdict(deque)
        for entry in sorted(aborted, key=lambda entry: entry.first_offset):
            self._by_producer[entry.producer_id].append(entry)

    def cover(self, header: BatchHeader) -> bool:
        """Whether the batch, which comes behind all asked about before, belongs to one of them."""
        if not header.is_transactional or header.producer_id not in self._by_producer:
            return False
        ranges = self._by_producer[header.producer_id]
        while ranges and ranges[0].last_offset <= header.base_offset:
            ranges.popleft()
        return bool(ranges) and ranges[0].first_offset <= header.base_offset


class CleanedTransactions:
    """What one walk has met so far."""

    __slots__ = ("_aborted", "_by_marker", "_producers_with_data")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        entries = list(aborted)
        self._aborted = AbortedRanges(entries)
        self._by_marker = {entry.last_offset: entry for entry in entries}
        # Producers of which a batch was met since their last marker.
        self._producers_with_data: set[int] = set()

    def meet_batch(self, header: BatchHeader) -> bool:
        """Note a batch of records; whether its transaction was aborted."""
        if not header.is_transactional:
            return False
        self._producers_with_data.add(header.producer_id)
        return self._aborted.cover(header)

    def meet_marker(self, header: BatchHeader) -> bool:
        """Note a marker; whether any batch of the transaction it ends is still there."""
        has_data = header.producer_id in self._producers_with_data
        self._producers_with_data.discard(header.producer_id)
        return has_data

    def aborted_at(self, header: BatchHeader) -> AbortedTransaction | None:
        """The index entry that belongs to an abort marker."""
        return self._by_marker.get(header.base_offset)
