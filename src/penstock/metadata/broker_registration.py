"""BrokerRegistration: a started broker becomes a member of a cluster, fenced until it has caught up.

Each process of a broker gets an epoch of its own, larger than any epoch of any broker before it. What the
last process was in sync with, the new one is not until it has caught up again. And what it may have lost
from its disk, it must say: there it is not even eligible to lead. A broker has lost nothing when it stopped
in good order, nor when it was killed, as long as its topics flush before they acknowledge; its word for it is
that it names the epoch it had before. If it cannot, or brings another directory, everything counts as lost.

Nobody comes back who was forgotten: a broker that was emptied, and whose process starts once more, would be a
member again without anybody's wish. Such a one names an epoch of a registration that is not there.
"""

from collections.abc import Collection

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.features import check_supports, missing_features
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import PartitionKey, broker_lost, brokers_left
from penstock.metadata.records import (
    BrokerEndpoint,
    BrokerFeature,
    MetadataRecord,
    RegisterBrokerRecord,
)
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from penstock.wire.schema import replace

NO_DIRECTORY = bytes(16)
UNKNOWN_EPOCH = -1


def register_in_cluster(
    image: ClusterImage,
    request: BrokerRegistrationRequest,
    *,
    cluster_id: str,
    next_offset: int,
    has_session: bool,
) -> Result[BrokerRegistrationResponse]:
    """Make a started broker known; the response has its epoch.

    ``next_offset`` is where the records will begin in the metadata log: epochs made from it grow over all
    brokers, also those forgotten. ``has_session`` says whether a process of this id was heard of lately.
    """
    known = image.brokers.get(NodeId(request.broker_id))
    try:
        _check(image, request, cluster_id=cluster_id)
        _check_is_not_forgotten(image, known, request)
        _check_is_not_another(known, request, has_session=has_session)
    except ApiError as error:
        return Result(records=(), response=BrokerRegistrationResponse(error_code=error.code))
    if known is not None and known.incarnation_id == request.incarnation_id:
        return _amended(known, request)
    epoch = next_offset if known is None else max(next_offset, known.epoch + 1)
    record = replace(_record(request, epoch), cordoned_log_dirs=_still_cordoned(known, request) or None)
    records = (*missing_features(image), *_clean_up(image, known, request), record)
    return Result(records=records, response=BrokerRegistrationResponse(broker_epoch=epoch))


def lost_partitions(known: BrokerImage, request: BrokerRegistrationRequest) -> frozenset[PartitionKey] | None:
    """What the broker's disk may lack of what its last process had; None means all of it."""
    if request.previous_broker_epoch != known.epoch or known.directories != request.log_dirs:
        return None
    return frozenset((each.topic_id, index) for each in request.lost_partitions for index in each.partitions)


def _clean_up(
    image: ClusterImage, known: BrokerImage | None, request: BrokerRegistrationRequest
) -> Collection[MetadataRecord]:
    """What the last process leaves behind: first what is lost, then what only has to be caught up."""
    if known is None:
        return ()
    lost = broker_lost(image, known.node_id, lost_partitions(known, request))
    return (*lost, *brokers_left(image.apply(lost), (known.node_id,)))


def _amended(known: BrokerImage, request: BrokerRegistrationRequest) -> Result[BrokerRegistrationResponse]:
    """The same process asks again, since an answer got lost or its addresses have changed."""
    record = replace(
        _record(request, known.epoch),
        fenced=known.is_fenced,
        in_controlled_shutdown=known.is_in_controlled_shutdown,
        cordoned_log_dirs=_still_cordoned(known, request) or None,
    )
    return Result(records=(record,), response=BrokerRegistrationResponse(broker_epoch=known.epoch))


def _record(request: BrokerRegistrationRequest, epoch: int) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=tuple(
            BrokerEndpoint(
                name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
            )
            for each in request.listeners
        ),
        features=_features(request),
        rack=request.rack,
        fenced=True,
        log_dirs=request.log_dirs,
    )


def _features(request: BrokerRegistrationRequest) -> tuple[BrokerFeature, ...]:
    return tuple(
        BrokerFeature(
            name=each.name,
            min_supported_version=each.min_supported_version,
            max_supported_version=each.max_supported_version,
        )
        for each in request.features
    )


def _still_cordoned(known: BrokerImage | None, request: BrokerRegistrationRequest) -> tuple[bytes, ...]:
    """A broker that is being emptied goes on being emptied."""
    cordoned = () if known is None else known.cordoned_directories
    return tuple(each for each in request.log_dirs if each in cordoned)


def _check(image: ClusterImage, request: BrokerRegistrationRequest, *, cluster_id: str) -> None:
    if request.cluster_id != cluster_id:
        raise ApiError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {cluster_id}, but got cluster ID {request.cluster_id}",
        )
    _check_directories(image, request)
    check_supports(image, _features(request), node_id=request.broker_id)


def _check_directories(image: ClusterImage, request: BrokerRegistrationRequest) -> None:
    directories = request.log_dirs
    if not directories:
        raise _invalid("No directories specified in request")
    if NO_DIRECTORY in directories:
        raise _invalid("Reserved directory ID in request")
    if len(set(directories)) != len(directories):
        raise _invalid("Duplicate directory ID in request")
    for broker in image.brokers.values():
        if broker.node_id != request.broker_id and not set(directories).isdisjoint(broker.directories):
            raise _invalid(f"Broker {broker.node_id} is already registered with that directory")


def _check_is_not_forgotten(
    image: ClusterImage, known: BrokerImage | None, request: BrokerRegistrationRequest
) -> None:
    """It names a registration that is not there; perhaps another directory has got its node id since."""
    if request.previous_broker_epoch == UNKNOWN_EPOCH:
        return
    if known is None:
        is_forgotten = bool(image.brokers)
    else:
        is_stranger = set(known.directories).isdisjoint(request.log_dirs)
        is_forgotten = is_stranger and request.previous_broker_epoch != known.epoch
    if is_forgotten:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker {request.broker_id} was taken out of the cluster."
        )


def _check_is_not_another(
    known: BrokerImage | None, request: BrokerRegistrationRequest, *, has_session: bool
) -> None:
    """Two processes must not share an id. Those of one directory follow each other: it is locked."""
    if known is None or known.incarnation_id == request.incarnation_id:
        return
    if has_session and known.directories != request.log_dirs:
        raise ApiError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            f"Another broker is registered as {known.node_id}, and was heard of lately.",
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REGISTRATION, message)
