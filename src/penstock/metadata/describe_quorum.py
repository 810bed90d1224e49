"""DescribeQuorum: who decides on metadata, and how far everybody has followed, out of facts of the quorum."""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.model.names import METADATA_TOPIC
from penstock.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
    TopicRequest,
)

UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumMember:
    """What the leader of the quorum knows of one node; times are of the wall clock."""

    node_id: NodeId
    directory_id: bytes
    log_end_offset: int = UNKNOWN
    last_fetch_ms: int = UNKNOWN
    last_caught_up_ms: int = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumFacts:
    """The quorum as its leader sees it."""

    leader_id: NodeId
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumMember, ...]
    observers: tuple[QuorumMember, ...]


def describe_quorum(
    image: ClusterImage, request: DescribeQuorumRequest, facts: QuorumFacts
) -> DescribeQuorumResponse:
    """The answer; there is one partition to ask for, and only it has a quorum."""
    return DescribeQuorumResponse(
        topics=tuple(_topic(topic, facts) for topic in request.topics),
        nodes=tuple(_nodes(image, facts.voters)),
    )


def _topic(topic: TopicRequest, facts: QuorumFacts) -> TopicData:
    return TopicData(
        topic_name=topic.topic_name,
        partitions=tuple(
            _partition(topic.topic_name, each.partition_index, facts) for each in topic.partitions
        ),
    )


def _partition(topic: str, index: int, facts: QuorumFacts) -> PartitionData:
    if (topic, index) != (METADATA_TOPIC, 0):
        return PartitionData(partition_index=index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return PartitionData(
        partition_index=index,
        leader_id=facts.leader_id,
        leader_epoch=facts.leader_epoch,
        high_watermark=facts.high_watermark,
        current_voters=tuple(map(_member, facts.voters)),
        observers=tuple(map(_member, facts.observers)),
    )


def _member(member: QuorumMember) -> ReplicaState:
    return ReplicaState(
        replica_id=member.node_id,
        replica_directory_id=member.directory_id,
        log_end_offset=member.log_end_offset,
        last_fetch_timestamp=member.last_fetch_ms,
        last_caught_up_timestamp=member.last_caught_up_ms,
    )


def _nodes(image: ClusterImage, members: Iterable[QuorumMember]) -> Iterable[Node]:
    for member in members:
        broker = image.brokers.get(member.node_id)
        endpoints = () if broker is None else broker.endpoints
        yield Node(
            node_id=member.node_id,
            listeners=tuple(Listener(name=each.name, host=each.host, port=each.port) for each in endpoints),
        )
