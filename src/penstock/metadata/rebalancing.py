"""Plans for where replicas should be, moving as few of them as they can.

Five steps: off brokers that may not be used; to as many replicas as are wanted; into different racks; from
full brokers to empty ones, until no two differ by more than one replica; and last the preferred leaders,
which only changes the order of replicas and moves nothing. ``plan_evacuation`` takes the first two, which
must be taken; ``plan_rebalance`` takes all. Partitions that are on the move already are left alone.
"""

from collections.abc import Collection
from itertools import chain

from penstock.metadata.broker_loads import BrokerLoads, broker_loads, usable_brokers
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import partitions_of
from penstock.metadata.placement import Replicas
from penstock.metadata.targets import Target
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId

Key = tuple[str, int]


def plan_rebalance(
    image: ClusterImage,
    *,
    topics: Collection[str] | None = None,
    brokers: Collection[NodeId] | None = None,
    replication_factor: int | None = None,
) -> tuple[Target, ...]:
    """Where partitions should go; of these topics (or all), on these brokers (or all that may be used)."""
    plan = _required_moves(image, topics, brokers, replication_factor)
    plan.spread_over_racks()
    plan.even_out()
    plan.even_out_leaders()
    return plan.targets()


def plan_evacuation(
    image: ClusterImage,
    *,
    topics: Collection[str] | None = None,
    brokers: Collection[NodeId] | None = None,
    replication_factor: int | None = None,
) -> tuple[Target, ...]:
    """As ``plan_rebalance``, but only what must move; a replica that no other broker can take stays."""
    return _required_moves(image, topics, brokers, replication_factor).targets()


def _required_moves(
    image: ClusterImage,
    topics: Collection[str] | None,
    brokers: Collection[NodeId] | None,
    replication_factor: int | None,
) -> "_Plan":
    usable = tuple(sorted(usable_brokers(image) if brokers is None else brokers))
    _check_brokers(image, usable)
    plan = _Plan(
        {
            (place.topic.name, place.partition_index): place.partition.replicas
            for place in partitions_of(image)
            if not place.partition.is_reassigning and (topics is None or place.topic.name in topics)
        },
        broker_loads(image, usable),
    )
    plan.leave_unusable()
    if replication_factor is not None:
        _check_factor(replication_factor, len(usable))
        plan.resize(replication_factor)
    return plan


def _check_brokers(image: ClusterImage, brokers: tuple[NodeId, ...]) -> None:
    if not brokers:
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "There is no broker to move anything to.")
    for node_id in brokers:
        if node_id not in image.brokers:
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Broker {node_id} is not registered.")


def _check_factor(replication_factor: int, usable: int) -> None:
    if not 1 <= replication_factor <= usable:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"A replication factor of {replication_factor} is not possible on {usable} broker(s).",
        )


class _Plan:
    """Replicas in the making."""

    def __init__(self, replicas: dict[Key, Replicas], loads: BrokerLoads) -> None:
        self._before = replicas
        self.replicas = dict(replicas)
        self._loads = loads

    def targets(self) -> tuple[Target, ...]:
        """The partitions that are to change."""
        return tuple(
            Target(topic=topic, partition=index, replicas=replicas)
            for (topic, index), replicas in self.replicas.items()
            if replicas != self._before[topic, index]
        )

    def leave_unusable(self) -> None:
        """Replace replicas on brokers that may not be used, as long as there are others."""
        for key, replicas in self.replicas.items():
            for node_id in replicas:
                if node_id not in self._loads.counts:
                    usable = [each for each in self.replicas[key] if each in self._loads.counts]
                    self._replace(key, node_id, self._loads.best(usable))

    def resize(self, wanted: int) -> None:
        """Add replicas behind those there are, or drop some, though never the preferred leader."""
        for key in self.replicas:
            while (
                len(self.replicas[key]) < wanted
                and (added := self._loads.best(self.replicas[key])) is not None
            ):
                self._loads.add((added,))
                self.replicas[key] = (*self.replicas[key], added)
            while len(self.replicas[key]) > wanted:
                dropped = self._most_dispensable(self.replicas[key])
                self._loads.remove(dropped)
                self.replicas[key] = tuple(each for each in self.replicas[key] if each != dropped)

    def spread_over_racks(self) -> None:
        """Move one of two replicas in a rack to a rack that has none."""
        for key, replicas in self.replicas.items():
            for node_id in reversed(replicas):
                others = [each for each in self.replicas[key] if each != node_id]
                better = self._loads.best(self.replicas[key])
                if better is not None and self._shares_rack(node_id, others):
                    self._replace(key, node_id, None if self._shares_rack(better, others) else better)

    def even_out(self) -> None:
        """Move replicas from full brokers to emptier ones; in rounds, as one move makes room for another."""
        for _ in self._loads.counts:
            counts = dict(self._loads.counts)
            for source in sorted(counts, key=lambda node_id: (-counts[node_id], node_id)):
                self._unload(source)
            if counts == self._loads.counts:
                break

    def even_out_leaders(self) -> None:
        """Let another of the replicas be preferred where the preferred one leads more than its share."""
        leading = dict.fromkeys(chain(self._loads.counts, *self.replicas.values()), 0)
        for replicas in self.replicas.values():
            leading[replicas[0]] += 1
        for key, replicas in self.replicas.items():
            least = min(replicas, key=lambda node_id: (leading[node_id], replicas.index(node_id)))
            if leading[least] + 1 < leading[replicas[0]]:
                leading[replicas[0]] -= 1
                leading[least] += 1
                self.replicas[key] = (least, *(each for each in replicas if each != least))

    def _most_dispensable(self, replicas: Replicas) -> NodeId:
        """Of the replicas behind the first: on an unusable broker, or in a shared rack, or on a full one."""
        return max(
            replicas[1:],
            key=lambda node_id: (
                node_id not in self._loads.counts,
                self._shares_rack(node_id, [each for each in replicas if each != node_id]),
                self._loads.counts.get(node_id, 0),
                replicas.index(node_id),
            ),
        )

    def _unload(self, source: NodeId) -> None:
        counts = self._loads.counts
        for key in [key for key, replicas in self.replicas.items() if source in replicas]:
            if counts[source] <= min(counts.values()) + 1:
                break
            self._replace(key, source, self._emptier(key, source))

    def _emptier(self, key: Key, source: NodeId) -> NodeId | None:
        """Who has at least two replicas fewer, and is no worse a place as far as racks go."""
        replicas, counts = self.replicas[key], self._loads.counts
        others = [node_id for node_id in replicas if node_id != source]
        shares = self._shares_rack(source, others)
        fit = (
            node_id
            for node_id in counts
            if node_id not in replicas
            and counts[node_id] + 1 < counts[source]
            and (shares or not self._shares_rack(node_id, others))
        )
        return min(fit, key=lambda node_id: (counts[node_id], node_id), default=None)

    def _shares_rack(self, node_id: NodeId, others: list[NodeId]) -> bool:
        return self._loads.rack(node_id) in {self._loads.rack(each) for each in others}

    def _replace(self, key: Key, source: NodeId, destination: NodeId | None) -> None:
        if destination is None:
            return
        self._loads.move(source, destination)
        self.replicas[key] = tuple(
            destination if node_id == source else node_id for node_id in self.replicas[key]
        )
