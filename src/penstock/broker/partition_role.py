"""What a partition is told of its role, and whom it tells what its role orders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.broker.flusher import Flusher
from penstock.metadata.replication_rules import TopicRules
from penstock.metadata.topic_image import PartitionImage
from penstock.model.errors import StorageError
from penstock.model.ids import Millis, NodeId
from penstock.replication.assignment import NO_LEADER, Assignment
from penstock.replication.leader_events import ProposeIsr
from penstock.replication.replica import LogFacts, MetadataChanged, ReplicaSettings
from penstock.storage.log import Log

if TYPE_CHECKING:
    from penstock.broker.partition import Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleNews:
    """What the metadata log says of a partition and of brokers."""

    assignment: Assignment
    #: Active brokers and the epochs of their processes.
    broker_epochs: Mapping[NodeId, int]
    #: Whether the topic allows unclean elections, or accepts that a crash costs records.
    may_lose_committed: bool = False

    def is_to_follow(self, node_id: NodeId) -> bool:
        """Whether the node is to copy somebody else."""
        leader = self.assignment.leader
        return leader not in (NO_LEADER, node_id) and node_id in self.assignment.replicas

    def of_log(self, log: Log, *, now: Millis) -> MetadataChanged:
        """The same, with where the replica's own log is at this moment."""
        return MetadataChanged(
            assignment=self.assignment,
            broker_epochs=self.broker_epochs,
            log=LogFacts(
                log_start_offset=log.log_start_offset,
                log_end_offset=log.log_end_offset,
                flushed_offset=log.flushed_offset,
            ),
            now=now,
            may_lose_committed=self.may_lose_committed,
        )


def role_news(partition: PartitionImage, rules: TopicRules, broker_epochs: Mapping[NodeId, int]) -> RoleNews:
    """What an image says of one partition."""
    return RoleNews(
        assignment=Assignment(
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            replicas=partition.replicas,
            isr=partition.isr,
            adding=partition.adding_replicas,
            recovery_state=partition.leader_recovery_state,
            min_insync_replicas=rules.min_insync_replicas,
        ),
        broker_epochs=broker_epochs,
        may_lose_committed=rules.allows_unclean_election or rules.accepts_loss,
    )


class Following(Protocol):
    """The copying of one partition from its leader."""

    def log_flushed(self) -> None:
        """Everything that was copied may be on disk now."""

    def flush_failed(self, error: StorageError) -> None:
        """What was copied since the last flush is gone from the log."""

    def log_changed(self) -> None:
        """A change of the log that was ordered has ended."""

    def stop(self) -> None:
        """Copy no more; an answer that still comes is not to be appended."""


class RoleOrders(Protocol):
    """Whoever carries out what roles order beyond their partition."""

    @property
    def settings(self) -> ReplicaSettings:
        """What holds for every replica of this broker."""

    def now(self) -> Millis:
        """The time as roles count it."""

    def begin_following(self, partition: "Partition") -> Following:
        """Copy the partition from the leader of its role."""

    def propose(self, partition: "Partition", proposal: ProposeIsr) -> None:
        """Ask the controller for another in-sync set."""

    def repair(self, partition: "Partition") -> None:
        """Make a damaged log fit to be filled again by its leader; ``log_settled`` follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSurroundings:
    """What all partitions of a broker share."""

    node_id: NodeId
    flusher: Flusher
    #: Told of every flush that ended: the log, and how many bytes.
    on_flushed: Callable[[Log, int], None]
    orders: RoleOrders


class ReplicaWatcher(Protocol):
    """A follower's broker that wants to know what becomes of a partition led here."""

    def has_more(self, partition: "Partition") -> None:
        """Records were flushed, or nothing is as it was."""

    def has_news(self, partition: "Partition") -> None:
        """The high watermark or the log's beginning has moved."""


class LogHistory:
    """The leader epochs of a log as it is now: after a cut it may have other ones."""

    __slots__ = ("_log",)

    def __init__(self, log: Log) -> None:
        self._log = log

    def epoch_at(self, offset: int) -> int:
        """The epoch that wrote ``offset``, or NO_EPOCH."""
        return self._log.leader_epochs.epoch_at(offset)

    def end_of(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The largest epoch not above ``epoch`` and where it ends; -1 and -1 if ``epoch`` is above all."""
        return self._log.leader_epochs.end_of(epoch, log_end_offset)
