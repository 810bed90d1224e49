"""Emptying a broker: nothing new goes there, what is there moves away, and then it is forgotten.

The mark that a broker is being emptied is Kafka's own (its directories are cordoned, KIP-1066), so it
outlives controllers and restarts. The controller asks now and then for the next moves, until nothing is left.
"""

from collections.abc import Collection

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.broker_loads import BrokerLoads, broker_loads, destined_replicas, usable_brokers
from penstock.metadata.fencing import forget
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import Place, partitions_of
from penstock.metadata.moves_at_once import MovesAtOnce
from penstock.metadata.outcome import message_of
from penstock.metadata.placement import Replicas
from penstock.metadata.records import BrokerRegistrationChangeRecord, MetadataRecord
from penstock.metadata.result import Result
from penstock.metadata.targets import Target
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.model.names import INTERNAL_TOPICS
from penstock.wire.messages.decommission_broker import (
    DecommissionBrokerRequest,
    DecommissionBrokerResponse,
)


def decommission_broker(
    image: ClusterImage, request: DecommissionBrokerRequest, *, voters: Collection[NodeId]
) -> Result[DecommissionBrokerResponse]:
    """Begin to empty a broker, or stop doing so; asked again, or only asked, say how much is left."""
    try:
        broker = _checked(image, request)
    except ApiError as error:
        response = DecommissionBrokerResponse(error_code=error.code, error_message=message_of(error))
        return Result(records=(), response=response)
    cordoned = () if request.is_cancelled else broker.directories
    change = BrokerRegistrationChangeRecord(
        broker_id=broker.node_id, broker_epoch=broker.epoch, cordoned_log_dirs=cordoned
    )
    is_draining = broker.is_cordoned if request.is_question else not request.is_cancelled
    response = DecommissionBrokerResponse(
        replicas_left=replicas_left(image, broker.node_id),
        is_voter=broker.node_id in voters,
        is_draining=is_draining,
    )
    return Result(records=() if is_draining is broker.is_cordoned else (change,), response=response)


def replicas_left(image: ClusterImage, node_id: NodeId) -> int:
    """How many partitions still have a replica on a broker."""
    return sum(node_id in place.partition.replicas for place in partitions_of(image))


def plan_decommissions(image: ClusterImage, *, limit: int) -> tuple[Target, ...]:
    """The next partitions to take off brokers that are being emptied or are forgotten; ``limit`` at once."""
    loads, moves = broker_loads(image), MovesAtOnce(image, limit)
    targets: list[Target] = []
    for place in partitions_of(image):
        leaving = [each for each in destined_replicas(place.partition) if _is_leaving(image, each)]
        if leaving and moves.has_room_for(place.partition):
            target = _emptied(place, leaving, loads)
            if target is not None:
                moves.begin(place.partition)
                targets.append(target)
    return tuple(targets)


def finish_decommissions(image: ClusterImage, *, voters: Collection[NodeId]) -> tuple[MetadataRecord, ...]:
    """Forget brokers that are empty now, and decide on metadata no more."""
    done = [
        broker
        for node_id, broker in sorted(image.brokers.items())
        if broker.is_cordoned and node_id not in voters and not replicas_left(image, node_id)
    ]
    return tuple(record for broker in done for record in forget(image, broker))


def _checked(image: ClusterImage, request: DecommissionBrokerRequest) -> BrokerImage:
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None:
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker {request.broker_id} is not registered.")
    if request.is_question or request.is_cancelled or broker.is_cordoned:
        return broker
    others = [node_id for node_id in usable_brokers(image) if node_id != broker.node_id]
    if not others:
        raise ApiError(
            ErrorCode.POLICY_VIOLATION,
            f"Broker {broker.node_id} cannot be emptied: there is no other live broker.",
        )
    _check_room(image, broker.node_id, len(others))
    return broker


def _check_room(image: ClusterImage, node_id: NodeId, others: int) -> None:
    for topic, index, partition in partitions_of(image):
        wanted = len(destined_replicas(partition))
        if node_id in partition.replicas and wanted > others and topic.name not in INTERNAL_TOPICS:
            raise ApiError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"Broker {node_id} cannot be emptied: {topic.name}-{index} has {wanted} replicas, and only "
                f"{others} other live broker(s) could hold them. Add brokers, or reassign it to fewer.",
            )


def _is_leaving(image: ClusterImage, node_id: NodeId) -> bool:
    broker = image.brokers.get(node_id)
    return broker is None or broker.is_cordoned


def _emptied(place: Place, leaving: list[NodeId], loads: BrokerLoads) -> Target | None:
    """The partition without those that leave; with others in their places, or without if there are none."""
    replicas: Replicas = destined_replicas(place.partition)
    for node_id in leaving:
        added = loads.best(each for each in replicas if each not in leaving)
        if added is not None:
            loads.move(node_id, added)
            replicas = tuple(added if each == node_id else each for each in replicas)
        elif place.topic.name in INTERNAL_TOPICS and len(replicas) > 1:
            replicas = tuple(each for each in replicas if each != node_id)
    if replicas == destined_replicas(place.partition):
        return None
    return Target(topic=place.topic.name, partition=place.partition_index, replicas=replicas)
