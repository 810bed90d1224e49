"""Reading partitions from any broker that speaks Kafka's protocol, batch by batch.

Partitions are read from the oldest offset to where they ended when the reading began, or within any other
range. Little is held at once: one answer of a broker, whose size the request limits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.aborted import AbortedFilter
from penstock.records.batch import BatchHeader, split_batches
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from penstock.wire_client.cluster import PASSING, Cluster, attempts
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import check
from penstock.wire_client.topics import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    by_leader,
    by_topic,
    find_leaders,
    offsets_at,
)

ANSWER_BYTES_MAX = 8 * 1024 * 1024
PARTITION_BYTES_MAX = 1024 * 1024
PARTITIONS_PER_FETCH_MAX = 50

_EARLIEST = -2
_LATEST = -1
_NAMED_VERSION_MAX = 12
"""Of Fetch: the last that knows topics by name."""

_WAIT_MS = 500
_EMPTY_ANSWERS_MAX = 5
"""In a row and for one partition: then what is missing up to its end is not going to come."""


class OffsetRange(NamedTuple):
    """What to read of a partition; the end is not part of it."""

    start: int
    end: int


class FetchedBatch(NamedTuple):
    """A batch inside the answer that brought it."""

    partition: TopicPartition
    header: BatchHeader
    buffer: memoryview
    at: int
    is_aborted: bool = False
    """Whether it belongs to a transaction that was aborted; told only to who reads what is committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """How much is asked for at once, and of which records."""

    answer_bytes_max: int = ANSWER_BYTES_MAX
    partition_bytes_max: int = PARTITION_BYTES_MAX
    wait_ms: int = _WAIT_MS
    is_read_committed: bool = False


def stored_ranges(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, is_read_committed: bool = False
) -> dict[TopicPartition, OffsetRange]:
    """What each partition holds at present; one that nobody leads is left out.

    For who reads what is committed, a partition ends where its first open transaction begins.
    """
    wanted = list(partitions)
    isolation_level = READ_COMMITTED if is_read_committed else READ_UNCOMMITTED
    starts = offsets_at(cluster, dict.fromkeys(wanted, _EARLIEST))
    ends = offsets_at(cluster, dict.fromkeys(wanted, _LATEST), isolation_level=isolation_level)
    found: dict[TopicPartition, OffsetRange] = {}
    for partition in wanted:
        start, end = starts[partition], ends[partition]
        if start is not None and end is not None:
            found[partition] = OffsetRange(start, end)
    return found


class Fetching:
    """Reads ranges of partitions; ``missed`` tells what never came."""

    def __init__(
        self,
        cluster: Cluster,
        ranges: Mapping[TopicPartition, OffsetRange],
        *,
        limits: FetchLimits | None = None,
    ) -> None:
        self._cluster = cluster
        self._limits = limits or FetchLimits()
        self._ends = {partition: wanted.end for partition, wanted in ranges.items()}
        #: What to ask for next, of partitions that are not read to their end.
        self._next = {
            partition: wanted.start for partition, wanted in ranges.items() if wanted.start < wanted.end
        }
        self._empty_answers = dict.fromkeys(ranges, 0)
        #: When each last brought something: who has waited longest is asked for first.
        self._served = dict.fromkeys(ranges, 0)
        self._answers = 0
        self.missed: dict[TopicPartition, int] = {}

    def batches(self) -> Iterator[FetchedBatch]:
        """Everything, in the order in which brokers send it; within a partition in that of its offsets."""
        for answer in self.answers():
            yield from answer

    def answers(self) -> Iterator[list[FetchedBatch]]:
        """The batches of one answer after the other; a list may be empty."""
        waiting = sorted(self._next)
        for start in range(0, len(waiting), PARTITIONS_PER_FETCH_MAX):
            yield from self._read(waiting[start : start + PARTITIONS_PER_FETCH_MAX])

    def _read(self, group: list[TopicPartition]) -> Iterator[list[FetchedBatch]]:
        for _ in attempts():
            leaders = find_leaders(self._cluster, {partition.topic for partition in group})
            for node_id, led in by_leader(leaders, group):
                yield from self._read_from(self._cluster.broker(node_id), led)
            if self._next.keys().isdisjoint(group):
                return
        for partition in group:
            if partition in self._next:
                self.missed[partition] = self._next.pop(partition)

    def _read_from(self, broker: Connection, led: Sequence[TopicPartition]) -> Iterator[list[FetchedBatch]]:
        """Read to the end, or until the broker no longer leads one of them."""
        is_leader = True
        while is_leader and (wanted := self._wanted(led)):
            answer = broker.call(ApiKey.FETCH, self._request(wanted), at_most=_NAMED_VERSION_MAX)
            check(answer.error_code, doing="fetch")
            found: list[FetchedBatch] = []
            for topic in answer.responses:
                for data in topic.partitions:
                    if data.error_code in PASSING:
                        is_leader = False
                    else:
                        found += self._taken(TopicPartition(topic.topic, data.partition_index), data)
            self._note_served(wanted, found)
            yield found

    def _wanted(self, led: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Those that are not read to their end, in the order in which brokers fill an answer."""
        return sorted((each for each in led if each in self._next), key=self._served.__getitem__)

    def _note_served(self, wanted: Sequence[TopicPartition], found: Sequence[FetchedBatch]) -> None:
        """Remember who brought something; only an answer without anything says that there is nothing.

        In a full answer others may just have had no room.
        """
        self._answers += 1
        for batch in found:
            self._served[batch.partition] = self._answers
        if not found:
            for partition in wanted:
                if partition in self._next:
                    self._note_empty(partition)

    def _taken(self, partition: TopicPartition, data: PartitionData) -> Iterator[FetchedBatch]:
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            # Retention was quicker than we are.
            self._move(partition, max(data.log_start_offset, self._next[partition] + 1))
            return
        check(data.error_code, doing=f"fetch from {partition}")
        buffer = memoryview(data.records if isinstance(data.records, bytes | bytearray | memoryview) else b"")
        aborted = AbortedFilter(data.aborted_transactions or ())
        for at, header in split_batches(buffer):
            is_aborted = self._limits.is_read_committed and aborted.is_aborted(buffer, header, at)
            if self._next.get(partition, header.next_offset) < header.next_offset:
                self._move(partition, header.next_offset)
                yield FetchedBatch(partition, header, buffer, at, is_aborted)

    def _move(self, partition: TopicPartition, offset: int) -> None:
        self._empty_answers[partition] = 0
        self._next[partition] = offset
        if offset >= self._ends[partition]:
            del self._next[partition]

    def _note_empty(self, partition: TopicPartition) -> None:
        self._empty_answers[partition] += 1
        if self._empty_answers[partition] >= _EMPTY_ANSWERS_MAX:
            self.missed[partition] = self._next.pop(partition)

    def _request(self, partitions: list[TopicPartition]) -> FetchRequest:
        limits = self._limits
        return FetchRequest(
            max_wait_ms=limits.wait_ms,
            min_bytes=1,
            max_bytes=limits.answer_bytes_max,
            isolation_level=READ_COMMITTED if limits.is_read_committed else READ_UNCOMMITTED,
            topics=tuple(
                FetchTopic(
                    topic=topic,
                    partitions=tuple(
                        FetchPartition(
                            partition=number,
                            fetch_offset=self._next[TopicPartition(topic, number)],
                            partition_max_bytes=limits.partition_bytes_max,
                        )
                        for number in numbers
                    ),
                )
                for topic, numbers in by_topic(partitions).items()
            ),
        )
