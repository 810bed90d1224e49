"""InitProducerId (key 22): a producer asks for its id, by which retries are told from new batches.

Versions 0 to 5.

Behaviour
    - Without a transactional id: a fresh id with epoch 0; the transaction timeout is not looked at, since
      clients send anything there.
    - With an empty one: INVALID_REQUEST. With any other: transactions are not served by this broker, and the
      answer is COORDINATOR_NOT_AVAILABLE, as FindCoordinator's would be.
    - Ids come from blocks that the controller gives out, so that no id is ever given twice.

Version notes
    2 flexible; 3 carries the present id and epoch (KIP-360).
"""

from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: InitProducerIdRequest, header: RequestHeader
) -> InitProducerIdResponse:
    """Give out the next id."""
    if request.transactional_id == "":
        return _refusal(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    producer_id = await broker.producer_ids.next()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
