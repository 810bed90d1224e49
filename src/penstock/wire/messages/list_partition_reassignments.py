"""ListPartitionReassignments (key 46): which replicas are on the move. Flexible from the start."""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable, nullable_array


class ListPartitionReassignmentsTopics(Struct):
    """Partitions of one topic."""

    name: str = field(STRING)
    partition_indexes: tuple[int, ...] = array(INT32)


class ListPartitionReassignmentsRequest(Struct):
    """What is moving among these, or anywhere."""

    timeout_ms: int = field(INT32, default=60_000)
    topics: tuple[ListPartitionReassignmentsTopics, ...] | None = nullable_array(
        ListPartitionReassignmentsTopics, default=None
    )


class OngoingPartitionReassignment(Struct):
    """One partition on the move."""

    partition_index: int = field(INT32)
    replicas: tuple[int, ...] = array(INT32)
    adding_replicas: tuple[int, ...] = array(INT32)
    removing_replicas: tuple[int, ...] = array(INT32)


class OngoingTopicReassignment(Struct):
    """Partitions of one topic on the move."""

    name: str = field(STRING)
    partitions: tuple[OngoingPartitionReassignment, ...] = array(OngoingPartitionReassignment)


class ListPartitionReassignmentsResponse(Struct):
    """Everything that moves."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    topics: tuple[OngoingTopicReassignment, ...] = array(OngoingTopicReassignment)
