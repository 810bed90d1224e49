"""DeleteRecords (key 21): drop everything before an offset.

Version notes: 2 flexible.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field

UP_TO_HIGH_WATERMARK = -1
"""The offset that stands for everything that can be read."""


class DeleteRecordsPartition(Struct):
    """The first offset to keep in one partition."""

    partition_index: int = field(INT32)
    offset: int = field(INT64)


class DeleteRecordsTopic(Struct):
    """The partitions of one topic to shorten."""

    name: str = field(STRING)
    partitions: tuple[DeleteRecordsPartition, ...] = array(DeleteRecordsPartition)


class DeleteRecordsRequest(Struct):
    """Shorten these partitions at their old end."""

    topics: tuple[DeleteRecordsTopic, ...] = array(DeleteRecordsTopic)
    timeout_ms: int = field(INT32)


class DeleteRecordsPartitionResult(Struct):
    """Where one partition now starts, or why it is as it was."""

    partition_index: int = field(INT32)
    low_watermark: int = field(INT64)
    error_code: int = field(INT16)


class DeleteRecordsTopicResult(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    partitions: tuple[DeleteRecordsPartitionResult, ...] = array(DeleteRecordsPartitionResult)


class DeleteRecordsResponse(Struct):
    """The outcome for every partition."""

    throttle_time_ms: int = field(INT32)
    topics: tuple[DeleteRecordsTopicResult, ...] = array(DeleteRecordsTopicResult)
