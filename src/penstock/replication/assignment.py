"""What the metadata log says of one partition, as far as its replicas need it."""

from dataclasses import dataclass

from penstock.model.ids import LeaderEpoch, NodeId

NO_LEADER = NodeId(-1)
RECOVERED, RECOVERING = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Who holds a partition and who leads it, at one point of the metadata log."""

    leader: NodeId
    #: Grows whenever a leader is chosen.
    leader_epoch: LeaderEpoch
    #: Grows with every change of the partition.
    partition_epoch: int
    replicas: tuple[NodeId, ...]
    isr: tuple[NodeId, ...]
    #: Replicas that are being added; they do not count for the minimum yet.
    adding: tuple[NodeId, ...] = ()
    recovery_state: int = RECOVERED
    #: As the topic has it.
    min_insync_replicas: int = 1

    @property
    def min_isr(self) -> int:
        """How many must be in sync for anything to be committed; never more than there are replicas."""
        return min(self.min_insync_replicas, len(self.replicas) - len(self.adding))
