"""One partition this broker leads: its log, its leader machine, and everybody who waits for it to move.

Appends are taken in at once and answered later: a producer with acks=1 when its records are flushed here,
one with acks=all when the high watermark has passed them. Consumers see nothing above the high watermark.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from penstock.broker.flusher import Flusher
from penstock.broker.offset_waiters import OffsetWaiters, Waiter
from penstock.broker.parked_produce import ProduceOutcome
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, StorageError
from penstock.model.ids import Millis, TopicId
from penstock.model.names import INTERNAL_TOPICS
from penstock.records.batch import BatchHeader, WritableBuffer
from penstock.records.validation import ProduceRules
from penstock.replication.leader import LocalLogFlushed, MinInsyncReplicasChanged, PartitionLeader
from penstock.storage.log import AppendResult, FlushJob, Log
from penstock.storage.log_config import LogConfig

if TYPE_CHECKING:
    from penstock.broker.transactional_appends import PartitionVerifications


class FetchWaiter(Protocol):
    """A fetch that has not got enough yet."""

    def wake(self) -> None:
        """The high watermark has moved."""


class Partition:
    """The shell around one log and its leader machine."""

    def __init__(
        self,
        *,
        topic: str,
        topic_id: TopicId,
        index: int,
        log: Log,
        leader: PartitionLeader,
        rules: ProduceRules,
        flusher: Flusher,
        on_flushed: Callable[[Log, int], None],
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.leader = leader
        self.rules = rules
        self._flusher = flusher
        self._on_flushed = on_flushed
        # What was read back at a start is committed; transactions that ended in it hold nobody back.
        log.update_high_watermark(leader.high_watermark)
        self._flush_waiters = OffsetWaiters()
        self._replication_waiters = OffsetWaiters()
        self._fetch_waiters: dict[FetchWaiter, None] = {}
        self.is_deleted = False
        #: Whether only brokers write to it.
        self.is_internal = topic in INTERNAL_TOPICS
        #: Of transactional batches; there once the first has come.
        self.verifications: PartitionVerifications | None = None

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"

    @property
    def high_watermark(self) -> int:
        """Everything below it is safe on every in-sync replica."""
        return self.leader.high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Everything below it belongs to no open transaction."""
        unstable = self.log.first_unstable_offset
        high_watermark = self.leader.high_watermark
        if unstable is None or unstable > high_watermark:
            return high_watermark
        # The beginning of an open transaction may have been deleted.
        return max(unstable, self.log.log_start_offset)

    def check_is_here(self, current_leader_epoch: int = -1) -> None:
        """Raise what a request gets whose idea of this partition is out of date (KIP-320)."""
        if self.is_deleted:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if current_leader_epoch >= 0:
            if current_leader_epoch < self.leader.leader_epoch:
                raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader.leader_epoch:
                raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def append(
        self, batch: WritableBuffer, header: BatchHeader, now: Millis, *, is_client: bool = True
    ) -> AppendResult:
        """Take in one validated batch; it is stamped in place and flushed with the next round.

        ``is_client`` is False for what coordinators write.
        """
        result = self.log.append(
            batch, header, leader_epoch=self.leader.leader_epoch, now=now, is_client=is_client
        )
        if not result.is_duplicate:
            self._flusher.mark_dirty(self)
        return result

    def await_safety(self, outcome: ProduceOutcome, *, is_replicated: bool) -> None:
        """Settle the outcome once its batch is safe: on this broker, or on every in-sync replica."""
        assert outcome.result is not None
        last_offset = outcome.result.last_offset
        safe_end = self.leader.high_watermark if is_replicated else self.log.flushed_offset
        if last_offset < safe_end:
            outcome.settle(ErrorCode.NONE)
        elif is_replicated:
            self._replication_waiters.add(last_offset, outcome)
        else:
            self._flush_waiters.add(last_offset, outcome)

    def await_commit(self, last_offset: int, waiter: Waiter) -> None:
        """Settle the waiter once everything up to ``last_offset`` is safe on every in-sync replica."""
        if self.is_deleted:
            waiter.settle(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif last_offset < self.leader.high_watermark:
            waiter.settle(ErrorCode.NONE)
        else:
            self._replication_waiters.add(last_offset, waiter)

    def add_fetch_waiter(self, waiter: FetchWaiter) -> None:
        """Wake the waiter at every movement of the high watermark."""
        self._fetch_waiters[waiter] = None

    def remove_fetch_waiter(self, waiter: FetchWaiter) -> None:
        """Forget a waiter, whether or not it is here."""
        self._fetch_waiters.pop(waiter, None)

    def configure(self, config: LogConfig, rules: ProduceRules, min_insync_replicas: int) -> None:
        """Settings of the topic have changed."""
        self.rules = rules
        self.log.configure(config)
        self.leader.handle(MinInsyncReplicasChanged(min_insync_replicas=min_insync_replicas))

    def flush_finished(self, job: FlushJob) -> None:
        """A round has ended: tell the leader machine, then everybody who waited for it."""
        self._on_flushed(self.log, job.size_bytes)
        flushed = self.log.flushed_offset
        effects = self.leader.handle(LocalLogFlushed(end_offset=flushed))
        self._flush_waiters.pass_offset(flushed)
        for effect in effects:
            self.log.update_high_watermark(effect.offset)
            self._replication_waiters.pass_offset(effect.offset)
            self._wake_fetchers()
        if self.log.is_dirty:
            self._flusher.mark_dirty(self)

    def flush_failed(self, error: StorageError) -> None:
        """What was appended since the last flush is gone; whoever waits for it learns so."""
        self._flush_waiters.fail(ErrorCode.KAFKA_STORAGE_ERROR)
        self._replication_waiters.fail(ErrorCode.KAFKA_STORAGE_ERROR)

    def abandon(self) -> None:
        """The topic has been deleted: nobody is to wait any longer."""
        self.is_deleted = True
        self._flush_waiters.fail(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self._replication_waiters.fail(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self._wake_fetchers()

    def _wake_fetchers(self) -> None:
        for waiter in list(self._fetch_waiters):
            waiter.wake()
