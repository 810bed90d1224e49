"""Brokers are shut out, let in, sent home and forgotten: the records of each, in the order they must have.

A broker is fenced before it is trusted: it registers fenced, and is let in when it has caught up with the
metadata log. Shutting out takes the broker from the in-sync sets *before* it is marked, letting in marks it
before it leads, so that no point of the log has a fenced leader.
"""

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import broker_came, broker_lost, brokers_left
from penstock.metadata.records import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    UnregisterBrokerRecord,
)
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

Records = tuple[MetadataRecord, ...]


def check_broker_epoch(image: ClusterImage, node_id: int, epoch: int) -> BrokerImage:
    """The broker that asks, if it is the process it says; BROKER_ID_NOT_REGISTERED or STALE_BROKER_EPOCH."""
    broker = image.brokers.get(NodeId(node_id))
    if broker is None:
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker {node_id} is not registered.")
    if broker.epoch != epoch:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH, f"Broker {node_id} is at epoch {broker.epoch}, not {epoch}."
        )
    return broker


def fence(image: ClusterImage, *node_ids: NodeId) -> Records:
    """Shut brokers out.

    Those that go silent together are shut out together: all who were in sync to the last stay eligible,
    whichever of them comes back first.
    """
    brokers = [image.brokers[node_id] for node_id in node_ids if not image.brokers[node_id].is_fenced]
    changes = (
        BrokerRegistrationChangeRecord(broker_id=broker.node_id, broker_epoch=broker.epoch, fenced=FENCE)
        for broker in brokers
    )
    return (*brokers_left(image, [broker.node_id for broker in brokers]), *changes)


def unfence(image: ClusterImage, node_id: NodeId) -> Records:
    """Let a broker in; it may lead at once what nobody leads."""
    broker = image.brokers[node_id]
    change = BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=broker.epoch, fenced=UNFENCE)
    return (change, *broker_came(image, node_id))


def begin_controlled_shutdown(image: ClusterImage, node_id: NodeId) -> Records:
    """Move leadership away from a broker that is about to stop; also again, for what came in between."""
    broker = image.brokers[node_id]
    change = BrokerRegistrationChangeRecord(
        broker_id=node_id, broker_epoch=broker.epoch, in_controlled_shutdown=1
    )
    marked = () if broker.is_in_controlled_shutdown else (change,)
    return (*marked, *brokers_left(image, (node_id,)))


def unregister_broker(
    image: ClusterImage, request: UnregisterBrokerRequest
) -> Result[UnregisterBrokerResponse]:
    """Forget a broker that is gone. Its replicas stay in the sets of replicas, for a move to take them away.

    What it had counts as lost. Of a broker that lives that would be wrong, and whatever only it has would be
    led by nobody when it comes back a moment later.
    """
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None:
        message = f"Broker ID {request.broker_id} is not currently registered."
        return _not_unregistered(ErrorCode.BROKER_ID_NOT_REGISTERED, message)
    if not broker.is_fenced:
        message = (
            f"Broker {request.broker_id} lives: stop it first, or empty it with "
            f"`penstock broker decommission {request.broker_id}`."
        )
        return _not_unregistered(ErrorCode.INVALID_REQUEST, message)
    return Result(records=forget(image, broker), response=UnregisterBrokerResponse())


def _not_unregistered(code: ErrorCode, message: str) -> Result[UnregisterBrokerResponse]:
    return Result(records=(), response=UnregisterBrokerResponse(error_code=code, error_message=message))


def forget(image: ClusterImage, broker: BrokerImage) -> Records:
    """The records that unregister a broker: it is in sync with nothing, and never eligible again."""
    gone = UnregisterBrokerRecord(broker_id=broker.node_id, broker_epoch=broker.epoch)
    return (*broker_lost(image, broker.node_id, None), gone)
