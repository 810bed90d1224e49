"""TxnOffsetCommit (key 28): remember how far a group has come, if the transaction commits.

Versions 0 to 5.

Behaviour
    - The transaction's coordinator is asked first, unless the transaction is open in the log already.
    - The offsets are written as part of the producer's transaction and count when its marker says commit.
    - Refusals, for each partition: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, FENCED_INSTANCE_ID,
      INVALID_PRODUCER_EPOCH, OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION.

Version notes
    2 leader epochs; 3 flexible, the member (KIP-447); 4 TRANSACTION_ABORTABLE; 5 adds the group's partition
    to the transaction (KIP-890).
"""

from typing import TYPE_CHECKING

from penstock.groups.refusals import refuse
from penstock.model.error_codes import ErrorCode
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: TxnOffsetCommitRequest, header: RequestHeader) -> Struct:
    """Have the transaction's coordinator agree, then the group decide."""
    code = await broker.transactions.verify_offsets(request, header.api_version)
    if code is not ErrorCode.NONE:
        return refuse(request, header.api_version, code)
    return await broker.groups.ask(request.group_id, request, header)
