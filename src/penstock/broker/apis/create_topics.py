"""CreateTopics (key 19): make topics, each by itself.

Versions 2 to 7.

Behaviour
    - The answer comes when the topics are in the metadata log, on disk, and those of their partitions that
      the broker asked leads can be written to.
    - -1 partitions or replicas take ``num.partitions`` and ``default.replication.factor``; with a manual
      assignment both must be -1.
    - validate_only checks everything and makes nothing.
    - Refusals: TOPIC_ALREADY_EXISTS; INVALID_TOPIC_EXCEPTION (bad name, or one that metrics would confuse
      with another topic's); INVALID_PARTITIONS; INVALID_REPLICATION_FACTOR; INVALID_REPLICA_ASSIGNMENT;
      INVALID_CONFIG; INVALID_REQUEST (a name given twice, the metadata log's own name); POLICY_VIOLATION
      (more than a cluster may hold).

Version notes
    4 defaults by -1 (KIP-464); 5 flexible, the answer tells partitions, replicas and settings (KIP-525);
    7 topic ids (KIP-516).
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.topic_creation import create_topics
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: CreateTopicsRequest, header: RequestHeader
) -> CreateTopicsResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(create_topics, request=request, config=broker.config, new_id=broker.entropy.uuid)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return _failure(request, error)


def _failure(request: CreateTopicsRequest, error: ApiError) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=tuple(
            CreatableTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
            for topic in request.topics
        )
    )
