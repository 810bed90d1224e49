"""Which batches of a fetch belong to aborted transactions: who reads what is committed leaves them out."""

from collections.abc import Sequence
from typing import Protocol

from penstock.records.batch import BatchHeader, Buffer
from penstock.records.control import ControlType, decode_control_record


class AbortedTransaction(Protocol):
    """What a fetch's answer says of an aborted transaction."""

    @property
    def producer_id(self) -> int:
        """Whose it was."""

    @property
    def first_offset(self) -> int:
        """Where it began in this partition; its abort marker ends it."""


class AbortedFilter:
    """Which batches belong to aborted transactions, batch after batch, as Kafka's consumers tell it.

    A producer's transactional batches are dropped from where its aborted transaction began to its abort
    marker; then it is believed again.
    """

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._waiting = sorted(aborted, key=lambda one: one.first_offset, reverse=True)
        self._producer_ids: set[int] = set()

    def is_aborted(self, records: Buffer, header: BatchHeader, position: int) -> bool:
        """Whether this batch, which follows those asked about before, is to be dropped.

        Raises CorruptBatchError for a marker that cannot be read.
        """
        if not header.has_producer_id:
            return False
        while self._waiting and self._waiting[-1].first_offset <= header.last_offset:
            self._producer_ids.add(self._waiting.pop().producer_id)
        if header.producer_id not in self._producer_ids:
            return False
        if header.is_control:
            if header.record_count and decode_control_record(records, position)[0] is ControlType.ABORT:
                self._producer_ids.discard(header.producer_id)
            return False
        return header.is_transactional
