"""ListOffsets (key 2): where a partition begins and ends, and where a moment lies in it.

Versions 1 to 11.

Behaviour
    - Timestamps below zero are questions: -1 latest (high watermark, or last stable offset when only
      committed data is asked for), -2 earliest, -3 the record with the largest timestamp, -4 earliest on
      local disk, -5 latest in tiered storage and -6 earliest still to be tiered (we have none: offset -1).
    - Any other is a moment: the first record at or after it, looked up inside its batch; none is offset -1.
    - A partition named twice is INVALID_REQUEST.
    - A new leader does not know at once how much was committed under others: until it does, latest is
      OFFSET_NOT_AVAILABLE, or LEADER_NOT_AVAILABLE below version 5.
    - For another broker, which copies the partition, latest is where the log ends.

Version notes
    2 isolation level; 4 leader epochs; 6 flexible; 7 to 9 and 11 bring a code each; 10 a timeout.
"""

from collections import Counter
from typing import TYPE_CHECKING

from penstock.broker.parked_fetch import READ_COMMITTED
from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError, StorageError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.list_offsets import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

#: The first version in which each question may be asked.
_SINCE_VERSION = {
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP: 11,
}

_ASK_FOR_THE_BEGINNING = (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP)
_NOT_FOUND = (-1, -1)

OFFSET_NOT_AVAILABLE_SINCE_VERSION = 5


async def handle(broker: "Broker", request: ListOffsetsRequest, header: RequestHeader) -> ListOffsetsResponse:
    """Look every partition up by itself."""
    named = Counter(
        (topic.name, each.partition_index) for topic in request.topics for each in topic.partitions
    )
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=tuple(
                    _look_up(
                        broker, request, topic.name, each, header, named[topic.name, each.partition_index]
                    )
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _look_up(
    broker: "Broker",
    request: ListOffsetsRequest,
    topic: str,
    wanted: ListOffsetsPartition,
    header: RequestHeader,
    times_named: int,
) -> ListOffsetsPartitionResponse:
    try:
        if times_named > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        if (
            header.api_version < _SINCE_VERSION.get(wanted.timestamp, 0)
            or wanted.timestamp < EARLIEST_PENDING_UPLOAD_TIMESTAMP
        ):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        partition = broker.replicas.by_name(topic, wanted.partition_index)
        partition.check_is_here(wanted.current_leader_epoch)
        if request.replica_id >= 0:
            offset, timestamp = _answer_replica(partition, wanted.timestamp)
        else:
            _check_known(partition, wanted.timestamp, header.api_version)
            offset, timestamp = _answer(partition, wanted.timestamp, request.isolation_level)
    except CorruptLogError as error:
        broker.report_corruption(partition, error)
        return _refusal(wanted, ErrorCode.KAFKA_STORAGE_ERROR)
    except StorageError as error:
        broker.report_unreadable(partition, error)
        return _refusal(wanted, ErrorCode.KAFKA_STORAGE_ERROR)
    except ApiError as error:
        return _refusal(wanted, error.code)
    return ListOffsetsPartitionResponse(
        partition_index=wanted.partition_index,
        offset=offset,
        timestamp=timestamp,
        leader_epoch=partition.log.leader_epochs.epoch_at(offset) if offset >= 0 else -1,
    )


def _refusal(wanted: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=wanted.partition_index, error_code=code)


def _check_known(partition: Partition, question: int, version: int) -> None:
    """Raise unless this leader knows all that was committed, if that matters to the answer."""
    if question in _ASK_FOR_THE_BEGINNING or partition.leader.is_high_watermark_current:
        return
    is_known = version >= OFFSET_NOT_AVAILABLE_SINCE_VERSION
    raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE if is_known else ErrorCode.LEADER_NOT_AVAILABLE)


def _answer_replica(partition: Partition, question: int) -> tuple[int, int]:
    """A follower must know how far the log itself goes, whatever of it is committed."""
    log = partition.log
    if question == LATEST_TIMESTAMP:
        return log.log_end_offset, -1
    if question in _ASK_FOR_THE_BEGINNING:
        return log.log_start_offset, -1
    raise ApiError(ErrorCode.INVALID_REQUEST)


def _answer(partition: Partition, question: int, isolation_level: int) -> tuple[int, int]:
    """Offset and timestamp; the timestamp is only told for records found by one."""
    log = partition.log
    end = partition.last_stable_offset if isolation_level == READ_COMMITTED else partition.high_watermark
    if question == LATEST_TIMESTAMP:
        return end, -1
    if question in _ASK_FOR_THE_BEGINNING:
        return log.log_start_offset, -1
    if question in (LATEST_TIERED_TIMESTAMP, EARLIEST_PENDING_UPLOAD_TIMESTAMP):
        return _NOT_FOUND
    found = log.offset_of_max_timestamp() if question == MAX_TIMESTAMP else log.offset_for_timestamp(question)
    return found if found is not None and found[0] < end else _NOT_FOUND
