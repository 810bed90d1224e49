"""AddOffsetsToTxn (key 25): a transaction will hold offsets of a group.

Versions 0 to 4.

Behaviour
    - Adds the partition of ``__consumer_offsets`` that keeps the group's offsets to the transaction. The
      topic is made when first asked for: producers look for the group's coordinator only afterwards.
    - COORDINATOR_NOT_AVAILABLE while this broker does not know the topic. A transaction that ended before it
      does would take the partition for deleted, and leave it without a marker.

Version notes
    2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH; 3 flexible; 4 a new error.
"""

from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.transactions.responses import refusal
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: AddOffsetsToTxnRequest, header: RequestHeader) -> Struct:
    """Have the coordinator add it, once there is something to add."""
    try:
        await broker.groups.ensure_topic()
    except ApiError as error:
        return refusal(request, header.api_version, error.code)
    if broker.groups.kind.topic not in broker.image.topics:  # Another broker knows it already.
        return refusal(request, header.api_version, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return await broker.transactions.ask(request.transactional_id, request, header)
