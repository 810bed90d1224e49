"""ConsumerGroupHeartbeat (key 68): the whole life of a member whose group the broker assigns (KIP-848).

Flexible from the start. Version notes: 1 subscription by regular expression, and the member makes its own id.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import INT16, INT32, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, nullable_array, nullable_struct

JOIN_EPOCH = 0
"""The member epoch of one that wants in, for the first time or again."""
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
"""The member epoch of a static member that goes but will come back."""
UNCHANGED_TIMEOUT = -1


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: TopicId = field(TOPIC_ID)
    partitions: tuple[int, ...] = array(INT32)


class ConsumerGroupHeartbeatRequest(Struct):
    """I am still here; what is null has not changed since I last said it."""

    group_id: str = field(STRING)
    member_id: str = field(STRING)
    member_epoch: int = field(INT32)
    instance_id: str | None = nullable(STRING)
    rack_id: str | None = nullable(STRING)
    rebalance_timeout_ms: int = field(INT32, default=UNCHANGED_TIMEOUT)
    subscribed_topic_names: tuple[str, ...] | None = nullable_array(STRING, default=None)
    subscribed_topic_regex: str | None = nullable(STRING, "1+")
    server_assignor: str | None = nullable(STRING)
    topic_partitions: tuple[TopicPartitions, ...] | None = nullable_array(TopicPartitions, default=None)


class Assignment(Struct):
    """All that the member may have."""

    topic_partitions: tuple[TopicPartitions, ...] = array(TopicPartitions)


class ConsumerGroupHeartbeatResponse(Struct):
    """Where the member stands; a null assignment has not changed."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    member_id: str | None = nullable(STRING)
    member_epoch: int = field(INT32)
    heartbeat_interval_ms: int = field(INT32)
    assignment: Assignment | None = nullable_struct(Assignment)
