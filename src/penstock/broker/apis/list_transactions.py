"""ListTransactions (key 66): the transactional ids that this broker coordinates.

Versions 0 to 2.

Behaviour
    - Filters by state, producer id, how long ago the transaction began, and a pattern (RE2) that the whole id
      must match; names of states that do not exist are reported back.
    - COORDINATOR_LOAD_IN_PROGRESS while a part of the ids is still being loaded;
      INVALID_REGULAR_EXPRESSION for a pattern that is none.

Version notes
    1 filter by duration; 2 filter by pattern.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.patterns import compile_pattern
from penstock.transactions.views import unknown_states
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: ListTransactionsRequest, header: RequestHeader
) -> ListTransactionsResponse:
    """Ask every shard here, and join the answers."""
    try:
        if request.transactional_id_pattern:
            compile_pattern(request.transactional_id_pattern)  # Also where there is no shard to look at it.
    except ApiError as error:
        return ListTransactionsResponse(error_code=error.code)
    asked = [host.ask(request, header) for host in broker.transactions.hosts]
    answers = [_response(answer) for answer in await asyncio.gather(*asked)]
    for answer in answers:
        if answer.error_code not in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR):
            return ListTransactionsResponse(error_code=answer.error_code)
    return ListTransactionsResponse(
        unknown_state_filters=unknown_states(request),
        transaction_states=tuple(state for answer in answers for state in answer.transaction_states),
    )


def _response(answer: Struct) -> ListTransactionsResponse:
    if not isinstance(answer, ListTransactionsResponse):
        raise InvariantError(f"the coordinator answered ListTransactions with {answer}")
    return answer
