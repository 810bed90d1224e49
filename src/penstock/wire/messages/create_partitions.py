"""CreatePartitions (key 37): more partitions for topics that exist; there is no way back.

Version notes: 2 flexible; 3 may be throttled.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable, nullable_array


class CreatePartitionsAssignment(Struct):
    """The brokers that shall hold one new partition, its preferred leader first."""

    broker_ids: tuple[int, ...] = array(INT32)


class CreatePartitionsTopic(Struct):
    """A topic to grow to ``count`` partitions; null assignments leave the placing to the controller."""

    name: str = field(STRING)
    count: int = field(INT32)
    assignments: tuple[CreatePartitionsAssignment, ...] | None = nullable_array(
        CreatePartitionsAssignment, default=None
    )


class CreatePartitionsRequest(Struct):
    """Grow these topics, or only say whether it could be done."""

    topics: tuple[CreatePartitionsTopic, ...] = array(CreatePartitionsTopic)
    timeout_ms: int = field(INT32)
    validate_only: bool = field(BOOLEAN)


class CreatePartitionsTopicResult(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)


class CreatePartitionsResponse(Struct):
    """The outcome for every topic."""

    throttle_time_ms: int = field(INT32)
    results: tuple[CreatePartitionsTopicResult, ...] = array(CreatePartitionsTopicResult)
