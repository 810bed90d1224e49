"""One replica of a partition on one broker: leader, follower or neither, as the metadata log says.

A new leader epoch makes a new machine, whoever leads: what the last one knew of other replicas may be untrue
by now. Only the high watermark is carried over; it is the one thing that can never become untrue.

A leader that is one no more answers everybody who waits for acks=all that it is not. It must not say that
their records are lost, since the new leader may have them, nor that they are safe.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.assignment import NO_LEADER, Assignment
from penstock.replication.divergence import EpochHistory
from penstock.replication.follower import PartitionFollower
from penstock.replication.follower_start import FETCH_RETRY_MS, FollowerStart
from penstock.replication.leader import PartitionLeader
from penstock.replication.leader_events import AssignmentChanged, BrokersChanged, LeaderEffect
from penstock.replication.leader_start import REPLICA_LAG_MAX_MS, LeaderStart


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFacts:
    """Where a log begins, ends, and how much of it is on disk."""

    log_start_offset: int
    log_end_offset: int
    flushed_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataChanged:
    """The metadata log says this of the partition, and of brokers, now."""

    assignment: Assignment
    #: Active brokers and the epochs of their processes.
    broker_epochs: Mapping[NodeId, int]
    log: LogFacts
    now: Millis
    #: Whether the topic allows unclean elections, or accepts that a crash costs records.
    may_lose_committed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginLeaderEpoch:
    """Remember in the log that this epoch begins here; produce and fetch are served from now on."""

    leader_epoch: LeaderEpoch
    start_offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectWaiters:
    """Answer everybody who waits for something to be committed here."""

    error_code: ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow:
    """Fetch from this leader from now on."""

    leader: NodeId
    leader_epoch: LeaderEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class StopFollowing:
    """Fetch no more; an answer that still comes is not to be appended."""


ReplicaEffect: TypeAlias = BeginLeaderEpoch | RejectWaiters | Follow | StopFollowing | LeaderEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    """What does not change while the replica lives."""

    lag_max_ms: int = REPLICA_LAG_MAX_MS
    retry_ms: int = FETCH_RETRY_MS


class PartitionReplica:
    """The role of one broker in one partition."""

    __slots__ = (
        "_assignment",
        "_high_watermark",
        "_history",
        "_node_id",
        "_settings",
        "follower",
        "leader",
    )

    def __init__(
        self,
        *,
        node_id: NodeId,
        history: EpochHistory,
        high_watermark: Offset,
        settings: ReplicaSettings | None = None,
    ) -> None:
        self._node_id = node_id
        self._history = history
        self._settings = settings or ReplicaSettings()
        self._assignment: Assignment | None = None
        self._high_watermark = high_watermark
        #: At most one of the two is there.
        self.leader: PartitionLeader | None = None
        self.follower: PartitionFollower | None = None

    @property
    def high_watermark(self) -> Offset:
        """Everything below it is committed, as far as this replica knows."""
        if self.leader is not None:
            return self.leader.high_watermark
        return self._high_watermark if self.follower is None else self.follower.high_watermark

    @property
    def assignment(self) -> Assignment | None:
        """What the metadata log said last."""
        return self._assignment

    def handle(self, event: MetadataChanged) -> tuple[ReplicaEffect, ...]:
        """Take in what the metadata log says; the same again, or older, changes nothing."""
        assignment, before = event.assignment, self._assignment
        if before is not None and assignment.partition_epoch < before.partition_epoch:
            return ()
        self._assignment = assignment
        if before is not None and self._is_same_role(before, assignment):
            return self._same_role(event)
        was_leading, was_following = self.leader is not None, self.follower is not None
        # After a start the checkpoint may name more than the disk still has.
        self._high_watermark = Offset(min(self.high_watermark, event.log.flushed_offset))
        self.leader = self.follower = None
        is_leading = assignment.leader == self._node_id
        effects: list[ReplicaEffect] = []
        if was_following:
            effects.append(StopFollowing())
        if was_leading and not is_leading:
            effects.append(RejectWaiters(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
        if is_leading:
            effects.append(self._lead(event))
        elif assignment.leader != NO_LEADER and self._node_id in assignment.replicas:
            effects.append(self._follow(event))
        return tuple(effects)

    def _is_same_role(self, before: Assignment, now: Assignment) -> bool:
        was_here, is_here = self._node_id in before.replicas, self._node_id in now.replicas
        return before.leader_epoch == now.leader_epoch and was_here == is_here

    def _same_role(self, event: MetadataChanged) -> tuple[ReplicaEffect, ...]:
        if self.leader is None:
            return ()
        return (
            *self.leader.handle(AssignmentChanged(assignment=event.assignment)),
            *self.leader.handle(BrokersChanged(epochs=event.broker_epochs)),
        )

    def _lead(self, event: MetadataChanged) -> BeginLeaderEpoch:
        start = LeaderStart(
            high_watermark=self._high_watermark,
            flushed_offset=event.log.flushed_offset,
            log_end_offset=Offset(event.log.log_end_offset),
            lag_max_ms=self._settings.lag_max_ms,
            broker_epochs=event.broker_epochs,
            now=event.now,
        )
        self.leader = PartitionLeader.elected(self._node_id, event.assignment, start)
        return BeginLeaderEpoch(
            leader_epoch=event.assignment.leader_epoch, start_offset=self.leader.epoch_start_offset
        )

    def _follow(self, event: MetadataChanged) -> Follow:
        assignment = event.assignment
        self.follower = PartitionFollower(
            leader=assignment.leader,
            leader_epoch=assignment.leader_epoch,
            history=self._history,
            start=FollowerStart(
                log_start_offset=event.log.log_start_offset,
                log_end_offset=event.log.log_end_offset,
                flushed_offset=event.log.flushed_offset,
                high_watermark=self._high_watermark,
                may_lose_committed=event.may_lose_committed,
                retry_ms=self._settings.retry_ms,
            ),
        )
        return Follow(leader=assignment.leader, leader_epoch=assignment.leader_epoch)
