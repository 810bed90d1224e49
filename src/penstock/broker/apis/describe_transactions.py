"""DescribeTransactions (key 65): how the transactions of some transactional ids stand.

Version 0.

Behaviour
    - Each id is answered by its coordinator: TRANSACTIONAL_ID_NOT_FOUND when it is not known,
      INVALID_REQUEST when it is empty.
    - The partitions of a transaction that is being completed are those whose markers are still missing.
"""

from typing import TYPE_CHECKING

from penstock.broker.coordination.many_keys import ask_each
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeTransactionsRequest, header: RequestHeader
) -> DescribeTransactionsResponse:
    """Ask for every id, and join the answers."""
    asked = [
        (name, DescribeTransactionsRequest(transactional_ids=(name,))) for name in request.transactional_ids
    ]
    answers = await ask_each(broker.transactions, asked, header)
    return DescribeTransactionsResponse(
        transaction_states=tuple(
            state
            for answer in answers
            if isinstance(answer, DescribeTransactionsResponse)
            for state in answer.transaction_states
        )
    )
