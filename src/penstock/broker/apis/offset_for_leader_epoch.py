"""OffsetForLeaderEpoch (key 23): where an epoch ended, so that a reader can tell whether its history is ours.

Versions 2 to 4.

Behaviour
    - Answers the largest epoch not above the one asked for, and the offset at which it ended; -1 and -1 when
      the log knows of none (KIP-320). Only the leader says so.

Version notes
    3 replica id; 4 flexible.
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: OffsetForLeaderEpochRequest, header: RequestHeader
) -> OffsetForLeaderEpochResponse:
    """Look every partition up by itself."""
    return OffsetForLeaderEpochResponse(
        topics=tuple(
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=tuple(_look_up(broker, topic.topic, each) for each in topic.partitions),
            )
            for topic in request.topics
        )
    )


def _look_up(broker: "Broker", topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = broker.replicas.by_name(topic, wanted.partition)
        partition.check_is_here(wanted.current_leader_epoch)
    except ApiError as error:
        return EpochEndOffset(partition=wanted.partition, error_code=error.code)
    epoch, end_offset = partition.log.offset_for_leader_epoch(wanted.leader_epoch)
    return EpochEndOffset(partition=wanted.partition, leader_epoch=epoch, end_offset=end_offset)
