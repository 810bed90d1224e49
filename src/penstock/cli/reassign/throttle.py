"""Keeping moves from crowding out clients, in the way of Kafka's own tool.

Brokers have a rate, in bytes a second, for leaders and for followers; topics name the replicas it holds for:
the present ones as leaders, the new ones as followers. Brokers never take these settings away by themselves.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from penstock.cli.reassign.plan import Move
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.configs import (
    alter_configs,
    broker_resource,
    changed_configs,
    topic_resource,
)

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
_ALL = (LEADER_RATE, FOLLOWER_RATE, LEADER_REPLICAS, FOLLOWER_REPLICAS)


def set_throttle(cluster: Cluster, moves: Collection[Move], bytes_per_second: int) -> None:
    """Bound the rate of all brokers that take part in ``moves``; mere changes of order do not count."""
    copied = [move for move in moves if move.added]
    brokers = sorted({node_id for move in copied for node_id in (*move.before, *move.after)})
    rate = str(bytes_per_second)
    rates = {LEADER_RATE: rate, FOLLOWER_RATE: rate}
    alter_configs(
        cluster, {broker_resource(node_id): rates for node_id in brokers if node_id in cluster.nodes}
    )
    alter_configs(
        cluster,
        {topic_resource(topic): _throttled(of_topic) for topic, of_topic in _by_topic(copied).items()},
    )


def remove_throttle(cluster: Cluster, topics: Iterable[str]) -> bool:
    """Take every throttle away from ``topics`` and from all brokers; whether there was any."""
    live = sorted(broker.node_id for broker in cluster.metadata(()).brokers)
    resources = [*map(topic_resource, sorted(set(topics))), *map(broker_resource, live)]
    found = changed_configs(cluster, resources, _ALL)
    alter_configs(cluster, {resource: dict.fromkeys(values) for resource, values in found.items()})
    return bool(found)


def _throttled(moves: Collection[Move]) -> dict[str, str | None]:
    """``0:1,0:2,1:2``: partitions of one topic, each with a broker."""
    return {
        LEADER_REPLICAS: ",".join(f"{move.where.partition}:{id}" for move in moves for id in move.before),
        FOLLOWER_REPLICAS: ",".join(f"{move.where.partition}:{id}" for move in moves for id in move.added),
    }


def _by_topic(moves: Iterable[Move]) -> dict[str, list[Move]]:
    grouped: dict[str, list[Move]] = defaultdict(list)
    for move in moves:
        grouped[move.where.topic].append(move)
    return grouped
