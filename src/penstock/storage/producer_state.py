"""What a log remembers of each producer, so that a retry is recognised and a gap refused.

Per producer id: its epoch, its last five batches (as many as it may have in flight), and where its open
transaction began. A producer that is unknown may begin at any sequence, since its past may have aged out of
the log; a known one must go on exactly where it stopped, begin again at 0 with a higher epoch, or repeat
one of the five, which is then answered like the first time (kafka-protocol.md, 3.3).

The state changes only by ``apply`` and ``apply_marker``, with what stands in the log: an append, a replay
after a restart and a follower all take the same way. ``penstock.storage.producer_snapshot`` puts it in a
file.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import PRODUCER_IDS_PER_PARTITION_MAX, RECENT_BATCHES_PER_PRODUCER
from penstock.records.batch import SEQUENCE_MAX, TRANSACTIONAL_BIT, BatchHeader
from penstock.records.control import TransactionMarker

NO_COORDINATOR_EPOCH = -1


class BatchTrace(NamedTuple):
    """What is kept of a batch."""

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


class CompletedTransaction(NamedTuple):
    """A transaction with data, whose marker stands at ``last_offset``."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class Producer:
    """The state of one producer id."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "next_sequence",
        "producer_id",
        "transaction_first_offset",
    )

    def __init__(self, producer_id: int, epoch: int) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = NO_COORDINATOR_EPOCH
        self.last_timestamp = -1
        #: Of the batches below, always; 0 when there are none in this epoch.
        self.next_sequence = 0
        self.transaction_first_offset: int | None = None
        #: Oldest first; plain tuples in ``BatchTrace``'s order, since every append makes one.
        self.batches: deque[tuple[int, int, int, int, int]] = deque(maxlen=RECENT_BATCHES_PER_PRODUCER)

    @property
    def last_batch(self) -> BatchTrace | None:
        """The newest batch of this epoch."""
        return BatchTrace(*self.batches[-1]) if self.batches else None

    @property
    def recent_batches(self) -> list[BatchTrace]:
        """The last few of this epoch, oldest first."""
        return [BatchTrace(*batch) for batch in self.batches]

    def enter_epoch(self, epoch: int) -> None:
        """A new epoch starts from sequence 0 and knows no batch of the old one."""
        self.epoch = epoch
        self.batches.clear()
        self.next_sequence = 0


class ProducerStates:
    """All producers of one log; the least recently heard of are forgotten beyond ``capacity``."""

    __slots__ = ("_capacity", "_completed", "_ongoing", "_producers")

    def __init__(self, *, capacity: int = PRODUCER_IDS_PER_PARTITION_MAX) -> None:
        self._capacity = capacity
        # Least recently heard of first.
        self._producers: dict[int, Producer] = {}
        # First offset to producer id, ascending because they are opened in the log's order.
        self._ongoing: dict[int, int] = {}
        # First offset to marker's offset, of those whose marker may not be below the high watermark yet.
        self._completed: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._producers)

    def __iter__(self) -> Iterator[Producer]:
        return iter(self._producers.values())

    def get(self, producer_id: int) -> Producer | None:
        """The state of one producer."""
        return self._producers.get(producer_id)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction began that is open, or whose marker may still be lost."""
        # Transactions begin in the order of their offsets, but they end in any.
        first_ongoing = next(iter(self._ongoing), None)
        if not self._completed:
            return first_ongoing
        first_completed = min(self._completed)
        return first_completed if first_ongoing is None else min(first_ongoing, first_completed)

    def check(self, header: BatchHeader) -> BatchTrace | None:
        """None if the batch may be appended, the first copy's trace if it is a retry; raises if neither."""
        producer = self._producers.get(header[9])
        if producer is None:
            return None
        epoch, base_sequence = header[10], header[11]
        if epoch == producer.epoch:
            return None if base_sequence == producer.next_sequence else _find_duplicate(producer, header)
        if epoch < producer.epoch:
            raise stale_epoch(producer, epoch)
        if base_sequence != 0:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Producer {producer.producer_id} began epoch {epoch} with sequence {base_sequence}, not 0.",
            )
        return None

    def apply(self, header: BatchHeader, base_offset: int) -> None:
        """A batch of an idempotent producer is in the log."""
        _, _, _, _, _, attributes, delta, _, timestamp, producer_id, epoch, base_sequence, _ = header
        producers = self._producers
        producer = producers.pop(producer_id, None)
        if producer is None:
            producer = self._admit(producer_id, epoch)
        elif producer.epoch != epoch:
            producer.enter_epoch(epoch)
        producers[producer_id] = producer
        last_sequence = (base_sequence + delta) & SEQUENCE_MAX
        producer.batches.append((base_sequence, last_sequence, base_offset, base_offset + delta, timestamp))
        producer.next_sequence = (last_sequence + 1) & SEQUENCE_MAX
        producer.last_timestamp = timestamp
        if attributes & TRANSACTIONAL_BIT and producer.transaction_first_offset is None:
            producer.transaction_first_offset = base_offset
            self._ongoing[base_offset] = producer_id

    def check_marker(self, marker: TransactionMarker) -> None:
        """Refuse a marker of a fenced producer epoch or of a former coordinator."""
        producer = self._producers.get(marker.producer_id)
        if producer is None:
            return
        if marker.producer_epoch < producer.epoch:
            raise stale_epoch(producer, marker.producer_epoch)
        if marker.coordinator_epoch < producer.coordinator_epoch:
            raise ApiError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Producer {producer.producer_id} got a marker of coordinator epoch "
                f"{marker.coordinator_epoch} after one of {producer.coordinator_epoch}.",
            )

    def apply_marker(
        self, marker: TransactionMarker, *, offset: int, timestamp: int
    ) -> CompletedTransaction | None:
        """An end-of-transaction marker is in the log; answers the transaction it ended, if it had data."""
        producer_id = marker.producer_id
        producer = self._producers.pop(producer_id, None)
        if producer is None:
            producer = self._admit(producer_id, marker.producer_epoch)
        elif producer.epoch != marker.producer_epoch:
            producer.enter_epoch(marker.producer_epoch)
        self._producers[producer_id] = producer
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_timestamp = timestamp
        first_offset, producer.transaction_first_offset = producer.transaction_first_offset, None
        if first_offset is None:
            return None
        self._ongoing.pop(first_offset, None)
        self._completed[first_offset] = offset
        return CompletedTransaction(producer_id, first_offset, offset, not marker.is_commit)

    def last_stable_offset_after(self, completed: CompletedTransaction) -> int:
        """Where the log is stable once ``completed`` is over: the next open transaction, or its end."""
        return next(iter(self._ongoing), completed.last_offset + 1)

    def release_completed(self, high_watermark: int) -> None:
        """Markers below the high watermark cannot be lost any more."""
        if self._completed:
            for first_offset, marker_offset in list(self._completed.items()):
                if marker_offset < high_watermark:
                    del self._completed[first_offset]

    def expire(self, now: int, expiration_ms: int) -> int:
        """Forget producers that were silent too long and have no transaction open; answers how many."""
        expired = [
            producer_id
            for producer_id, producer in self._producers.items()
            if producer.transaction_first_offset is None and now - producer.last_timestamp >= expiration_ms
        ]
        for producer_id in expired:
            del self._producers[producer_id]
        return len(expired)

    def restore(self, producer: Producer) -> None:
        """Take over a producer from a snapshot."""
        self._producers[producer.producer_id] = producer
        if producer.transaction_first_offset is not None:
            self._ongoing[producer.transaction_first_offset] = producer.producer_id
            self._ongoing = dict(sorted(self._ongoing.items()))

    def _admit(self, producer_id: int, epoch: int) -> Producer:
        if len(self._producers) >= self._capacity:
            self._forget_oldest()
        return Producer(producer_id, epoch)

    def _forget_oldest(self) -> None:
        """Make room; an open transaction is never forgotten while another can go."""
        for producer_id, producer in self._producers.items():
            if producer.transaction_first_offset is None:
                del self._producers[producer_id]
                return
        raise ApiError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"All {self._capacity} producers that this partition can remember have open transactions.",
        )


def stale_epoch(producer: Producer, epoch: int) -> ApiError:
    """The answer to a producer, or marker, of a former epoch."""
    return ApiError(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"Producer {producer.producer_id} uses epoch {epoch}; epoch {producer.epoch} has taken over.",
    )


def _find_duplicate(producer: Producer, header: BatchHeader) -> BatchTrace:
    wanted = (header.base_sequence, header.last_sequence)
    for batch in producer.batches:
        if batch[:2] == wanted:
            return BatchTrace(*batch)
    raise ApiError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"Producer {producer.producer_id} sent sequence {header.base_sequence}, "
        f"expected was {producer.next_sequence}.",
    )
