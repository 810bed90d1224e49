"""A follower's Fetch request from its arrival to its answer.

It may read whatever is flushed here. It is answered when something is there to be read or went wrong, when
its time is up, or when its sender has more to say. A high watermark that moved is told along with the next
records, or after a short while, so that followers know of it even when nothing more is written.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.broker.fetch_verification import answer_verified
from penstock.broker.partition_read import PartitionRead, unreadable
from penstock.broker.replication.replica_session import Entry, ReplicaSession
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, StorageError
from penstock.model.ids import Millis

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

NEWS_SECONDS = 0.05
"""For how long the movement of a high watermark may wait to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaFetchLimits:
    """How much an answer wants and may hold."""

    min_bytes: int
    max_bytes: int
    max_wait_ms: int


class ReplicaFetch:
    """One request of a session."""

    def __init__(
        self,
        broker: "Broker",
        session: ReplicaSession,
        limits: ReplicaFetchLimits,
        answer: Callable[[list[PartitionRead]], None],
        *,
        refused: list[PartitionRead],
    ) -> None:
        self._broker = broker
        self._session = session
        self._limits = limits
        self._answer = answer
        #: What there is to tell so far.
        self._reads = refused
        self._left = limits.max_bytes
        self._has_records = False
        self._is_told = False
        self._is_looking = False
        self._timers: list[asyncio.TimerHandle] = []

    def start(self) -> None:
        """Answer at once if possible, otherwise wait."""
        has_news = self._look(is_last=False)
        if self._is_enough or self._limits.max_wait_ms <= 0:
            self.finish()
            return
        self._session.waiting = self
        self._timers.append(self._broker.loop.call_later(self._limits.max_wait_ms / 1000, self.finish))
        if has_news:
            self.look_later()

    def look_soon(self) -> None:
        """Something is there: look at the end of this turn, in which there may be more."""
        if not self._is_looking:
            self._is_looking = True
            self._broker.loop.call_soon(self._look_again)

    def look_later(self) -> None:
        """There is news, which nobody waits for."""
        if len(self._timers) < 2:
            self._timers.append(self._broker.loop.call_later(NEWS_SECONDS, self.finish))

    def finish(self) -> None:
        """Answer with what there is."""
        if self._is_told:
            return
        self._is_told = True
        for timer in self._timers:
            timer.cancel()
        if self._session.waiting is self:
            self._session.waiting = None
        self._look(is_last=True)
        answer_verified(self._broker, self._reads, self._answer)

    @property
    def _is_enough(self) -> bool:
        if self._limits.max_bytes - self._left >= self._limits.min_bytes:
            return True
        return any(read.is_urgent or read.has_more for read in self._reads)

    def _look_again(self) -> None:
        self._is_looking = False
        if self._is_told:
            return
        has_news = self._look(is_last=False)
        if self._is_enough:
            self.finish()
        elif has_news:
            self.look_later()

    def _look(self, *, is_last: bool) -> bool:
        """Read whatever is due; whether there is news besides, which is told with the last look."""
        now = self._broker.replication.now()
        has_news = False
        for entry in self._session.take_due():
            read = self._look_at(entry, now)
            if read is None:
                continue
            if is_last or read.size or read.is_urgent:
                self._tell(entry, read)
            else:
                has_news = True
                self._session.put_back(entry)
        return has_news

    def _tell(self, entry: Entry, read: PartitionRead) -> None:
        self._reads.append(read)
        self._left -= read.size
        self._has_records = self._has_records or read.size > 0
        entry.is_standing = False
        if read.is_urgent:
            entry.high_watermark = entry.log_start_offset = None  # so that recovery is news too
        else:
            entry.high_watermark, entry.log_start_offset = read.high_watermark, read.log_start_offset
        if read.size and self._is_limited(entry):
            self._broker.replication.throttles.leader.spend(read.size, self._broker.clock.monotonic())

    def _look_at(self, entry: Entry, now: Millis) -> PartitionRead | None:
        """What there is to tell of one partition, if anything."""
        partition = entry.partition
        try:
            diverging = self._session.check(entry, now)
            if diverging is not None:
                return self._read(entry)._replace(diverging=diverging)
            return self._records(entry)
        except ApiError as error:
            return PartitionRead(entry.key, error.code)
        except StorageError as error:
            return unreadable(self._broker, entry.key, partition, error)

    def _records(self, entry: Entry) -> PartitionRead | None:
        log, offset = entry.partition.log, entry.position.fetch_offset
        read = self._read(entry)
        if offset != log.flushed_offset and not self._must_wait(entry):
            records = log.read(
                offset,
                max_bytes=max(0, min(entry.position.max_bytes, self._left)),
                end_offset=log.flushed_offset,
                minimum_one_batch=not self._has_records,
            )
            if records.size:
                return read._replace(records=records)
        if offset < log.flushed_offset:
            self._session.put_back(entry)  # no room in this answer
        told = entry.high_watermark, entry.log_start_offset
        return None if told == (read.high_watermark, read.log_start_offset) else read

    def _read(self, entry: Entry) -> PartitionRead:
        partition = entry.partition
        return PartitionRead(
            entry.key,
            ErrorCode.NONE,
            high_watermark=partition.high_watermark,
            log_start_offset=partition.log.log_start_offset,
            partition=partition,
        )

    def _must_wait(self, entry: Entry) -> bool:
        """Whether the follower has to wait because others want the bandwidth."""
        if not self._is_limited(entry):
            return False
        bucket = self._broker.replication.throttles.leader
        return bucket.seconds_to_wait(self._broker.clock.monotonic()) > 0.0

    def _is_limited(self, entry: Entry) -> bool:
        throttles, partition = self._broker.replication.throttles, entry.partition
        if throttles.leader.is_unlimited or not partition.is_leader:
            return False
        if self._session.node_id in partition.leader.isr:
            return False
        return throttles.is_leader_limited(partition.topic, partition.index, self._session.node_id)
