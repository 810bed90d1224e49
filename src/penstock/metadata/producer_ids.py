"""Producer ids are given out in blocks, so that the metadata log is written once for a thousand producers."""

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ProducerIdsRecord
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.model.limits import PRODUCER_ID_BLOCK_SIZE
from penstock.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

PRODUCER_ID_MAX = 2**63 - 1


def allocate_producer_ids(image: ClusterImage, *, broker_id: NodeId, broker_epoch: int) -> Result[range]:
    """The next block for a broker. What a broker does not use of a block is lost, never given twice."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker {broker_id} is not registered.")
    if broker.epoch != broker_epoch:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Broker {broker_id} is at epoch {broker.epoch}, not {broker_epoch}.",
        )
    block = range(image.next_producer_id, image.next_producer_id + PRODUCER_ID_BLOCK_SIZE)
    if block.stop > PRODUCER_ID_MAX:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "All producer ids have been given out.")
    record = ProducerIdsRecord(broker_id=broker_id, broker_epoch=broker_epoch, next_producer_id=block.stop)
    return Result(records=(record,), response=block)


def allocate_block(
    image: ClusterImage, request: AllocateProducerIdsRequest
) -> Result[AllocateProducerIdsResponse]:
    """As ``allocate_producer_ids``, for a broker that asks over the wire."""
    try:
        result = allocate_producer_ids(
            image, broker_id=NodeId(request.broker_id), broker_epoch=request.broker_epoch
        )
    except ApiError as error:
        return Result(records=(), response=AllocateProducerIdsResponse(error_code=error.code))
    block = result.response
    response = AllocateProducerIdsResponse(producer_id_start=block.start, producer_id_len=len(block))
    return Result(records=result.records, response=response)
