"""DescribeProducers (key 61): who writes to partitions, and since which offset in a transaction.

Flexible from the start; one version.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field, nullable


class TopicRequest(Struct):
    """Partitions of one topic asked about."""

    name: str = field(STRING)
    partition_indexes: tuple[int, ...] = array(INT32)


class DescribeProducersRequest(Struct):
    """Who writes to these?"""

    topics: tuple[TopicRequest, ...] = array(TopicRequest)


class ProducerState(Struct):
    """A producer, as the leader of the partition knows it."""

    producer_id: int = field(INT64)
    producer_epoch: int = field(INT32)
    last_sequence: int = field(INT32, default=-1)
    last_timestamp: int = field(INT64, default=-1)
    coordinator_epoch: int = field(INT32)
    current_txn_start_offset: int = field(INT64, default=-1)


class PartitionResponse(Struct):
    """The producers of one partition, or why they cannot be told."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    active_producers: tuple[ProducerState, ...] = array(ProducerState)


class TopicResponse(Struct):
    """The producers of one topic."""

    name: str = field(STRING)
    partitions: tuple[PartitionResponse, ...] = array(PartitionResponse)


class DescribeProducersResponse(Struct):
    """The producers of every partition asked."""

    throttle_time_ms: int = field(INT32)
    topics: tuple[TopicResponse, ...] = array(TopicResponse)
