"""CreateTopics (key 19): new topics, spread by the controller or assigned by hand.

Version notes: 4 -1 means the broker's default count or replication factor; 5 flexible, the answer describes
the topic made; 6 may be throttled; 7 topic ids.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, nullable_array


class CreatableReplicaAssignment(Struct):
    """The brokers that shall hold one partition, its preferred leader first."""

    partition_index: int = field(INT32)
    broker_ids: tuple[int, ...] = array(INT32)


class CreatableTopicConfig(Struct):
    """A setting of the new topic."""

    name: str = field(STRING)
    value: str | None = nullable(STRING)


class CreatableTopic(Struct):
    """A topic to make; with assignments its counts must both be -1."""

    name: str = field(STRING)
    num_partitions: int = field(INT32)
    replication_factor: int = field(INT16)
    assignments: tuple[CreatableReplicaAssignment, ...] = array(CreatableReplicaAssignment)
    configs: tuple[CreatableTopicConfig, ...] = array(CreatableTopicConfig)


class CreateTopicsRequest(Struct):
    """Make these topics, or only say whether it could be done."""

    topics: tuple[CreatableTopic, ...] = array(CreatableTopic)
    timeout_ms: int = field(INT32, default=60_000)
    validate_only: bool = field(BOOLEAN, "1+")


class CreatableTopicConfigs(Struct):
    """A setting of the topic made, and where it comes from."""

    name: str = field(STRING)
    value: str | None = nullable(STRING)
    read_only: bool = field(BOOLEAN)
    config_source: int = field(INT8, default=-1)
    is_sensitive: bool = field(BOOLEAN)


class CreatableTopicResult(Struct):
    """The topic made, or why it was not."""

    name: str = field(STRING)
    topic_id: TopicId = field(TOPIC_ID, "7+")
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING, "1+")
    topic_config_error_code: int = field(INT16, "5+", tag=0)
    num_partitions: int = field(INT32, "5+", default=-1)
    replication_factor: int = field(INT16, "5+", default=-1)
    configs: tuple[CreatableTopicConfigs, ...] | None = nullable_array(CreatableTopicConfigs, "5+")


class CreateTopicsResponse(Struct):
    """The outcome for every topic."""

    throttle_time_ms: int = field(INT32, "2+")
    topics: tuple[CreatableTopicResult, ...] = array(CreatableTopicResult)
