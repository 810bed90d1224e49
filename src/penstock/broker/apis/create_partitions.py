"""CreatePartitions (key 37): let topics grow. Records already there stay where they are.

Versions 0 to 3.

Behaviour
    - ``count`` is the total wanted. The answer comes when the new partitions can be written to.
    - Refusals: UNKNOWN_TOPIC_OR_PARTITION; INVALID_PARTITIONS (no increase, beyond the limit, or a
      topic of coordinators, in which everything would be looked for elsewhere);
      INVALID_REPLICA_ASSIGNMENT; INVALID_REPLICATION_FACTOR (too few brokers now); INVALID_REQUEST (a topic
      given twice); POLICY_VIOLATION (more than a cluster may hold).

Version notes
    2 flexible; 3 may be throttled (KIP-599).
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.partition_creation import create_partitions
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: CreatePartitionsRequest, header: RequestHeader
) -> CreatePartitionsResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(create_partitions, request=request)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return _failure(request, error)


def _failure(request: CreatePartitionsRequest, error: ApiError) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=tuple(
            CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
            for topic in request.topics
        )
    )
