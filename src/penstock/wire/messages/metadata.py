"""Metadata (key 3): brokers, topics and partition leaders, as clients need them to find their way.

Version notes: 1 null topics mean all, rack, controller; 4 auto-creation is the client's choice; 5 offline
replicas; 7 leader epochs; 8 authorized operations; 9 flexible; 10 topic ids; 12 lookup by topic id, so a name
may be null; 13 an error code for the whole answer.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import BOOLEAN, INT16, INT32, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, nullable_array

OPERATIONS_NOT_ASKED = -2147483648
"""The bit field of authorized operations when the client did not ask for it."""


class MetadataRequestTopic(Struct):
    """A topic asked for, by name or (since version 12) by id."""

    topic_id: TopicId = field(TOPIC_ID, "10+")
    name: str | None = nullable(STRING, nulls="10+", default="")


class MetadataRequest(Struct):
    """Describe these topics; null means all of them (at version 0 an empty list does)."""

    #: librdkafka writes the null of "all topics" as four bytes where flexible versions have one. Kafka reads
    #: what it knows and ignores the three bytes that are then left over.
    may_be_followed_by_bytes = True

    topics: tuple[MetadataRequestTopic, ...] | None = nullable_array(MetadataRequestTopic, nulls="1+")
    allow_auto_topic_creation: bool = field(BOOLEAN, "4+", default=True)
    include_cluster_authorized_operations: bool = field(BOOLEAN, "8-10")
    include_topic_authorized_operations: bool = field(BOOLEAN, "8+")


class MetadataResponseBroker(Struct):
    """Where a broker can be reached."""

    node_id: int = field(INT32)
    host: str = field(STRING)
    port: int = field(INT32)
    rack: str | None = nullable(STRING, "1+")


class MetadataResponsePartition(Struct):
    """A partition, its leader and its replicas."""

    error_code: int = field(INT16)
    partition_index: int = field(INT32)
    leader_id: int = field(INT32)
    leader_epoch: int = field(INT32, "7+", default=-1)
    replica_nodes: tuple[int, ...] = array(INT32)
    isr_nodes: tuple[int, ...] = array(INT32)
    offline_replicas: tuple[int, ...] = array(INT32, "5+")


class MetadataResponseTopic(Struct):
    """A topic with its partitions, or why it cannot be described."""

    error_code: int = field(INT16)
    name: str | None = nullable(STRING, nulls="12+", default="")
    topic_id: TopicId = field(TOPIC_ID, "10+")
    is_internal: bool = field(BOOLEAN, "1+")
    partitions: tuple[MetadataResponsePartition, ...] = array(MetadataResponsePartition)
    topic_authorized_operations: int = field(INT32, "8+", default=OPERATIONS_NOT_ASKED)


class MetadataResponse(Struct):
    """The cluster as this broker knows it."""

    throttle_time_ms: int = field(INT32, "3+")
    brokers: tuple[MetadataResponseBroker, ...] = array(MetadataResponseBroker)
    cluster_id: str | None = nullable(STRING, "2+")
    controller_id: int = field(INT32, "1+", default=-1)
    topics: tuple[MetadataResponseTopic, ...] = array(MetadataResponseTopic)
    cluster_authorized_operations: int = field(INT32, "8-10", default=OPERATIONS_NOT_ASKED)
    error_code: int = field(INT16, "13+")
