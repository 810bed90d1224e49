"""DeleteRecords (key 21): move the beginning of partitions forward.

Versions 0 to 2.

Behaviour
    - The offset given becomes the first one readable; -1 means the high watermark. Beyond the high watermark
      it is OFFSET_OUT_OF_RANGE; below the present beginning nothing changes.
    - The new beginning is written to disk before the answer; files go when a whole segment lies below it.

Version notes
    2 flexible.
"""

from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

HIGH_WATERMARK = -1


async def handle(
    broker: "Broker", request: DeleteRecordsRequest, header: RequestHeader
) -> DeleteRecordsResponse:
    """Trim every partition by itself, then make all new beginnings durable at once."""
    topics = [
        (topic.name, [_trim(broker, topic.name, each) for each in topic.partitions])
        for topic in request.topics
    ]
    await broker.checkpoint()
    return DeleteRecordsResponse(
        topics=tuple(
            DeleteRecordsTopicResult(name=name, partitions=tuple(results)) for name, results in topics
        )
    )


def _trim(broker: "Broker", topic: str, wanted: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    try:
        partition = broker.replicas.by_name(topic, wanted.partition_index)
        end = partition.high_watermark
        offset = end if wanted.offset == HIGH_WATERMARK else wanted.offset
        if not 0 <= offset <= end:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        partition.log.advance_log_start(offset)
    except ApiError as error:
        return DeleteRecordsPartitionResult(
            partition_index=wanted.partition_index, low_watermark=-1, error_code=error.code
        )
    return DeleteRecordsPartitionResult(
        partition_index=wanted.partition_index, low_watermark=partition.log.log_start_offset
    )
