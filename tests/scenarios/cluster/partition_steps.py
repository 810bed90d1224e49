"""Steps that stories about one replicated partition share."""

from tests.replication.cluster_model import Cluster, Node

from penstock.model.ids import NodeId

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)


def values(node: Node) -> list[int]:
    return [entry.value for entry in node.log]


def index_of(cluster: Cluster, body: type, *, to: int | None = None) -> int:
    """Where the first message of a kind is in the network."""
    return next(
        index
        for index, message in enumerate(cluster.network)
        if isinstance(message.body, body) and (to is None or message.to == to)
    )


def write(cluster: Cluster, leader: int) -> int:
    value = cluster.produce(leader)
    assert value is not None
    cluster.flush(leader)
    return value


def come_back(cluster: Cluster, node_id: int) -> None:
    """A broker starts, registers, and is let in."""
    cluster.restart(node_id)
    cluster.unfence(node_id)


def leader_alone_in_sync() -> Cluster:
    """Broker 2 was away for a moment, and is about to catch up with broker 1."""
    cluster = Cluster(replication=2)
    cluster.fence(2)
    cluster.unfence(2)
    cluster.apply_all(1)
    cluster.apply_all(2)
    return cluster
