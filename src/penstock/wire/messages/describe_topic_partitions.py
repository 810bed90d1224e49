"""DescribeTopicPartitions (key 75): topics page by page, for those with more partitions than fit one answer.

Flexible from the start; one version.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import BOOLEAN, INT16, INT32, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, nullable_array, nullable_struct

OPERATIONS_NOT_ASKED = -2147483648
"""The bit field of authorized operations when there is nothing to tell."""


class TopicRequest(Struct):
    """A topic asked for."""

    name: str = field(STRING)


class RequestCursor(Struct):
    """Where to go on: what the last answer gave as its next cursor."""

    topic_name: str = field(STRING)
    partition_index: int = field(INT32)


class DescribeTopicPartitionsRequest(Struct):
    """Describe these topics, at most so many partitions at once."""

    topics: tuple[TopicRequest, ...] = array(TopicRequest)
    response_partition_limit: int = field(INT32, default=2000)
    cursor: RequestCursor | None = nullable_struct(RequestCursor)


class DescribeTopicPartitionsResponsePartition(Struct):
    """A partition, its leader, its replicas and who of them may lead."""

    error_code: int = field(INT16)
    partition_index: int = field(INT32)
    leader_id: int = field(INT32)
    leader_epoch: int = field(INT32, default=-1)
    replica_nodes: tuple[int, ...] = array(INT32)
    isr_nodes: tuple[int, ...] = array(INT32)
    eligible_leader_replicas: tuple[int, ...] | None = nullable_array(INT32, default=None)
    last_known_elr: tuple[int, ...] | None = nullable_array(INT32, default=None)
    offline_replicas: tuple[int, ...] = array(INT32)


class DescribeTopicPartitionsResponseTopic(Struct):
    """A topic with those of its partitions that fit this page."""

    error_code: int = field(INT16)
    name: str | None = nullable(STRING, default="")
    topic_id: TopicId = field(TOPIC_ID)
    is_internal: bool = field(BOOLEAN)
    partitions: tuple[DescribeTopicPartitionsResponsePartition, ...] = array(
        DescribeTopicPartitionsResponsePartition
    )
    topic_authorized_operations: int = field(INT32, default=OPERATIONS_NOT_ASKED)


class ResponseCursor(Struct):
    """The first partition that did not fit."""

    topic_name: str = field(STRING)
    partition_index: int = field(INT32)


class DescribeTopicPartitionsResponse(Struct):
    """One page; without a next cursor it is the last."""

    throttle_time_ms: int = field(INT32)
    topics: tuple[DescribeTopicPartitionsResponseTopic, ...] = array(DescribeTopicPartitionsResponseTopic)
    next_cursor: ResponseCursor | None = nullable_struct(ResponseCursor)
