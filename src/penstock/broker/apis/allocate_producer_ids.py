"""AllocateProducerIds (key 67, between brokers): a block of producer ids that nobody else will ever get.

Version 0.

Behaviour
    - The answer comes when the block is in the metadata log.
    - Refusals: NOT_CONTROLLER; BROKER_ID_NOT_REGISTERED; STALE_BROKER_EPOCH.
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: AllocateProducerIdsRequest, header: RequestHeader
) -> AllocateProducerIdsResponse:
    """Give out a block, if this is the controller."""
    try:
        return await broker.controller.allocate_producer_ids(request)
    except ApiError as error:
        return AllocateProducerIdsResponse(error_code=error.code)
