"""DeleteRecords (key 21): move the beginning of partitions forward.

Versions 0 to 2.

Behaviour
    - The offset given becomes the first one readable; -1 means the high watermark. Beyond the high watermark
      it is OFFSET_OUT_OF_RANGE; below the present beginning nothing changes.
    - Nothing is deleted of what coordinators keep (INVALID_TOPIC_EXCEPTION), nor of a topic whose
      ``cleanup.policy`` is only ``compact``, which promises the newest value of every key (POLICY_VIOLATION).
    - The new beginning is written to disk before the answer; files go when a whole segment lies below it.
    - The answer waits until the log begins there on every live replica; REQUEST_TIMED_OUT when that takes
      too long, in which case it will happen all the same.

Version notes
    2 flexible.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.names import COORDINATOR_TOPICS
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
    """Trim every partition by itself, make all new beginnings durable at once, and wait for the replicas."""
    topics = [
        (topic.name, [_trim(broker, topic.name, each) for each in topic.partitions])
        for topic in request.topics
    ]
    await broker.checkpoint()
    waiting = [trim.future for _, trims in topics for trim in trims if not trim.future.done()]
    if waiting:
        await asyncio.wait(waiting, timeout=request.timeout_ms / 1000)
    return DeleteRecordsResponse(
        topics=tuple(
            DeleteRecordsTopicResult(name=name, partitions=tuple(trim.result() for trim in trims))
            for name, trims in topics
        )
    )


class _Trim:
    """One partition on its way to another beginning."""

    def __init__(self, index: int, loop: asyncio.AbstractEventLoop) -> None:
        self.partition: Partition | None = None
        self.future: asyncio.Future[ErrorCode] = loop.create_future()
        self._index = index

    def settle(self, code: ErrorCode) -> None:
        """The log begins there everywhere, or nobody here will know."""
        if not self.future.done():
            self.future.set_result(code)

    def result(self) -> DeleteRecordsPartitionResult:
        """What is known now."""
        code = self.future.result() if self.future.done() else ErrorCode.REQUEST_TIMED_OUT
        self.settle(code)
        is_done = code is ErrorCode.NONE and self.partition is not None
        return DeleteRecordsPartitionResult(
            partition_index=self._index,
            low_watermark=self.partition.low_watermark if is_done and self.partition is not None else -1,
            error_code=code,
        )


def _trim(broker: "Broker", topic: str, wanted: DeleteRecordsPartition) -> _Trim:
    trim = _Trim(wanted.partition_index, broker.loop)
    try:
        partition = broker.replicas.by_name(topic, wanted.partition_index)
        partition.check_is_here()
        _check_may_go(partition)
        end = partition.high_watermark
        offset = end if wanted.offset == HIGH_WATERMARK else wanted.offset
        if not 0 <= offset <= end:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        trim.partition = partition
        partition.trim(offset, trim)
    except ApiError as error:
        trim.settle(error.code)
    return trim


def _check_may_go(partition: Partition) -> None:
    """Raise for records that somebody counts on to be there."""
    if partition.topic in COORDINATOR_TOPICS:
        # A shard would not notice, and the next one to be loaded know nothing any more.
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    config = partition.log.config
    if config.is_compacted and not config.deletes_old_segments:
        raise ApiError(ErrorCode.POLICY_VIOLATION)
