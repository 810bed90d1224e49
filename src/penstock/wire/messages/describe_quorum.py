"""DescribeQuorum (key 55): who decides on metadata, and how far everybody has followed.

Flexible from the start. Version notes: 1 times of the last fetches; 2 error messages, directories, addresses.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING, UINT16, UUID
from penstock.wire.schema import Struct, array, field, nullable


class PartitionRequest(Struct):
    """A partition of the metadata log; there is only one."""

    partition_index: int = field(INT32)


class TopicRequest(Struct):
    """The topic of the metadata log."""

    topic_name: str = field(STRING)
    partitions: tuple[PartitionRequest, ...] = array(PartitionRequest)


class DescribeQuorumRequest(Struct):
    """How is the quorum?"""

    topics: tuple[TopicRequest, ...] = array(TopicRequest)


class ReplicaState(Struct):
    """How far one node has followed."""

    replica_id: int = field(INT32)
    replica_directory_id: bytes = field(UUID, "2+")
    log_end_offset: int = field(INT64)
    last_fetch_timestamp: int = field(INT64, "1+", default=-1)
    last_caught_up_timestamp: int = field(INT64, "1+", default=-1)


class PartitionData(Struct):
    """The quorum of one partition."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING, "2+")
    leader_id: int = field(INT32)
    leader_epoch: int = field(INT32)
    high_watermark: int = field(INT64)
    current_voters: tuple[ReplicaState, ...] = array(ReplicaState)
    observers: tuple[ReplicaState, ...] = array(ReplicaState)


class TopicData(Struct):
    """The quorum of one topic."""

    topic_name: str = field(STRING)
    partitions: tuple[PartitionData, ...] = array(PartitionData)


class Listener(Struct):
    """An address of a node."""

    name: str = field(STRING)
    host: str = field(STRING)
    port: int = field(UINT16)


class Node(Struct):
    """Where a node of the quorum can be reached."""

    node_id: int = field(INT32)
    listeners: tuple[Listener, ...] = array(Listener)


class DescribeQuorumResponse(Struct):
    """The quorum."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING, "2+")
    topics: tuple[TopicData, ...] = array(TopicData)
    nodes: tuple[Node, ...] = array(Node, "2+")
