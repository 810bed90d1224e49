"""One partition this broker has a replica of: its log, its role, and everybody who waits for it to move.

As leader it takes in appends at once and answers later: a producer with acks=1 when its records are flushed
here, one with acks=all when the high watermark has passed them. Consumers see nothing above the high
watermark; followers' brokers see whatever is flushed. As follower it takes in what ``broker.replication``
copies, and may serve consumers up to its own high watermark.

The role machine (``penstock.replication.replica``) decides; what it orders is carried out here.
"""

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.broker.log_beginnings import LogBeginnings
from penstock.broker.offset_waiters import Waiter
from penstock.broker.parked_produce import ProduceOutcome
from penstock.broker.partition_role import Following, LogHistory, PartitionSurroundings, RoleNews
from penstock.broker.partition_waiters import PartitionWaiters
from penstock.metadata.replication_rules import TopicRules
from penstock.metadata.topic_image import PartitionImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, StorageError
from penstock.model.ids import Millis, NodeId, Offset, TopicId
from penstock.model.names import INTERNAL_TOPICS
from penstock.records.batch import BatchHeader, WritableBuffer
from penstock.records.validation import ProduceRules
from penstock.replication.leader import LocalLogFlushed, PartitionLeader
from penstock.replication.leader_events import BrokersChanged, ProposeIsr, PublishHighWatermark, TimePassed
from penstock.replication.replica import (
    BeginLeaderEpoch,
    Follow,
    PartitionReplica,
    RejectWaiters,
    ReplicaEffect,
    StopFollowing,
)
from penstock.storage.log import AppendResult, DeletionJob, FlushJob, Log
from penstock.storage.log_config import LogConfig

if TYPE_CHECKING:
    from penstock.broker.transactional_appends import PartitionVerifications

logger = logging.getLogger(__name__)


class Partition:
    """The shell around one log and its role."""

    def __init__(
        self,
        *,
        topic: str,
        topic_id: TopicId,
        index: int,
        log: Log,
        high_watermark: Offset,
        rules: ProduceRules,
        around: PartitionSurroundings,
    ) -> None:
        self.node_id = around.node_id
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.rules = rules
        self._flusher = around.flusher
        self._on_flushed = around.on_flushed
        self._orders = around.orders
        self.replica = self._new_replica(high_watermark)
        #: As in the role; asked for with every batch.
        self._leader: PartitionLeader | None = None
        self._following: Following | None = None
        #: The image's words on this partition, as it has heard them last.
        self.told: tuple[PartitionImage, TopicRules] | None = None
        self._news: RoleNews | None = None
        self._untold: RoleNews | None = None  # told last; it waits until the log is in one piece again
        #: Whether a job is changing the log under us: it gets no other role, and nobody else may change it.
        self.is_being_cut = False
        #: Why this replica copies no more, though it should; until it gets another leader.
        self.failure: str | None = None
        self.unreadable_told_at = -math.inf  # when it was last reported that the disk does not hand it over
        self.refused: tuple[ErrorCode, float] | None = None  # what a batch was last refused with, and when
        self.waiters = PartitionWaiters()
        self._beginnings = LogBeginnings()
        #: What is answered to those who still find it, once it is gone from this broker.
        self.gone: ErrorCode | None = None
        #: Whether only brokers write to it.
        self.is_internal = topic in INTERNAL_TOPICS
        self.verifications: PartitionVerifications | None = None  # there once a transactional batch has come

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"

    # The role.

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads it."""
        return self._leader is not None

    @property
    def leader(self) -> PartitionLeader:
        """The machine of the leader; NOT_LEADER_OR_FOLLOWER when this broker does not lead."""
        if self._leader is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self._leader

    @property
    def leader_epoch(self) -> int:
        """The leader epoch that this replica has heard of last; -1 before the first."""
        assignment = self.replica.assignment
        return -1 if assignment is None else assignment.leader_epoch

    @property
    def high_watermark(self) -> int:
        """Everything below it is safe on every in-sync replica."""
        if self._leader is not None:
            return self._leader.high_watermark
        if self.is_being_cut:
            # What is about to be cut off must not be remembered as committed.
            return min(self.replica.high_watermark, self.log.high_watermark)
        return self.replica.high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Everything below it belongs to no open transaction."""
        unstable = self.log.first_unstable_offset
        high_watermark = self.high_watermark
        if unstable is None or unstable > high_watermark:
            return high_watermark
        # The beginning of an open transaction may have been deleted.
        return max(unstable, self.log.log_start_offset)

    def take_role(self, news: RoleNews) -> None:
        """The metadata log has something to say; carry out what follows, now or when the log allows it."""
        if self.is_being_cut:
            self._untold = news
            return
        before, self._news = self._news, news
        if before is None or before.assignment.leader_epoch != news.assignment.leader_epoch:
            self.failure = None
        if self.log.is_offline and self.failure is None and news.is_to_follow(self.node_id):
            self._untold = news
            self._orders.repair(self)
            return
        if before is not None and before.may_lose_committed != news.may_lose_committed:
            self._renew()
        self._tell_replica(news)

    def log_settled(self, failure: str | None = None) -> None:
        """A job that changed the log has ended; if it failed, this replica cannot go on."""
        self.is_being_cut = False
        if failure is not None:
            self.fail_replication(failure)
        news, self._untold = self._untold, None
        if news is not None and self.gone is None:
            self.take_role(news)
        if self._following is not None:
            self._following.log_changed()

    def begin_again(self) -> None:
        """The follower's machine and its log have lost sight of each other: begin anew from what is there."""
        if self._news is not None and not self.is_being_cut:
            self._renew()
            self._tell_replica(self._news)

    def fail_replication(self, reason: str) -> None:
        """This replica cannot be filled by its leader: say so, and leave it alone until it gets another."""
        self.failure = reason
        self._stop_following()
        logger.error("partition is not replicated any more", extra={"partition": str(self), "reason": reason})
        self.waiters.wake_everybody(self)

    def brokers_changed(self, epochs: Mapping[NodeId, int]) -> None:
        """Other brokers are active now, or other processes of them."""
        if self._leader is not None:
            self.carry_out(self._leader.handle(BrokersChanged(epochs=epochs)))
            self._news = self._news and replace(self._news, broker_epochs=epochs)
            self._pass_low_watermark()

    def look_who_keeps_up(self) -> None:
        """To be called now and then."""
        leader = self._leader
        if leader is not None and (len(leader.assignment.replicas) > 1 or leader.assignment.recovery_state):
            event = TimePassed(log_end_offset=self.log.log_end_offset, now=self._orders.now())
            self.carry_out(leader.handle(event))

    def carry_out(self, effects: Iterable[ReplicaEffect]) -> None:
        """Do what the role has ordered."""
        for effect in effects:
            match effect:
                case PublishHighWatermark():
                    self.publish_high_watermark(effect.offset)
                case ProposeIsr():
                    self._orders.propose(self, effect)
                case RejectWaiters():
                    self.waiters.reject_appends(effect.error_code)
                    self.waiters.trim.fail(effect.error_code)
                case StopFollowing():
                    self._stop_following()
                case Follow() if self.failure is None:
                    self._following = self._orders.begin_following(self)
                case BeginLeaderEpoch():
                    self._begin_leader_epoch()

    def publish_high_watermark(self, offset: int) -> None:
        """Tell the log, and everybody who waits for it."""
        self.log.update_high_watermark(offset)
        self.waiters.high_watermark_moved(self, offset)

    def _new_replica(self, high_watermark: int) -> PartitionReplica:
        return PartitionReplica(
            node_id=self.node_id,
            history=LogHistory(self.log),
            high_watermark=Offset(high_watermark),
            settings=self._orders.settings,
        )

    def _renew(self) -> None:
        """Let a follower begin anew; a leader has nothing that could be out of date."""
        if self._leader is None:
            self.failure = None
            self._stop_following()
            self.replica = self._new_replica(self.replica.high_watermark)

    def _tell_replica(self, news: RoleNews) -> None:
        machine = self.replica.leader or self.replica.follower
        effects = self.replica.handle(news.of_log(self.log, now=self._orders.now()))
        self._leader = self.replica.leader
        if machine is not (self.replica.leader or self.replica.follower):
            self._beginnings.forget()
            self.log.update_high_watermark(self.high_watermark)
            self.waiters.wake_everybody(self)
        self.carry_out(effects)
        if self._leader is not None:
            self.waiters.reject_starved(self._leader)

    def _begin_leader_epoch(self) -> None:
        """The epoch enters the log with its first batch; what only we must have is committed by now."""
        self.carry_out(self.leader.handle(LocalLogFlushed(end_offset=self.log.flushed_offset)))

    def _stop_following(self) -> None:
        following, self._following = self._following, None
        if following is not None:
            following.stop()

    # Requests.

    def check_is_here(self, current_leader_epoch: int = -1) -> None:
        """Raise what a request to the leader gets whose idea of this partition is out of date (KIP-320)."""
        self.check_epoch(current_leader_epoch)
        if self._leader is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Raise what a request to any replica gets that knows of another leader epoch."""
        if self.gone is not None:
            raise ApiError(self.gone)
        if current_leader_epoch >= 0:
            if current_leader_epoch < self.leader_epoch:
                raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader_epoch:
                raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def check_readable(self, current_leader_epoch: int, fetch_offset: int) -> None:
        """Raise what a consumer gets that must not, or cannot yet, read here from this offset (KIP-392)."""
        if current_leader_epoch >= 0 or self.gone is not None:
            self.check_epoch(current_leader_epoch)
        if self._leader is not None:
            return
        if self.replica.follower is None or self.failure is not None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if fetch_offset > self.high_watermark:
            raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE)

    def append(
        self, batch: WritableBuffer, header: BatchHeader, now: Millis, *, is_client: bool = True
    ) -> AppendResult:
        """Take in one validated batch; it is stamped in place and flushed with the next round.

        ``is_client`` is False for what coordinators write.
        """
        leader = self._leader
        if leader is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        result = self.log.append(
            batch, header, leader_epoch=leader.leader_epoch, now=now, is_client=is_client
        )
        if not result.is_duplicate:
            self._flusher.mark_dirty(self)
        return result

    def append_copied(self, batches: Iterable[tuple[WritableBuffer, BatchHeader]]) -> None:
        """Take in batches as the leader stamped them."""
        self.log.append_copied(batches)
        self._flusher.mark_dirty(self)

    def await_safety(self, outcome: ProduceOutcome, *, is_replicated: bool) -> None:
        """Settle the outcome once its batch is safe: on this broker, or on every in-sync replica."""
        assert outcome.result is not None
        last_offset = outcome.result.last_offset
        safe_end = self.high_watermark if is_replicated else self.log.flushed_offset
        if last_offset < safe_end:
            outcome.settle(ErrorCode.NONE)
        elif is_replicated:
            self.waiters.replication.add(last_offset, outcome)
        else:
            self.waiters.flush.add(last_offset, outcome)

    def await_commit(self, last_offset: int, waiter: Waiter) -> None:
        """Settle the waiter once everything up to ``last_offset`` is safe on every in-sync replica."""
        if self.gone is not None:
            waiter.settle(self.gone)
        elif last_offset < self.high_watermark:
            waiter.settle(ErrorCode.NONE)
        elif self._leader is None:
            waiter.settle(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        else:
            self.waiters.commit.add(last_offset, waiter)

    # The log's beginning.

    @property
    def low_watermark(self) -> int:
        """Where the log begins on every live replica, as far as they have said."""
        others: list[NodeId] = []
        if self._leader is not None and self._news is not None:
            live = self._news.broker_epochs
            replicas = self._leader.assignment.replicas
            others = [each for each in replicas if each in live and each != self.node_id]
        return self._beginnings.lowest(self.log.log_start_offset, others)

    def trim(self, offset: int, waiter: Waiter) -> None:
        """Let nothing before ``offset`` be read; settle the waiter when that holds on every live replica."""
        if self.log.advance_log_start(offset):
            self.waiters.tell_news(self)
        self.waiters.trim.add(offset - 1, waiter)
        self._pass_low_watermark()

    def follower_begins_at(self, node_id: NodeId, log_start_offset: int) -> None:
        """A follower has said where its log begins."""
        if self._beginnings.told(node_id, log_start_offset):
            self._pass_low_watermark()

    def expire(self, now: Millis) -> DeletionJob | None:
        """Roll, and take out segments that retention lets go; a follower lets go what its leader has."""
        if self.is_being_cut or self.gone is not None:
            return None
        self.log.roll_if_due(now)
        before = self.log.log_start_offset
        job = self.log.expire(now, self.high_watermark if self.is_leader else before)
        if self.log.awaits_segment:
            self._flusher.mark_dirty(self)  # what was rolled can go once its successor is on the disk
        if self.log.log_start_offset != before:
            self.waiters.tell_news(self)
        return job

    def _pass_low_watermark(self) -> None:
        if len(self.waiters.trim):
            self.waiters.trim.pass_offset(self.low_watermark)

    # The log's upkeep.

    def configure(self, config: LogConfig, rules: ProduceRules) -> None:
        """Settings of the topic have changed."""
        self.rules = rules
        self.log.configure(config)

    def flush_finished(self, job: FlushJob) -> None:
        """A round has ended: tell the role, then everybody who waited for it."""
        self._on_flushed(self.log, job.size_bytes)
        leader = self._leader
        if leader is not None:
            flushed = self.log.flushed_offset
            effects = leader.handle(LocalLogFlushed(end_offset=flushed))
            self.waiters.flush.pass_offset(flushed)
            for effect in effects:
                self.publish_high_watermark(effect.offset)
            self.waiters.tell_more(self)
        elif self._following is not None:
            self._following.log_flushed()
        if self.log.is_dirty:
            self._flusher.mark_dirty(self)

    def flush_failed(self, error: StorageError) -> None:
        """What was appended since the last flush is gone; whoever waits for it learns so."""
        self.waiters.reject_appends(ErrorCode.KAFKA_STORAGE_ERROR)
        if self._following is not None:
            self._following.flush_failed(error)

    def abandon(self, code: ErrorCode = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) -> None:
        """The topic, or this replica of it, is gone: nobody is to wait any longer."""
        self.gone = code
        self._stop_following()
        self.waiters.reject_appends(code)
        self.waiters.trim.fail(code)
        self.waiters.wake_everybody(self)
