"""OffsetTimes (key 10005, private): up to where partitions are committed, and when some of it was written."""

from penstock.model.ids import TopicId
from penstock.wire.primitives import INT16, INT32, INT64, TOPIC_ID
from penstock.wire.schema import Struct, array, field


class AskedPartition(Struct):
    """A partition, and the offsets whose times are asked for."""

    topic_id: TopicId = field(TOPIC_ID)
    partition: int = field(INT32)
    offsets: tuple[int, ...] = array(INT64)


class OffsetTimesRequest(Struct):
    """Asked by the coordinator of a group, of a broker that leads what the group reads."""

    partitions: tuple[AskedPartition, ...] = array(AskedPartition)


class ToldPartition(Struct):
    """A partition, in the order of the request."""

    error_code: int = field(INT16)
    high_watermark: int = field(INT64)
    #: In the order of the offsets; -1 where nothing can be read, or has no timestamp.
    timestamps: tuple[int, ...] = array(INT64)


class OffsetTimesResponse(Struct):
    """What the broker leads; an error for what it does not."""

    error_code: int = field(INT16)
    partitions: tuple[ToldPartition, ...] = array(ToldPartition)
