"""Leadership that comes and goes while a broker lives: partitions are told what a metadata log might say."""

from dataclasses import replace
from typing import Any

from penstock.broker.broker import Broker
from penstock.broker.partition import Partition
from penstock.broker.partition_role import RoleNews
from penstock.model.ids import LeaderEpoch, NodeId

OTHER = NodeId(9)
"""A broker that never says anything."""


def lose(partition: Partition) -> None:
    """Another broker leads it from now on; only the partition knows."""
    _tell(partition, leader=OTHER, isr=(OTHER,), is_new_term=True)


def win(partition: Partition, *, with_other: bool = False, min_insync_replicas: int = 1) -> None:
    """This broker leads it, in a new leader epoch; perhaps the other one must have all that is committed."""
    own = partition.node_id
    isr = (own, OTHER) if with_other else (own,)
    _tell(partition, leader=own, isr=isr, min_insync_replicas=min_insync_replicas, is_new_term=True)


def give_other_up(partition: Partition) -> None:
    """The other broker is in sync no more: what this one has is committed."""
    _tell(partition, isr=(partition.node_id,), is_new_term=False)


def spread_news(broker: Broker) -> None:
    """Let the coordinators look who leads what."""
    for coordinator in broker.coordinators:
        coordinator.follow(broker.image, broker.image)


def _tell(partition: Partition, *, is_new_term: bool, **changes: Any) -> None:
    known = partition.replica.assignment
    assert known is not None
    assignment = replace(
        known,
        leader_epoch=LeaderEpoch(known.leader_epoch + is_new_term),
        partition_epoch=known.partition_epoch + 1,
        replicas=(partition.node_id, OTHER),
        **changes,
    )
    partition.take_role(RoleNews(assignment=assignment, broker_epochs={}))
