"""DescribeTransactions (key 65): how the transactions of some transactional ids stand.

Version 0.

Behaviour
    - Each id is answered by its coordinator: TRANSACTIONAL_ID_NOT_FOUND when it is not known,
      INVALID_REQUEST when it is empty.
    - The partitions of a transaction that is being completed are those whose markers are still missing.
"""

import asyncio
from typing import TYPE_CHECKING

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
    """Ask every shard about its ids, and join the answers in the order of the request."""
    names: dict[int, list[str]] = {}
    for name in dict.fromkeys(request.transactional_ids):
        names.setdefault(broker.transactions.index_for(name), []).append(name)
    asked = [
        broker.transactions.ask(own[0], DescribeTransactionsRequest(transactional_ids=tuple(own)), header)
        for own in names.values()
    ]
    answers = await asyncio.gather(*asked)
    states = {
        state.transactional_id: state
        for answer in answers
        if isinstance(answer, DescribeTransactionsResponse)
        for state in answer.transaction_states
    }
    return DescribeTransactionsResponse(
        transaction_states=tuple(states[name] for name in request.transactional_ids)
    )
