"""Reading partitions from any broker that speaks Kafka's protocol, batch by batch.

Partitions are read from the oldest offset to where they ended when the reading began, or within any other
range. Little is held at once: one answer of a broker, whose size the request limits. Leaders that move, fall
silent or are gone are looked up anew, for as long as patience lasts after something came.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.aborted import AbortedFilter
from penstock.records.batch import BatchHeader, split_batches
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from penstock.wire.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from penstock.wire_client.cluster import PASSING, PATIENCE_SECONDS_MAX, Cluster
from penstock.wire_client.errors import BrokenConnectionError, UnreachableError, WireClientError, check
from penstock.wire_client.patience import Patience
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

_NAMED_VERSION_MAX = 12
"""Of Fetch: the last that knows topics by name."""

_WAIT_MS = 500
_EMPTY_ANSWERS_MAX = 5
"""In a row and for one partition: then what is missing up to its end is not going to come."""
_PATIENCE = Patience(seconds_max=PATIENCE_SECONDS_MAX, attempts_min=3)
"""With partitions that nobody sends. A silent leader takes an attempt, and so may asking it who is next."""


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
    starts = offsets_at(cluster, dict.fromkeys(wanted, EARLIEST_TIMESTAMP))
    ends = offsets_at(cluster, dict.fromkeys(wanted, LATEST_TIMESTAMP), isolation_level=isolation_level)
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
        self._trouble: WireClientError | None = None
        self.missed: dict[TopicPartition, int] = {}
        #: Those that were missed because no leader of theirs answered until patience ended.
        self.abandoned: set[TopicPartition] = set()

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
        """Go round the leaders; whenever something comes, patience begins anew."""
        while self._wanted(group):
            before = self._positions(group)
            for _ in _PATIENCE.attempts():
                yield from self._go_round(group)
                if self._positions(group) != before:
                    break
                yield []  # So that whoever has waited long enough can stop.
            else:
                self._abandon(group)

    def _positions(self, group: Iterable[TopicPartition]) -> list[int | None]:
        return [self._next.get(partition) for partition in group]

    def _go_round(self, group: list[TopicPartition]) -> Iterator[list[FetchedBatch]]:
        """Ask every leader for as much as it has; one that fails keeps nobody from the others."""
        wanted = self._wanted(group)
        try:
            leaders = find_leaders(self._cluster, {partition.topic for partition in wanted})
        except (BrokenConnectionError, UnreachableError) as error:
            self._trouble = error
            return
        self._trouble = None
        for node_id, led in by_leader(leaders, wanted):
            yield from self._read_from(node_id, led)

    def _abandon(self, group: list[TopicPartition]) -> None:
        """Patience has ended; with a whole cluster that answers nothing there is nothing to go on with."""
        if self._trouble is not None:
            raise self._trouble
        for partition in self._wanted(group):
            self._miss(partition)
            self.abandoned.add(partition)

    def _read_from(self, node_id: int, led: Sequence[TopicPartition]) -> Iterator[list[FetchedBatch]]:
        """Read to the end, or until the broker may no longer lead one of them.

        A former leader that follows answers as well, without an error: with nothing.
        """
        is_leader = True
        while is_leader and (wanted := self._wanted(led)):
            try:
                answer = self._cluster.broker(node_id).call(
                    ApiKey.FETCH, self._request(wanted), at_most=_NAMED_VERSION_MAX
                )
            except (BrokenConnectionError, UnreachableError):
                return
            found, is_leader = self._take(answer)
            yield found

    def _take(self, answer: FetchResponse) -> tuple[list[FetchedBatch], bool]:
        """What came, and whether it came from one that leads all these partitions and had something."""
        check(answer.error_code, doing="fetch")
        found: list[FetchedBatch] = []
        answered: list[TopicPartition] = []
        is_leader = True
        for topic in answer.responses:
            for data in topic.partitions:
                partition = TopicPartition(topic.topic, data.partition_index)
                if data.error_code in PASSING:
                    is_leader = False
                elif data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    is_leader &= self._catch_up(partition)
                else:
                    answered.append(partition)
                    found += self._taken(partition, data)
        self._note_served(answered, found)
        return found, is_leader and bool(found)

    def _wanted(self, led: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Those that are not read to their end, in the order in which brokers fill an answer."""
        return sorted((each for each in led if each in self._next), key=self._served.__getitem__)

    def _note_served(self, answered: Sequence[TopicPartition], found: Sequence[FetchedBatch]) -> None:
        """Remember who brought something; only an answer without anything says that there is nothing.

        In a full answer others may just have had no room.
        """
        self._answers += 1
        for batch in found:
            self._served[batch.partition] = self._answers
        if not found:
            for partition in answered:
                if partition in self._next:
                    self._note_empty(partition)

    def _taken(self, partition: TopicPartition, data: PartitionData) -> Iterator[FetchedBatch]:
        check(data.error_code, doing=f"fetch from {partition}")
        buffer = memoryview(data.records if isinstance(data.records, bytes | bytearray | memoryview) else b"")
        aborted = AbortedFilter(data.aborted_transactions or ())
        for at, header in split_batches(buffer):
            is_aborted = self._limits.is_read_committed and aborted.is_aborted(buffer, header, at)
            if self._next.get(partition, header.next_offset) < header.next_offset:
                self._move(partition, header.next_offset)
                yield FetchedBatch(partition, header, buffer, at, is_aborted)

    def _catch_up(self, partition: TopicPartition) -> bool:
        """Go where the log begins now, if retention was quicker than we are; False if nobody can tell.

        Brokers do not say so with the refusal: its log start offset is -1. A log that does not go as far as
        what was asked for, or begins behind what is wanted of it, has nothing for us any more.
        """
        try:
            start = offsets_at(self._cluster, {partition: EARLIEST_TIMESTAMP})[partition]
        except (BrokenConnectionError, UnreachableError):
            return False
        if start is None:
            return False
        if self._next[partition] < start < self._ends[partition]:
            self._move(partition, start)
        else:
            self._miss(partition)
        return True

    def _move(self, partition: TopicPartition, offset: int) -> None:
        self._empty_answers[partition] = 0
        self._next[partition] = offset
        if offset >= self._ends[partition]:
            del self._next[partition]

    def _note_empty(self, partition: TopicPartition) -> None:
        self._empty_answers[partition] += 1
        if self._empty_answers[partition] >= _EMPTY_ANSWERS_MAX:
            self._miss(partition)

    def _miss(self, partition: TopicPartition) -> None:
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
