"""Making plans on this side, from what any cluster tells of itself.

The arithmetic is the controller's own (``metadata.rebalancing``), on an image made from the answers to
Metadata and its companions.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from penstock.cli.failure import CommandFailed
from penstock.cli.reassign.moves import OngoingMove
from penstock.cli.reassign.plan import Move
from penstock.metadata.image import ClusterImage
from penstock.metadata.rebalancing import plan_evacuation, plan_rebalance
from penstock.metadata.records import MetadataRecord, PartitionRecord, RegisterBrokerRecord, TopicRecord
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId, TopicId, TopicPartition
from penstock.wire_client.cluster_description import BrokerDescription, BrokerState, ClusterDescription

OngoingMoves = Mapping[TopicPartition, OngoingMove]

_ADD_BROKERS = "Name more brokers, or lower the number of replicas with --replication-factor."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a plan is for: some topics or all, some brokers or all that are up."""

    topics: frozenset[str] | None
    brokers: frozenset[int] | None
    replication_factor: int | None
    #: Whether to spread load, or to move only what must be moved.
    is_even: bool


def plan_moves(cluster: ClusterDescription, ongoing: OngoingMoves, wish: Wish) -> list[Move]:
    """The moves that make a wish come true; what is on the move already is left alone."""
    _check_known(cluster, wish)
    planner = plan_rebalance if wish.is_even else plan_evacuation
    try:
        targets = planner(
            cluster_image(cluster, ongoing),
            topics=wish.topics,
            brokers=None if wish.brokers is None else [NodeId(each) for each in sorted(wish.brokers)],
            replication_factor=wish.replication_factor,
        )
    except ApiError as error:
        raise CommandFailed(str(error), hint=_ADD_BROKERS) from error
    after = {TopicPartition(each.topic, each.partition): tuple(map(int, each.replicas)) for each in targets}
    moves = [
        Move(partition.where, partition.replicas, after.get(partition.where, partition.replicas))
        for partition in cluster.partitions
        if (wish.topics is None or partition.where.topic in wish.topics) and partition.where not in ongoing
    ]
    _check_reached(moves, wish)
    return [move for move in moves if move.after != move.before]


def bytes_to_copy(cluster: ClusterDescription, moves: Collection[Move]) -> int | None:
    """How much the added replicas take, by what the leaders take; None where somebody does not tell."""
    leaders = {partition.where: partition.leader for partition in cluster.partitions}
    total = 0
    for move in moves:
        leader = cluster.broker(leaders[move.where])
        size = None if leader is None or leader.disks is None else leader.disks.sizes.get(move.where)
        if size is None and move.added:
            return None
        total += (size or 0) * len(move.added)
    return total


def cluster_image(cluster: ClusterDescription, ongoing: OngoingMoves) -> ClusterImage:
    """An image with what planners look at: brokers, racks, replicas, and what is on the move."""
    return ClusterImage().apply([*_brokers(cluster), *_topics(cluster, ongoing)])


def _brokers(cluster: ClusterDescription) -> Iterator[MetadataRecord]:
    for broker in cluster.brokers:
        if broker.state is not BrokerState.DOWN:
            yield _registration(broker)


def _registration(broker: BrokerDescription) -> RegisterBrokerRecord:
    directory = broker.broker.to_bytes(16)
    return RegisterBrokerRecord(
        broker_id=broker.broker,
        rack=broker.rack,
        fenced=broker.state is BrokerState.FENCED,
        log_dirs=(directory,),
        cordoned_log_dirs=(directory,) if broker.state is BrokerState.DRAINING else None,
    )


def _topics(cluster: ClusterDescription, ongoing: OngoingMoves) -> Iterator[MetadataRecord]:
    """Old clusters tell no topic ids, so the image has its own."""
    ids: dict[str, TopicId] = {}
    for partition in cluster.partitions:
        topic, index = partition.where
        if topic not in ids:
            ids[topic] = TopicId((len(ids) + 1).to_bytes(16))
            yield TopicRecord(name=topic, topic_id=ids[topic])
        move = ongoing.get(partition.where)
        yield PartitionRecord(
            partition_id=index,
            topic_id=ids[topic],
            replicas=partition.replicas,
            isr=partition.isr,
            leader=partition.leader,
            adding_replicas=() if move is None else move.adding,
            removing_replicas=() if move is None else move.removing,
        )


def _check_known(cluster: ClusterDescription, wish: Wish) -> None:
    topics = {partition.where.topic for partition in cluster.partitions}
    if missing := sorted((wish.topics or frozenset()) - topics):
        raise CommandFailed(
            f"There is no topic {missing[0]!r}.", hint="See what there is with `penstock topic list`."
        )
    up = {
        broker.broker for broker in cluster.brokers if broker.state in (BrokerState.UP, BrokerState.DRAINING)
    }
    if down := sorted((wish.brokers or frozenset()) - up):
        raise CommandFailed(f"Broker {down[0]} is not up.", hint="See which are with `penstock broker list`.")


def _check_reached(moves: Collection[Move], wish: Wish) -> None:
    """A partition may have more replicas than there are brokers named."""
    if wish.brokers is None:
        return
    for move in moves:
        if not wish.brokers.issuperset(move.after):
            raise CommandFailed(
                f"{move.where} has {len(move.before)} replicas, more than the brokers that were named.",
                hint=_ADD_BROKERS,
            )
