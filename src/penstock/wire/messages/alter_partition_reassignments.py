"""AlterPartitionReassignments (key 45): move replicas to other brokers, or stop moving them.

Flexible from the start. Version notes: 1 whether the number of replicas may change.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable, nullable_array


class ReassignablePartition(Struct):
    """Where one partition is to be; null stops a move under way."""

    partition_index: int = field(INT32)
    replicas: tuple[int, ...] | None = nullable_array(INT32, default=None)


class ReassignableTopic(Struct):
    """Partitions of one topic."""

    name: str = field(STRING)
    partitions: tuple[ReassignablePartition, ...] = array(ReassignablePartition)


class AlterPartitionReassignmentsRequest(Struct):
    """Move these."""

    timeout_ms: int = field(INT32, default=60_000)
    allow_replication_factor_change: bool = field(BOOLEAN, "1+", default=True)
    topics: tuple[ReassignableTopic, ...] = array(ReassignableTopic)


class ReassignablePartitionResponse(Struct):
    """The outcome for one partition."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)


class ReassignableTopicResponse(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    partitions: tuple[ReassignablePartitionResponse, ...] = array(ReassignablePartitionResponse)


class AlterPartitionReassignmentsResponse(Struct):
    """Whether the moves have begun."""

    throttle_time_ms: int = field(INT32)
    allow_replication_factor_change: bool = field(BOOLEAN, "1+", default=True)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    responses: tuple[ReassignableTopicResponse, ...] = array(ReassignableTopicResponse)
