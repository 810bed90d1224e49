"""OffsetTimes (key 10005, private): up to where partitions are committed, and when some of it was written.

Version 0.

Behaviour
    - The timestamp of an offset is the largest of the batch that holds it, or of the next if that is gone.
    - NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_ID and so on for partitions that are not led here.
    - INVALID_REQUEST for more than ``OFFSET_TIMES_MAX`` offsets: each may cost a look into a file.
"""

from typing import TYPE_CHECKING

from penstock.broker.metrics.pace import Pace
from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, StorageError
from penstock.model.limits import OFFSET_TIMES_MAX
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.offset_times import (
    AskedPartition,
    OffsetTimesRequest,
    OffsetTimesResponse,
    ToldPartition,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

UNKNOWN_TIMESTAMP = -1


async def handle(broker: "Broker", request: OffsetTimesRequest, header: RequestHeader) -> OffsetTimesResponse:
    """Look everything up, and let others have their turn in between."""
    if sum(len(each.offsets) for each in request.partitions) > OFFSET_TIMES_MAX:
        return OffsetTimesResponse(error_code=ErrorCode.INVALID_REQUEST)
    told: list[ToldPartition] = []
    async for chunk in Pace(broker.clock).chunks(request.partitions):
        told.extend(_look_up(broker, asked) for asked in chunk)
    return OffsetTimesResponse(partitions=tuple(told))


def _look_up(broker: "Broker", asked: AskedPartition) -> ToldPartition:
    try:
        partition = broker.replicas.by_id(asked.topic_id, asked.partition)
        partition.check_is_here()
    except ApiError as error:
        return ToldPartition(error_code=error.code)
    return ToldPartition(
        high_watermark=partition.high_watermark,
        timestamps=tuple(time_of(partition, offset) for offset in asked.offsets),
    )


def time_of(partition: Partition, offset: int) -> int:
    """When what a reader at ``offset`` reads next was written; -1 when there is nothing, or nobody knows."""
    log = partition.log
    try:
        found = log.timestamp_at(max(offset, log.log_start_offset))
    except StorageError:
        # Whoever reads it gets the error, and it is reported; here it only means that the time is unknown.
        return UNKNOWN_TIMESTAMP
    return UNKNOWN_TIMESTAMP if found is None else found
