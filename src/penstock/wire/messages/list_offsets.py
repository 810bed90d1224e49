"""ListOffsets (key 2): the offset at a timestamp, or at one of the special places below.

Version notes: 2 isolation level; 4 leader epochs; 6 flexible; 7 largest timestamp; 8 earliest local;
9 latest tiered; 10 a timeout; 11 earliest pending upload.
"""

from penstock.wire.primitives import INT8, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field

LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5
EARLIEST_PENDING_UPLOAD_TIMESTAMP = -6


class ListOffsetsPartition(Struct):
    """The timestamp to look for in one partition."""

    partition_index: int = field(INT32)
    current_leader_epoch: int = field(INT32, "4+", default=-1)
    timestamp: int = field(INT64)


class ListOffsetsTopic(Struct):
    """The lookups in one topic."""

    name: str = field(STRING)
    partitions: tuple[ListOffsetsPartition, ...] = array(ListOffsetsPartition)


class ListOffsetsRequest(Struct):
    """Find the first record at or after a timestamp, or a special place."""

    replica_id: int = field(INT32, default=-1)
    isolation_level: int = field(INT8, "2+")
    topics: tuple[ListOffsetsTopic, ...] = array(ListOffsetsTopic)
    timeout_ms: int = field(INT32, "10+")


class ListOffsetsPartitionResponse(Struct):
    """What was found in one partition; -1 means nothing."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)
    timestamp: int = field(INT64, "1+", default=-1)
    offset: int = field(INT64, "1+", default=-1)
    leader_epoch: int = field(INT32, "4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    """What was found in one topic."""

    name: str = field(STRING)
    partitions: tuple[ListOffsetsPartitionResponse, ...] = array(ListOffsetsPartitionResponse)


class ListOffsetsResponse(Struct):
    """What was found."""

    throttle_time_ms: int = field(INT32, "2+")
    topics: tuple[ListOffsetsTopicResponse, ...] = array(ListOffsetsTopicResponse)
