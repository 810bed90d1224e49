"""A topic and its partitions, as one image of the cluster has them."""

from dataclasses import dataclass, replace

from penstock.metadata.records import LEADER_UNCHANGED, PartitionChangeRecord, PartitionRecord
from penstock.model.ids import LeaderEpoch, NodeId, TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionImage:
    """A partition's replicas and leadership."""

    #: In order of preference for leadership.
    replicas: tuple[NodeId, ...]
    #: A subset of the replicas.
    isr: tuple[NodeId, ...]
    #: In the ISR, or -1 for none.
    leader: NodeId
    #: Grows whenever a leader is chosen, even the same one again.
    leader_epoch: LeaderEpoch
    #: Grows with every change of this partition.
    partition_epoch: int
    directories: tuple[bytes, ...] = ()
    removing_replicas: tuple[NodeId, ...] = ()
    adding_replicas: tuple[NodeId, ...] = ()
    leader_recovery_state: int = 0
    #: Outside the ISR, but with everything that was ever committed (KIP-966). Empty while the ISR is large
    #: enough for the high watermark to move.
    eligible_leader_replicas: tuple[NodeId, ...] = ()
    #: Who led last, while nobody may lead.
    last_known_elr: tuple[NodeId, ...] = ()

    @property
    def has_leader(self) -> bool:
        """Whether somebody leads it."""
        return self.leader >= 0

    @property
    def is_reassigning(self) -> bool:
        """Whether replicas are on the move."""
        return bool(self.adding_replicas or self.removing_replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicImage:
    """A topic and its partitions, numbered from 0 without gaps."""

    name: str
    topic_id: TopicId
    partitions: tuple[PartitionImage, ...]


def new_partition(record: PartitionRecord) -> PartitionImage:
    """The partition that a record makes."""
    return PartitionImage(
        replicas=_nodes(record.replicas),
        isr=_nodes(record.isr),
        leader=NodeId(record.leader),
        leader_epoch=LeaderEpoch(record.leader_epoch),
        partition_epoch=record.partition_epoch,
        directories=record.directories,
        removing_replicas=_nodes(record.removing_replicas),
        adding_replicas=_nodes(record.adding_replicas),
        leader_recovery_state=record.leader_recovery_state,
        eligible_leader_replicas=_nodes(record.eligible_leader_replicas or ()),
        last_known_elr=_nodes(record.last_known_elr or ()),
    )


def changed_partition(old: PartitionImage, record: PartitionChangeRecord) -> PartitionImage:
    """The partition after a change."""
    has_new_leader = record.leader != LEADER_UNCHANGED
    return replace(
        old,
        replicas=_nodes_or(old.replicas, record.replicas),
        isr=_nodes_or(old.isr, record.isr),
        leader=NodeId(record.leader) if has_new_leader else old.leader,
        leader_epoch=LeaderEpoch(old.leader_epoch + 1) if has_new_leader else old.leader_epoch,
        partition_epoch=old.partition_epoch + 1,
        directories=old.directories if record.directories is None else record.directories,
        removing_replicas=_nodes_or(old.removing_replicas, record.removing_replicas),
        adding_replicas=_nodes_or(old.adding_replicas, record.adding_replicas),
        leader_recovery_state=(
            old.leader_recovery_state if record.leader_recovery_state < 0 else record.leader_recovery_state
        ),
        eligible_leader_replicas=_nodes_or(old.eligible_leader_replicas, record.eligible_leader_replicas),
        last_known_elr=_nodes_or(old.last_known_elr, record.last_known_elr),
    )


def _nodes_or(unchanged: tuple[NodeId, ...], ids: tuple[int, ...] | None) -> tuple[NodeId, ...]:
    return unchanged if ids is None else _nodes(ids)


def _nodes(ids: tuple[int, ...]) -> tuple[NodeId, ...]:
    return tuple(map(NodeId, ids))
