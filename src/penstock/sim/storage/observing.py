"""Looking at a log the way clients do: reading all of it, asking for offsets and for times."""

from collections.abc import Iterator

from penstock.model.errors import CorruptLogError
from penstock.records.batch import BatchHeader, read_header, split_batches
from penstock.records.errors import CorruptBatchError
from penstock.sim.storage.model import PartitionModel
from penstock.sim.storage.observation import Lookup, Observation, ProducerSeen, Refusal, Seen
from penstock.storage.log import Log

READ_BYTES = 700
"""Small, so that reads end in the middle of segments and of batches."""

LOOKUPS_MAX = 12


class _Reading:
    """One pass over a log from its start to its durable end."""

    def __init__(self, log: Log, model: PartitionModel) -> None:
        self._log = log
        self._model = model
        self.batches: list[Seen] = []
        self.refusals: list[Refusal] = []
        self.nonsense: list[str] = []
        offset = log.log_start_offset
        while offset < log.flushed_offset:
            offset = self._read_from(offset)

    def _read_from(self, offset: int) -> int:
        """Take in what is served at ``offset``; answers where to go on."""
        try:
            data = self._serve_again(offset)
        except CorruptLogError as error:
            self.refusals.append(Refusal(offset, str(error)))
            return self._behind(offset)
        try:
            found = [Seen(header, data[at : at + header.size_bytes]) for at, header in split_batches(data)]
        except CorruptBatchError as error:
            self.nonsense.append(f"what is served at offset {offset} is no batch: {error}")
            return self._behind(offset)
        if not found or found[-1].header.next_offset <= offset:
            self.nonsense.append(f"what is served at offset {offset} leads nowhere")
            return self._behind(offset)
        self.batches += found
        return found[-1].header.next_offset

    def _serve_again(self, offset: int) -> bytes:
        """As a consumer that tries twice: a read that met damage tells the log to stop before it."""
        try:
            return serve(self._log, offset, READ_BYTES)
        except CorruptLogError:
            return serve(self._log, offset, READ_BYTES)

    def _behind(self, offset: int) -> int:
        """The next batch's beginning, by the book."""
        starts = (entry.base_offset for entry in self._model.entries)
        return min((start for start in starts if start > offset), default=self._log.flushed_offset)


def serve(log: Log, offset: int, max_bytes: int) -> bytes:
    """The bytes a consumer gets, checked first where the broker would check them."""
    found = log.read(offset, max_bytes=max_bytes, end_offset=log.flushed_offset)
    if log.needs_verification(found):
        log.verify(found)
    return found.read_bytes()


def observe(log: Log, model: PartitionModel) -> Observation:
    """Everything the invariants want to know."""
    reading = _Reading(log, model)
    is_readable = not reading.refusals and not reading.nonsense
    damage = log.recovery_report.damage
    return Observation(
        partition=model.number,
        log_start=log.log_start_offset,
        log_end=log.log_end_offset,
        flushed=log.flushed_offset,
        batches=tuple(reading.batches),
        refusals=tuple(reading.refusals),
        offline_reason=None if damage is None else damage.reason,
        truncation_reported=log.recovery_report.truncated_bytes > 0,
        producers=dict(_producers(log)),
        epochs=tuple((start.epoch, start.start_offset) for start in log.leader_epochs.starts),
        by_offset=tuple(_by_offset(log)) if is_readable else (),
        by_time=tuple(_by_time(log, reading.batches)) if is_readable else (),
        nonsense=tuple(reading.nonsense),
    )


def _producers(log: Log) -> Iterator[tuple[int, ProducerSeen]]:
    for producer in log.producers:
        last = producer.last_batch
        if last is not None:
            yield producer.producer_id, ProducerSeen(producer.epoch, last.last_sequence, last.last_offset)


def _by_offset(log: Log) -> Iterator[Lookup]:
    start, end = log.log_start_offset, log.flushed_offset
    for offset in _spread(start, end):
        header = read_header(serve(log, offset, 1))
        yield Lookup(offset, header.base_offset)


def _by_time(log: Log, batches: list[Seen]) -> Iterator[Lookup]:
    headers: list[BatchHeader] = [batch.header for batch in batches]
    if not headers:
        return
    for number in _spread(0, len(headers)):
        for timestamp in (headers[number].base_timestamp, headers[number].max_timestamp + 1):
            found = log.offset_for_timestamp(timestamp)
            yield Lookup(timestamp, None if found is None else found[0])


def _spread(start: int, end: int) -> range:
    return range(start, end, max(1, (end - start) // LOOKUPS_MAX))
