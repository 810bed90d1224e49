"""How much each broker carries, and which is the best to carry one replica more.

Best is: in a rack that the partition is not in yet, then with the fewest replicas, then with the lowest id.
Racks stand for hosts where nobody set them, so that two processes of one machine do not hold two copies.
"""

from collections.abc import Iterable, Mapping

from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import partitions_of
from penstock.metadata.placement import Replicas
from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import NodeId


def usable_brokers(image: ClusterImage) -> tuple[NodeId, ...]:
    """Brokers that may get new replicas: alive, not about to stop, not being emptied."""
    return tuple(
        node_id
        for node_id in sorted(image.brokers)
        if image.brokers[node_id].is_active and not image.brokers[node_id].is_cordoned
    )


def destined_replicas(partition: PartitionImage) -> Replicas:
    """Where a partition is, or will be when the move under way is done."""
    return tuple(node_id for node_id in partition.replicas if node_id not in partition.removing_replicas)


class BrokerLoads:
    """Replicas per broker, counted along while they are planned to move."""

    def __init__(self, brokers: Iterable[NodeId], racks: Mapping[NodeId, str | None]) -> None:
        self.counts: dict[NodeId, int] = dict.fromkeys(sorted(brokers), 0)
        self._racks = racks

    def add(self, replicas: Iterable[NodeId]) -> None:
        """A partition is on these; brokers that may not be used are not counted."""
        for node_id in replicas:
            if node_id in self.counts:
                self.counts[node_id] += 1

    def move(self, source: NodeId, destination: NodeId) -> None:
        """One replica changes places."""
        self.add((destination,))
        self.remove(source)

    def remove(self, source: NodeId) -> None:
        """One replica goes away."""
        if source in self.counts:
            self.counts[source] -= 1

    def rack(self, node_id: NodeId) -> str | None:
        """The rack of a broker; None if it is not known."""
        return self._racks.get(node_id)

    def best(self, beside: Iterable[NodeId]) -> NodeId | None:
        """Who should hold one more replica of a partition that is on ``beside``; None if nobody can."""
        holders = set(beside)
        taken = {self.rack(node_id) for node_id in holders}
        candidates = (node_id for node_id in self.counts if node_id not in holders)
        return min(
            candidates,
            key=lambda node_id: (self.rack(node_id) in taken, self.counts[node_id], node_id),
            default=None,
        )


def broker_loads(image: ClusterImage, brokers: Iterable[NodeId] | None = None) -> BrokerLoads:
    """What usable brokers (or those named) carry now, moves under way counted as done."""
    racks = {node_id: broker.rack for node_id, broker in image.brokers.items()}
    loads = BrokerLoads(usable_brokers(image) if brokers is None else brokers, racks)
    for place in partitions_of(image):
        loads.add(destined_replicas(place.partition))
    return loads
