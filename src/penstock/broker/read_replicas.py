"""Where a consumer should read that says in which rack it stands (KIP-392)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.broker.partition_read import NO_REPLICA
from penstock.metadata.image import ClusterImage
from penstock.model.ids import Millis, NodeId
from penstock.replication.leader import PartitionLeader
from penstock.replication.read_replica import ReadableReplica, preferred_read_replica

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


def nearer_replica(broker: "Broker", partition: Partition, rack: str, fetch_offset: int) -> NodeId:
    """A replica in the consumer's rack that has what it asks for, if we are none; -1 otherwise."""
    if not partition.is_leader:
        return NO_REPLICA
    leader = partition.leader
    if len(leader.isr) < 2 or not partition.log.log_start_offset <= fetch_offset <= partition.high_watermark:
        return NO_REPLICA
    found = preferred_read_replica(
        _readable(broker.image, leader, broker.node_id, partition.log.log_end_offset),
        leader=broker.node_id,
        consumer_rack=rack,
        fetch_offset=fetch_offset,
    )
    return NO_REPLICA if found is None else found


def _readable(
    image: ClusterImage, leader: PartitionLeader, own: NodeId, own_end: int
) -> Iterator[ReadableReplica]:
    for node_id in leader.isr:
        broker = image.brokers.get(node_id)
        progress = leader.follower(node_id)
        if broker is None or broker.is_fenced:
            continue
        if progress is not None:
            yield ReadableReplica(
                node_id=node_id,
                rack=broker.rack,
                log_end_offset=progress.end_offset,
                caught_up_at=progress.caught_up_at,
            )
        elif node_id == own:
            yield ReadableReplica(
                node_id=own, rack=broker.rack, log_end_offset=own_end, caught_up_at=Millis(0)
            )
