"""What happens to the leader of a partition, and what it orders."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.assignment import Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalLogFlushed:
    """The leader's own log is on disk up to here."""

    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerFetched:
    """A follower of this leader epoch asked for records from here on, so all before are on its disk.

    Only for a fetch whose epochs have been checked (``PartitionLeader.check_fetch``, ``diverging_epoch``): an
    offset of a log that has parted from ours says nothing.
    """

    node_id: NodeId
    #: Of the process that asks.
    broker_epoch: int
    fetch_offset: int
    #: The end of the leader's own log now, flushed or not.
    log_end_offset: int
    now: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """It is time to look who still keeps up."""

    log_end_offset: int
    now: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentChanged:
    """The metadata log has more to say of this partition, within the same leader epoch."""

    assignment: Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokersChanged:
    """The metadata log has more to say of brokers: the epochs of those that are active."""

    epochs: Mapping[NodeId, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MinInsyncReplicasChanged:
    """The topic's ``min.insync.replicas`` was set."""

    min_insync_replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeIsr:
    """Ask the controller for another in-sync set, with the broker epochs the leader has seen."""

    members: tuple[tuple[NodeId, int], ...]
    leader_epoch: LeaderEpoch
    partition_epoch: int
    recovery_state: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalAnswered:
    """The controller has answered, or could not be asked."""

    proposal: ProposeIsr
    error_code: ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishHighWatermark:
    """Tell waiting producers and consumers; everything below is on the disk of every in-sync replica."""

    offset: Offset


LeaderEvent: TypeAlias = (
    LocalLogFlushed
    | FollowerFetched
    | TimePassed
    | AssignmentChanged
    | BrokersChanged
    | MinInsyncReplicasChanged
    | ProposalAnswered
)
LeaderEffect: TypeAlias = PublishHighWatermark | ProposeIsr
