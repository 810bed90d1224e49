"""New partitions as records: replicas chosen by the client or by placement, and their first leader."""

from collections.abc import Sequence

from penstock.metadata.image import ClusterImage
from penstock.metadata.placement import Replicas
from penstock.metadata.records import PartitionRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId, TopicId

UNASSIGNED_DIRECTORY = bytes(16)


def check_assignment(image: ClusterImage, replicas: Sequence[int], *, replica_count: int | None) -> Replicas:
    """A client's own choice of replicas, the preferred leader first; INVALID_REPLICA_ASSIGNMENT if it is bad.

    ``replica_count`` is what the other partitions of the topic have, once there is another.
    """
    if not replicas:
        raise _invalid("The manual partition assignment includes an empty replica list.")
    for node_id in replicas:
        if node_id not in image.brokers:
            raise _invalid(
                f"The manual partition assignment includes broker {node_id}, but no such broker is "
                "registered."
            )
        if replicas.count(node_id) > 1:
            raise _invalid(f"The manual partition assignment includes the broker {node_id} more than once.")
    if replica_count is not None and len(replicas) != replica_count:
        raise _invalid(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this "
            f"is not consistent with previous partitions, which have {replica_count} replica(s)."
        )
    if not any(image.brokers[NodeId(node_id)].is_active for node_id in replicas):
        raise _invalid("All brokers specified in the manual partition assignment are fenced.")
    return tuple(map(NodeId, replicas))


def new_partition_record(
    image: ClusterImage, topic_id: TopicId, index: int, *, replicas: Replicas
) -> PartitionRecord:
    """The record that makes a partition: led by its first live replica, all live ones in sync."""
    in_sync = tuple(node_id for node_id in replicas if image.brokers[node_id].is_active)
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=replicas,
        isr=in_sync,
        leader=in_sync[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(directory_for(image, node_id) for node_id in replicas),
    )


def directory_for(image: ClusterImage, node_id: NodeId) -> bytes:
    """Where a broker with one directory will put it; a broker with several decides by itself (KIP-858)."""
    broker = image.brokers.get(node_id)
    if broker is None or len(broker.directories) != 1:
        return UNASSIGNED_DIRECTORY
    return broker.directories[0]


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
