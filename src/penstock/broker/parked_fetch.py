"""A consumer's Fetch request from its arrival to its answer: read, perhaps wait, send.

A fetch is answered as soon as it has ``min_bytes``, or as much as it may have of a partition, anything went
wrong, or its time is up. Until then it waits on its partitions and looks again whenever a high watermark
moves; nothing polls.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.fetch_sessions import FetchPlan, FetchPosition, PartitionKey
from penstock.broker.fetch_verification import answer_verified
from penstock.broker.partition import Partition
from penstock.broker.partition_read import NO_REPLICA, PartitionRead, unreadable
from penstock.broker.read_replicas import nearer_replica
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, StorageError
from penstock.replication.divergence import EpochEnd, diverging_epoch

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

READ_COMMITTED = 1


class FetchLimits(NamedTuple):
    """How much an answer wants and may hold."""

    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    isolation_level: int
    #: Whether a follower may answer.
    allows_followers: bool = False
    #: Where the consumer stands; empty if it does not say.
    rack: str = ""


class ParkedFetch:
    """One fetch under way."""

    def __init__(
        self,
        broker: "Broker",
        plan: FetchPlan,
        limits: FetchLimits,
        is_abandoned: Callable[[], bool],
        answer: Callable[[list[PartitionRead]], None],
    ) -> None:
        self._broker = broker
        self._plan = plan
        self._limits = limits
        self._is_abandoned = is_abandoned
        self._answer = answer
        self._timer: asyncio.TimerHandle | None = None
        self._partitions: list[Partition] = []

    def start(self) -> None:
        """Answer at once if possible, otherwise wait."""
        reads = self._read()
        if self._limits.max_wait_ms <= 0 or self._is_enough(reads):
            self._deliver(reads)
            return
        self._partitions = [read.partition for read in reads if read.partition is not None]
        for partition in self._partitions:
            partition.waiters.fetchers[self] = None
        self._timer = self._broker.loop.call_later(self._limits.max_wait_ms / 1000, self._time_is_up)

    def wake(self) -> None:
        """A high watermark has moved: look again."""
        if self._is_abandoned():
            self.give_up()
            return
        reads = self._read()
        if self._is_enough(reads):
            self.give_up()
            self._deliver(reads)

    def give_up(self) -> None:
        """Wait no more: it is about to be answered, or nobody is there who could be."""
        if self._timer is not None:
            self._timer.cancel()
        for partition in self._partitions:
            partition.waiters.fetchers.pop(self, None)
        self._partitions = []

    def _time_is_up(self) -> None:
        self.give_up()
        if not self._is_abandoned():
            self._deliver(self._read())

    def _is_enough(self, reads: list[PartitionRead]) -> bool:
        if not reads:
            return True
        if any(read.is_urgent or read.has_more for read in reads):
            return True
        return sum(read.size for read in reads) >= self._limits.min_bytes

    def _read(self) -> list[PartitionRead]:
        """Read every partition in order until the answer is full."""
        left = self._limits.max_bytes
        has_records = False
        reads = []
        for key, position in self._plan.positions:
            read = self._read_partition(key, position, left, is_first=not has_records)
            left -= read.size
            has_records = has_records or read.size > 0
            reads.append(read)
        return reads

    def _read_partition(
        self, key: PartitionKey, position: FetchPosition, left: int, *, is_first: bool
    ) -> PartitionRead:
        try:
            partition = self._find(key)
            if self._limits.allows_followers:
                partition.check_readable(position.current_leader_epoch, position.fetch_offset)
            else:
                partition.check_is_here(position.current_leader_epoch)
            return self._read_found(key, partition, position, left, is_first=is_first)
        except ApiError as error:
            return PartitionRead(key, error.code)
        except StorageError as error:
            return unreadable(self._broker, key, partition, error)

    def _find(self, key: PartitionKey) -> Partition:
        replicas = self._broker.replicas
        if key.topic_id:
            return replicas.by_id(key.topic_id, key.partition)
        return replicas.by_name(key.topic, key.partition)

    def _read_found(
        self, key: PartitionKey, partition: Partition, position: FetchPosition, left: int, *, is_first: bool
    ) -> PartitionRead:
        log = partition.log
        high_watermark = partition.high_watermark
        stable = partition.last_stable_offset
        is_committed_only = self._limits.isolation_level == READ_COMMITTED
        read = PartitionRead(
            key,
            ErrorCode.NONE,
            high_watermark=high_watermark,
            last_stable_offset=stable,
            log_start_offset=log.log_start_offset,
            aborted=() if is_committed_only else None,
            partition=partition,
        )
        if (diverging := _divergence(partition, position)) is not None:
            return read._replace(diverging=diverging)
        if self._limits.rack:
            preferred = nearer_replica(self._broker, partition, self._limits.rack, position.fetch_offset)
            if preferred != NO_REPLICA:
                return read._replace(preferred=preferred)
        if log.is_offline and position.fetch_offset >= log.log_end_offset:
            # More was written than can be read: a reader must not wait for it as if it were still to come.
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, log.refusal or "")
        records = log.read(
            position.fetch_offset,
            max_bytes=max(0, min(position.max_bytes, left)),
            end_offset=stable if is_committed_only else high_watermark,
            minimum_one_batch=is_first,
        )
        if is_committed_only and records.size:
            end = min(stable, records.end_offset)
            aborted = log.aborted_transactions(position.fetch_offset, end)
            return read._replace(records=records, aborted=aborted)
        return read._replace(records=records)

    def _deliver(self, reads: list[PartitionRead]) -> None:
        answer_verified(self._broker, reads, self._answer)


def _divergence(partition: Partition, position: FetchPosition) -> EpochEnd | None:
    """Epoch and end offset up to which the reader's history is ours too, if it differs (KIP-595)."""
    if position.last_fetched_epoch < 0:
        return None
    log = partition.log
    return diverging_epoch(
        log.leader_epochs,
        log_end_offset=log.log_end_offset,
        fetch_offset=position.fetch_offset,
        last_fetched_epoch=position.last_fetched_epoch,
    )
