"""Reading whole partitions from any broker that speaks Kafka's protocol, batch by batch.

Partitions are read from the oldest offset to where they ended when the reading began. Little is held at once:
one answer of a broker, whose size the request limits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.batch import BatchHeader, split_batches
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from penstock.wire_client.cluster import PASSING, Cluster, attempts
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import check
from penstock.wire_client.topics import by_leader, by_topic, find_leaders, offsets_at

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


def stored_ranges(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, OffsetRange]:
    """What each partition holds at present; one that nobody leads is left out."""
    wanted = list(partitions)
    starts = offsets_at(cluster, dict.fromkeys(wanted, _EARLIEST))
    ends = offsets_at(cluster, dict.fromkeys(wanted, _LATEST))
    found: dict[TopicPartition, OffsetRange] = {}
    for partition in wanted:
        start, end = starts[partition], ends[partition]
        if start is not None and end is not None:
            found[partition] = OffsetRange(start, end)
    return found


class Fetching:
    """Reads ranges of partitions; ``missed`` tells what never came."""

    def __init__(self, cluster: Cluster, ranges: Mapping[TopicPartition, OffsetRange]) -> None:
        self._cluster = cluster
        self._ends = {partition: wanted.end for partition, wanted in ranges.items()}
        #: What to ask for next, of partitions that are not read to their end.
        self._next = {
            partition: wanted.start for partition, wanted in ranges.items() if wanted.start < wanted.end
        }
        self._empty_answers = dict.fromkeys(ranges, 0)
        self.missed: dict[TopicPartition, int] = {}

    def batches(self) -> Iterator[FetchedBatch]:
        """Everything, in the order in which brokers send it; within a partition in that of its offsets."""
        waiting = sorted(self._next)
        for start in range(0, len(waiting), PARTITIONS_PER_FETCH_MAX):
            yield from self._read(waiting[start : start + PARTITIONS_PER_FETCH_MAX])

    def _read(self, group: list[TopicPartition]) -> Iterator[FetchedBatch]:
        for _ in attempts():
            leaders = find_leaders(self._cluster, {partition.topic for partition in group})
            for node_id, led in by_leader(leaders, group):
                yield from self._read_from(self._cluster.broker(node_id), led)
            if self._next.keys().isdisjoint(group):
                return
        for partition in group:
            if partition in self._next:
                self.missed[partition] = self._next.pop(partition)

    def _read_from(self, broker: Connection, led: Sequence[TopicPartition]) -> Iterator[FetchedBatch]:
        """Read to the end, or until the broker no longer leads one of them."""
        is_leader = True
        while is_leader and (wanted := [partition for partition in led if partition in self._next]):
            answer = broker.call(ApiKey.FETCH, self._request(wanted), at_most=_NAMED_VERSION_MAX)
            check(answer.error_code, doing="fetch")
            for topic in answer.responses:
                for data in topic.partitions:
                    if data.error_code in PASSING:
                        is_leader = False
                    else:
                        yield from self._taken(TopicPartition(topic.topic, data.partition_index), data)

    def _taken(self, partition: TopicPartition, data: PartitionData) -> Iterator[FetchedBatch]:
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            # Retention was quicker than we are.
            self._move(partition, max(data.log_start_offset, self._next[partition] + 1))
            return
        check(data.error_code, doing=f"fetch from {partition}")
        before = self._next[partition]
        buffer = memoryview(data.records if isinstance(data.records, bytes | bytearray | memoryview) else b"")
        for at, header in split_batches(buffer):
            if self._next.get(partition, header.next_offset) < header.next_offset:
                self._move(partition, header.next_offset)
                yield FetchedBatch(partition, header, buffer, at)
        if self._next.get(partition) == before:
            self._note_empty(partition)

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
        return FetchRequest(
            max_wait_ms=_WAIT_MS,
            min_bytes=1,
            max_bytes=ANSWER_BYTES_MAX,
            topics=tuple(
                FetchTopic(
                    topic=topic,
                    partitions=tuple(
                        FetchPartition(
                            partition=number,
                            fetch_offset=self._next[TopicPartition(topic, number)],
                            partition_max_bytes=PARTITION_BYTES_MAX,
                        )
                        for number in numbers
                    ),
                )
                for topic, numbers in by_topic(partitions).items()
            ),
        )
