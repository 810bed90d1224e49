"""Internal topics grow with the cluster: made by one broker they have one replica, with three they get three.

The controller asks now and then, and begins what is answered; a few partitions at a time, so that growing
does not crowd out everything else.
"""

from collections.abc import Mapping

from penstock.metadata.broker_loads import BrokerLoads, broker_loads, destined_replicas
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import partitions_of
from penstock.metadata.moves_at_once import MovesAtOnce
from penstock.metadata.placement import Replicas
from penstock.metadata.targets import Target
from penstock.model.names import INTERNAL_TOPICS

INTERNAL_REPLICATION_FACTOR = 3
NO_FACTORS: Mapping[str, int] = {}


def plan_growth(
    image: ClusterImage, *, limit: int, replication_factors: Mapping[str, int] = NO_FACTORS
) -> tuple[Target, ...]:
    """Partitions of internal topics that have fewer replicas than they could; ``limit`` moves at once."""
    loads, moves = broker_loads(image), MovesAtOnce(image, limit)
    # Who is away counts too: its replica may be one of two that must be in sync, until there is a third.
    members = sum(not broker.is_cordoned for broker in image.brokers.values())
    targets: list[Target] = []
    for topic, index, partition in partitions_of(image):
        if topic.name not in INTERNAL_TOPICS or partition.is_reassigning:
            continue
        if not moves.has_room_for(partition):
            continue
        factor = replication_factors.get(topic.name, INTERNAL_REPLICATION_FACTOR)
        replicas = _grown(destined_replicas(partition), min(factor, members), loads)
        if len(replicas) > len(partition.replicas):
            moves.begin(partition)
            targets.append(Target(topic=topic.name, partition=index, replicas=replicas))
    return tuple(targets)


def _grown(replicas: Replicas, wanted: int, loads: BrokerLoads) -> Replicas:
    """More replicas behind those there are, which stay in their order: nobody loses the lead."""
    while len(replicas) < wanted and (added := loads.best(replicas)) is not None:
        loads.add((added,))
        replicas = (*replicas, added)
    return replicas
