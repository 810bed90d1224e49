"""Records out of whole batches: the cheapest way to look at many of them.

Reading goes answer by answer, so that whoever waits can be told how far it is, and can stop it in between.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.model.ids import TopicPartition
from penstock.records.errors import CorruptBatchError
from penstock.records.lazy_record import LazyRecord, lazy_records
from penstock.records.record import Record
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import FetchedBatch, Fetching, FetchLimits, OffsetRange

NOTES_MAX = 20


class Located(NamedTuple):
    """A record and its partition."""

    partition: int
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What one answer of a broker brought."""

    found: list[Located]
    covered: int
    """Offsets that are done with, whether or not there is a record at them."""


class LazyAnswer(NamedTuple):
    """What one answer brought, batch by batch with their partitions, and the offsets that are done with."""

    batches: list[tuple[int, list[LazyRecord]]]
    covered: int


@dataclass(slots=True, kw_only=True)
class Reading:
    """Reads a window of each partition; ``notes`` tell what could not be read."""

    cluster: Cluster
    topic: str
    windows: Mapping[int, OffsetRange]
    limits: FetchLimits
    notes: list[str] = field(default_factory=list)
    missed: int = field(default=0, init=False)
    """Offsets that never came."""
    abandoned: list[int] = field(default_factory=list, init=False)
    """Partitions that may hold more, but whose leaders did not answer for long."""
    _positions: dict[int, int] = field(default_factory=dict, init=False)

    def answers(self) -> Iterator[Answered]:
        """Answer after answer; in each partition in the order of offsets."""
        for found, covered in self.lazy_answers():
            records = [
                Located(number, self.whole(number, record)) for number, records in found for record in records
            ]
            yield Answered(found=records, covered=covered)

    def lazy_answers(self) -> Iterator[LazyAnswer]:
        """The same for who looks at many records and keeps few."""
        self._positions = {number: window.start for number, window in self.windows.items()}
        ranges = {TopicPartition(self.topic, number): window for number, window in self.windows.items()}
        fetching = Fetching(self.cluster, ranges, limits=self.limits)
        for batches in fetching.answers():
            covered = sum(self._move(batch) for batch in batches)
            yield LazyAnswer(
                [(batch.partition.partition, self._records(batch)) for batch in batches], covered
            )
        for partition, offset in fetching.missed.items():
            self.missed += self.windows[partition.partition].end - offset
            self._note(f"From offset {offset} of partition {partition.partition} on nothing came.")
        self.abandoned = sorted(partition.partition for partition in fetching.abandoned)

    def whole(self, number: int, lazy: LazyRecord) -> Record:
        """A record with its headers, or without if a producer wrote what is no headers, which is noted."""
        try:
            return lazy.record
        except CorruptBatchError as error:
            self._note(f"The headers at offset {lazy.offset} of partition {number} cannot be read: {error}")
            return Record(offset=lazy.offset, timestamp=lazy.timestamp, key=lazy.key, value=lazy.value)

    def _move(self, batch: FetchedBatch) -> int:
        """How many offsets of the window lie between the position and the end of a batch."""
        number = batch.partition.partition
        following = min(batch.header.next_offset, self.windows[number].end)
        moved = max(0, following - self._positions[number])
        self._positions[number] += moved
        return moved

    def _records(self, batch: FetchedBatch) -> list[LazyRecord]:
        if batch.is_aborted or batch.header.is_control:
            return []
        number = batch.partition.partition
        start, end = self.windows[number]
        try:
            records = lazy_records(batch.buffer, batch.header, batch.at)
        except CorruptBatchError as error:
            where = f"offset {batch.header.base_offset} of partition {number}"
            self._note(f"The batch at {where} cannot be read: {error}")
            return []
        if batch.header.base_offset >= start and batch.header.last_offset < end:
            return records
        return [record for record in records if start <= record.offset < end]

    def _note(self, sentence: str) -> None:
        if len(self.notes) < NOTES_MAX:
            self.notes.append(sentence)


def read_all(reading: Reading) -> dict[int, list[Record]]:
    """All records of the windows, by partition."""
    found: dict[int, list[Record]] = {number: [] for number in reading.windows}
    for answer in reading.answers():
        for number, record in answer.found:
            found[number].append(record)
    return found
