"""How a whole cluster appears on a terminal and as JSON."""

from collections.abc import Iterable
from typing import Any

from penstock.cli.broker.report import UNKNOWN, broker_as_json, print_brokers
from penstock.cli.output import print_table
from penstock.wire_client.cluster_description import BrokerState, ClusterDescription, PartitionDescription
from penstock.wire_client.quorum import QuorumDescription, QuorumRole


def cluster_as_json(cluster: ClusterDescription, *, moving: int) -> dict[str, Any]:
    """The cluster, with partitions only where something is wrong."""
    return {
        "cluster_id": cluster.cluster_id,
        "controller": cluster.controller,
        "brokers": [broker_as_json(broker) for broker in cluster.brokers],
        "quorum": None if cluster.quorum is None else cluster.quorum.as_json(),
        "topics": len(_topics(cluster)),
        "partitions": len(cluster.partitions),
        "moving_partitions": moving,
        "leaderless_partitions": [_partition_as_json(each) for each in _leaderless(cluster)],
        "under_replicated_partitions": [_partition_as_json(each) for each in _under_replicated(cluster)],
    }


def print_cluster(cluster: ClusterDescription, *, moving: int) -> None:
    """Headlines, the brokers, and one line for each partition that lacks something."""
    up = sum(broker.state in (BrokerState.UP, BrokerState.DRAINING) for broker in cluster.brokers)
    print(
        f"cluster {cluster.cluster_id or UNKNOWN}  brokers {up} of {len(cluster.brokers)} up  "
        f"controller {UNKNOWN if cluster.controller is None else cluster.controller}"
    )
    if cluster.quorum is not None:
        print(_quorum_line(cluster.quorum))
    lacking = [each for each in cluster.partitions if each.is_under_replicated or each.leader < 0]
    print(
        f"topics {len(_topics(cluster))}  partitions {len(cluster.partitions)}  "
        f"under-replicated {len(_under_replicated(cluster))}  "
        f"without leader {len(_leaderless(cluster))}  moving {moving}"
    )
    print_brokers(cluster.brokers)
    if lacking:
        rows = [
            (
                *each.where,
                UNKNOWN if each.leader < 0 else each.leader,
                _joined(each.replicas),
                _joined(each.isr),
            )
            for each in lacking
        ]
        print()
        print_table(("TOPIC", "PARTITION", "LEADER", "REPLICAS", "IN SYNC"), rows, numbers=(1, 2))


def _quorum_line(quorum: QuorumDescription) -> str:
    voters = [node for node in quorum.nodes if node.role is not QuorumRole.OBSERVER]
    observers = [node.node for node in quorum.nodes if node.role is QuorumRole.OBSERVER]
    lag = max((node.lag for node in voters), default=0)
    return (
        f"quorum leader {UNKNOWN if quorum.leader < 0 else quorum.leader}  epoch {quorum.epoch}  "
        f"voters {_joined(node.node for node in voters)}  observers {_joined(observers)}  "
        f"high watermark {quorum.high_watermark}  lag {lag}"
    )


def _topics(cluster: ClusterDescription) -> set[str]:
    return {partition.where.topic for partition in cluster.partitions}


def _under_replicated(cluster: ClusterDescription) -> list[PartitionDescription]:
    return [each for each in cluster.partitions if each.is_under_replicated]


def _leaderless(cluster: ClusterDescription) -> list[PartitionDescription]:
    return [each for each in cluster.partitions if each.leader < 0]


def _partition_as_json(partition: PartitionDescription) -> dict[str, Any]:
    return {
        "topic": partition.where.topic,
        "partition": partition.where.partition,
        "leader": partition.leader if partition.leader >= 0 else None,
        "replicas": list(partition.replicas),
        "in_sync": list(partition.isr),
    }


def _joined(nodes: Iterable[int]) -> str:
    return ",".join(map(str, nodes)) or UNKNOWN
