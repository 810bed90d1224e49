"""OffsetForLeaderEpoch (key 23): where a leader epoch ended; it tells a reader whether its log forked.

Version notes: 2 the reader's own idea of the current epoch; 3 replica id; 4 flexible.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field

CONSUMER_REPLICA_ID = -2
"""The replica id of a reader that is a debugging consumer, or does not say."""


class OffsetForLeaderPartition(Struct):
    """The epoch asked about in one partition."""

    partition: int = field(INT32)
    current_leader_epoch: int = field(INT32, "2+", default=-1)
    leader_epoch: int = field(INT32)


class OffsetForLeaderTopic(Struct):
    """The epochs asked about in one topic."""

    topic: str = field(STRING)
    partitions: tuple[OffsetForLeaderPartition, ...] = array(OffsetForLeaderPartition)


class OffsetForLeaderEpochRequest(Struct):
    """Where did these epochs end?"""

    replica_id: int = field(INT32, "3+", default=CONSUMER_REPLICA_ID)
    topics: tuple[OffsetForLeaderTopic, ...] = array(OffsetForLeaderTopic)


class EpochEndOffset(Struct):
    """The largest epoch not above the one asked for, and the offset after its last record."""

    error_code: int = field(INT16)
    partition: int = field(INT32)
    leader_epoch: int = field(INT32, "1+", default=-1)
    end_offset: int = field(INT64, default=-1)


class OffsetForLeaderTopicResult(Struct):
    """The answers for one topic."""

    topic: str = field(STRING)
    partitions: tuple[EpochEndOffset, ...] = array(EpochEndOffset)


class OffsetForLeaderEpochResponse(Struct):
    """Where they ended."""

    throttle_time_ms: int = field(INT32, "2+")
    topics: tuple[OffsetForLeaderTopicResult, ...] = array(OffsetForLeaderTopicResult)
