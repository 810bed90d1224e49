"""ElectLeaders (key 43): make preferred replicas lead again, or let one lead that may lack records.

Version notes: 1 kind of election; 2 flexible.
"""

from penstock.wire.primitives import INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable, nullable_array

PREFERRED_ELECTION = 0
UNCLEAN_ELECTION = 1


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic: str = field(STRING)
    partitions: tuple[int, ...] = array(INT32)


class ElectLeadersRequest(Struct):
    """Elect leaders of these partitions, or of all."""

    election_type: int = field(INT8, "1+")
    topic_partitions: tuple[TopicPartitions, ...] | None = nullable_array(TopicPartitions)
    timeout_ms: int = field(INT32, default=60_000)


class PartitionResult(Struct):
    """The outcome for one partition."""

    partition_id: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)


class ReplicaElectionResult(Struct):
    """The outcome for one topic."""

    topic: str = field(STRING)
    partition_result: tuple[PartitionResult, ...] = array(PartitionResult)


class ElectLeadersResponse(Struct):
    """The outcome for every partition asked; if all were, only for those that needed it."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16, "1+")
    replica_election_results: tuple[ReplicaElectionResult, ...] = array(ReplicaElectionResult)
