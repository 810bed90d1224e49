"""What clients do in a run: appending, repeating what was not acknowledged, and knowing what to expect."""

from random import Random

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.storage.model import Entry, PartitionModel, Sent, SequencedProducer
from penstock.sim.storage.outcome import BrokenPromise
from penstock.sim.storage.plan import Append
from penstock.storage.log import AppendResult, Log

IN_FLIGHT_MAX = 5
"""As many batches as an idempotent producer may have unacknowledged."""

TIMESTAMP_LAG_MS_MAX = 2000
TOMBSTONES = 0.2
"""Of the records of compacted topics."""


class Workload:
    """The clients of all partitions."""

    def __init__(self, rng: Random, *, keys: int = 0) -> None:
        self._rng = rng
        self._keys = keys
        self._batches_made = 0

    def append(self, step: Append, model: PartitionModel, log: Log, now: int) -> None:
        """Send one more batch, and before it whatever has to be sent again."""
        if step.producer is None:
            sent = self._make(step, now)
            self._send(sent, model, log, now)
            return
        producer = model.producer(step.producer)
        if len(producer.unacknowledged) < IN_FLIGHT_MAX:
            producer.send(self._make(step, now, producer))
        self._send_missing(producer, model, log, now)

    def resend(self, model: PartitionModel, log: Log, now: int) -> None:
        """After a restart every producer repeats, in order, what it has no answer for."""
        for number in sorted(model.producers):
            for sent in tuple(model.producers[number].unacknowledged):
                if not self._send(sent, model, log, now):
                    break

    def _send_missing(self, producer: SequencedProducer, model: PartitionModel, log: Log, now: int) -> None:
        for sent in tuple(producer.unacknowledged):
            is_in_log = model.find_sequence(producer.producer_id, sent.header.base_sequence) is not None
            if not is_in_log and not self._send(sent, model, log, now):
                return

    def _make(self, step: Append, now: int, producer: SequencedProducer | None = None) -> Sent:
        self._batches_made += 1
        time = now - self._rng.randrange(TIMESTAMP_LAG_MS_MAX)
        records = [
            NewRecord(
                key=self._key(),
                value=self._value(step),
                timestamp=time + self._rng.randrange(3),
            )
            for _ in range(step.record_count)
        ]
        if producer is None:
            batch = build_batch(records)
        else:
            batch = build_batch(
                records,
                producer_id=producer.producer_id,
                producer_epoch=0,
                base_sequence=producer.next_sequence,
            )
        return Sent(read_header(batch), bytes(batch))

    def _key(self) -> bytes:
        return b"%d" % (self._rng.randrange(self._keys) if self._keys else self._batches_made)

    def _value(self, step: Append) -> bytes | None:
        if self._keys and self._rng.random() < TOMBSTONES:
            return None
        return self._rng.randbytes(step.value_bytes)

    def _send(self, sent: Sent, model: PartitionModel, log: Log, now: int) -> bool:
        """Append a copy; False when the log takes nothing now."""
        buffer = bytearray(sent.data)
        try:
            result = log.append(buffer, sent.header, leader_epoch=model.leader_epoch, now=now)
        except ApiError as error:
            return self._refused(error, sent, model, log)
        known = self._known(sent, model)
        if result.is_duplicate:
            self._check_duplicate(result, known)
            return True
        if known is not None:
            raise BrokenPromise("a retry is recognised", f"{_name(sent)} was appended a second time")
        if result.base_offset != model.end:
            raise BrokenPromise(
                "offsets are contiguous", f"a batch got offset {result.base_offset}, expected was {model.end}"
            )
        model.entries.append(Entry(read_header(buffer), bytes(buffer)))
        return True

    def _refused(self, error: ApiError, sent: Sent, model: PartitionModel, log: Log) -> bool:
        if error.code is ErrorCode.KAFKA_STORAGE_ERROR and log.refusal is not None:
            return False
        if error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and self._known(sent, model) is not None:
            # Only the newest batch of a producer is sure to be known after a restart, as in Kafka: an older
            # one is refused instead of recognised. It is in the log, so its producer may go on.
            return True
        raise BrokenPromise("good batches are taken", f"{_name(sent)} was refused: {error}")

    def _known(self, sent: Sent, model: PartitionModel) -> Entry | None:
        if not sent.header.has_producer_id:
            return None
        return model.find_sequence(sent.header.producer_id, sent.header.base_sequence)

    def _check_duplicate(self, result: AppendResult, known: Entry | None) -> None:
        if known is None:
            raise BrokenPromise(
                "a retry is recognised", f"the batch at offset {result.base_offset} was called a duplicate"
            )
        if (result.base_offset, result.last_offset) != (known.base_offset, known.next_offset - 1):
            raise BrokenPromise(
                "a retry is recognised",
                f"the batch at offset {known.base_offset} was said to be at {result.base_offset}",
            )


def _name(sent: Sent) -> str:
    return f"producer {sent.header.producer_id}'s batch with sequence {sent.header.base_sequence}"
