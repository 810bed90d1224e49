"""DeleteTopics (key 20): remove topics with everything in them.

Versions 1 to 6.

Behaviour
    - The answer comes when the topics are gone from the metadata log, on disk; whoever waits for records of
      theirs is answered. Their files are renamed at once and removed a little later.
    - Refusals: UNKNOWN_TOPIC_OR_PARTITION by name, UNKNOWN_TOPIC_ID by id; INVALID_REQUEST for a topic given
      twice, or by name and id at once; TOPIC_DELETION_DISABLED while ``delete.topic.enable`` is false
      (INVALID_REQUEST below version 3, whose clients do not know that code).

Version notes
    4 flexible; 5 error messages; 6 topics by name or by id (KIP-516).
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.topic_deletion import delete_topics
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DeleteTopicsRequest, header: RequestHeader
) -> DeleteTopicsResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(delete_topics, request=request, version=header.api_version, config=broker.config)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return _failure(request, error)


def _failure(request: DeleteTopicsRequest, error: ApiError) -> DeleteTopicsResponse:
    wanted = request.topics + tuple(DeleteTopicState(name=name) for name in request.topic_names)
    return DeleteTopicsResponse(
        responses=tuple(
            DeletableTopicResult(
                name=each.name, topic_id=each.topic_id, error_code=error.code, error_message=error.message
            )
            for each in wanted
        )
    )
