"""Fetches to all leaders of a topic's partitions at once: whoever answers first is heard first.

A fetch waits at its broker until there is something. So each leader is asked on a connection of its own, and
the answers are waited for together. What passes by itself, such as a leader that has just moved, is tried
again; ``trouble`` says what it is meanwhile.
"""

import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.errors import (
    BrokenConnectionError,
    RefusedError,
    UnreachableError,
    check,
    code_name,
)
from penstock.wire_client.topics import READ_COMMITTED, READ_UNCOMMITTED, by_leader, find_leaders, offsets_at

_NAMED_VERSION_MAX = 12
"""Of Fetch: the last that knows topics by name."""

_EARLIEST = -2
_RETRY_SECONDS = 0.1
_ANSWER_SECONDS_MAX = 10.0
"""Beyond what a fetch waits at its broker; one that is later is not waited for any more."""

_PASSING = PASSING | {
    ErrorCode.REPLICA_NOT_AVAILABLE,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.OFFSET_NOT_AVAILABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """How much is asked for at once."""

    answer_bytes_max: int = 2 * 1024 * 1024
    partition_bytes_max: int = 1024 * 1024
    partition_bytes_min: int = 16 * 1024


class FetchedPartition(NamedTuple):
    """What one answer has of one partition."""

    partition: int
    end: int
    """Where it ends for this reader: at the high watermark, or before the first open transaction."""
    records: memoryview
    aborted: Sequence[AbortedTransaction]
    moved_to: int | None = None
    """Where it begins now, if retention has removed what was asked for."""


class _Asked(NamedTuple):
    """A fetch whose answer is still to come."""

    node_id: int
    deadline: float


class LeaderFetches:
    """Fetches of one reader."""

    def __init__(self, cluster: Cluster, topic: str, *, limits: ReadLimits, is_read_committed: bool) -> None:
        self._cluster = cluster
        self._topic = topic
        self._limits = limits
        self._is_read_committed = is_read_committed
        self._leaders: Mapping[TopicPartition, int] = {}
        self._asked: dict[int, _Asked] = {}
        self.trouble = ""

    def fetch(self, positions: Mapping[int, int], *, wait_ms: int) -> list[FetchedPartition]:
        """What comes first; with nothing to wait for, what all leaders have at once."""
        began = time.monotonic()
        found: list[FetchedPartition] = []
        try:
            self._ask_all(positions, wait_ms=wait_ms)
            deadline = began + wait_ms / 1000 + (_ANSWER_SECONDS_MAX if wait_ms == 0 else 0)
            for node_id in self._answering(deadline, is_for_all=wait_ms == 0):
                found += self._answer(node_id, positions)
        except (UnreachableError, BrokenConnectionError) as error:
            self._start_over(str(error))
        if self.trouble and not found:
            _pause(began + wait_ms / 1000)
        return found

    def _ask_all(self, positions: Mapping[int, int], *, wait_ms: int) -> None:
        if not self._leaders:
            self._find_leaders(positions)
        wanted = [TopicPartition(self._topic, number) for number in sorted(positions)]
        for node_id, led in by_leader(self._leaders, wanted):
            if node_id not in self._asked:
                request = self._request(led, positions, wait_ms=wait_ms)
                self._cluster.broker(node_id).send(ApiKey.FETCH, request, at_most=_NAMED_VERSION_MAX)
                deadline = time.monotonic() + wait_ms / 1000 + _ANSWER_SECONDS_MAX
                self._asked[node_id] = _Asked(node_id, deadline)

    def _find_leaders(self, positions: Mapping[int, int]) -> None:
        self.trouble = ""
        self._leaders = find_leaders(self._cluster, [self._topic])
        for number in positions:
            leader = self._leaders.get(TopicPartition(self._topic, number))
            if leader is None:
                doing = f"read partition {number} of {self._topic!r}"
                raise RefusedError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, doing=doing)
            if leader < 0:
                self.trouble = f"Nobody leads partition {number} of {self._topic!r} at present."

    def _answering(self, deadline: float, *, is_for_all: bool) -> Iterator[int]:
        """Brokers whose answer has begun to come; the first of them, or all until the deadline."""
        while self._asked and (is_for_all or time.monotonic() <= deadline):
            seconds = max(0.0, deadline - time.monotonic())
            ready = self._ready(seconds)
            self._refuse_late()
            yield from ready
            if not ready or not is_for_all:
                return

    def _ready(self, seconds: float) -> list[int]:
        with selectors.DefaultSelector() as selector:
            for node_id in self._asked:
                selector.register(self._cluster.broker(node_id), selectors.EVENT_READ, node_id)
            return [int(key.data) for key, _ in selector.select(seconds)]

    def _refuse_late(self) -> None:
        now = time.monotonic()
        for asked in self._asked.values():
            if now > asked.deadline:
                raise BrokenConnectionError(f"Broker {asked.node_id} does not answer a fetch.")

    def _answer(self, node_id: int, positions: Mapping[int, int]) -> list[FetchedPartition]:
        answer = self._cluster.broker(node_id).receive()
        del self._asked[node_id]
        check(answer.error_code, doing=f"read {self._topic!r}")
        parts = [data for topic in answer.responses for data in topic.partitions]
        passing = [data.error_code for data in parts if data.error_code in _PASSING]
        if passing:
            self._leaders = {}
            self.trouble = f"The leaders of {self._topic!r} are changing: {code_name(passing[0])}."
        return [self._taken(data, positions) for data in parts if data.error_code not in _PASSING]

    def _taken(self, data: PartitionData, positions: Mapping[int, int]) -> FetchedPartition:
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            return self._beginning(data.partition_index, positions[data.partition_index])
        check(data.error_code, doing=f"read partition {data.partition_index} of {self._topic!r}")
        records = data.records if isinstance(data.records, bytes | bytearray | memoryview) else b""
        end = data.last_stable_offset if self._is_read_committed else data.high_watermark
        return FetchedPartition(
            data.partition_index,
            end if end >= 0 else data.high_watermark,
            memoryview(records),
            data.aborted_transactions or (),
        )

    def _beginning(self, number: int, position: int) -> FetchedPartition:
        """What was asked for is gone; a position beyond the log is that of another log."""
        partition = TopicPartition(self._topic, number)
        start = offsets_at(self._cluster, {partition: _EARLIEST})[partition]
        if start is None or start <= position:
            doing = f"read {partition} from offset {position} on"
            raise RefusedError(ErrorCode.OFFSET_OUT_OF_RANGE, doing=doing, detail="it does not go so far")
        return FetchedPartition(number, start, memoryview(b""), (), moved_to=start)

    def _start_over(self, why: str) -> None:
        """Hang up where an answer may still come, and look for the leaders again."""
        self.trouble = why
        self._leaders = {}
        self._asked.clear()
        self._cluster.hang_up_where_owed()

    def _request(
        self, led: Sequence[TopicPartition], positions: Mapping[int, int], *, wait_ms: int
    ) -> FetchRequest:
        limits = self._limits
        share = min(limits.partition_bytes_max, limits.answer_bytes_max // len(led))
        partitions = tuple(
            FetchPartition(
                partition=each.partition,
                fetch_offset=positions[each.partition],
                partition_max_bytes=max(limits.partition_bytes_min, share),
            )
            for each in led
        )
        return FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=limits.answer_bytes_max,
            isolation_level=READ_COMMITTED if self._is_read_committed else READ_UNCOMMITTED,
            topics=(FetchTopic(topic=self._topic, partitions=partitions),),
        )


def _pause(deadline: float) -> None:
    """Before the same is tried again, but not beyond the deadline."""
    time.sleep(max(0.0, min(_RETRY_SECONDS, deadline - time.monotonic())))
