"""InitProducerId (key 22): a producer asks for its id, by which retries are told from new batches.

Versions 0 to 5.

Behaviour
    - Without a transactional id: a fresh id with epoch 0; the transaction timeout is not looked at, since
      clients send anything there.
    - With one: the coordinator says who the producer is from now on, fences whoever was it before, and ends
      what that one left open. An empty one is INVALID_REQUEST.
    - Ids come from blocks that the controller gives out, so that no id is ever given twice. While none is to
      be had: COORDINATOR_LOAD_IN_PROGRESS, which clients retry.

Version notes
    2 flexible; 3 carries the present id and epoch (KIP-360); 4 PRODUCER_FENCED instead of
    INVALID_PRODUCER_EPOCH.
"""

from typing import TYPE_CHECKING

from penstock.broker.peers.peer_error import PeerError
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.transactions.responses import refusal
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: InitProducerIdRequest, header: RequestHeader) -> Struct:
    """Give out the next id, or the one that belongs to the transactional id."""
    try:
        if request.transactional_id is None:
            producer_id = await broker.producer_ids.next()
            return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
        await broker.producer_ids.wait_available()
    except (ApiError, PeerError):
        return refusal(request, header.api_version, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return await broker.transactions.ask(request.transactional_id, request, header)
