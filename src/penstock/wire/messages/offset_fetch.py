"""OffsetFetch (key 9): how far a group has come.

Version notes: 2 null topics mean all, and an error for the group; 5 leader epochs; 6 flexible; 7 offsets of
open transactions can be waited for; 8 many groups at once, so the single-group fields vanish; 9 consumer
groups; 10 topics by id.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, nullable_array

NO_OFFSET_COMMITTED = -1
"""The offset of a partition that the group has committed nothing for."""


class OffsetFetchRequestTopic(Struct):
    """Partitions asked for, until version 7."""

    name: str = field(STRING, "0-7")
    partition_indexes: tuple[int, ...] = array(INT32, "0-7")


class OffsetFetchRequestTopics(Struct):
    """Partitions asked for, since version 8; by name until version 9, by id since."""

    name: str = field(STRING, "8-9")
    topic_id: TopicId = field(TOPIC_ID, "10+")
    partition_indexes: tuple[int, ...] = array(INT32, "8+")


class OffsetFetchRequestGroup(Struct):
    """A group asked about; null topics mean all it has offsets for."""

    group_id: str = field(STRING, "8+")
    member_id: str | None = nullable(STRING, "9+")
    member_epoch: int = field(INT32, "9+", default=-1)
    topics: tuple[OffsetFetchRequestTopics, ...] | None = nullable_array(OffsetFetchRequestTopics, "8+")


class OffsetFetchRequest(Struct):
    """How far has the group (until version 7), or each of ``groups``, come?"""

    group_id: str = field(STRING, "0-7")
    topics: tuple[OffsetFetchRequestTopic, ...] | None = nullable_array(
        OffsetFetchRequestTopic, "0-7", nulls="2-7"
    )
    groups: tuple[OffsetFetchRequestGroup, ...] = array(OffsetFetchRequestGroup, "8+")
    require_stable: bool = field(BOOLEAN, "7+")


class OffsetFetchResponsePartition(Struct):
    """The offset to go on from, until version 7."""

    partition_index: int = field(INT32, "0-7")
    committed_offset: int = field(INT64, "0-7")
    committed_leader_epoch: int = field(INT32, "5-7", default=-1)
    metadata: str | None = nullable(STRING, "0-7", default="")
    error_code: int = field(INT16, "0-7")


class OffsetFetchResponseTopic(Struct):
    """The offsets in one topic, until version 7."""

    name: str = field(STRING, "0-7")
    partitions: tuple[OffsetFetchResponsePartition, ...] = array(OffsetFetchResponsePartition, "0-7")


class OffsetFetchResponsePartitions(Struct):
    """The offset to go on from, since version 8."""

    partition_index: int = field(INT32, "8+")
    committed_offset: int = field(INT64, "8+")
    committed_leader_epoch: int = field(INT32, "8+", default=-1)
    metadata: str | None = nullable(STRING, "8+", default="")
    error_code: int = field(INT16, "8+")


class OffsetFetchResponseTopics(Struct):
    """The offsets in one topic, since version 8; by name until version 9, by id since."""

    name: str = field(STRING, "8-9")
    topic_id: TopicId = field(TOPIC_ID, "10+")
    partitions: tuple[OffsetFetchResponsePartitions, ...] = array(OffsetFetchResponsePartitions, "8+")


class OffsetFetchResponseGroup(Struct):
    """The offsets of one group."""

    group_id: str = field(STRING, "8+")
    topics: tuple[OffsetFetchResponseTopics, ...] = array(OffsetFetchResponseTopics, "8+")
    error_code: int = field(INT16, "8+")


class OffsetFetchResponse(Struct):
    """The offsets asked for, in the fields above ``groups`` until version 7."""

    throttle_time_ms: int = field(INT32, "3+")
    topics: tuple[OffsetFetchResponseTopic, ...] = array(OffsetFetchResponseTopic, "0-7")
    error_code: int = field(INT16, "2-7")
    groups: tuple[OffsetFetchResponseGroup, ...] = array(OffsetFetchResponseGroup, "8+")
