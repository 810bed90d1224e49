"""TxnOffsetCommit (key 28): a group remembers how far it has come, if the producer's transaction commits.

Version notes: 2 leader epochs; 3 flexible, and who commits, so that a member of the past is fenced; 4 a new
error; 5 the coordinator adds itself to the transaction (KIP-890).
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field, nullable


class TxnOffsetCommitRequestPartition(Struct):
    """An offset to remember: the next one to read."""

    partition_index: int = field(INT32)
    committed_offset: int = field(INT64)
    committed_leader_epoch: int = field(INT32, "2+", default=-1)
    committed_metadata: str | None = nullable(STRING, default="")


class TxnOffsetCommitRequestTopic(Struct):
    """The offsets in one topic."""

    name: str = field(STRING)
    partitions: tuple[TxnOffsetCommitRequestPartition, ...] = array(TxnOffsetCommitRequestPartition)


class TxnOffsetCommitRequest(Struct):
    """Remember these if the transaction commits. Nobody is fenced by the defaults of the member's fields."""

    transactional_id: str = field(STRING)
    group_id: str = field(STRING)
    producer_id: int = field(INT64)
    producer_epoch: int = field(INT16)
    generation_id: int = field(INT32, "3+", default=-1)
    member_id: str = field(STRING, "3+")
    group_instance_id: str | None = nullable(STRING, "3+")
    topics: tuple[TxnOffsetCommitRequestTopic, ...] = array(TxnOffsetCommitRequestTopic)


class TxnOffsetCommitResponsePartition(Struct):
    """Whether one offset was taken down."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)


class TxnOffsetCommitResponseTopic(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    partitions: tuple[TxnOffsetCommitResponsePartition, ...] = array(TxnOffsetCommitResponsePartition)


class TxnOffsetCommitResponse(Struct):
    """The outcome for every partition asked."""

    throttle_time_ms: int = field(INT32)
    topics: tuple[TxnOffsetCommitResponseTopic, ...] = array(TxnOffsetCommitResponseTopic)
