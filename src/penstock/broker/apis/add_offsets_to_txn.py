"""AddOffsetsToTxn (key 25): a transaction will hold offsets of a group.

Versions 0 to 4.

Behaviour
    - Adds the partition of ``__consumer_offsets`` that keeps the group's offsets to the transaction.

Version notes
    2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH; 3 flexible; 4 a new error.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: AddOffsetsToTxnRequest, header: RequestHeader) -> Struct:
    """Have the coordinator add it."""
    return await broker.transactions.ask(request.transactional_id, request, header)
