"""OffsetDelete (key 47): a group forgets how far it has come in topics it no longer reads.

Never flexible; one version.
"""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field


class OffsetDeleteRequestPartition(Struct):
    """A partition to forget."""

    partition_index: int = field(INT32)


class OffsetDeleteRequestTopic(Struct):
    """The partitions of one topic."""

    name: str = field(STRING)
    partitions: tuple[OffsetDeleteRequestPartition, ...] = array(OffsetDeleteRequestPartition)


class OffsetDeleteRequest(Struct):
    """Forget the group's offsets in these."""

    group_id: str = field(STRING)
    topics: tuple[OffsetDeleteRequestTopic, ...] = array(OffsetDeleteRequestTopic)


class OffsetDeleteResponsePartition(Struct):
    """Whether one offset is forgotten."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)


class OffsetDeleteResponseTopic(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    partitions: tuple[OffsetDeleteResponsePartition, ...] = array(OffsetDeleteResponsePartition)


class OffsetDeleteResponse(Struct):
    """The outcome for the group, or for every partition asked."""

    error_code: int = field(INT16)
    throttle_time_ms: int = field(INT32)
    topics: tuple[OffsetDeleteResponseTopic, ...] = array(OffsetDeleteResponseTopic)
