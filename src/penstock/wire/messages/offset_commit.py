"""OffsetCommit (key 8): a group remembers how far it has come.

Version notes: 2-4 how long to keep the offsets; 3 throttling; 6 leader epochs; 7 static members; 8 flexible;
9 consumer groups, with their errors; 10 topics by id.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import INT16, INT32, INT64, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable

NO_RETENTION_TIME = -1
"""Offsets are kept as long as the broker's settings say."""


class OffsetCommitRequestPartition(Struct):
    """An offset to remember: the next one to read."""

    partition_index: int = field(INT32)
    committed_offset: int = field(INT64)
    committed_leader_epoch: int = field(INT32, "6+", default=-1)
    committed_metadata: str | None = nullable(STRING, default="")


class OffsetCommitRequestTopic(Struct):
    """The offsets in one topic; by name until version 9, by id since."""

    name: str = field(STRING, "0-9")
    topic_id: TopicId = field(TOPIC_ID, "10+")
    partitions: tuple[OffsetCommitRequestPartition, ...] = array(OffsetCommitRequestPartition)


class OffsetCommitRequest(Struct):
    """Remember these. Without a generation and a member id it comes from outside the group."""

    group_id: str = field(STRING)
    generation_id_or_member_epoch: int = field(INT32, "1+", default=-1)
    member_id: str = field(STRING, "1+")
    group_instance_id: str | None = nullable(STRING, "7+")
    retention_time_ms: int = field(INT64, "2-4", default=NO_RETENTION_TIME)
    topics: tuple[OffsetCommitRequestTopic, ...] = array(OffsetCommitRequestTopic)


class OffsetCommitResponsePartition(Struct):
    """Whether one offset was remembered."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)


class OffsetCommitResponseTopic(Struct):
    """The outcome for one topic."""

    name: str = field(STRING, "0-9")
    topic_id: TopicId = field(TOPIC_ID, "10+")
    partitions: tuple[OffsetCommitResponsePartition, ...] = array(OffsetCommitResponsePartition)


class OffsetCommitResponse(Struct):
    """The outcome for every partition asked."""

    throttle_time_ms: int = field(INT32, "3+")
    topics: tuple[OffsetCommitResponseTopic, ...] = array(OffsetCommitResponseTopic)
