"""The leader of one partition during one leader epoch: which offsets every in-sync replica has on disk.

A record is committed when it is flushed on every member of the in-sync set (the ISR). The high watermark is
the first offset that is not. It only moves forward; consumers see nothing above it, and acks=all is answered
when it passes.

The ISR is the controller's: the leader proposes, and believes what the metadata log says. Between a proposal
and the log's word nobody knows which set holds, so a record must be on both (the *maximal* ISR,
``in_sync_set``): whichever of them the controller elects from, nothing committed is missing. The controller's
answer alone moves nothing: a set decided under one ``min.insync.replicas`` must not be used under another,
and only the log says which came first.

``min.insync.replicas`` guards against a set that has shrunk too far: below it nothing is committed at all, so
those who left it stay eligible to lead (KIP-966). It counts only as far as there are replicas.

The machine is fed facts and answers with orders; it does no I/O and holds no futures.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import assert_never, overload

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.assignment import RECOVERED, Assignment
from penstock.replication.follower_progress import NEVER, UNKNOWN, FollowerProgress
from penstock.replication.in_sync_set import Fate, InSyncSet
from penstock.replication.leader_events import (
    AssignmentChanged,
    BrokersChanged,
    FollowerFetched,
    LeaderEffect,
    LeaderEvent,
    LocalLogFlushed,
    MinInsyncReplicasChanged,
    ProposalAnswered,
    ProposeIsr,
    PublishHighWatermark,
    TimePassed,
)
from penstock.replication.leader_start import LeaderStart

__all__ = [
    "LocalLogFlushed",
    "MinInsyncReplicasChanged",
    "PartitionLeader",
    "PublishHighWatermark",
]

_NOTHING: tuple[PublishHighWatermark, ...] = ()


class PartitionLeader:
    """One partition, as its leader sees it."""

    __slots__ = (
        "_assignment",
        "_broker_epochs",
        "_epoch_start",
        "_flushed",
        "_followers",
        "_high_watermark",
        "_in_sync",
        "_lag_max_ms",
        "_min_isr",
        "_node_id",
    )

    def __init__(
        self,
        *,
        node_id: NodeId,
        leader_epoch: LeaderEpoch,
        replicas: Collection[NodeId],
        isr: Collection[NodeId],
        min_insync_replicas: int,
        high_watermark: Offset,
    ) -> None:
        """A leader whose whole log is committed; see ``elected`` for one that has followed another."""
        assignment = Assignment(
            leader=node_id,
            leader_epoch=leader_epoch,
            partition_epoch=0,
            replicas=tuple(replicas),
            isr=tuple(isr),
            min_insync_replicas=min_insync_replicas,
        )
        start = LeaderStart(
            high_watermark=high_watermark, flushed_offset=high_watermark, log_end_offset=high_watermark
        )
        self._begin(node_id, assignment, start)

    @classmethod
    def elected(cls, node_id: NodeId, assignment: Assignment, start: LeaderStart) -> "PartitionLeader":
        """A leader as the metadata log has just made it."""
        leader = cls.__new__(cls)
        leader._begin(node_id, assignment, start)
        return leader

    def _begin(self, node_id: NodeId, assignment: Assignment, start: LeaderStart) -> None:
        self._node_id = node_id
        self._assignment = assignment
        self._min_isr = assignment.min_isr
        self._in_sync = InSyncSet(assignment.isr)
        #: Moves only forward; ≤ what is on our own disk.
        self._high_watermark = start.high_watermark
        self._flushed: int = start.flushed_offset
        #: Where this leader epoch begins: whoever is not as far has not got all that came before it.
        self._epoch_start = start.log_end_offset
        self._lag_max_ms = start.lag_max_ms
        self._broker_epochs: Mapping[NodeId, int] = start.broker_epochs
        #: Everybody starts unknown: what they fetched from another leader may be cut off by now.
        self._followers: dict[NodeId, FollowerProgress] = {}
        self._know_followers(start.now)
        self.validate()

    @property
    def leader_epoch(self) -> LeaderEpoch:
        """The epoch this leadership belongs to."""
        return self._assignment.leader_epoch

    @property
    def epoch_start_offset(self) -> Offset:
        """Where the log ended when this leadership began."""
        return self._epoch_start

    @property
    def high_watermark(self) -> Offset:
        """Everything below it is on the disk of every in-sync replica."""
        return self._high_watermark

    @property
    def is_high_watermark_current(self) -> bool:
        """Whether it has reached this epoch; before, what was committed under others may lie above it."""
        return self._high_watermark >= self._epoch_start

    @property
    def isr(self) -> tuple[NodeId, ...]:
        """The in-sync replicas, in the order of their ids."""
        return tuple(sorted(self._in_sync.members))

    @property
    def maximal_isr(self) -> tuple[NodeId, ...]:
        """Everybody who is in sync, or might be in the controller's eyes."""
        return tuple(sorted(self._in_sync.maximal))

    @property
    def proposal(self) -> ProposeIsr | None:
        """What the controller was asked for and the metadata log has not answered."""
        return self._in_sync.proposal

    @property
    def min_insync_replicas(self) -> int:
        """How many must be in sync for acks=all, never more than there are replicas."""
        return self._min_isr

    @property
    def assignment(self) -> Assignment:
        """What the metadata log said last."""
        return self._assignment

    def follower(self, node_id: NodeId) -> FollowerProgress | None:
        """What is known of a follower; not to be changed."""
        return self._followers.get(node_id)

    @overload
    def handle(self, event: LocalLogFlushed) -> tuple[PublishHighWatermark, ...]: ...
    @overload
    def handle(self, event: LeaderEvent) -> tuple[LeaderEffect, ...]: ...
    def handle(self, event: LeaderEvent) -> tuple[LeaderEffect, ...]:
        """Take in a fact; the only way this machine changes."""
        match event:
            case LocalLogFlushed():
                return self._local_log_flushed(event.end_offset)
            case FollowerFetched():
                return self._follower_fetched(event)
            case TimePassed():
                return self._time_passed(event)
            case AssignmentChanged():
                return self._assignment_changed(event.assignment)
            case BrokersChanged():
                self._broker_epochs = event.epochs
                return self._advance()
            case MinInsyncReplicasChanged():
                return self._assignment_changed(
                    replace(self._assignment, min_insync_replicas=event.min_insync_replicas)
                )
            case ProposalAnswered():
                return self._proposal_answered(event)
            case _:
                assert_never(event)

    def check_fetch(self, node_id: NodeId, *, current_leader_epoch: int) -> None:
        """Raise what a follower gets that is not of this leadership (KIP-320)."""
        if current_leader_epoch < self.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        if current_leader_epoch > self.leader_epoch:
            raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if node_id not in self._followers:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"Node {node_id} is no replica.")

    def check_enough_replicas(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS if acks=all must be refused; asked before anything is appended."""
        if len(self._in_sync.members) < self.min_insync_replicas:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, self._shortage())

    def check_still_enough_replicas(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS_AFTER_APPEND if the set shrank too far while a batch was on its way."""
        if len(self._in_sync.members) < self.min_insync_replicas:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, self._shortage())

    def next_deadline(self) -> Millis | None:
        """When a member of the ISR may have fallen too far behind; None if nobody can."""
        members = self._in_sync.members - {self._node_id}
        first = min((self._followers[node_id].caught_up_at for node_id in members), default=None)
        return None if first is None else Millis(first + self._lag_max_ms + 1)

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        if self._node_id not in self._in_sync.members:
            raise InvariantError(f"leader {self._node_id} is not in its own in-sync set {self.isr}")
        if not self._in_sync.members <= set(self._assignment.replicas):
            raise InvariantError(f"in-sync set {self.isr} is not among {self._assignment.replicas}")
        if self._high_watermark > self._flushed:
            raise InvariantError(
                f"high watermark {self._high_watermark} is above {self._flushed}, where our own disk ends"
            )

    def _local_log_flushed(self, end_offset: int) -> tuple[PublishHighWatermark, ...]:
        if end_offset < self._flushed:
            raise InvariantError(f"our own log had {self._flushed} on disk and now has {end_offset}")
        self._flushed = end_offset
        return self._advance()

    def _follower_fetched(self, event: FollowerFetched) -> tuple[LeaderEffect, ...]:
        progress = self._followers.get(event.node_id)
        if progress is None:
            raise InvariantError(f"node {event.node_id} is not among {self._assignment.replicas}")
        if event.fetch_offset > event.log_end_offset:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        if event.broker_epoch < max(progress.broker_epoch, self._broker_epochs.get(event.node_id, UNKNOWN)):
            # An older process of that broker. Perhaps its successor has less on its disk.
            return _NOTHING
        progress.fetched(
            event.fetch_offset,
            broker_epoch=event.broker_epoch,
            leader_end=event.log_end_offset,
            now=event.now,
        )
        progress.look(leader_end=event.log_end_offset, now=event.now, lag_max_ms=self._lag_max_ms)
        return (*self._advance(), *self._expand(event.node_id))

    def _time_passed(self, event: TimePassed) -> tuple[LeaderEffect, ...]:
        close = {
            node_id
            for node_id, progress in self._followers.items()
            if progress.look(leader_end=event.log_end_offset, now=event.now, lag_max_ms=self._lag_max_ms)
        }
        members = self._in_sync.members
        staying = members & (close | {self._node_id})
        is_recovering = self._assignment.recovery_state != RECOVERED
        is_due = staying != members or is_recovering or not self._in_sync.is_certain
        if self._in_sync.proposal is not None or not is_due:
            return self._advance()
        return (*self._advance(), self._propose(staying))

    def _assignment_changed(self, assignment: Assignment) -> tuple[LeaderEffect, ...]:
        if assignment.leader_epoch != self.leader_epoch or assignment.leader != self._node_id:
            raise InvariantError(
                f"leader {self._node_id} of epoch {self.leader_epoch} is told of epoch "
                f"{assignment.leader_epoch}, led by {assignment.leader}"
            )
        if assignment.partition_epoch < self._assignment.partition_epoch:
            return _NOTHING
        has_moved = assignment.partition_epoch > self._assignment.partition_epoch
        self._in_sync.log_says(assignment.isr, has_moved=has_moved)
        self._assignment = assignment
        self._min_isr = assignment.min_isr
        self._know_followers(NEVER)
        self.validate()
        return self._advance()

    def _proposal_answered(self, event: ProposalAnswered) -> tuple[LeaderEffect, ...]:
        match self._in_sync.answered(event.proposal, event.error_code):
            case Fate.ASK_AGAIN:
                return (event.proposal,)
            case Fate.WITHDRAW:
                return (self._propose(self._in_sync.members),)
            case Fate.STANDS | Fate.REFUSED:
                return _NOTHING

    def _expand(self, node_id: NodeId) -> tuple[LeaderEffect, ...]:
        """Propose a follower that has, in this epoch, got all that was committed before and in it."""
        in_sync = self._in_sync
        if in_sync.proposal is not None or node_id in in_sync.members or not self._is_eligible(node_id):
            return ()
        end_offset = self._followers[node_id].end_offset
        if end_offset < max(self._high_watermark, self._epoch_start):
            return ()
        return (self._propose(in_sync.members | {node_id}),)

    def _propose(self, isr: Iterable[NodeId]) -> ProposeIsr:
        return self._in_sync.propose(
            ProposeIsr(
                members=tuple((node_id, self._epoch_of(node_id)) for node_id in sorted(isr)),
                leader_epoch=self.leader_epoch,
                partition_epoch=self._assignment.partition_epoch,
                recovery_state=RECOVERED,
            )
        )

    def _epoch_of(self, node_id: NodeId) -> int:
        """The process that is meant: the one that fetched, or for whoever has not yet, the one that lives."""
        progress = self._followers.get(node_id)
        if progress is not None and progress.broker_epoch != UNKNOWN:
            return progress.broker_epoch
        return self._broker_epochs.get(node_id, UNKNOWN)

    def _is_eligible(self, node_id: NodeId) -> bool:
        """Whether the process that fetched is the one the metadata log has, and active."""
        epoch = self._followers[node_id].broker_epoch
        return epoch != UNKNOWN and self._broker_epochs.get(node_id) == epoch

    def _advance(self) -> tuple[PublishHighWatermark, ...]:
        """Move the high watermark as far as the maximal ISR allows, if the ISR is large enough at all."""
        if len(self._in_sync.members) < self.min_insync_replicas:
            return _NOTHING
        reached = self._flushed
        maximal = self._in_sync.maximal
        for node_id, progress in self._followers.items():
            if progress.end_offset < reached and (node_id in maximal or self._is_about_to_join(node_id)):
                reached = progress.end_offset
        if reached <= self._high_watermark:
            return _NOTHING
        self._high_watermark = Offset(reached)
        return (PublishHighWatermark(offset=self._high_watermark),)

    def _is_about_to_join(self, node_id: NodeId) -> bool:
        """Whether to wait for a follower outside the ISR: under load it would never reach us otherwise."""
        return self._followers[node_id].is_close and self._is_eligible(node_id)

    def _know_followers(self, now: Millis) -> None:
        """Forget replicas that are gone, begin to watch new ones; members of the ISR get time to be heard."""
        self._followers = {
            node_id: self._followers.get(node_id)
            or FollowerProgress(caught_up_at=now if node_id in self._in_sync.members else NEVER)
            for node_id in self._assignment.replicas
            if node_id != self._node_id
        }

    def _shortage(self) -> str:
        return (
            f"{len(self._in_sync.members)} replica(s) are in sync, min.insync.replicas asks for "
            f"{self.min_insync_replicas}."
        )
