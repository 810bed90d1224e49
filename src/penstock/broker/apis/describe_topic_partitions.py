"""DescribeTopicPartitions (key 75): topics with many partitions, a page at a time (KIP-966).

Version 0.

Behaviour
    - Topics come in the order of their names; none asked for means all. A page holds at most
      ``max.request.partition.size.limit`` partitions, or fewer if the client says so; the next cursor says
      where to go on.
    - Unknown topics are UNKNOWN_TOPIC_OR_PARTITION, impossible names INVALID_TOPIC_EXCEPTION. A cursor that
      points nowhere makes every topic of the answer INVALID_REQUEST.
"""

from typing import TYPE_CHECKING

from penstock.config.listeners import PLAINTEXT
from penstock.metadata.describe_topic_partitions import describe_topic_partitions
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeTopicPartitionsRequest, header: RequestHeader
) -> DescribeTopicPartitionsResponse:
    """Describe one page of partitions."""
    limit = broker.config.integer("max.request.partition.size.limit")
    try:
        return describe_topic_partitions(broker.image, request, listener=PLAINTEXT, partitions_max=limit)
    except ApiError as error:
        return DescribeTopicPartitionsResponse(
            topics=tuple(
                DescribeTopicPartitionsResponseTopic(name=topic.name, error_code=error.code)
                for topic in request.topics
            )
        )
