"""EndTxn (key 26): a producer commits or aborts its transaction.

Versions 0 to 5.

Behaviour
    - Answered when the decision is committed; markers follow, and until the last one is written the next
      transaction of this producer is told to wait (CONCURRENT_TRANSACTIONS).
    - From version 5 on the epoch is raised with every transaction, and the answer names the next one.

Version notes
    2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH; 3 flexible; 5 the second protocol (KIP-890).
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: EndTxnRequest, header: RequestHeader) -> Struct:
    """Have the coordinator decide."""
    return await broker.transactions.ask(request.transactional_id, request, header)
