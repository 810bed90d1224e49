"""Which replica a consumer should read from: one in its own rack, if it has what is asked for (KIP-392)."""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.model.ids import Millis, NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableReplica:
    """A replica that is in sync and alive, as its leader sees it."""

    node_id: NodeId
    rack: str | None
    log_end_offset: int
    caught_up_at: Millis


def preferred_read_replica(
    replicas: Iterable[ReadableReplica], *, leader: NodeId, consumer_rack: str, fetch_offset: int
) -> NodeId | None:
    """Where the consumer should go instead; None if the leader is as good.

    Of several in its rack, the one that is furthest along; then the one that was caught up last.
    """
    if not consumer_rack:
        return None
    near = [
        replica
        for replica in replicas
        if replica.rack == consumer_rack
        and (replica.node_id == leader or replica.log_end_offset >= fetch_offset)
    ]
    if not near or any(replica.node_id == leader for replica in near):
        return None
    return max(near, key=lambda each: (each.log_end_offset, each.caught_up_at, -each.node_id)).node_id
